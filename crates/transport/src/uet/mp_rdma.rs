//! The window of MP-RDMA (Lu et al., "Multi-Path Transport for RDMA in Datacenters", NSDI 2018) as the-sure/htsim has it
//! (`htsim/sim/mprdma.cpp` at 05ccbd0, `MPRdmaSrc::processAck`): each ACK changes it, by its mark and by how far its packet is
//! behind others.

use super::config::Config;
use super::window::{Signal, Window};

/// MP-RDMA of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MpRdma {
    /// The highest PSN that an ACK was about.
    highest: u32,
}

impl MpRdma {
    /// Each ACK counts for a packet, whatever the bytes: with ACKs of each packet this is that program's rule.
    pub(super) fn on_ack(&mut self, signal: &Signal, window: &mut Window, config: &Config) {
        let mtu = config.mtu();
        let packets = window.bytes / mtu;
        let change = if signal.marked { -0.5 } else { window.part / packets };
        window.bytes += change * mtu;
        window.clamp(mtu);
        if let Some(psn) = signal.psn {
            // A packet that is further behind than this came over a slow path, which loses its place in the window.
            // Packets that were sent again are behind for another reason.
            if psn.saturating_add(config.mp_rdma_delta) < self.highest {
                window.bytes -= mtu;
                window.clamp(mtu);
            }
            self.highest = self.highest.max(psn);
        }
    }

    /// A packet of so many bytes was trimmed, or had no answer in time. That program's window is left as it is
    /// then; this is what the artifact of REPS does (tommasobo/REPS_EuroSys_Artifact, `uec.cpp`,
    /// `updateCwndOnNack_MPRDMA`).
    pub(super) fn on_loss(bytes: u64, window: &mut Window, config: &Config) {
        window.bytes -= bytes as f64;
        window.clamp(config.mtu());
    }
}

#[cfg(test)]
mod tests {
    use super::super::declaration::Uet;
    use super::*;
    use crate::declaration::Declare;
    use crate::wire::WireConfig;
    use linkpool_settings::{Preset, Settings};
    use linkpool_units::Time;

    fn config(delta: u32) -> std::sync::Arc<Config> {
        let common = crate::Config::defaults(Preset::Linux);
        let mut own = <Uet as Declare>::Settings::defaults(Preset::Linux);
        own.mp_rdma_delta = delta;
        <Uet as Declare>::config(&own, &common, WireConfig { header: 64, ack_size: 64 })
    }

    /// A window in packets, and what gives it ACKs.
    struct Driven {
        config: std::sync::Arc<Config>,
        law: MpRdma,
        window: Window,
    }

    impl Driven {
        fn new(delta: u32, packets: f64) -> Driven {
            let config = config(delta);
            let mut window = Window::new(Some(packets * config.mtu()), config.rate, Time::from_us(12), 1.5);
            window.most = 1_000.0 * config.mtu();
            Driven { config, law: MpRdma::default(), window }
        }

        /// The window after an ACK.
        fn ack(&mut self, psn: Option<u32>, marked: bool) -> f64 {
            let signal = Signal { now: Time::ZERO, marked, delay: None, bytes: 1, in_flight: 0, psn };
            self.law.on_ack(&signal, &mut self.window, &self.config);
            self.window.bytes / self.config.mtu()
        }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    /// By hand: 10 packets grow by a tenth, then by 1 in 10.1, shrink by half a packet for each mark, and never below one;
    /// nor do they grow beyond the bound.
    #[test]
    fn each_ack_changes_the_window() {
        let mut driven = Driven::new(32, 10.0);
        assert!(near(driven.ack(Some(0), false), 10.1));
        let grown = 10.1 + 1.0 / 10.1;
        assert!(near(driven.ack(Some(1), false), grown));
        assert!(near(driven.ack(Some(2), true), grown - 0.5));
        assert!(near(driven.ack(Some(3), true), grown - 1.0));
        (0..40).for_each(|psn| _ = driven.ack(Some(psn), true));
        assert!(near(driven.ack(Some(41), true), 1.0));
        assert!(near(driven.ack(Some(42), false), 2.0));
        driven.window.bytes = driven.window.most;
        assert!(near(driven.ack(Some(43), false), 1_000.0));
        (driven.window.bytes, driven.window.part) = (10.0 * driven.config.mtu(), 0.5);
        assert!(near(driven.ack(Some(44), false), 10.05));
    }

    /// By hand, with a bound of 3: behind packet 10 packet 7 is in time, packet 6 is late and costs a packet beside what its
    /// mark does. One that was sent again is not looked at.
    #[test]
    fn a_late_packet_costs_a_packet() {
        let late = |psn, marked| {
            let mut driven = Driven::new(3, 10.0);
            driven.ack(Some(10), false);
            driven.window.bytes = 10.0 * driven.config.mtu();
            driven.ack(psn, marked)
        };
        assert!(near(late(Some(7), false), 10.1));
        assert!(near(late(Some(6), false), 9.1));
        assert!(near(late(Some(6), true), 8.5));
        assert!(near(late(None, false), 10.1));
        // A late packet does not lower the highest.
        let mut driven = Driven::new(3, 10.0);
        [10, 6].into_iter().for_each(|psn| _ = driven.ack(Some(psn), false));
        driven.window.bytes = 10.0 * driven.config.mtu();
        assert!(near(driven.ack(Some(6), false), 9.1));
        driven.window.bytes = driven.config.mtu() * 1.2;
        assert!(near(driven.ack(Some(6), true), 1.0), "a packet is left");
    }

    /// With one mark in n ACKs a cycle adds (n - 1)/w and takes half a packet: the window settles at 2 (n - 1).
    #[test]
    fn the_window_settles_where_marks_hold_it() {
        for n in [5, 20, 50] {
            let mut driven = Driven::new(32, 10.0);
            let mut last = 0.0;
            for _ in 0..4_000 {
                let cycle: f64 = (0..n).map(|i| driven.ack(None, i == 0)).sum();
                last = cycle / f64::from(n);
            }
            let by_analysis = 2.0 * f64::from(n - 1);
            assert!((last - by_analysis).abs() < 0.5, "{n}: {last}, not {by_analysis}");
        }
    }

    #[test]
    fn a_loss_costs_its_bytes() {
        let mut driven = Driven::new(32, 10.0);
        MpRdma::on_loss(1_000, &mut driven.window, &driven.config);
        assert_eq!(driven.window.bytes, 10.0 * driven.config.mtu() - 1_000.0);
        MpRdma::on_loss(1 << 30, &mut driven.window, &driven.config);
        assert_eq!(driven.window.bytes, driven.config.mtu());
    }
}
