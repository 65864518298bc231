//! The law of a window.

use super::config::{Config, SenderLaw};
use super::dctcp::Dctcp;
use super::fastflow::Fastflow;
use super::median::Median;
use super::mp_rdma::MpRdma;
use super::nscc::Nscc;
use super::strack::Strack;
use super::strack_htsim::StrackHtsim;
use super::swift::Swift;
use super::window::{Signal, Window};
use linkpool_units::Time;

/// The law of one window.
#[derive(Clone, Debug)]
pub(super) struct Law {
    rules: Rules,
    /// The delays of which it hears the median, if it is not the last.
    median: Option<Box<Median>>,
}

#[derive(Clone, Debug)]
enum Rules {
    Nscc(Nscc),
    Fastflow(Fastflow),
    Dctcp(Dctcp),
    Swift(Swift),
    Strack(Strack),
    StrackHtsim(StrackHtsim),
    MpRdma(MpRdma),
    Constant,
    None,
}

impl Law {
    /// The law of a sender that starts now.
    pub(super) fn new(config: &Config, now: Time) -> Law {
        let rules = match config.law {
            SenderLaw::Nscc => Rules::Nscc(Nscc::new(now)),
            SenderLaw::Fastflow => Rules::Fastflow(Fastflow::new(now)),
            SenderLaw::Dctcp => Rules::Dctcp(Dctcp::new()),
            SenderLaw::Swift => Rules::Swift(Swift::default()),
            SenderLaw::Strack => Rules::Strack(Strack::new(now)),
            SenderLaw::StrackHtsim => Rules::StrackHtsim(StrackHtsim::default()),
            SenderLaw::MpRdma => Rules::MpRdma(MpRdma::default()),
            SenderLaw::Constant => Rules::Constant,
            SenderLaw::None => Rules::None,
        };
        Law { rules, median: (config.median_of > 1).then(|| Box::new(Median::new(config.median_of))) }
    }

    /// Is there a window?
    pub(super) fn has_window(&self) -> bool {
        !matches!(self.rules, Rules::None)
    }

    /// When a packet is due whatever is in flight, of a law that paces windows below a packet.
    pub(super) fn due(&self) -> Option<Time> {
        match &self.rules {
            Rules::StrackHtsim(strack) => strack.due(),
            _ => None,
        }
    }

    /// A packet has been sent.
    #[inline]
    pub(super) fn on_send(&mut self, now: Time, config: &Config) {
        if let Rules::StrackHtsim(strack) = &mut self.rules {
            strack.on_send(now, &config.strack_htsim);
        }
    }

    /// Does an ACK ask for a cut of the window, be it made or not?
    pub(super) fn asks_for_cut(&self, signal: &Signal, window: &Window, config: &Config) -> bool {
        match &self.rules {
            Rules::Nscc(nscc) => nscc.asks_for_cut(signal, &config.nscc),
            Rules::Swift(_) => Swift::asks_for_cut(signal, window, &config.swift),
            Rules::Strack(strack) => strack.asks_for_cut(signal, &config.nscc, &config.strack),
            Rules::Fastflow(_)
            | Rules::Dctcp(_)
            | Rules::StrackHtsim(_)
            | Rules::MpRdma(_)
            | Rules::Constant
            | Rules::None => signal.marked,
        }
    }

    #[inline]
    pub(super) fn on_ack(&mut self, mut signal: Signal, window: &mut Window, config: &Config) {
        if let (Some(median), Some(delay)) = (&mut self.median, signal.delay) {
            signal.delay = Some(median.of(delay));
        }
        match &mut self.rules {
            Rules::Nscc(nscc) => nscc.on_ack(&signal, window, &config.nscc),
            Rules::Fastflow(fastflow) => fastflow.on_ack(&signal, window, config),
            Rules::Dctcp(dctcp) => dctcp.on_ack(&signal, window, config),
            Rules::Swift(swift) => swift.on_ack(&signal, window, &config.swift),
            Rules::Strack(strack) => strack.on_ack(&signal, window, &config.nscc, &config.strack),
            Rules::StrackHtsim(strack) => strack.on_ack(&signal, window, &config.strack_htsim),
            Rules::MpRdma(mp_rdma) => mp_rdma.on_ack(&signal, window, config),
            Rules::Constant | Rules::None => {}
        }
    }

    /// The answer to a trimmed packet of so many bytes has come; it was trimmed before the last link, or another.
    pub(super) fn on_nack(
        &mut self,
        (bytes, at_last): (u64, bool),
        signal: &Signal,
        window: &mut Window,
        config: &Config,
    ) {
        // Where receivers grant credit, that holds for their links (`!_receiver_based_cc || !last_hop`).
        let lost = (bytes, config.credit && at_last);
        match &mut self.rules {
            Rules::Nscc(nscc) => nscc.on_nack(lost, signal, window, &config.nscc),
            Rules::Strack(strack) => strack.on_nack(lost, signal, window, &config.nscc),
            Rules::Swift(swift) => swift.on_nack(signal.now, window, &config.swift),
            Rules::StrackHtsim(strack) => strack.on_nack(signal.now, window, &config.strack_htsim),
            _ => self.on_loss(bytes, window, config),
        }
    }

    /// A timeout has declared so many bytes lost.
    pub(super) fn on_timeout(&mut self, bytes: u64, now: Time, window: &mut Window, config: &Config) {
        match &mut self.rules {
            Rules::Nscc(nscc) => nscc.on_timeout(bytes, window, &config.nscc),
            Rules::Strack(strack) => strack.on_timeout(bytes, window, &config.nscc),
            Rules::Swift(swift) => swift.on_timeout(now, window, &config.swift),
            Rules::StrackHtsim(strack) => strack.on_timeout(now, window, &config.strack_htsim),
            _ => self.on_loss(bytes, window, config),
        }
    }

    fn on_loss(&mut self, bytes: u64, window: &mut Window, config: &Config) {
        match &mut self.rules {
            Rules::Fastflow(fastflow) => fastflow.on_loss(bytes, window, config),
            Rules::Dctcp(_) => Dctcp::on_loss(bytes, window, config),
            Rules::MpRdma(_) => MpRdma::on_loss(bytes, window, config),
            Rules::Nscc(_)
            | Rules::Strack(_)
            | Rules::Swift(_)
            | Rules::StrackHtsim(_)
            | Rules::Constant
            | Rules::None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::declaration::Uet;
    use super::*;
    use crate::declaration::Declare;
    use crate::wire::WireConfig;
    use linkpool_settings::{Preset, Settings};

    const LAWS: [SenderLaw; 9] = [
        SenderLaw::Nscc,
        SenderLaw::Fastflow,
        SenderLaw::Dctcp,
        SenderLaw::Swift,
        SenderLaw::Strack,
        SenderLaw::StrackHtsim,
        SenderLaw::MpRdma,
        SenderLaw::Constant,
        SenderLaw::None,
    ];

    /// Packets of 4,096 + 64 B, 100 Gb/s and 12 us, and so targets of 9 us of queueing.
    fn config(law: SenderLaw) -> Config {
        let common = crate::Config { mss: 4_096, ..crate::Config::defaults(Preset::Linux) };
        let own = <Uet as Declare>::Settings::defaults(Preset::Linux);
        let config = <Uet as Declare>::config(&own, &common, WireConfig { header: 64, ack_size: 64 });
        Config { law, median_of: 1, credit: false, ..(*config).clone() }
    }

    fn window() -> Window {
        Window::new(Some(100.0 * 4_160.0), config(SenderLaw::None).rate, Time::from_us(12), 10.0)
    }

    fn signal(marked: bool, ns: Option<u64>) -> Signal {
        let delay = ns.map(Time::from_ns);
        Signal { now: Time::from_us(1), marked, delay, bytes: 4_160, in_flight: 400_000, psn: None }
    }

    /// The packets by which a window of 100 shrinks.
    fn cut(law: SenderLaw, credit: bool, lose: impl Fn(&mut Law, &mut Window, &Config)) -> f64 {
        let config = Config { credit, ..config(law) };
        let (mut law, mut window) = (Law::new(&config, Time::ZERO), window());
        lose(&mut law, &mut window, &config);
        100.0 - window.bytes / 4_160.0
    }

    /// Each law loses the packet, Swift and csg-htsim's STrack half of their window, and a constant window nothing.
    #[test]
    fn each_law_answers_a_loss() {
        let expected = [1.0, 1.0, 1.0, 50.0, 1.0, 50.0, 1.0, 0.0, 0.0];
        let trims = LAWS.map(|law| {
            cut(law, false, |law, window, c| law.on_nack((4_160, true), &signal(true, None), window, c)).round()
        });
        assert_eq!(trims, expected);
        let timeouts = LAWS
            .map(|law| cut(law, false, |law, window, c| law.on_timeout(4_160, Time::from_us(1), window, c)).round());
        assert_eq!(timeouts, expected);
    }

    /// Where receivers grant credit, NSCC and STrack leave trims before the last link to them, and no others.
    #[test]
    fn with_credit_nscc_spares_trims_at_the_last_link() {
        for law in [SenderLaw::Nscc, SenderLaw::Strack] {
            let trim = |credit, at_last| {
                cut(law, credit, |law, window, c| law.on_nack((4_160, at_last), &signal(true, None), window, c)).round()
            };
            let cuts = [(false, false), (false, true), (true, false), (true, true)].map(|(c, last)| trim(c, last));
            assert_eq!(cuts, [1.0, 1.0, 1.0, 0.0], "{law:?}");
        }
    }

    /// NSCC asks for a cut at its target with a mark, STrack above it, Swift at its target with or without, all others
    /// with a mark.
    #[test]
    fn a_mark_or_a_delay_asks_for_a_cut() {
        let signals =
            [(false, 8_999), (true, 8_999), (false, 9_000), (true, 9_000)].map(|(marked, ns)| signal(marked, Some(ns)));
        for law in LAWS {
            let config = config(law);
            let asks = signals.map(|signal| Law::new(&config, Time::ZERO).asks_for_cut(&signal, &window(), &config));
            let expected = match law {
                SenderLaw::Nscc => [false, false, false, true],
                SenderLaw::Strack => [false; 4],
                SenderLaw::Swift => [false, false, true, true],
                _ => [false, true, false, true],
            };
            assert_eq!(asks, expected, "{law:?}");
        }
    }

    #[test]
    fn all_laws_but_none_have_a_window() {
        for law in LAWS {
            assert_eq!(Law::new(&config(law), Time::ZERO).has_window(), law != SenderLaw::None);
        }
    }

    /// Of three delays of 1, 1 and 50 us the median is 1 us: Swift grows. The last of them cuts it.
    #[test]
    fn a_law_hears_the_median_of_the_last_delays() {
        for (median_of, grows) in [(1, false), (2, false), (3, true)] {
            let config = Config { median_of, ..config(SenderLaw::Swift) };
            let (mut law, mut window) = (Law::new(&config, Time::ZERO), window());
            (0..2).for_each(|_| law.on_ack(signal(false, Some(1_000)), &mut window, &config));
            let before = window.bytes;
            law.on_ack(signal(false, Some(50_000)), &mut window, &config);
            assert_eq!(window.bytes > before, grows, "{median_of}");
        }
    }
}
