//! The window of a sender, and what its law is told.

use linkpool_units::{Rate, Time};

/// The congestion window of a sender with its bounds, in bytes on the wire.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// The window.
    pub bytes: f64,
    /// The most that it may be: a multiple of the bandwidth-delay product of the flow. With several subflows an equal
    /// part of that.
    pub most: f64,
    /// What it may be above that, as the windows of other subflows are below theirs; negative if they are above.
    pub spare: f64,
    /// The part of an additive increase that is made, as other subflows make the rest.
    pub part: f64,
    /// The least round-trip time of the flow; at its start that of the network.
    pub base_rtt: Time,
}

/// What an ACK tells a law.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Signal {
    /// The time of its arrival.
    pub now: Time,
    /// The packet that caused it had a mark.
    pub marked: bool,
    /// The delay of that packet above the least round-trip time; none without a valid sample.
    pub delay: Option<Time>,
    /// Bytes on the wire that have arrived since the last ACK.
    pub bytes: u64,
    /// Bytes on the wire in flight after it.
    pub in_flight: i64,
    /// The packet that caused it, if that was sent once.
    pub psn: Option<u32>,
}

/// The bytes that a link of `rate` carries in `time`.
pub(super) fn product(rate: Rate, time: Time) -> f64 {
    rate.0 as f64 / 8.0 * time.secs()
}

impl Window {
    /// A window of `bytes` for a flow over links of `rate`, with at most `factor` bandwidth-delay
    /// products.
    pub fn new(bytes: Option<f64>, rate: Rate, base_rtt: Time, factor: f64) -> Window {
        let most = factor * product(rate, base_rtt);
        Window { bytes: bytes.unwrap_or(most), most, spare: 0.0, part: 1.0, base_rtt }
    }

    /// A round-trip time was measured: a lower one than any before lowers the bound (uec.cpp,
    /// `update_base_rtt`). The window itself follows at the next ACK.
    pub fn measured(&mut self, rtt: Time, rate: Rate, factor: f64) {
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
            self.most = factor * product(rate, rtt);
        }
    }

    /// Keeps the window between `least` and its bound. `least`, a full packet, counts more: with a smaller
    /// window nothing would be sent (in uet-htsim the bound counts more).
    pub fn clamp(&mut self, least: f64) {
        self.bytes = self.bytes.min(self.most + self.spare).max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 Gb/s for 14 us are 175,000 B, of which the bound is 1.5 times; 12 us make it 225,000 B.
    #[test]
    fn the_bound_follows_the_least_round_trip_time() {
        let rate = Rate::gbps(100);
        let mut window = Window::new(None, rate, Time::from_us(14), 1.5);
        assert_eq!((window.bytes, window.most), (262_500.0, 262_500.0));
        window.measured(Time::from_us(20), rate, 1.5);
        assert_eq!((window.base_rtt, window.most), (Time::from_us(14), 262_500.0));
        window.measured(Time::from_us(12), rate, 1.5);
        assert_eq!((window.base_rtt, window.bytes, window.most), (Time::from_us(12), 262_500.0, 225_000.0));
        window.clamp(4_160.0);
        assert_eq!(window.bytes, 225_000.0);
        window.bytes = 17.0;
        window.clamp(4_160.0);
        assert_eq!(window.bytes, 4_160.0);
        window.measured(Time::from_ns(100), rate, 1.5);
        window.clamp(4_160.0);
        assert_eq!((window.bytes, window.most), (4_160.0, 1_875.0));
    }
}
