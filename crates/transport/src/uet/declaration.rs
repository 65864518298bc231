//! The family UET: its names, its settings and its facts.

use super::balancer::{BalancerKind, Spraying};
use super::config::{Config, SenderLaw};
use super::coupling::Coupling;
use super::credit_rate::CreditRules;
use super::median;
use super::nscc::{NsccConfig, NsccSettings, ZERO_DELAY};
use super::strack::StrackSettings;
use super::strack_htsim::{StrackHtsimSettings, StrackHtsimTarget};
use super::suppression::Rounds;
use super::surroundings::Network;
use super::swift::{SwiftSettings, SwiftTarget};
use crate::config::Config as Common;
use crate::declaration::{Declaration, Declare, Facts, Keys, Law, Spread, Surroundings};
use crate::wire::WireConfig;
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Ultra Ethernet transport.
#[derive(Clone, Copy, Debug)]
pub struct Uet;

/// The gaps that end flowlets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowletBy {
    /// Those between packets that are sent.
    Sends,
    /// Those between answers.
    Acks,
}

/// How long REPS is frozen after a timeout (buffer_reps.cpp, `exit_freeze_after`).
const FREEZING: Time = Time::from_ms(10);

settings! {
    /// The settings of UET.
    #[derive(Copy)]
    pub struct UetSettings {
        /// Number of entropy values over which a sender spreads its packets, a power of two. Switches
        /// hash the value of each packet.
        entropies: u32 = 64, within Bounds::from(1.0, "must be 1 to 32768").to(32_768.0),
            refused |u| !u.entropies.is_power_of_two() => "must be a power of two",
            refused |u| !u.entropies.is_multiple_of(u.subflows.max(1)) =>
                "each subflow has an equal part of them: set `subflows` to a power of two that is not above them";
        /// How a sender chooses the entropy value of each packet. `"oblivious"`: each value once a
        /// round, in another order each round. `"bitmap"`: the same, but a value that was marked, trimmed
        /// or lost is left out for some rounds. `"reps"`: the value that came back first of the last
        /// eight without a mark, each once; else a random one. `"reps-legacy"`: the same of all that came
        /// back. `"mixed"`: as `"reps-legacy"`, and else as `"bitmap"`. `"flowbender"`, `"plb"`: one value,
        /// until `rehash_after` base RTTs in a row have more marks than `rehash_above`, or a timeout. `"flowlets"`:
        /// another value after a gap. `"rss"`: `rss_subflows` values in turn by the PSN, of which the slowest is
        /// replaced once in `rss_period`. `"mp-rdma"`: that of the ACK that lets the packet go.
        balancer: BalancerKind = BalancerKind::Mixed,
            refused |u| u.subflows > 1 && u.balancer == BalancerKind::Rss =>
                "\"rss\" spreads one window over `rss_subflows`; leave `subflows` out, or take another",
            refused |u| u.balancer == BalancerKind::MpRdma && u.sender_law == SenderLaw::None =>
                "\"mp-rdma\" goes by the room that ACKs make in a window; set `sender_law`",
            refused |u| u.balancer == BalancerKind::MpRdma && u.subflows > 1 =>
                "\"mp-rdma\" spreads one window over all values; leave `subflows` out, or take another";
        /// The chance that a packet takes a random value in place of that of its ACK, once in a base RTT.
        mp_rdma_probe: f64 = 0.01, within Bounds::from(0.0, "must be a chance, 0 to 1").to(1.0),
            when |u| u.balancer == BalancerKind::MpRdma => "`balancer = \"mp-rdma\"`";
        /// The share of marked or trimmed packets, among those that ACKs and NACKs are about, above which a base
        /// RTT is congested.
        rehash_above: f64, from |u| if u.balancer == BalancerKind::Plb { 0.5 } else { 0.05 } => "by `balancer`: `0.05`, or `0.5` with `\"plb\"`",
            within Bounds::from(0.0, "must be a share, at least 0 and below 1").below(1.0),
            when |u| u.balancer.rehashes() => "`balancer = \"flowbender\"` and `balancer = \"plb\"`";
        /// Congested base RTTs in a row after which the value changes.
        rehash_after: u32, from |u| if u.balancer == BalancerKind::Plb { 12 } else { 1 } => "by `balancer`: `1`, or `12` with `\"plb\"`",
            within Bounds::POSITIVE, when |u| u.balancer.rehashes() => "`balancer = \"flowbender\"` and `balancer = \"plb\"`";
        /// The gap after which the value changes. Without the key: half of `base_rtt`.
        flowlet_gap: Option<Time>, from |_u| None => "of `base_rtt`: half of it", within Bounds::POSITIVE_SPAN,
            when |u| u.balancer == BalancerKind::Flowlets => "`balancer = \"flowlets\"`";
        /// Gaps between what? `"sends"`: packets that are sent. `"acks"`: ACKs and NACKs that come, with a rest of
        /// `rto` after each change, as published code has it by mistake.
        flowlet_by: FlowletBy = FlowletBy::Sends, when |u| u.balancer == BalancerKind::Flowlets => "`balancer = \"flowlets\"`";
        /// The time after a timeout in which REPS uses only values that it remembers; `"0us"`: it never freezes. Without the key:
        /// 10 ms (uet-htsim), and nothing with `trimmable = false`, where a timeout may be a loss in a queue.
        freezing "uet_reps_freezing": Option<Time>, from |_u| None => "of `trimmable`: `\"10ms\"`, or `\"0us\"`",
            within Bounds::SPAN, when |u| u.balancer == BalancerKind::Reps => "`balancer = \"reps\"`";
        /// Number of subflows.
        rss_subflows: u32 = 16, within Bounds::from(1.0, "must be 1 to 1024").to(1_024.0),
            when |u| u.balancer == BalancerKind::Rss => "`balancer = \"rss\"`";
        /// The mean time between two changes; each is longer or shorter by up to a quarter.
        rss_period: Time = Time::from_us(15), within Bounds::POSITIVE_SPAN,
            when |u| u.balancer == BalancerKind::Rss => "`balancer = \"rss\"`";
        /// By how much the longest mean round-trip time must be above the shortest, in shortest ones.
        rss_margin: f64 = 0.0, within Bounds::from(0.0, "must be at least 0"),
            when |u| u.balancer == BalancerKind::Rss => "`balancer = \"rss\"`";
        /// Is a subflow with a timeout the slowest? false: a subflow without ACKs counts as the fastest, so that
        /// one on a dead path stays there, as published code has it by mistake.
        rss_heeds_timeouts: bool = true, when |u| u.balancer == BalancerKind::Rss => "`balancer = \"rss\"`";
        /// Does a receiver find losses by the order of a subflow's packets, which take one path (PFLD)? It is for switches that do
        /// not trim and that hash.
        by_order "rss_finds_losses": bool = false,
            refused |u| u.by_order && u.trimmable => "is for packets that are not trimmed; set `trimmable = false`",
            refused |u| u.by_order && u.sleek => "finds losses already; leave `sleek` out",
            refused |u| u.by_order && u.receiver_credit => "is for senders with a window alone; leave `receiver_credit` out",
            when |u| u.balancer == BalancerKind::Rss => "`balancer = \"rss\"`";
        /// What sets the window. `"nscc"`: NSCC. `"fastflow"`: FASTFLOW, once called SMaRTT. `"dctcp"`: DCTCP.
        /// `"swift"`: Swift. `"strack"`: STrack. `"strack-htsim"`: STrack with the faults of csg-htsim. `"mp-rdma"`: MP-RDMA.
        /// `"constant"`: it stays `first_window`. `"none"`: there is no window, only credit of the receiver.
        sender_law: SenderLaw = SenderLaw::Nscc,
            refused |u| u.sender_law == SenderLaw::None && !u.receiver_credit =>
                "without a window something else must hold senders back; set `receiver_credit = true`",
            refused |u| u.sender_law == SenderLaw::MpRdma && u.subflows > 1 =>
                "\"mp-rdma\" is one window over all paths; leave `subflows` out, or take another",
            refused |u| u.sender_law == SenderLaw::StrackHtsim && u.subflows > 1 =>
                "\"strack-htsim\" is one window; leave `subflows` out, or take another";
        /// The delay below which the fast increase counts bytes ("about zero" in the specification,
        /// without a number).
        zero_delay "nscc_zero_delay": Time = ZERO_DELAY, within Bounds::POSITIVE_SPAN,
            when |u| u.sender_law == SenderLaw::Nscc => "`sender_law = \"nscc\"`";
        /// Packets that the packet of an ACK may be behind the highest that was acknowledged; one that is further behind came
        /// over a slow path, and the window loses a packet (Δ of MP-RDMA).
        mp_rdma_delta: u32 = 32, within Bounds::POSITIVE,
            when |u| u.sender_law == SenderLaw::MpRdma => "`sender_law = \"mp-rdma\"`";
        /// Number of delays, that of the last ACK included, whose median the law hears (MNSCC:
        /// median feedback). 1: the last delay.
        median_of "feedback_median": u32 = 1,
            within Bounds::from(1.0, "must be 1 to 63").to(median::MOST as f64),
            when |u| u.sender_law.hears_delays() => "a law that hears delays, such as `sender_law = \"nscc\"`";
        /// Do senders need credit of the receiver (RCCC)? With `sender_law = "none"` it is EQDS.
        receiver_credit: bool = false,
            refused |u| u.receiver_credit && u.subflows > 1 =>
                "is credit for a connection with one window; leave `subflows` out";
        /// How many times as much the hosts send as the links carry from one tier to the next. Above 1 the receivers of a host grant less credit
        /// while packets come marked, or were trimmed elsewhere than before the last link: at least 0.9 of the rate, divided by this.
        /// Without the key: with `sender_law = "none"` that of the tier where it is most, by distance from hosts in links; else 1.
        oversubscription: Option<f64>, from |_u| None => "of the topology, or `1`",
            within Bounds::from(1.0, "must be at least 1: hosts that send no more than the links above them carry"),
            when |u| u.receiver_credit => "`receiver_credit = true`";
        /// Are losses found by many packets above a gap, and by probes (SLEEK)? It is for switches that do
        /// not trim.
        sleek: bool = false,
            refused |u| u.sleek && u.trimmable => "is for packets that are not trimmed; set `trimmable = false`",
            refused |u| u.sleek && u.sender_law == SenderLaw::None => "goes by the window; set `sender_law`",
            refused |u| u.sleek && u.subflows > 1 =>
                "goes by packets above a gap, which other subflows may cause; leave `subflows` out";
        /// May switches trim its data packets? A port that does not trim, or that finds no room for the
        /// header, drops them.
        trimmable: bool = true;
        /// Bytes on the wire after which a receiver acknowledges, counted from its last ACK; marks,
        /// duplicates, the first data and packets whose sender asks for it are acknowledged at
        /// once.
        ack_bytes: u32 as Bytes, from |u| if goes_by_each_ack(u) { 1 } else { 16_384 } =>
            "by `sender_law` and `balancer`: `\"16384B\"`, or `\"1B\"` with `\"mp-rdma\"` and `\"strack-htsim\"`",
            within Bounds::POSITIVE,
            refused |u| u.ack_bytes > 1 && goes_by_each_ack(u) =>
                "\"mp-rdma\" and \"strack-htsim\" go by the ACK of each packet; leave `ack_bytes` out, or write \"1B\"";

        /// Round-trip time without load between the hosts that are farthest apart. Without the key: a
        /// full packet one way and an ACK the other, between a host that is farthest from the first
        /// one and a host that is farthest from that.
        base_rtt: Option<Time>, from |_u| None => "of the topology", within Bounds::POSITIVE_SPAN;
        /// Rate of all links of a host. Without the key: of the fastest host.
        host_rate: Option<Rate>, from |_u| None => "of the topology", within Bounds::POSITIVE;
        /// The time after which the oldest packet without an answer is sent again; it does not grow.
        /// Without the key: 15 us and the time in which 6 full data queues leave at the rate of a link of a host, those of its class at
        /// the share of its weight; or 100 us if queues have no limit.
        rto: Option<Time>, from |_u| None => "of the queues", within Bounds::POSITIVE_SPAN;
        /// The largest window, in bandwidth-delay products of the flow; of several subflows all windows together.
        most_products "max_window_bdp": f64 = 1.5, within Bounds::POSITIVE;
        /// How much of its law's additive increase a subflow makes. `"amp"`: the share of its window in the sum
        /// of all, so that all together grow as one window does (AMP's increase). `"lia"`: that of RFC 6356, which
        /// heeds round-trip times, too. `"uncoupled"`: all of it, as a connection of its own.
        subflow_coupling: Coupling = Coupling::Amp,
            when |u| u.subflows > 1 && u.sender_law != SenderLaw::Constant =>
                "a law that raises windows and `subflows` above 1";
        /// Does a connection send on subflow 0 alone after all windows were below two packets for
        /// `suppress_after` round-trip times in a row (AMP's suppression of subflows)?
        subflow_suppression: bool = false, when |u| u.subflows > 1 => "`subflows` above 1";
        /// Round-trip times of subflow 0 with all windows below two packets that suppress the others (γ of AMP).
        suppress_after: u32 = 2, within Bounds::POSITIVE, when |u| u.subflow_suppression => "`subflow_suppression = true`";
        /// Round-trip times of subflow 0 in a row that release the others (τ of AMP): its window ends each with two
        /// packets or more, and nothing in it asked for a cut.
        release_after: u32 = 8, within Bounds::POSITIVE, when |u| u.subflow_suppression => "`subflow_suppression = true`";
        /// The first window, bytes on the wire. Without the key: the largest. Several subflows have equal parts of
        /// it. Each window has a full packet at least.
        first_window: Option<Bytes>, from |_u| None => "of `max_window_bdp`", within Bounds::POSITIVE,
            when |u| u.sender_law != SenderLaw::None => "a window, such as that of `sender_law = \"nscc\"`";
    }
    groups {
        /// NSCC, and what STrack has of it.
        nscc: NsccSettings, when |u| matches!(u.sender_law, SenderLaw::Nscc | SenderLaw::Strack) =>
            "`sender_law = \"nscc\"` and `sender_law = \"strack\"`";
        /// STrack.
        strack: StrackSettings, when |u| u.sender_law == SenderLaw::Strack => "`sender_law = \"strack\"`";
        /// STrack of csg-htsim.
        strack_htsim: StrackHtsimSettings, when |u| u.sender_law == SenderLaw::StrackHtsim => "`sender_law = \"strack-htsim\"`";
        /// Swift.
        swift: SwiftSettings, when |u| u.sender_law == SenderLaw::Swift => "`sender_law = \"swift\"`";
    }
    others {
        /// The number of subflows, a common setting.
        subflows: u32 = 1;
    }
}

/// Does each ACK count for a packet, as with MP-RDMA's window and its paths, and with csg-htsim's STrack?
fn goes_by_each_ack(u: &UetSettings) -> bool {
    matches!(u.sender_law, SenderLaw::MpRdma | SenderLaw::StrackHtsim) || u.balancer == BalancerKind::MpRdma
}

/// A timeout for ports without a limit.
const RTO_WITHOUT_LIMIT: Time = Time::from_us(100);
/// The timeout beyond the queues (main_uec.cpp, `_min_rto`), and the number of queues: those of three
/// hops in each of two priorities.
const RTO_BESIDE_QUEUES: Time = Time::from_us(15);
const QUEUES: u64 = 6;

impl Declare for Uet {
    const DECLARATION: Declaration = Declaration {
        name: "uet",
        title: "UET",
        laws: &[Law {
            name: "uet",
            sentence: "Ultra Ethernet transport: packets sprayed by entropy values; NSCC at senders, RCCC at receivers, or both",
            source: "UEC 1.0.3 by uet-htsim",
            heeds_marks: true,
        }],
        keys: Keys::Only(&["mss", "header", "ack_size", "subflows", "paths", "priority"]),
        facts: Facts {
            spread: Spread::Entropies,
            trimming: true,
            returns: false,
            fins: false,
            handshake: false,
            stays_open: true,
            captures: true,
            pulled: false,
            by_kind: true,
            turns: true,
        },
    };
    type Settings = UetSettings;
    type Config = Arc<Config>;

    /// Packets of 4,096 B of payload and 64 B of headers (uec.cpp, `_mss` and `_hdr_size`).
    fn defaults(_: &Law, _: &mut UetSettings, config: &mut Common, wire: &mut WireConfig) {
        *wire = WireConfig { header: 64, ack_size: 64 };
        config.mss = 4_096;
    }

    fn know(own: &mut UetSettings, config: &Common) {
        own.subflows = config.subflows as u32;
    }

    fn complete(own: &mut UetSettings, around: &dyn Fn() -> Surroundings) {
        let around = around();
        own.base_rtt.get_or_insert(around.base_rtt);
        own.host_rate.get_or_insert(around.rate);
        // As main_uec.cpp has it: not beside a window.
        if own.receiver_credit {
            let alone = own.sender_law == SenderLaw::None;
            own.oversubscription.get_or_insert(if alone { around.oversubscription } else { 1.0 });
        }
        own.rto.get_or_insert(
            around
                .queue
                .map_or(RTO_WITHOUT_LIMIT, |bytes| RTO_BESIDE_QUEUES + around.port_rate.time_of(QUEUES * bytes)),
        );
    }

    fn needs_trimming(own: &UetSettings) -> Option<&'static str> {
        own.trimmable.then_some("trimmable")
    }

    fn needs_order(own: &UetSettings) -> Option<&'static str> {
        own.by_order.then_some("rss_finds_losses")
    }

    fn config(own: &UetSettings, config: &Common, wire: WireConfig) -> Arc<Config> {
        let (mss, header) = (config.mss, wire.header as u16);
        let network = Network {
            base_rtt: own.base_rtt.unwrap_or(Time::from_us(12)),
            rate: own.host_rate.unwrap_or(Rate::gbps(100)),
        };
        let rto = own.rto.unwrap_or(RTO_WITHOUT_LIMIT);
        let default_target = NsccConfig::default_target(&network, own.trimmable);
        let mtu = f64::from(mss) + f64::from(header);
        let nscc = NsccConfig {
            zero_delay: own.zero_delay,
            ..NsccConfig::new(own.nscc, mss, header, &network, own.trimmable)
        };
        let spraying = Spraying {
            entropies: (own.entropies / config.subflows as u32) as u16,
            freezing: own.freezing.unwrap_or(if own.trimmable { FREEZING } else { Time::ZERO }),
            base_rtt: network.base_rtt,
            rehash_above: own.rehash_above,
            rehash_after: own.rehash_after,
            flowlet_gap: own.flowlet_gap.unwrap_or(Time(network.base_rtt.0 / 2)),
            flowlet_rest: (own.flowlet_by == FlowletBy::Acks).then_some(rto),
            rss_subflows: own.rss_subflows as u16,
            rss_period: own.rss_period,
            rss_margin: own.rss_margin,
            rss_heeds_timeouts: own.rss_heeds_timeouts,
            mp_rdma_probe: own.mp_rdma_probe,
        };
        Arc::new(Config {
            mss,
            header,
            subflows: config.subflows as u8,
            coupling: own.subflow_coupling,
            suppression: own
                .subflow_suppression
                .then_some(Rounds { suppress: own.suppress_after, release: own.release_after }),
            entropies: own.entropies as u16,
            balancer: own.balancer,
            spraying,
            ack_bytes: own.ack_bytes,
            rto,
            base_rtt: network.base_rtt,
            rate: network.rate,
            most_products: own.most_products,
            first_window: own.first_window.map(|bytes| bytes.0 as f64),
            trimmable: own.trimmable,
            law: own.sender_law,
            median_of: own.median_of as u8,
            credit: own.receiver_credit,
            credit_rules: own
                .oversubscription
                .filter(|ratio| *ratio > 1.0)
                .map(|ratio| CreditRules::new(network.base_rtt, ratio)),
            sleek: own.sleek,
            by_order: own.by_order,
            nacks_lower_rtt: own.nscc.nacks_lower_rtt,
            mp_rdma_delta: own.mp_rdma_delta,
            swift: SwiftTarget::new(own.swift, default_target, network.base_rtt, mtu),
            strack: own.strack,
            strack_htsim: StrackHtsimTarget {
                target: own.strack_htsim.target.unwrap_or(default_target),
                below: own.strack_htsim.below,
                base_rtt: network.base_rtt,
                mtu: u32::from(mss) + u32::from(header),
            },
            nscc,
        })
    }

    fn entropies(config: &Arc<Config>) -> usize {
        config.entropies.into()
    }

    /// An ACK for so many bytes on the wire.
    fn answers(config: &Arc<Config>, _: &Common, _: f64) -> f64 {
        (config.mtu() / f64::from(config.ack_bytes)).min(1.0)
    }

    /// ACKs, NACKs, PULLs, RTS, probes, suppressions and releases.
    fn metrics(_: &Common) -> usize {
        7
    }
}
