//! A flow: its hosts, size and start.

use crate::sizes::Sizes;
use linkpool_engine::Stream;
use linkpool_settings::{Form, Mixed, mixed};
use linkpool_units::{HostId, Time};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The priority of the packets of a flow, at ports with priorities or classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowPriority {
    /// The lowest, 0.
    Low,
    /// The highest, 7.
    High,
    /// One of IEEE 802.1Q, from 0 to 7.
    Number(u8),
}

impl FlowPriority {
    /// As a number.
    pub fn number(self) -> u8 {
        match self {
            FlowPriority::Low => 0,
            FlowPriority::High => 7,
            FlowPriority::Number(number) => number,
        }
    }

    /// Is it known to ports with two priorities?
    pub fn is_one_of_two(self) -> bool {
        matches!(self.number(), 0 | 7)
    }
}

impl Mixed for FlowPriority {
    const NAME: &'static str = "FlowPriority";
    const FORMS: &'static str = "a whole number from 0 to 7, \"low\" (0), or \"high\" (7)";
    const WORDS: &'static [(&'static str, FlowPriority)] = &[("low", FlowPriority::Low), ("high", FlowPriority::High)];
    const NUMBERS: Option<(u32, u32)> = Some((0, 7));

    fn of_number(number: u32) -> Option<FlowPriority> {
        u8::try_from(number).ok().filter(|number| *number < 8).map(FlowPriority::Number)
    }

    fn written(&self) -> Option<Form> {
        match *self {
            FlowPriority::Number(number) => Some(Form::Number(number.into())),
            FlowPriority::Low | FlowPriority::High => None,
        }
    }
}

mixed!(FlowPriority);

/// One flow that will be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Sending host.
    pub src: HostId,
    /// Receiving host; not `src`.
    pub dst: HostId,
    /// Payload in bytes; `None`: without end.
    pub size: Option<u64>,
    /// When it is asked for.
    pub start: Time,
    /// When it stops sending new data; [`Time::MAX`]: never.
    pub stop: Time,
    /// Number of its burst, 0 if there are none.
    pub burst: u32,
    /// Number of the job that it belongs to.
    pub job: Option<u32>,
    /// Its priority; `None`: that of its transport.
    pub priority: Option<FlowPriority>,
}

impl Flow {
    /// A flow that goes on to its end, of no burst and no job.
    pub fn new((src, dst): (HostId, HostId), size: Option<u64>, start: Time) -> Flow {
        Flow { src, dst, size, start, stop: Time::MAX, burst: 0, job: None, priority: None }
    }
}

/// Bursts `every` apart; in each, one flow from every sender to `receiver`, `spacing` apart. Flows
/// come in order of start, also where bursts overlap; sizes are drawn burst by burst.
#[derive(Clone, Debug)]
pub struct Bursts {
    /// In the order in which they start in a burst.
    pub senders: Arc<[HostId]>,
    /// The receiver of all flows.
    pub receiver: HostId,
    /// The size of each flow.
    pub size: Sizes,
    /// When the next burst starts.
    pub start: Time,
    /// From one burst to the next.
    pub every: Time,
    /// From one flow of a burst to the next.
    pub spacing: Time,
    /// Bursts still to come, and the number of the next.
    pub left: Range<u32>,
    /// Draws the sizes.
    pub random: Stream,
    /// Flows of bursts that have begun, by start, burst and sender.
    pub begun: BTreeMap<(Time, u32, u32), Flow>,
}

impl Bursts {
    fn begin(&mut self, burst: u32) {
        for (i, src) in (0u32..).zip(&*self.senders) {
            let start = self.start + self.spacing * u64::from(i);
            let size = Some(self.size.draw(&mut self.random));
            let flow = Flow { burst, ..Flow::new((*src, self.receiver), size, start) };
            self.begun.insert((start, burst, i), flow);
        }
        self.start = self.start.saturating_add(self.every);
    }
}

impl Iterator for Bursts {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        // Before the next burst no flow of it or of a later one starts.
        while self.begun.first_key_value().is_none_or(|(first, _)| self.start <= first.0) {
            let Some(burst) = self.left.next() else { break };
            self.begin(burst);
        }
        self.begun.pop_first().map(|(_, flow)| flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    fn bursts(every: Time, spacing: Time) -> Vec<Flow> {
        let (senders, random) = (HostId::first(3).collect(), stream(1, "incast", 0));
        let (start, size, begun) = (Time::from_ms(1), Sizes::Constant(1000), BTreeMap::new());
        let receiver = HostId::new(9);
        Bursts { senders, receiver, size, start, every, spacing, left: 0..2, random, begun }.collect()
    }

    #[test]
    fn bursts_start_when_they_should() {
        let flows = bursts(Time::from_secs(1), Time::from_us(50));
        assert_eq!(flows.len(), 6);
        assert_eq!((flows[5].src, flows[5].burst), (HostId::new(2), 1));
        assert_eq!(flows[5].start, Time::from_ms(1) + Time::from_secs(1) + Time::from_us(100));
    }

    #[test]
    fn bursts_that_overlap_come_in_order_of_start() {
        let flows = bursts(Time::from_us(20), Time::from_us(10));
        let found: Vec<_> = flows.iter().map(|f| (f.start.0 / 1_000_000 - 1_000, f.burst, f.src.index())).collect();
        assert_eq!(found, [(0, 0, 0), (10, 0, 1), (20, 0, 2), (20, 1, 0), (30, 1, 1), (40, 1, 2)]);
        // All at once: by start, then by burst.
        let found: Vec<_> = bursts(Time::ZERO, Time::from_us(10)).iter().map(|f| (f.src.index(), f.burst)).collect();
        assert_eq!(found, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    }
}
