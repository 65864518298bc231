//! The law of a window.

use super::config::{Config, SenderLaw};
use super::dctcp::Dctcp;
use super::fastflow::Fastflow;
use super::median::Median;
use super::mp_rdma::MpRdma;
use super::nscc::Nscc;
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

    /// Does an ACK ask for a cut of the window, be it made or not?
    pub(super) fn asks_for_cut(&self, signal: &Signal, window: &Window, config: &Config) -> bool {
        match &self.rules {
            Rules::Nscc(nscc) => nscc.asks_for_cut(signal, &config.nscc),
            Rules::Swift(_) => Swift::asks_for_cut(signal, window, &config.swift),
            Rules::Fastflow(_) | Rules::Dctcp(_) | Rules::MpRdma(_) | Rules::Constant | Rules::None => signal.marked,
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
        match &mut self.rules {
            Rules::Nscc(nscc) => {
                // Where receivers grant credit, that holds for their links (`!_receiver_based_cc || !last_hop`).
                nscc.on_nack((bytes, config.credit && at_last), signal, window, &config.nscc)
            }
            Rules::Swift(swift) => swift.on_nack(signal.now, window, &config.swift),
            _ => self.on_loss(bytes, window, config),
        }
    }

    /// A timeout has declared so many bytes lost.
    pub(super) fn on_timeout(&mut self, bytes: u64, now: Time, window: &mut Window, config: &Config) {
        match &mut self.rules {
            Rules::Nscc(nscc) => nscc.on_timeout(bytes, window, &config.nscc),
            Rules::Swift(swift) => swift.on_timeout(now, window, &config.swift),
            _ => self.on_loss(bytes, window, config),
        }
    }

    fn on_loss(&mut self, bytes: u64, window: &mut Window, config: &Config) {
        match &mut self.rules {
            Rules::Fastflow(fastflow) => fastflow.on_loss(bytes, window, config),
            Rules::Dctcp(_) => Dctcp::on_loss(bytes, window, config),
            Rules::MpRdma(_) => MpRdma::on_loss(bytes, window, config),
            Rules::Nscc(_) | Rules::Swift(_) | Rules::Constant | Rules::None => {}
        }
    }
}
