//! Transports: their settings read, checked, and checked against each other.

use linkpool_network::Envelope;
use linkpool_settings::{NoNames, Preset, Settings};
use linkpool_transport::control::{Algorithm, CongestionControl};
use linkpool_transport::{DupackThreshold, LossRecovery};
use linkpool_units::{Bytes, Time};

use super::controls::Controls;
use super::section::{LONGEST, Section};
use super::settings::{Checker, Reader};
use super::{balancing, multipath};
use crate::descriptions::transport_keys;
use crate::errors::Report;
use crate::file::AnyTable;
use crate::model::{Control, Paths, Priority, Subflows, Transport};
use crate::situation::Situation;
use crate::tree::{KeyPath, Origin};
use linkpool_settings::nearest;

/// IP and TCP without options.
const LEAST_HEADER: u32 = 40;
const LARGEST_PACKET: u32 = Envelope::LONGEST as u32;
/// Options of an ACK come on top: SACK blocks take up to 36 bytes, which leave no room for others
/// (RFC 2018, section 3).
const LARGEST_ACK: u32 = LARGEST_PACKET - 36;
const MOST_SUBFLOWS: u32 = 32;

/// The transports, in the order of the file; none in place of each in error.
pub(super) struct Transports {
    pub(super) names: Vec<String>,
    pub(super) resolved: Vec<Option<Transport>>,
}

impl Transports {
    /// Bytes on the wire of the smallest packet; none before all transports are right.
    pub(super) fn least_packet(&self) -> Option<u64> {
        self.of_all(|t| u64::from(t.wire.ack_size).min(u64::from(t.wire.header) + 1))?.into_iter().min()
    }

    /// Bytes on the wire of the largest packet; none before all transports are right.
    pub(super) fn largest_packet(&self) -> Option<u64> {
        self.of_all(|t| u64::from(t.wire.ack_size).max(u64::from(t.wire.header) + u64::from(t.config.mss)))?
            .into_iter()
            .max()
    }

    fn of_all(&self, bytes: impl Fn(&Transport) -> u64) -> Option<Vec<u64>> {
        self.resolved.iter().map(|transport| transport.as_ref().map(&bytes)).collect()
    }
}

pub(super) fn resolve_all(controls: &Controls, report: &mut Report<'_>) -> Transports {
    let top = &mut Section::new(report, KeyPath::default());
    let is_table = |name: &String, section: &mut Section<'_, '_>| section.read::<AnyTable>(name).is_some();
    let tables = |section: &mut Section<'_, '_>| {
        let mut names = section.keys();
        names.retain(|name| is_table(name, section));
        names
    };
    let names = if top.has("transport") { top.within("transport", tables).unwrap_or_default() } else { Vec::new() };
    let path = KeyPath::default().at("transport");
    let resolved = names.iter().map(|name| resolve(name, controls, &mut Section::new(report, path.at(name))));
    Transports { resolved: resolved.collect(), names: names.clone() }
}

/// A misspelt name in an override makes a transport that no workload uses: that is an error,
/// while a file may well define more transports than it uses.
pub(super) fn check_overridden(names: &[String], used: &[Option<usize>], report: &mut Report<'_>) {
    for (index, name) in names.iter().enumerate() {
        let path = KeyPath::default().at("transport").at(name);
        let made = matches!(report.root().nearest(&path).origin, Origin::Option(_));
        if made && !used.contains(&Some(index)) {
            let others = names.iter().filter(|other| *other != name).map(String::as_str);
            report.error(&path, format!("no workload uses the transport {name:?}; {}", nearest(name, others)));
        }
    }
}

/// Old keys, and the keys that replace them.
const RENAMED: &[(&str, &str)] = &[
    ("scatter_bytes", "`control = \"mmptcp\"` with `phase_2` (the algorithm that was `control`) and `switch_bytes`"),
    ("scatter_window", "`control = \"mmptcp\"` with `phase_2` (the algorithm that was `control`) and `switch_window`"),
    (
        "scatter_until_congestion",
        "`control = \"mmptcp\"` with `phase_2` (the algorithm that was `control`) and `switch_on_congestion`",
    ),
    ("scatter_control", "`phase_1` of `control = \"mmptcp\"`"),
];

fn resolve(name: &str, controls: &Controls, section: &mut Section<'_, '_>) -> Option<Transport> {
    for (key, now) in RENAMED {
        section.check(!section.has(key), key, format!("is now {now}"));
    }
    let preset = if section.has("preset") { section.read("preset") } else { None }.unwrap_or(Preset::Linux);
    let written = controls.of(section);
    if !section.has("control") {
        section.required::<()>("control", None, "\"amp\"");
    }
    let control = written.unwrap_or(Control::Tcp(Algorithm::Reno));
    let own = match control {
        Control::Tcp(Algorithm::Defined(definition)) => definition.parameters.iter().map(|p| p.key).collect(),
        _ => Vec::new(),
    };
    if written.is_some() || !controls.is_lacking() {
        section.refuse_unknown(&[transport_keys(), &own[..]].concat());
    }
    if let Some(why) = balancing::why_not(control, section) {
        section.error("paths", why);
        return None;
    }
    let mut t = Transport { name: name.to_string(), ..Transport::of(control, preset) };
    t.each(&mut Reader { section, names: &NoNames, preset });
    t.config.subflows = t.subflows.most() as usize + usize::from(t.is_mmptcp());
    t.control.family().know(&mut t.own, &t.config);
    let situation = written.map(|_| Situation::of(&t));
    let mut checker = Checker { section, situation, algorithm: described(&t), keys: vec!["preset", "control"] };
    t.each(&mut checker);
    checker.check_others();
    check_sizes(&t, section);
    check_subflows(&t, section);
    check_scatter(&t, section);
    multipath::check(&t, section);
    check_timers(&t, section);
    balancing::check(&t, section);
    section.is_good().then_some(t)
}

/// The algorithm, as messages name it.
fn described(t: &Transport) -> String {
    let name = t.control.name();
    t.config.control.mmptcp().map_or(name.to_string(), |config| {
        format!("{name} of {} and {}", config.scattered.algorithm().name(), config.coupled.algorithm().name())
    })
}

fn check_sizes(t: &Transport, section: &mut Section<'_, '_>) {
    let (wire, mss) = (t.wire, u64::from(t.config.mss));
    let header = format!("must be {LEAST_HEADER}B (IP and TCP) to {LARGEST_PACKET}B");
    let is_packet = |bytes: u32| (LEAST_HEADER..=LARGEST_PACKET).contains(&bytes);
    section.check(is_packet(wire.header), "header", &header);
    let ack_size = format!("must be {LEAST_HEADER}B (IP and TCP) to {LARGEST_ACK}B");
    section.check((LEAST_HEADER..=LARGEST_ACK).contains(&wire.ack_size), "ack_size", ack_size);
    let most = LARGEST_PACKET.saturating_sub(wire.header);
    let why =
        format!("must be 1B to {most}B, as a packet with its header of {}B is at most {LARGEST_PACKET}B", wire.header);
    section.check((1..=most.into()).contains(&mss), "mss", why);
    let least = format!("must hold a segment, `mss` = {}, at least", Bytes(mss));
    let buffers = t.config.buffers;
    for (key, size) in [
        ("send_buffer", buffers.send.fixed()),
        ("receive_buffer", buffers.receive),
        ("subflow_window", buffers.subflow_window),
    ] {
        section.check(size >= mss, key, &least);
    }
}

fn check_subflows(t: &Transport, section: &mut Section<'_, '_>) {
    let (most, beside) =
        if t.is_mmptcp() { (MOST_SUBFLOWS - 1, " beside the one of phase 1") } else { (MOST_SUBFLOWS, "") };
    let subflows = format!("a connection has 1 to {most} subflows{beside}");
    section.check((1..=most).contains(&t.subflows.most()), "subflows", subflows);
    let other = "\"auto\" counts equal-cost paths, and disjoint ones are others; write a number";
    section.check(t.subflows != Subflows::Auto || t.paths.rule != Paths::Disjoint, "subflows", other);
    let counted =
        "\"auto\" counts paths of subflows that have one each, and packets of this transport take many; write a number";
    let has_paths = !t.control.family().facts().spread.is_any();
    section.check(t.subflows != Subflows::Auto || has_paths, "subflows", counted);
    if let Some(config) = t.config.control.mmptcp() {
        let missing = "missing; what ends phase 1? Write for example switch_bytes = \"100KB\", or `switch_window` or \
                       `switch_on_congestion`";
        section.check(config.switch.ends(), "switch_bytes", missing);
    }
}

fn check_scatter(t: &Transport, section: &mut Section<'_, '_>) {
    let all = t.paths.rule == Paths::Scatter;
    let both = "`paths = \"scatter\"` scatters all packets, `control = \"mmptcp\"` the first ones; leave `paths` out";
    section.check(!all || !t.is_mmptcp(), "paths", both);
    let threshold = t.config.dupack_threshold;
    section.check(threshold != DupackThreshold::Acks(0), "dupack_threshold", "must be above zero");
    let pointless = "\"auto\" is for scattered packets; set `paths = \"scatter\"` or `control = \"mmptcp\"`, or write a \
                     number";
    let scatters = all || t.is_mmptcp() || t.paths.rule == Paths::Reps;
    section.check(scatters || threshold != DupackThreshold::Auto, "dupack_threshold", pointless);
    let by_sacks = "\"adaptive\" needs SACKs, and \"rack\" adapts a time instead; set `recovery = \"sack\"`";
    let adaptive = threshold == DupackThreshold::Adaptive;
    section.check(!adaptive || t.config.recovery == LossRecovery::Sack, "dupack_threshold", by_sacks);
    let measures = t.config.control.build(1).measures_rate();
    let by_rate =
        "without SACKs the sender does not know how fast packets arrive; set `recovery` to \"sack\" or \"rack\"";
    section.check(!measures || t.config.recovery.has_sacks(), "recovery", by_rate);
    let by_nacks = "without SACKs the sender hears no NACKs; set `recovery` to \"sack\" or \"rack\"";
    section.check(!t.trimming || t.config.recovery.has_sacks(), "trimming", by_nacks);
    let without_sacks = "\"held-unacknowledged\", \"fin-timeouts\" and \"dupacks-kept\" are faults of endpoints \
                         without SACKs; set `recovery = \"newreno\"`";
    let newreno = t.config.recovery == LossRecovery::NewReno;
    section.check(newreno || !t.config.multipath.faults.need_newreno(), "faults", without_sacks);
    section.check(
        all || t.is_mmptcp() || t.priority != Priority::Scatter,
        "priority",
        "\"scatter\" is for scattered packets; set `paths = \"scatter\"` or `control = \"mmptcp\"`, or write \"high\"",
    );
}

fn check_timers(t: &Transport, section: &mut Section<'_, '_>) {
    let (rtt, c) = (&t.config.rtt, &t.config);
    let order = |rto: &str, time: Time| format!("`{rto}`, {time}, must not be above `max_rto`, {}", rtt.max_rto);
    for (key, time) in [("min_rto", rtt.min_rto), ("initial_rto", rtt.initial_rto)] {
        let blamed = if section.has(key) { key } else { "max_rto" };
        section.check(time <= rtt.max_rto, blamed, order(key, time));
    }
    let doubled = 2u128.saturating_pow(c.syn_retries);
    let fits = u128::from(c.syn_timeout.0).saturating_mul(doubled) <= LONGEST.0.into();
    let key = if section.has("syn_retries") { "syn_retries" } else { "syn_timeout" };
    section.check(fits, key, "the last of the doubling timeouts would be longer than any run; lower it");
}
