//! PowerTCP: a window by the power of the most loaded link of the path, as switches tell it.

use super::base_window::BaseWindow;
use super::hops::Hops;
use super::{Ack, Path, RateLaw};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};
use std::collections::VecDeque;

settings! {
    /// Parameters of PowerTCP.
    pub struct PowerTcpConfig {
        /// Weight of the new window in the average: gamma, 0.9 (Addanki et al., section 3.3).
        gain "powertcp_gain": f64 = 0.9, within Bounds::GAIN;
        /// The rate that each change of the window adds: beta over the base round-trip time. By default
        /// the rate of the host's link over 10, for ten flows of a host (Addanki et al., section 3.3,
        /// leave the number open).
        additive "powertcp_additive": Option<Rate>, from |_p| None => "of the path", within Bounds::POSITIVE;
        /// The base round-trip time, tau. By default that of a full packet and its ACK on the idle path
        /// of the queue pair.
        base_rtt "powertcp_base_rtt": Option<Time>, from |_p| None => "of the path", within Bounds::POSITIVE_SPAN;
        /// The least rate: 100 Mbit/s (ours; the paper names none).
        least "powertcp_min_rate": Rate = Rate::mbps(100), within Bounds::POSITIVE;
    }
}

/// PowerTCP at the sender (Addanki et al., "PowerTCP: Pushing the performance limits of datacenter
/// networks", NSDI 2022, Algorithm 1).
#[derive(Debug)]
pub struct PowerTcp {
    gain: f64,
    /// tau, and beta.
    base: BaseWindow,
    hops: Hops,
    /// The average of the normalised power. It begins at 1, that of a full link without a queue.
    power: f64,
    window: f64,
    /// The windows with which the packets from `first` on were sent that are not acknowledged.
    windows: VecDeque<f64>,
    first: u32,
}

impl PowerTcp {
    pub(super) fn new(config: PowerTcpConfig, path: Path) -> PowerTcp {
        let additive = config.additive.map_or(path.line.0 as f64 / 10.0, |rate| rate.0 as f64);
        let base = BaseWindow::new(path, config.base_rtt, config.least, additive);
        PowerTcp {
            gain: config.gain,
            base,
            hops: Hops::default(),
            power: 1.0,
            window: base.most,
            windows: VecDeque::new(),
            first: 0,
        }
    }

    /// NormPower: takes in what `ack` says. Returns false if it cannot be compared with an answer
    /// before.
    fn measure(&mut self, ack: &Ack<'_>) -> bool {
        let (mut most, mut time, tau) = (0.0, 0.0, self.base.base_rtt);
        let compared = self.hops.compare(ack.hops, true, |before, now| {
            let (since, line) = (now.since(before), now.line());
            let gradient = (f64::from(now.queue) - f64::from(before.queue)) * 8e12 / since;
            let current = gradient + now.sending_rate(before);
            // Bits: the queue, and the bandwidth-delay product.
            let voltage = f64::from(now.queue) * 8.0 + line * tau / 1e12;
            let normalised = current * voltage / (line * line * tau / 1e12);
            if normalised > most {
                (most, time) = (normalised, since);
            }
        });
        if compared {
            self.power = self.base.averaged(self.power, most, time);
        }
        compared
    }

    /// The window with which packet `psn` was sent last, as far as that is known.
    fn window_of(&self, psn: u32) -> f64 {
        let place = psn.checked_sub(self.first);
        place.and_then(|place| self.windows.get(place as usize)).copied().unwrap_or(self.window)
    }
}

impl RateLaw for PowerTcp {
    /// cwnd/tau.
    fn rate(&self) -> f64 {
        self.base.rate(self.window)
    }

    fn window(&self) -> Option<u64> {
        Some(self.window as u64)
    }

    fn on_sent(&mut self, psn: u32, _bytes: u32) {
        let (place, next) = (psn.wrapping_sub(self.first) as usize, self.windows.len());
        match self.windows.get_mut(place) {
            Some(window) => *window = self.window,
            None if place == next => self.windows.push_back(self.window),
            None => {}
        }
    }

    /// NewAck and UpdateWindow. The first answer is only remembered.
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if self.measure(ack) {
            let old = self.window_of(ack.psn);
            let new = self.gain * (old / self.power + self.base.additive) + (1.0 - self.gain) * self.window;
            self.window = self.base.bounded(new);
        }
        let known = (ack.next.saturating_sub(self.first) as usize).min(self.windows.len());
        self.windows.drain(..known);
        self.first += known as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Hop;
    use super::*;
    use linkpool_settings::{Preset, Settings as _};

    /// At 100 Gbit/s with tau = 10 us: 125,000 B, beta 12,500 B.
    fn power_tcp() -> PowerTcp {
        let path = Path::of(Rate::gbps(100), Time::from_us(10));
        PowerTcp::new(PowerTcpConfig::defaults(Preset::Linux), path)
    }

    fn hop(us: u64, sent: u64, queue: u32) -> Hop {
        Hop { at: Time::from_us(us), sent, rate: Rate::gbps(100), queue, link: 3 }
    }

    fn ack(law: &mut PowerTcp, psn: u32, hops: &[Hop]) {
        law.on_ack(&Ack { psn, next: psn + 1, hops, ..Ack::default() });
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    /// By hand: in 10 us a full link sends 125,000 B, and the queue grows to 25,000 B: current = 20 + 100
    /// Gbit/s, voltage 1.2 BDP, power 1.2 x 1.2 = 1.44. The window becomes 0.9 (125,000/1.44 + 12,500) + 0.1 x
    /// 125,000 = 101,875. In the next 5 us the queue falls to 12,500 B: current = 100 - 20, voltage 1.1: 0.88, and the
    /// average, by half, 1.16. The packet was sent with a window of 125,000 B still.
    #[test]
    fn the_window_goes_by_the_power() {
        let mut law = power_tcp();
        assert_eq!((law.rate(), law.window()), (1e11, Some(125_000)));
        (0..3).for_each(|psn| law.on_sent(psn, 1_000));
        ack(&mut law, 0, &[hop(10, 0, 0)]);
        assert_eq!(law.window(), Some(125_000));
        ack(&mut law, 1, &[hop(20, 125_000, 25_000)]);
        close(law.power, 1.44);
        close(law.window, 101_875.0);
        close(law.rate(), 101_875.0 * 8.0 / 10e-6);
        ack(&mut law, 2, &[hop(25, 187_500, 12_500)]);
        close(law.power, 1.16);
        close(law.window, 0.9 * (125_000.0 / 1.16 + 12_500.0) + 0.1 * 101_875.0);
    }

    /// The window before counts with which the packet was sent last: 3 is sent again with half of it.
    #[test]
    fn each_packet_remembers_its_window() {
        let mut law = power_tcp();
        (0..5).for_each(|psn| law.on_sent(psn, 1_000));
        law.window = 62_500.0;
        law.on_sent(3, 1_000);
        assert_eq!([2, 3, 4].map(|psn| law.window_of(psn)), [125_000.0, 62_500.0, 125_000.0]);
        assert_eq!(law.window_of(9), 62_500.0, "an unknown one");
        law.on_ack(&Ack { psn: 2, next: 3, ..Ack::default() });
        assert_eq!((law.first, law.windows.len()), (3, 2));
        assert_eq!([3, 4].map(|psn| law.window_of(psn)), [62_500.0, 125_000.0]);
        law.on_ack(&Ack { psn: 2, next: 3, ..Ack::default() });
        assert_eq!(law.first, 3);
        law.on_ack(&Ack { psn: 4, next: 5, ..Ack::default() });
        law.on_sent(5, 1_000);
        assert_eq!((law.first, law.window_of(5)), (5, 62_500.0));
    }

    /// The link of most power counts, with its own time; an idle one gives power 0, and the window goes to its bound.
    #[test]
    fn bounds_hold() {
        let mut law = power_tcp();
        let slow = |us, sent| Hop { rate: Rate::gbps(25), link: 4, ..hop(us, sent, 0) };
        ack(&mut law, 0, &[hop(10, 0, 0), slow(11, 0)]);
        ack(&mut law, 1, &[hop(20, 62_500, 0), slow(16, 14_062)]);
        // 90% in half of tau.
        assert!((law.power - 0.95).abs() < 1e-4, "{}", law.power);
        assert_eq!(law.window(), Some(125_000));
        for n in 2..200u64 {
            ack(&mut law, n as u32, &[hop(10 + 10 * n, 125_000 * n, 12_500_000), slow(1 + 10 * n, 31_250 * n)]);
        }
        // 101 times the power of a full link: W = 0.9 (W/101 + 12,500) + W/10.
        close(law.window, 0.9 * 12_500.0 / (0.9 - 0.9 / 101.0));
        law.base.additive = 1.0;
        for n in 200..400u64 {
            ack(&mut law, n as u32, &[hop(10 + 10 * n, 125_000 * n, 12_500_000), slow(1 + 10 * n, 31_250 * n)]);
        }
        assert_eq!(law.window, 125.0);
    }
}
