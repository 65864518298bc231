//! The defaults of transports. `docs/scenario.md` has the same table, and a test compares them.

use linkpool_units::Time;

use crate::model::{
    Control, DupackThreshold, EwtcpIncrease, Paths, Preset, Priority, Recovery, Release, ScatterControl, Scheduler,
    SsthreshAfterCut, Subflows, Transport,
};

/// The preset's values of all settings; its name and control mean nothing.
pub(crate) fn defaults(preset: Preset, control: Control) -> Transport {
    match (control, preset) {
        (Control::Ndp, _) => ndp(preset),
        (_, Preset::Linux) => linux(),
        (_, Preset::Paper2013) => paper_2013(),
    }
}

/// NDP paper: jumbo packets of 9,000 B with headers of 64 B, 30 packets in the first window (section 6), timeouts of 1 ms as queues are
/// short (section 3.2).
fn ndp(preset: Preset) -> Transport {
    Transport {
        preset,
        control: Control::Ndp,
        mss: 8_936,
        header: 64,
        ack_size: 64,
        initial_window: 30,
        min_rto: Time::from_ms(1),
        ..linux()
    }
}

fn linux() -> Transport {
    Transport {
        name: String::new(),
        preset: Preset::Linux,
        control: Control::Reno,
        subflows: Subflows::Count(1),
        paths: Paths::Hash,
        mss: 1_448,
        // 32 TCP, 20 IP, 38 Ethernet with preamble and gap.
        header: 90,
        ack_size: 90,
        initial_window: 10,
        initial_ssthresh: None,
        cwnd_min: 2,
        alpha0: 1.0,
        g: 0.0625,
        beta: 4.0,
        gamma: 2,
        tau: 8,
        suppression: true,
        release: Release::Rounds,
        ssthresh_after_cut: SsthreshAfterCut::W,
        ewtcp_increase: EwtcpIncrease::InverseSquare,
        aggressiveness: 1.0,
        loss_floor: 2,
        cubic_c: 0.4,
        cubic_beta: 0.7,
        fast_convergence: true,
        min_rto: Time::from_ms(200),
        initial_rto: Time::from_secs(1),
        max_rto: Time::from_secs(120),
        max_backoff: 64,
        srtt_gain: 0.125,
        rttvar_gain: 0.25,
        handshake_sample: true,
        syn_timeout: Time::from_secs(1),
        syn_retries: 6,
        recovery: Recovery::Rack,
        undo: true,
        cut_in_recovery: false,
        dupack_threshold: DupackThreshold::Acks(3),
        limited_transmit: true,
        scatter_bytes: 0,
        scatter_window: 0,
        scatter_until_congestion: false,
        scatter_control: ScatterControl::Reno,
        plb_rounds: 12,
        plb_idle_rounds: 3,
        plb_congested: 0.5,
        plb_suspend: Time::from_secs(60),
        reps_buffer: 8,
        reps_freezing: Time::from_ms(10),
        byte_counting: true,
        byte_counting_limit: None,
        ack_every: 2,
        ack_delay: Time::from_ms(40),
        quickack: true,
        join_jitter: Time::ZERO,
        join_after: 0,
        join_at: Vec::new(),
        backup: Vec::new(),
        scheduler: Scheduler::RoundRobin,
        stale_after: Some(1),
        // 15 retransmissions by timeout (Linux, `tcp_retries2`).
        fail_after: Some(16),
        send_buffer: None,
        receive_buffer: None,
        read_rate: None,
        faults: Vec::new(),
        accept_ecn: true,
        priority: Priority::Low,
        trimming: false,
        pull_priority: false,
        path_penalties: true,
    }
}

fn paper_2013() -> Transport {
    Transport {
        preset: Preset::Paper2013,
        mss: 1_400,
        header: 62,
        ack_size: 42,
        initial_window: 1,
        initial_ssthresh: Some(65_535),
        alpha0: 0.0,
        initial_rto: Time::from_ms(1_500),
        max_rto: Time::from_secs(60),
        srtt_gain: 0.1,
        rttvar_gain: 0.1,
        handshake_sample: false,
        syn_timeout: Time::from_secs(3),
        recovery: Recovery::NewReno,
        undo: false,
        cut_in_recovery: true,
        limited_transmit: false,
        byte_counting: false,
        ack_every: 1,
        quickack: false,
        join_jitter: Time::from_us(49),
        stale_after: None,
        fail_after: None,
        ..linux()
    }
}
