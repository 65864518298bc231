//! The family UET: its names, its settings and its facts.

use super::balancer::BalancerKind;
use super::config::{Config, SenderLaw};
use super::median;
use super::nscc::{NsccConfig, NsccSettings};
use super::surroundings::Network;
use crate::config::Config as Common;
use crate::declaration::{Declaration, Declare, Facts, Keys, Law, Spread, Surroundings};
use crate::wire::WireConfig;
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Rate, Time};
use std::sync::Arc;

/// Ultra Ethernet transport.
#[derive(Clone, Copy, Debug)]
pub struct Uet;

settings! {
    /// The settings of UET.
    #[derive(Copy)]
    pub struct UetSettings {
        /// Number of entropy values over which a sender spreads its packets, a power of two. Switches
        /// hash the value of each packet.
        entropies: u32 = 64, within Bounds::from(1.0, "must be 1 to 32768").to(32_768.0),
            refused |u| !u.entropies.is_power_of_two() => "must be a power of two";
        /// How a sender chooses the entropy value of each packet. `"oblivious"`: each value once a
        /// round, in another order each round. `"bitmap"`: the same, but a value that was marked, trimmed
        /// or lost is left out for some rounds. `"reps"`: the value that came back first of the last
        /// eight without a mark, each once; else a random one. `"reps-legacy"`: the same of all that came
        /// back. `"mixed"`: as `"reps-legacy"`, and else as `"bitmap"`.
        balancer: BalancerKind = BalancerKind::Mixed;
        /// What sets the window. `"nscc"`: NSCC. `"fastflow"`: FASTFLOW, once called SMaRTT. `"dctcp"`: DCTCP.
        /// `"constant"`: it stays `first_window`. `"none"`: there is
        /// no window, only credit of the receiver.
        sender_law: SenderLaw = SenderLaw::Nscc,
            refused |u| u.sender_law == SenderLaw::None && !u.receiver_credit =>
                "without a window something else must hold senders back; set `receiver_credit = true`";
        /// The law hears the median of so many delays, that of the last ACK included (MNSCC: median feedback).
        /// 1: the last.
        median_of "feedback_median": u32 = 1,
            within Bounds::from(1.0, "must be 1 to 63").to(median::MOST as f64);
        /// Do senders need credit of the receiver (RCCC)? With `sender_law = "none"` it is EQDS.
        receiver_credit: bool = false;
        /// Are losses found by many packets above a gap, and by probes (SLEEK)? It is for switches that do
        /// not trim.
        sleek: bool = false,
            refused |u| u.sleek && u.trimmable => "is for packets that are not trimmed; set `trimmable = false`",
            refused |u| u.sleek && u.sender_law == SenderLaw::None => "goes by the window; set `sender_law`";
        /// May switches trim its data packets? A port that does not trim, or that finds no room for the
        /// header, drops them.
        trimmable: bool = true;
        /// A receiver acknowledges when so many bytes on the wire have come since its last ACK; marks,
        /// duplicates, the first data and packets whose sender asks for it are acknowledged at once.
        ack_bytes: u32 as Bytes = 16_384, within Bounds::POSITIVE;
        /// Round-trip time without load between the hosts that are farthest apart. Without the key: a
        /// full packet one way and an ACK the other, between a host that is farthest from the first
        /// one and a host that is farthest from that.
        base_rtt: Option<Time>, from |_u| None => "of the topology", within Bounds::POSITIVE_SPAN;
        /// Rate of all links of a host. Without the key: of the fastest host.
        host_rate: Option<Rate>, from |_u| None => "of the topology", within Bounds::POSITIVE;
        /// The time after which the oldest packet without an answer is sent again; it does not grow.
        /// Without the key: 15 us and the time in which 6 full data queues leave at the rate of a host,
        /// or 100 us if queues have no limit.
        rto: Option<Time>, from |_u| None => "of the queues", within Bounds::POSITIVE_SPAN;
        /// The largest window, in bandwidth-delay products of the flow.
        most_products "max_window_bdp": f64 = 1.5, within Bounds::POSITIVE;
        /// The first window, bytes on the wire. Without the key: the largest.
        first_window: Option<Bytes>, from |_u| None => "of `max_window_bdp`", within Bounds::POSITIVE;
    }
    groups {
        /// NSCC.
        nscc: NsccSettings, when |u| u.sender_law == SenderLaw::Nscc => "`sender_law = \"nscc\"`";
    }
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
        keys: Keys::Only(&["mss", "header", "ack_size"]),
        facts: Facts {
            spread: Spread::Entropies,
            trimming: true,
            fins: false,
            handshake: false,
            stays_open: true,
            captures: false,
            pulled: false,
        },
    };
    type Settings = UetSettings;
    type Config = Arc<Config>;

    /// Packets of 4,096 B of payload and 64 B of headers (uec.cpp, `_mss` and `_hdr_size`).
    fn defaults(_: &Law, _: &mut UetSettings, config: &mut Common, wire: &mut WireConfig) {
        *wire = WireConfig { header: 64, ack_size: 64 };
        config.mss = 4_096;
    }

    fn complete(own: &mut UetSettings, around: &dyn Fn() -> Surroundings) {
        let around = around();
        own.base_rtt.get_or_insert(around.base_rtt);
        let rate = *own.host_rate.get_or_insert(around.rate);
        own.rto.get_or_insert(around.queue.map_or(RTO_WITHOUT_LIMIT, |bytes| {
            let bits = u128::from(QUEUES * bytes) * 8_000_000_000_000;
            RTO_BESIDE_QUEUES + Time(bits.div_ceil(u128::from(rate.0)) as u64)
        }));
    }

    fn needs_trimming(own: &UetSettings) -> Option<&'static str> {
        own.trimmable.then_some("trimmable")
    }

    fn config(own: &UetSettings, config: &Common, wire: WireConfig) -> Arc<Config> {
        let (mss, header) = (config.mss, wire.header as u16);
        let network = Network {
            base_rtt: own.base_rtt.unwrap_or(Time::from_us(12)),
            rate: own.host_rate.unwrap_or(Rate::gbps(100)),
        };
        Arc::new(Config {
            mss,
            header,
            entropies: own.entropies as u16,
            balancer: own.balancer,
            ack_bytes: own.ack_bytes,
            rto: own.rto.unwrap_or(RTO_WITHOUT_LIMIT),
            base_rtt: network.base_rtt,
            rate: network.rate,
            most_products: own.most_products,
            first_window: own.first_window.map(|bytes| bytes.0 as f64),
            trimmable: own.trimmable,
            law: own.sender_law,
            median_of: own.median_of as u8,
            credit: own.receiver_credit,
            sleek: own.sleek,
            nacks_lower_rtt: own.nscc.nacks_lower_rtt,
            nscc: NsccConfig::new(own.nscc, mss, header, &network, own.trimmable),
        })
    }

    /// ACKs, NACKs, PULLs, RTS and probes.
    fn metrics(_: &Common) -> usize {
        5
    }
}
