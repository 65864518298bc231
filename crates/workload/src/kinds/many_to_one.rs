//! Flows from several hosts to one.

use linkpool_settings::{Bounds, HostName, settings};
use linkpool_units::{HostId, Time, counted};

use super::{Demand, Expected, Pairs, Place, Run, Setting, SizesOf, Workload};
use crate::flow::Flow;
use crate::sizes::{FlowSize, Sizes};

settings! {
    /// One flow each from consecutive hosts.
    pub struct ManyToOneFlows {
        /// Number of flows.
        flows: u32, required 30, within Bounds::POSITIVE;
        /// Index of the first sending host.
        first: u32 = 0;
        /// Receiving host.
        receiver: HostId as HostName, required HostId::default();
        /// Payload of each flow.
        size: Option<Sizes> as FlowSize = None;
        /// Time at which the flows stop.
        stop: Time, from |_f| Time::MAX => "the end of the run, `duration` and `drain`";
        /// Time between the starts of two flows.
        spacing: Time = Time::ZERO;
    }
}

impl Workload for ManyToOneFlows {
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_stop(&mut self.stop, place.end);
        let (flows, first, hosts) = (self.flows, self.first, place.hosts);
        let past = u64::from(first) + u64::from(flows);
        let (senders, needed) = (counted(flows, "sender"), counted(past, "host"));
        let message = format!("{senders} from host {first} on: {needed}, but the topology has {hosts}");
        place.check(past <= hosts.into(), "flows", message);
        let senders = format!("the senders, hosts {first} to {}", past - 1);
        let message = format!("is host {:?}, one of {senders}; change it, `first` or `flows`", self.receiver);
        place.check(!(first.into()..past).contains(&u64::from(self.receiver)), "receiver", message);
        place.check_in_time(place.after(flows - 1, self.spacing), "spacing", "the last flow");
    }

    fn expected(&self, setting: &Setting) -> Expected {
        let flows = f64::from(self.flows);
        // One receiver bounds them all.
        let unlimited = || setting.busy(flows, 1.0, setting.until(self.stop));
        Expected::listed(flows, self.size.as_ref().map_or_else(unlimited, |size| flows * size.mean()))
    }

    fn demand(&self, run: &Run) -> Demand {
        let random = &mut run.random();
        let flow = |i: u32| {
            let pair = ((self.first + i).into(), self.receiver);
            let size = self.size.as_ref().map(|size| size.draw(random));
            Flow { stop: self.stop, ..Flow::new(pair, size, run.start + self.spacing * u64::from(i)) }
        };
        Demand { listed: (0..self.flows).map(flow).collect(), ..Demand::default() }
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::from(&self.size)
    }

    fn pairs(&self, _: u32) -> Pairs {
        let senders = self.first..self.first + self.flows;
        Pairs::Listed(senders.map(|sender| (sender.into(), self.receiver)).collect())
    }

    fn receiver(&self) -> Option<&'static str> {
        Some("receiver")
    }
}
