//! The family RoCE: its names, its settings and its facts.

use super::config::{CnpForm, Config, Retransmission, Window};
use super::law::{DcqcnConfig, HpccConfig, LawConfig, PintConfig, PowerTcpConfig, TargetWindowConfig, TimelyConfig};
use crate::config::Config as Common;
use crate::control::{Algorithm, ControlConfig};
use crate::declaration::{Declaration, Declare, DigestForm, Facts, Keys, Law, Spread, Surroundings, Telemetry};
use crate::wire::WireConfig;
use linkpool_settings::{Bounds, OfLaws, Preset, Settings, Visit, settings};
use linkpool_units::Time;
use std::sync::Arc;

/// RoCE.
#[derive(Clone, Copy, Debug)]
pub struct Roce;

const PLAIN: Law = Law {
    name: "roce",
    sentence: "RoCEv2 without congestion control: each queue pair sends at the rate of its host's link",
    source: "InfiniBand Architecture Specification, annex A17",
    heeds_marks: false,
};
const DCQCN: Law = Law {
    name: "dcqcn",
    sentence: "RoCEv2; notifications of marks cut the rate, timers and bytes raise it",
    source: "Zhu et al., SIGCOMM 2015",
    heeds_marks: true,
};
const DCQCN_HPCC: Law = Law {
    name: "dcqcn-hpcc",
    sentence: "the same with the defaults of HPCC's public simulator: marks on ACKs, a window, no byte counter",
    source: "Li et al., SIGCOMM 2019, public ns-3 code",
    heeds_marks: true,
};

const TIMELY: Law = Law {
    name: "timely",
    sentence: "RoCEv2; the rate follows the slope of the round-trip time",
    source: "Mittal et al., SIGCOMM 2015",
    heeds_marks: false,
};

const HPCC: Law = Law {
    name: "hpcc",
    sentence: "RoCEv2; switches write on packets how loaded they are, and the window goes by the most utilised link",
    source: "Li et al., SIGCOMM 2019",
    heeds_marks: false,
};
const POWER_TCP: Law = Law {
    name: "powertcp",
    sentence: "the same telemetry; the window goes by the power of the link, the rate of its queue's growth included",
    source: "Addanki et al., NSDI 2022",
    heeds_marks: false,
};
const HPCC_PINT: Law = Law {
    name: "hpcc-pint",
    sentence: "HPCC; a packet brings one digest of the most utilised link in place of a record of each switch (PINT)",
    source: "Ben Basat et al., SIGCOMM 2020, HPCC's public ns-3 code",
    heeds_marks: false,
};

const DCTCP: Law = Law {
    name: "roce-dctcp",
    sentence: "RoCEv2 with a window: DCTCP, by the marks that ACKs tell of",
    source: "RFC 8257",
    heeds_marks: true,
};
const SWIFT: Law = Law {
    name: "roce-swift",
    sentence: "RoCEv2 with a window: Swift, by the round-trip time of each packet, pacing below one packet",
    source: "Kumar et al., SIGCOMM 2020",
    heeds_marks: false,
};

/// The laws that are algorithms of TCP, on the window of a queue pair.
const WINDOWED: &[(&str, Algorithm)] = &[(DCTCP.name, Algorithm::Dctcp), (SWIFT.name, Algorithm::Swift)];

/// The bytes of records in a packet: 42 B, five hops and a count (Li et al., section 4.1;
/// `IntHeader::GetStaticSize` of HPCC's repository), in data and in answers.
const RECORDS: u32 = 42;

/// Those of a digest, whatever its bits (`IntHeader::GetStaticSize`).
const DIGEST: u32 = 2;

/// The laws for which switches write records on packets.
const TOLD: &[&str] = &[HPCC.name, POWER_TCP.name];

/// The laws with HPCC's window.
const HPCCS: &[&str] = &[HPCC.name, HPCC_PINT.name];

/// The laws of DCQCN, and all that change the rate.
const DCQCNS: &[&str] = &[DCQCN.name, DCQCN_HPCC.name];
const CHANGING: &[&str] = &[DCQCN.name, DCQCN_HPCC.name, TIMELY.name];

settings! {
    /// The settings of queue pairs.
    #[derive(Copy)]
    pub struct QueuePairs {
        /// How lost packets are sent again. `"go-back-n"`: from the first missing packet on, all
        /// (InfiniBand, section 9.7.5). `"selective"`: those that are missing (IRN, section 3.1).
        retransmission: Retransmission = Retransmission::GoBackN;
        /// Packets beyond the first missing one that a receiver keeps, and acknowledges without a NACK:
        /// 0, or for example 64 where packets take several paths. A loss among them is found when a
        /// packet beyond comes, or by the timeout.
        reorder_window: u32 = 0, when |c| c.retransmission == Retransmission::GoBackN => "`retransmission = \"go-back-n\"`";
        /// Least time between two NACKs for the same missing packet: 500 us (`NACK_INTERVAL` of HPCC's
        /// repository).
        nack_interval: Time = Time::from_us(500), within Bounds::SPAN,
            when |c| c.retransmission == Retransmission::GoBackN => "`retransmission = \"go-back-n\"`";
        /// Payload that a queue pair may have in flight: a size, `"bdp"` (the rate of its host's link
        /// times the round-trip time of the idle path with a full packet and its ACK; `HAS_WIN 1` of
        /// HPCC's repository, which takes the largest of all paths), or `"unlimited"` (adapters). A
        /// packet may go while less is in flight.
        window: Window = Window::Unlimited,
            refused |c| c.window == Window::Bytes(0) => "must be above zero";
    }
}

settings! {
    /// What a law of marks has beside its own parameters.
    #[derive(Copy)]
    pub struct Notifications {
        /// How a receiver tells the sender of marks. `"packet"`: with a packet of its own, at most one
        /// in `cnp_interval` (Zhu et al., section 3.1). `"ack"`: with a bit on the ACK of each marked
        /// packet (HPCC's repository).
        cnp: CnpForm = CnpForm::Packet;
        /// Least time between two congestion notification packets: 50 us (Zhu et al., section 3.1).
        cnp_interval: Time = Time::from_us(50), within Bounds::SPAN, when |c| c.cnp == CnpForm::Packet => "`cnp = \"packet\"`";
    }
}

settings! {
    /// What a law that changes the rate has beside its own parameters.
    #[derive(Copy)]
    pub struct RateWindow {
        /// Does the window shrink as the rate does (`VAR_WIN 1` of HPCC's repository)? It is then
        /// `window` times the rate, over that of the host's link.
        window_by_rate: bool = false;
    }
}

/// The settings of RoCE.
#[derive(Clone, Debug, PartialEq)]
pub struct RoceSettings {
    /// The value of `control`.
    law: &'static str,
    /// Those of queue pairs.
    pub queue_pairs: QueuePairs,
    /// Those of laws of marks.
    pub notifications: Notifications,
    /// Those of laws that change the rate.
    pub rate_window: RateWindow,
    /// The parameters of DCQCN.
    pub dcqcn: DcqcnConfig,
    /// The parameters of TIMELY.
    pub timely: TimelyConfig,
    /// The parameters of HPCC's window.
    pub target_window: TargetWindowConfig,
    /// Those of what HPCC measures.
    pub hpcc: HpccConfig,
    /// Those of digests.
    pub pint: PintConfig,
    /// The parameters of PowerTCP.
    pub power_tcp: PowerTcpConfig,
}

impl Settings for RoceSettings {
    fn defaults(preset: Preset) -> RoceSettings {
        RoceSettings {
            law: PLAIN.name,
            queue_pairs: Settings::defaults(preset),
            notifications: Settings::defaults(preset),
            rate_window: Settings::defaults(preset),
            dcqcn: Settings::defaults(preset),
            timely: Settings::defaults(preset),
            target_window: Settings::defaults(preset),
            hpcc: Settings::defaults(preset),
            pint: Settings::defaults(preset),
            power_tcp: Settings::defaults(preset),
        }
    }

    fn each<V: Visit>(&mut self, visit: &mut V) {
        self.queue_pairs.each(visit);
        self.notifications.each(&mut OfLaws { visit: &mut *visit, laws: DCQCNS });
        self.rate_window.each(&mut OfLaws { visit: &mut *visit, laws: CHANGING });
        self.dcqcn.each(&mut OfLaws { visit: &mut *visit, laws: DCQCNS });
        self.timely.each(&mut OfLaws { visit: &mut *visit, laws: &[TIMELY.name] });
        self.target_window.each(&mut OfLaws { visit: &mut *visit, laws: HPCCS });
        self.hpcc.each(&mut OfLaws { visit: &mut *visit, laws: &[HPCC.name] });
        self.pint.each(&mut OfLaws { visit: &mut *visit, laws: &[HPCC_PINT.name] });
        self.power_tcp.each(&mut OfLaws { visit, laws: &[POWER_TCP.name] });
    }
}

impl Declare for Roce {
    const DECLARATION: Declaration = Declaration {
        name: "roce",
        title: "RoCE",
        laws: &[PLAIN, DCQCN, DCQCN_HPCC, TIMELY, HPCC, POWER_TCP, HPCC_PINT, DCTCP, SWIFT],
        keys: Keys::Only(&[
            "mss",
            "min_rto",
            "fail_after",
            "header",
            "ack_size",
            "paths",
            "priority",
            // Of DCTCP and of Swift.
            "alpha0",
            "g",
            "ack_order",
            "cwnd_min",
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
        ]),
        facts: Facts {
            spread: Spread::No,
            trimming: false,
            returns: false,
            fins: false,
            handshake: false,
            stays_open: true,
            captures: true,
            pulled: false,
            by_kind: false,
            turns: true,
        },
    };
    type Settings = RoceSettings;
    type Config = Arc<Config>;

    /// Payload of 1,024 B, the largest of InfiniBand's sizes that an Ethernet frame of 1,500 B holds
    /// (section 5.2.6 and annex A16). Ethernet with preamble and gap 38, IPv4 20, UDP 8, BTH 12, ICRC 4; an
    /// ACK has an AETH of 4, too (annex A17.3). A timeout of 4.194304 ms, which is 4.096 us x 2^10 (section
    /// 9.9.2.4.1; the exponent is ours), seven retries, the most of its 3 bits.
    /// With records of switches both are 42 B longer, with a digest 2 B.
    fn defaults(law: &Law, own: &mut RoceSettings, config: &mut Common, wire: &mut WireConfig) {
        *wire = WireConfig { header: 82, ack_size: 86 };
        (config.mss, config.rtt.min_rto, config.fail_after) = (1_024, Time::from_ns(4_194_304), 8);
        own.law = law.name;
        if let Some((_, algorithm)) = WINDOWED.iter().find(|(name, _)| *name == law.name) {
            config.control = ControlConfig::of(*algorithm, Preset::Linux);
        }
        let telemetry = match law.name {
            name if TOLD.contains(&name) => RECORDS,
            name if name == HPCC_PINT.name => DIGEST,
            _ => 0,
        };
        *wire = WireConfig { header: wire.header + telemetry, ack_size: wire.ack_size + telemetry };
        if law.name == DCQCN_HPCC.name {
            own.queue_pairs.window = Window::Bdp;
            own.notifications.cnp = CnpForm::Ack;
            own.rate_window.window_by_rate = true;
            own.dcqcn.hpcc();
        }
    }

    fn config(own: &RoceSettings, config: &Common, wire: WireConfig) -> Arc<Config> {
        let (pairs, notifications, marks) = (own.queue_pairs, own.notifications, DCQCNS.contains(&own.law));
        let windowed = WINDOWED.iter().any(|(name, _)| *name == own.law);
        // RFC 8257, section 3.2, with an ACK for each packet.
        let told_by_acks = (windowed && config.control.heeds_marks()).then_some(CnpForm::Ack);
        Arc::new(Config {
            mss: config.mss,
            header: wire.header,
            rto: config.rtt.min_rto,
            fail_after: config.fail_after,
            retransmission: pairs.retransmission,
            reorder_window: pairs.reorder_window,
            nack_interval: pairs.nack_interval,
            window: pairs.window,
            window_by_rate: CHANGING.contains(&own.law) && own.rate_window.window_by_rate,
            cnp: marks.then_some(notifications.cnp).or(told_by_acks),
            cnp_interval: notifications.cnp_interval,
            telemetry: Roce::telemetry(own),
            sampled: own.pint.probability,
            law: match own.law {
                law if law == TIMELY.name => LawConfig::Timely(own.timely.clone()),
                law if law == HPCC.name => LawConfig::Hpcc((own.target_window.clone(), own.hpcc.clone())),
                law if law == HPCC_PINT.name => LawConfig::HpccPint((own.target_window.clone(), own.pint.clone())),
                law if law == POWER_TCP.name => LawConfig::PowerTcp(own.power_tcp.clone()),
                _ if marks => LawConfig::Dcqcn(own.dcqcn.clone()),
                _ if windowed => LawConfig::Windowed(config.control.clone()),
                _ => LawConfig::Line,
            },
        })
    }

    fn complete(own: &mut RoceSettings, around: &dyn Fn() -> Surroundings) {
        if own.law == HPCC_PINT.name {
            own.pint.base_rtt.get_or_insert_with(|| around().base_rtt);
        }
    }

    fn telemetry(own: &RoceSettings) -> Option<Telemetry> {
        let pint = &own.pint;
        match own.law {
            law if TOLD.contains(&law) => Some(Telemetry::Records),
            law if law == HPCC_PINT.name => Some(Telemetry::Digest(DigestForm {
                base: pint.base,
                bits: pint.bits(),
                base_rtt: pint.base_rtt.unwrap_or_default(),
            })),
            _ => None,
        }
    }

    /// NACKs, notifications of congestion, and the rate at the end.
    fn metrics(_: &Common) -> usize {
        3
    }
}
