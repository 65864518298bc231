//! DCTCP on the window of a UET sender (RFC 8257): the share of marked bytes in a window cuts it once.

use super::config::Config;
use super::window::{Signal, Window};

/// Gain of the share (section 3.3, g).
const GAIN: f64 = 1.0 / 16.0;

/// DCTCP of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dctcp {
    /// The share of marked bytes (section 3.3; 1 at first).
    alpha: f64,
    /// Bytes acknowledged and marked in this window.
    acked: u64,
    marked: u64,
    /// Bytes that end this window.
    end: i64,
    /// The window was cut in this window of data.
    cut: bool,
}

impl Dctcp {
    pub(super) fn new() -> Dctcp {
        Dctcp { alpha: 1.0, acked: 0, marked: 0, end: 0, cut: false }
    }

    pub(super) fn on_ack(&mut self, signal: &Signal, window: &mut Window, config: &Config) {
        let mtu = config.mtu();
        self.acked += signal.bytes;
        self.marked += if signal.marked { signal.bytes } else { 0 };
        if signal.marked && !self.cut {
            // Section 3.3, step 9; once a window (RFC 3168, section 6.1.2).
            (window.bytes, self.cut) = (window.bytes * (1.0 - self.alpha / 2.0), true);
        } else if !signal.marked {
            // A packet in a window (RFC 5681, section 3.1).
            window.bytes += window.part * (mtu * signal.bytes as f64 / window.bytes);
        }
        window.clamp(mtu);
        if self.acked as i64 > self.end {
            let share = self.marked as f64 / self.acked.max(1) as f64;
            self.alpha += GAIN * (share - self.alpha);
            *self = Dctcp { alpha: self.alpha, acked: 0, marked: 0, end: signal.in_flight.max(0), cut: false };
        }
    }

    /// A packet of so many bytes was trimmed, or had no answer in time.
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

    /// A window of 100,000 B; ACKs of 10,000 B each, ten a window.
    #[test]
    fn the_share_of_marks_cuts_once_a_window() {
        let common = crate::Config::defaults(Preset::Linux);
        let own = <Uet as Declare>::Settings::defaults(Preset::Linux);
        let config = <Uet as Declare>::config(&own, &common, WireConfig { header: 64, ack_size: 64 });
        let mut window = Window::new(Some(100_000.0), config.rate, Time::from_us(12), 1.5);
        let mut dctcp = Dctcp::new();
        let mut ack = |window: &mut Window, marked| {
            let signal = Signal { now: Time::ZERO, marked, delay: None, bytes: 10_000, in_flight: 95_000, psn: None };
            dctcp.on_ack(&signal, window, &config);
            dctcp.alpha
        };
        // The first ACK ends the window before it: alpha stays 1.
        assert_eq!((ack(&mut window, true), window.bytes), (1.0, 50_000.0));
        assert_eq!((ack(&mut window, true), window.bytes), (1.0, 25_000.0));
        assert_eq!((ack(&mut window, true), window.bytes), (1.0, 25_000.0), "once a window");
        assert_eq!(ack(&mut window, false), 1.0);
        assert_eq!(window.bytes, 25_000.0 + config.mtu() * 0.4);
        (0..6).for_each(|_| assert_eq!(ack(&mut window, false), 1.0));
        let alpha = ack(&mut window, false);
        assert!((alpha - (1.0 - 0.8 / 16.0)).abs() < 1e-9, "two of ten were marked: {alpha}");
        let before = window.bytes;
        ack(&mut window, true);
        assert!((window.bytes - before * (1.0 - alpha / 2.0)).abs() < 1e-6);
        (window.bytes, window.part) = (100_000.0, 0.25);
        ack(&mut window, false);
        assert_eq!(window.bytes, 100_000.0 + config.mtu() * 0.1 * 0.25, "one of several subflows");
        window.bytes = 100_000.0;
        Dctcp::on_loss(1_000, &mut window, &config);
        assert_eq!(window.bytes, 99_000.0);
    }
}
