//! A key of a transport that its other settings leave nothing to say is an error that says to what
//! it applies. (By controller: `documentation.rs`.)

use std::collections::BTreeSet;

use linkpool_scenario::{ScenarioError, load, schema};

const UET: &str = "control = \"uet\"\ntrimmable = false";
const UET_FLOWBENDER: &str = "control = \"uet\"\ntrimmable = false\nbalancer = \"flowbender\"";
const UET_FLOWLETS: &str = "control = \"uet\"\ntrimmable = false\nbalancer = \"flowlets\"";
const UET_RSS: &str = "control = \"uet\"\ntrimmable = false\nbalancer = \"rss\"";
const UET_SWIFT: &str = "control = \"uet\"\ntrimmable = false\nsender_law = \"swift\"";
const UET_STRACK: &str = "control = \"uet\"\ntrimmable = false\nsender_law = \"strack\"";
const UET_STRACK_HTSIM: &str = "control = \"uet\"\ntrimmable = false\nsender_law = \"strack-htsim\"";
const UET_MP_RDMA: &str =
    "control = \"uet\"\ntrimmable = false\nack_bytes = \"1B\"\nbalancer = \"mp-rdma\"\nsender_law = \"mp-rdma\"";
const UET_SUBFLOWS: &str = "control = \"uet\"\ntrimmable = false\nsubflows = 2";
const UET_CREDIT: &str = "control = \"uet\"\ntrimmable = false\nreceiver_credit = true";
const UET_SUPPRESSED: &str = "control = \"uet\"\ntrimmable = false\nsubflows = 2\nsubflow_suppression = true";
const UET_NONE: &str = "control = \"uet\"\ntrimmable = false\nsender_law = \"none\"\nreceiver_credit = true";
const UET_REPS: &str = "control = \"uet\"\ntrimmable = false\nbalancer = \"reps\"";
const UET_CONSTANT: &str = "control = \"uet\"\ntrimmable = false\nsender_law = \"constant\"";

/// A key and a value of it; settings beside which it applies; others, beside which it does not; to
/// what it does.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("join_jitter = \"1us\"", "subflows = 2", "", "only to several subflows"),
    (
        "join_jitter = \"1us\"",
        "control = \"mmptcp\"\nswitch_bytes = \"1KB\"",
        "subflows = 1",
        "only to several subflows",
    ),
    ("join_after = \"1KB\"", "subflows = 2", "", "only to several subflows"),
    (
        "join_after = \"1KB\"",
        "subflows = 2",
        "control = \"mmptcp\"\nphase_2 = \"amp\"\nsubflows = 2\nswitch_window = 9",
        "other than MMPTCP",
    ),
    ("join_confirmed = false", "subflows = 2", "", "only to several subflows"),
    ("join_at = [\"1s\"]", "subflows = 2", "", "only to several subflows"),
    (
        "join_at = [\"1s\"]",
        "subflows = 2",
        "control = \"mmptcp\"\nphase_2 = \"amp\"\nsubflows = 2\nswitch_window = 9",
        "other than MMPTCP",
    ),
    ("backup = [1]", "subflows = 2", "", "only to several subflows"),
    (
        "backup = [1]",
        "subflows = 2",
        "control = \"mmptcp\"\nphase_2 = \"amp\"\nsubflows = 2\nswitch_window = 9",
        "other than MMPTCP",
    ),
    ("scheduler = \"lowest-rtt\"", "subflows = \"auto\"", "", "only to several subflows"),
    ("stale_after = 2", "subflows = 2", "", "only to several subflows"),
    ("send_buffer_headers = \"256B\"", "subflows = 2", "", "only to several subflows"),
    ("segmentation_offload = false", "subflows = 2", "", "only to several subflows"),
    (
        "send_buffer_headers = \"256B\"",
        "subflows = 2",
        "subflows = 2\nsend_buffer = \"1MB\"",
        "`send_buffer = \"auto\"`",
    ),
    ("faults = [\"join-syn-once\"]", "subflows = 2", "", "only to several subflows"),
    ("cnp_interval = \"1us\"", "control = \"dcqcn\"", "control = \"dcqcn-hpcc\"", "`cnp = \"packet\"`"),
    ("dcqcn_cut_timer = \"1us\"", "control = \"dcqcn-hpcc\"", "control = \"dcqcn\"", "`dcqcn_reaction = \"sampled\"`"),
    ("dcqcn_cut_timer = \"1us\"", "control = \"dcqcn-hpcc\"", "control = \"timely\"", "only to dcqcn, dcqcn-hpcc"),
    (
        "reorder_window = 1",
        "control = \"roce\"",
        "control = \"roce\"\nretransmission = \"selective\"",
        "`retransmission = \"go-back-n\"`",
    ),
    (
        "nack_interval = \"1us\"",
        "control = \"roce\"",
        "control = \"roce\"\nretransmission = \"selective\"",
        "`retransmission = \"go-back-n\"`",
    ),
    ("gamma = 3", "", "suppression = false", "`suppression = true`"),
    ("tau = 3", "", "suppression = false", "`suppression = true`"),
    ("release = \"acks\"", "", "suppression = false", "`suppression = true`"),
    ("byte_counting_limit = 2", "", "byte_counting = false", "`byte_counting = true`"),
    ("byte_counting_limit = 2", "", "preset = \"paper-2013\"", "`byte_counting = true`"),
    ("ack_delay = \"1ms\"", "", "ack_every = 1", "`ack_every = 2`"),
    ("quickack = false", "", "ack_every = 1", "`ack_every = 2`"),
    ("push_acks = false", "", "ack_every = 1", "`ack_every = 2`"),
    ("plb_rounds = 2", "paths = \"plb\"", "", "`paths = \"plb\"`"),
    ("plb_idle_rounds = 2", "paths = \"plb\"", "paths = \"reps\"", "`paths = \"plb\"`"),
    ("plb_congested = 0.2", "paths = \"plb\"", "", "`paths = \"plb\"`"),
    ("plb_suspend = \"1s\"", "paths = \"plb\"", "", "`paths = \"plb\"`"),
    ("reps_buffer = 9", "paths = \"reps\"", "paths = \"plb\"", "`paths = \"reps\"`"),
    ("reps_freezing = \"1ms\"", "paths = \"reps\"", "", "`paths = \"reps\"`"),
    (
        "nscc_gain = 0.1",
        "control = \"uet\"\ntrimmable = false",
        "control = \"uet\"\ntrimmable = false\nnscc_rules = \"spec-1.0.3\"",
        "`nscc_average = \"gain\"`",
    ),
    ("nscc_rules = \"uet-htsim\"", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_target = \"7us\"", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_unit = \"mtu\"", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_average = \"gain\"", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_zero_delay = \"1us\"", UET, UET_STRACK, "`sender_law = \"nscc\"`"),
    ("nscc_quick_adapt_at_end = true", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_quick_adapt_gate = 3", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_quick_adapt_targets = 2", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_nacks_lower_rtt = true", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_losses_ignored = true", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("nscc_without_sample = \"hold\"", UET, UET_CONSTANT, "`sender_law = \"nscc\"` and `sender_law = \"strack\"`"),
    ("rehash_above = 0.1", UET_FLOWBENDER, UET, "`balancer = \"flowbender\"` and `balancer = \"plb\"`"),
    ("rehash_after = 2", UET_FLOWBENDER, UET, "`balancer = \"flowbender\"` and `balancer = \"plb\"`"),
    ("flowlet_gap = \"7us\"", UET_FLOWLETS, UET, "`balancer = \"flowlets\"`"),
    ("flowlet_by = \"acks\"", UET_FLOWLETS, UET, "`balancer = \"flowlets\"`"),
    ("rss_subflows = 3", UET_RSS, UET, "`balancer = \"rss\"`"),
    ("rss_period = \"20us\"", UET_RSS, UET, "`balancer = \"rss\"`"),
    ("rss_margin = 0.1", UET_RSS, UET, "`balancer = \"rss\"`"),
    ("rss_heeds_timeouts = false", UET_RSS, UET, "`balancer = \"rss\"`"),
    ("rss_finds_losses = true", UET_RSS, UET, "`balancer = \"rss\"`"),
    ("mp_rdma_probe = 0.5", UET_MP_RDMA, UET, "`balancer = \"mp-rdma\"`"),
    ("mp_rdma_delta = 3", UET_MP_RDMA, UET, "`sender_law = \"mp-rdma\"`"),
    ("swift_target = \"7us\"", UET_SWIFT, UET, "`sender_law = \"swift\"`"),
    ("swift_range = \"20us\"", UET_SWIFT, UET, "`sender_law = \"swift\"`"),
    ("strack_high = 3", UET_STRACK, UET, "`sender_law = \"strack\"`"),
    ("strack_cut_by = \"average\"", UET_STRACK, UET, "`sender_law = \"strack\"`"),
    ("strack_htsim_target = \"7us\"", UET_STRACK_HTSIM, UET_STRACK, "`sender_law = \"strack-htsim\"`"),
    ("strack_htsim_below = \"added\"", UET_STRACK_HTSIM, UET_STRACK, "`sender_law = \"strack-htsim\"`"),
    ("subflow_coupling = \"lia\"", UET_SUBFLOWS, UET, "`subflows` above 1"),
    ("feedback_median = 7", UET, UET_CONSTANT, "a law that hears delays"),
    ("first_window = \"9000B\"", UET_CONSTANT, UET_NONE, "a window, such as that of"),
    ("uet_reps_freezing = \"1ms\"", UET_REPS, UET, "`balancer = \"reps\"`"),
    ("subflow_suppression = true", UET_SUBFLOWS, UET, "`subflows` above 1"),
    ("suppress_after = 3", UET_SUPPRESSED, UET_SUBFLOWS, "`subflow_suppression = true`"),
    ("release_after = 3", UET_SUPPRESSED, UET_SUBFLOWS, "`subflow_suppression = true`"),
    ("oversubscription = 2", UET_CREDIT, UET, "`receiver_credit = true`"),
    ("read_rate = \"1Gbps\"", "receive_buffer = \"1MB\"", "", "a limited `receive_buffer`"),
];

/// Keys that apply to all transports of a controller that they apply to.
const ALWAYS: &[&str] = &[
    "preset",
    "control",
    "subflows",
    "paths",
    "mss",
    "header",
    "ack_size",
    "initial_window",
    "initial_ssthresh",
    "cwnd_min",
    "alpha0",
    "g",
    "beta",
    "suppression",
    "target_delay",
    "ssthresh_after_cut",
    "ewtcp_increase",
    "aggressiveness",
    "loss_floor",
    "cubic_c",
    "cubic_beta",
    "bbr_rtt_window",
    "bbr_probe_rtt",
    "bbr_offload",
    "pacing",
    "swift_base_target",
    "swift_hop",
    "swift_flow_range",
    "swift_flow_min",
    "swift_flow_max",
    "swift_flow_scaling",
    "swift_increase",
    "swift_gain",
    "swift_max_cut",
    "swift_rtt",
    "swift_min_window",
    "swift_max_window",
    "swift_reset_after",
    "fast_convergence",
    "hystart",
    "cubic_rules",
    "min_rto",
    "initial_rto",
    "max_rto",
    "max_backoff",
    "srtt_gain",
    "rttvar_gain",
    "rto_above_srtt",
    "handshake_sample",
    "syn_timeout",
    "syn_retries",
    "recovery",
    "undo",
    "cut_in_recovery",
    "dupack_threshold",
    "limited_transmit",
    "phase_1",
    "phase_2",
    "switch_bytes",
    "switch_window",
    "switch_on_congestion",
    "byte_counting",
    "ack_every",
    "fail_after",
    "slow_start_after_idle",
    "send_buffer",
    "receive_buffer",
    "subflow_window",
    "accept_ecn",
    "priority",
    "ack_order",
    "path_penalties",
    "retransmission",
    "window",
    "cnp",
    "window_by_rate",
    "dcqcn_reaction",
    "dcqcn_gain",
    "dcqcn_alpha_timer",
    "dcqcn_increase_timer",
    "dcqcn_byte_counter",
    "dcqcn_fast_rounds",
    "dcqcn_additive",
    "dcqcn_hyper",
    "dcqcn_min_rate",
    "dcqcn_clamp_target",
    "timely_low",
    "timely_high",
    "timely_min_rtt",
    "timely_weight",
    "timely_gain",
    "timely_increase",
    "timely_fast_after",
    "timely_segment",
    "timely_min_rate",
    "hpcc_target",
    "hpcc_max_stage",
    "hpcc_additive",
    "hpcc_base_rtt",
    "hpcc_min_rate",
    "hpcc_records",
    "hpcc_reference",
    "pint_base",
    "pint_bits",
    "pint_probability",
    "pint_base_rtt",
    "powertcp_gain",
    "powertcp_additive",
    "powertcp_base_rtt",
    "powertcp_min_rate",
    "pull_priority",
    "trimming",
    "entropies",
    "balancer",
    "trimmable",
    "ack_bytes",
    "base_rtt",
    "host_rate",
    "rto",
    "max_window_bdp",
    "sender_law",
    "receiver_credit",
    "sleek",
];

/// `keys`, of AMP if they do not say of what; the algorithm stands last.
fn complete(keys: &str) -> String {
    if keys.contains("control = ") { keys.to_string() } else { format!("{keys}\ncontrol = \"amp\"") }
}

fn errors(keys: &str) -> Vec<ScenarioError> {
    let text = format!(
        "duration = \"1s\"\ntopology.traffic-shift = {{ rate = \"1Gbps\", delay = \"1us\" }}\n\
         [[workload.flow]]\ntransport = \"t\"\nfrom = \"S2\"\nto = \"D2\"\n[transport.t]\n{}\n",
        complete(keys)
    );
    load(&text, "t.toml", None, &[]).err().unwrap_or_default()
}

fn name(key: &str) -> &str {
    key.split_once(" = ").unwrap().0
}

#[test]
fn each_applies_only_beside_what_it_says() {
    for (key, with, without, to) in CASES {
        assert_eq!(errors(&format!("{with}\n{key}")), [], "{key} beside {with}");
        assert_eq!(errors(without), [], "{without} alone");
        let found = errors(&format!("{key}\n{without}"));
        let named = |e: &ScenarioError| e.key == format!("transport.t.{}", name(key)) && e.line == Some(8);
        assert!(matches!(&found[..], [e] if named(e) && e.message.contains(to)), "{key} beside {without}: {found:#?}");
    }
}

/// Whoever adds a key says to what it applies.
#[test]
fn all_keys_are_looked_at() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let keys = schema["$defs"]["Transport"]["properties"].as_object().unwrap();
    let conditional: BTreeSet<&str> = CASES.iter().map(|(key, ..)| name(key)).collect();
    let always: BTreeSet<&str> = ALWAYS.iter().copied().collect();
    assert!(conditional.is_disjoint(&always));
    assert_eq!(&conditional | &always, keys.keys().map(String::as_str).collect());
}

/// What a run writes of itself has no key that does not apply.
#[test]
fn what_is_written_back_loads() {
    for (_, with, without, _) in CASES {
        for keys in [with, without] {
            let text = format!(
                "duration = \"1s\"\ntopology.traffic-shift = {{ rate = \"1Gbps\", delay = \"1us\" }}\n\
                 [[workload.flow]]\ntransport = \"t\"\nfrom = \"S2\"\nto = \"D2\"\n[transport.t]\n{}\n",
                complete(keys)
            );
            let scenario = load(&text, "t.toml", None, &[]).unwrap();
            assert_eq!(load(&scenario.to_toml(), "t.toml", None, &[]).unwrap(), scenario, "{keys}");
        }
    }
}
