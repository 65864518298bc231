use indexmap::IndexMap;
use linkpool_units::{Bytes, Time};

use super::section::{LONGEST, Section};
use super::workload::Workloads;
use super::{applies, balancing, buffers, multipath};
use crate::errors::{Report, nearest};
use crate::file::{Packets, Size, Speed, Timeouts, TransportTable};
use crate::model::{Control, DupackThreshold, Paths, Priority, Recovery, Subflows, Transport};
use crate::presets;
use crate::source::{Origin, Path};

/// IP and TCP without options.
const LEAST_HEADER: u32 = 40;
/// What IP can carry.
const LARGEST_PACKET: u32 = 65_535;
const MOST_SUBFLOWS: u32 = 32;

/// The transports, in the order of the file; none in place of each in error.
pub(super) struct Transports {
    pub(super) names: Vec<String>,
    pub(super) resolved: Vec<Option<Transport>>,
}

impl Transports {
    /// Bytes on the wire of the smallest packet; none before all transports are right.
    pub(super) fn least_packet(&self) -> Option<u64> {
        self.of_all(|t| u64::from(t.ack_size).min(u64::from(t.header) + 1))?.into_iter().min()
    }

    /// Bytes on the wire of the largest packet; none before all transports are right.
    pub(super) fn largest_packet(&self) -> Option<u64> {
        self.of_all(|t| u64::from(t.ack_size).max(u64::from(t.header) + u64::from(t.mss)))?.into_iter().max()
    }

    fn of_all(&self, bytes: impl Fn(&Transport) -> u64) -> Option<Vec<u64>> {
        self.resolved.iter().map(|transport| transport.as_ref().map(&bytes)).collect()
    }
}

pub(super) fn resolve_all(tables: IndexMap<String, TransportTable>, report: &mut Report<'_>) -> Transports {
    let names: Vec<String> = tables.keys().cloned().collect();
    let path = Path::default().at("transport");
    let resolved =
        tables.into_iter().map(|(name, table)| resolve(&name, table, &mut Section::new(report, path.at(&name))));
    Transports { resolved: resolved.collect(), names }
}

/// A misspelt name in an override makes a transport that no workload uses: that is an error,
/// while a file may well define more transports than it uses.
pub(super) fn check_overridden(names: &[String], workloads: &Workloads, report: &mut Report<'_>) {
    for (index, name) in names.iter().enumerate() {
        let path = Path::default().at("transport").at(name);
        let made = matches!(report.root().nearest(&path).origin, Origin::Option(_));
        if made && !workloads.transports.contains(&Some(index)) {
            let others = names.iter().filter(|other| *other != name).map(String::as_str);
            report.error(&path, format!("no workload uses the transport {name:?}; {}", nearest(name, others)));
        }
    }
}

fn resolve(name: &str, table: TransportTable, section: &mut Section<'_, '_>) -> Option<Transport> {
    let control = section.required("control", table.control, "\"amp\"");
    let transport = fill_in(name, control.unwrap_or(Control::Reno), table);
    if control.is_some() {
        applies::check(&transport, section);
    }
    check_sizes(&transport, section);
    check_window(&transport, section);
    multipath::check(&transport, section);
    buffers::check(&transport, section);
    check_timers(&transport, section);
    balancing::check(&transport, section);
    section.is_good().then_some(transport)
}

fn fill_in(name: &str, control: Control, table: TransportTable) -> Transport {
    let preset = table.preset.unwrap_or_default();
    let default = presets::defaults(preset, control);
    Transport {
        name: name.to_string(),
        preset,
        control,
        subflows: table.subflows.unwrap_or(default.subflows),
        paths: table.paths.unwrap_or(default.paths),
        mss: table.mss.map_or(default.mss, saturated),
        header: table.header.map_or(default.header, saturated),
        ack_size: table.ack_size.map_or(default.ack_size, saturated),
        initial_window: table.initial_window.unwrap_or(default.initial_window),
        initial_ssthresh: table.initial_ssthresh.map_or(default.initial_ssthresh, |Size(size)| size.map(|Bytes(n)| n)),
        cwnd_min: table.cwnd_min.unwrap_or(default.cwnd_min),
        alpha0: table.alpha0.unwrap_or(default.alpha0),
        g: table.g.unwrap_or(default.g),
        beta: table.beta.unwrap_or(default.beta),
        gamma: table.gamma.unwrap_or(default.gamma),
        tau: table.tau.unwrap_or(default.tau),
        suppression: table.suppression.unwrap_or(default.suppression),
        release: table.release.unwrap_or(default.release),
        ssthresh_after_cut: table.ssthresh_after_cut.unwrap_or(default.ssthresh_after_cut),
        ewtcp_increase: table.ewtcp_increase.unwrap_or(default.ewtcp_increase),
        aggressiveness: table.aggressiveness.unwrap_or(default.aggressiveness),
        loss_floor: table.loss_floor.unwrap_or(default.loss_floor),
        cubic_c: table.cubic_c.unwrap_or(default.cubic_c),
        cubic_beta: table.cubic_beta.unwrap_or(default.cubic_beta),
        fast_convergence: table.fast_convergence.unwrap_or(default.fast_convergence),
        min_rto: table.min_rto.unwrap_or(default.min_rto),
        initial_rto: table.initial_rto.unwrap_or(default.initial_rto),
        max_rto: table.max_rto.unwrap_or(default.max_rto),
        max_backoff: table.max_backoff.unwrap_or(default.max_backoff),
        srtt_gain: table.srtt_gain.unwrap_or(default.srtt_gain),
        rttvar_gain: table.rttvar_gain.unwrap_or(default.rttvar_gain),
        handshake_sample: table.handshake_sample.unwrap_or(default.handshake_sample),
        syn_timeout: table.syn_timeout.unwrap_or(default.syn_timeout),
        syn_retries: table.syn_retries.unwrap_or(default.syn_retries),
        recovery: table.recovery.unwrap_or(default.recovery),
        undo: table.undo.unwrap_or(default.undo),
        cut_in_recovery: table.cut_in_recovery.unwrap_or(default.cut_in_recovery),
        dupack_threshold: table.dupack_threshold.unwrap_or(default.dupack_threshold),
        limited_transmit: table.limited_transmit.unwrap_or(default.limited_transmit),
        scatter_bytes: table.scatter_bytes.map_or(default.scatter_bytes, |Bytes(n)| n),
        scatter_window: table.scatter_window.unwrap_or(default.scatter_window),
        scatter_until_congestion: table.scatter_until_congestion.unwrap_or(default.scatter_until_congestion),
        scatter_control: table.scatter_control.unwrap_or(default.scatter_control),
        plb_rounds: table.plb_rounds.unwrap_or(default.plb_rounds),
        plb_idle_rounds: table.plb_idle_rounds.unwrap_or(default.plb_idle_rounds),
        plb_congested: table.plb_congested.unwrap_or(default.plb_congested),
        plb_suspend: table.plb_suspend.unwrap_or(default.plb_suspend),
        reps_buffer: table.reps_buffer.unwrap_or(default.reps_buffer),
        reps_freezing: table.reps_freezing.unwrap_or(default.reps_freezing),
        byte_counting: table.byte_counting.unwrap_or(default.byte_counting),
        byte_counting_limit: table.byte_counting_limit.map_or(default.byte_counting_limit, |Packets(n)| n),
        ack_every: table.ack_every.unwrap_or(default.ack_every),
        ack_delay: table.ack_delay.unwrap_or(default.ack_delay),
        quickack: table.quickack.unwrap_or(default.quickack),
        join_jitter: table.join_jitter.unwrap_or(default.join_jitter),
        join_after: table.join_after.map_or(default.join_after, |Bytes(n)| n),
        join_at: table.join_at.unwrap_or(default.join_at),
        backup: table.backup.unwrap_or(default.backup),
        scheduler: table.scheduler.unwrap_or(default.scheduler),
        stale_after: table.stale_after.map_or(default.stale_after, |Timeouts(n)| n),
        fail_after: table.fail_after.map_or(default.fail_after, |Timeouts(n)| n),
        send_buffer: table.send_buffer.map_or(default.send_buffer, |Size(size)| size.map(|Bytes(n)| n)),
        receive_buffer: table.receive_buffer.map_or(default.receive_buffer, |Size(size)| size.map(|Bytes(n)| n)),
        read_rate: table.read_rate.map_or(default.read_rate, |Speed(rate)| rate),
        faults: table.faults.unwrap_or(default.faults),
        accept_ecn: table.accept_ecn.unwrap_or(default.accept_ecn),
        priority: table.priority.unwrap_or(default.priority),
        trimming: table.trimming.unwrap_or(default.trimming),
        pull_priority: table.pull_priority.unwrap_or(default.pull_priority),
        path_penalties: table.path_penalties.unwrap_or(default.path_penalties),
    }
}

/// What does not fit is larger than any packet, and said to be so.
fn saturated(size: Bytes) -> u32 {
    u32::try_from(size.0).unwrap_or(u32::MAX)
}

fn check_sizes(t: &Transport, section: &mut Section<'_, '_>) {
    let header = format!("must be {LEAST_HEADER}B (IP and TCP) to {LARGEST_PACKET}B");
    let is_packet = |bytes: u32| (LEAST_HEADER..=LARGEST_PACKET).contains(&bytes);
    section.check(is_packet(t.header), "header", &header);
    section.check(is_packet(t.ack_size), "ack_size", &header);
    let most = LARGEST_PACKET.saturating_sub(t.header);
    let mss =
        format!("must be 1B to {most}B, as a packet with its header of {}B is at most {LARGEST_PACKET}B", t.header);
    section.check((1..=most).contains(&t.mss), "mss", mss);
}

fn check_window(t: &Transport, section: &mut Section<'_, '_>) {
    let (most, beside) =
        if t.is_mmptcp() { (MOST_SUBFLOWS - 1, " beside the one of phase 1") } else { (MOST_SUBFLOWS, "") };
    let subflows = format!("a connection has 1 to {most} subflows{beside}");
    section.check((1..=most).contains(&t.subflows.most()), "subflows", subflows);
    let other = "\"auto\" counts equal-cost paths, and disjoint ones are others; write a number";
    section.check(t.subflows != Subflows::Auto || t.paths != Paths::Disjoint, "subflows", other);
    section.positive("initial_window", t.initial_window);
    section.check(t.initial_ssthresh != Some(0), "initial_ssthresh", "must be above zero, or \"unlimited\"");
    section.positive("cwnd_min", t.cwnd_min);
    section.check((0.0..=1.0).contains(&t.alpha0), "alpha0", "alpha is a fraction, 0 to 1");
    section.gain("g", t.g);
    let beta = "a mark cuts the window by 1/beta, so beta is at least 1";
    section.check(t.beta >= 1.0 && t.beta.is_finite(), "beta", beta);
    section.positive("gamma", t.gamma);
    section.positive("tau", t.tau);
    let above_zero = |x: f64| x > 0.0 && x.is_finite();
    section.check(above_zero(t.aggressiveness), "aggressiveness", "must be above zero");
    section.positive("loss_floor", t.loss_floor);
    section.check(above_zero(t.cubic_c), "cubic_c", "must be above zero");
    let cubic_beta = "a loss multiplies the window by it: above zero and below 1";
    section.check(above_zero(t.cubic_beta) && t.cubic_beta < 1.0, "cubic_beta", cubic_beta);
    section.check(t.byte_counting_limit != Some(0), "byte_counting_limit", "must be above zero, or \"unlimited\"");
    section.check(t.dupack_threshold != DupackThreshold::Acks(0), "dupack_threshold", "must be above zero");
    check_scatter(t, section);
    let by_sacks = "without SACKs the sender hears no NACKs; set `recovery` to \"sack\" or \"rack\"";
    section.check(!t.trimming || t.recovery != Recovery::NewReno, "trimming", by_sacks);
}

fn check_scatter(t: &Transport, section: &mut Section<'_, '_>) {
    let all = t.paths == Paths::Scatter;
    let switches = ["scatter_bytes", "scatter_window", "scatter_until_congestion"];
    let switch = switches.into_iter().find(|key| section.has(key)).unwrap_or("paths");
    let both = format!("`paths = \"scatter\"` scatters all packets, `{switch}` the first ones; leave one of them out");
    section.check(!all || !t.is_mmptcp(), switch, both);
    let pointless =
        "\"auto\" is for scattered packets; set `paths = \"scatter\"` or `scatter_bytes`, or write a number";
    let scatters = all || t.is_mmptcp() || t.paths == Paths::Reps;
    section.check(scatters || t.dupack_threshold != DupackThreshold::Auto, "dupack_threshold", pointless);
    let by_sacks = "\"adaptive\" counts what SACKs tell, and \"rack\" adapts a time instead; set `recovery = \"sack\"`";
    let adaptive = t.dupack_threshold == DupackThreshold::Adaptive;
    section.check(!adaptive || t.recovery == Recovery::Sack, "dupack_threshold", by_sacks);
    section.check(
        all || t.is_mmptcp() || t.priority != Priority::Scatter,
        "priority",
        "\"scatter\" is for scattered packets; set `paths = \"scatter\"` or `scatter_bytes`, or write \"high\"",
    );
}

fn check_timers(t: &Transport, section: &mut Section<'_, '_>) {
    section.positive("min_rto", t.min_rto);
    section.positive("initial_rto", t.initial_rto);
    section.positive("max_rto", t.max_rto);
    section.positive("syn_timeout", t.syn_timeout);
    section.positive("max_backoff", t.max_backoff);
    for (key, time) in [("max_rto", t.max_rto), ("ack_delay", t.ack_delay), ("join_jitter", t.join_jitter)] {
        section.span(key, time);
    }
    let order = |rto: &str, time: Time| format!("`{rto}`, {time}, must not be above `max_rto`, {}", t.max_rto);
    for (key, time) in [("min_rto", t.min_rto), ("initial_rto", t.initial_rto)] {
        let blamed = if section.has(key) { key } else { "max_rto" };
        section.check(time <= t.max_rto, blamed, order(key, time));
    }
    let doubled = 2u128.saturating_pow(t.syn_retries);
    let fits = u128::from(t.syn_timeout.0).saturating_mul(doubled) <= LONGEST.0.into();
    let key = if section.has("syn_retries") { "syn_retries" } else { "syn_timeout" };
    section.check(fits, key, "the last of the doubling timeouts would be longer than any run; lower it");
    section.gain("srtt_gain", t.srtt_gain);
    section.gain("rttvar_gain", t.rttvar_gain);
    section.check((1..=2).contains(&t.ack_every), "ack_every", "must be 1, an ACK per packet, or 2, delayed ACKs");
}
