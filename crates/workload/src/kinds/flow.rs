//! Flows between two hosts.

use linkpool_settings::{Bounds, HostName, settings};
use linkpool_units::{HostId, Time};

use super::{Demand, Expected, Pairs, Place, Run, Setting, SizesOf, Workload};
use crate::flow::{self, FlowPriority};
use crate::sizes::{FlowSize, Sizes};

settings! {
    /// `count` flows between two hosts.
    pub struct Flow {
        /// Sending host.
        from: HostId as HostName, required HostId::default();
        /// Receiving host.
        to: HostId as HostName, required HostId::new(1),
            refused |f| f.from == f.to => "a flow goes from one host to another; `from` and `to` are the same";
        /// Payload of each flow.
        size: Option<Sizes> as FlowSize = None;
        /// Time at which the flows stop.
        stop: Time, from |_f| Time::MAX => "the end of the run, `duration` and `drain`";
        /// Number of flows.
        count: u32 = 1, within Bounds::POSITIVE;
        /// The priority of all packets of each flow: `"low"` or `"high"`, with their ACKs, at ports
        /// with `discipline = "priority"`; 0 to 7 at ports with [classes](scenario/classes.md).
        priority: Option<FlowPriority>, from |_f| None => "that of the transport";
        /// The path of each subflow: the names of its nodes from `from` to `to`.
        paths: Option<Vec<Vec<String>>>, from |_f| None => "by the transport";
    }
}

impl Workload for Flow {
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_stop(&mut self.stop, place.end);
        place.check_few_flows("count", self.count);
        place.check_priority("priority", self.priority);
        self.paths = self.paths.take().filter(|paths| !paths.is_empty());
    }

    fn expected(&self, setting: &Setting) -> Expected {
        let count = f64::from(self.count);
        let unlimited = || setting.busy(count, 1.0, setting.until(self.stop));
        Expected::listed(count, self.size.as_ref().map_or_else(unlimited, |size| count * size.mean()))
    }

    fn demand(&self, run: &Run) -> Demand {
        let random = &mut run.random();
        let size = |_| self.size.as_ref().map(|size| size.draw(random));
        let (stop, priority) = (self.stop, self.priority);
        let flow = |size| flow::Flow { stop, priority, ..flow::Flow::new((self.from, self.to), size, run.start) };
        Demand { listed: (0..self.count).map(size).map(flow).collect(), ..Demand::default() }
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::from(&self.size)
    }

    fn pairs(&self, _: u32) -> Pairs {
        Pairs::Listed(vec![(self.from, self.to)])
    }

    fn receiver(&self) -> Option<&'static str> {
        Some("to")
    }
}
