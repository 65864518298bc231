//! The ports whose packets a run records.

use linkpool_network::{Fabric, LinkId, NodeId};
use linkpool_scenario::Scenario;

/// The ports whose packets a run records.
#[derive(Clone, Debug)]
pub struct CapturePlan {
    /// The recorded ports, by number; a port has the number of the link that leaves it.
    pub ports: Vec<LinkId>,
    /// By link: where its packets are recorded.
    views: Vec<Vec<View>>,
    /// A flow is recorded only at the host that sends its data.
    pub at_senders: bool,
}

/// A port at which the packets of a link are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The number of the port.
    pub port: u32,
    /// The packets come in; otherwise they go out.
    pub inbound: bool,
}

impl CapturePlan {
    /// The recorded ports of `scenario`; none if it does not ask for any.
    pub(crate) fn new(scenario: &Scenario, fabric: &Fabric) -> Option<CapturePlan> {
        let asked = scenario.record.capture.as_ref()?;
        let at_senders = asked.hosts.is_none() && asked.links.is_none();
        let named: Vec<NodeId> = asked.hosts.iter().flatten().map(|host| NodeId::from(*host)).collect();
        let hosts = if at_senders { NodeId::first(fabric.hosts()).collect() } else { named };
        let mut plan = CapturePlan { ports: Vec::new(), views: vec![Vec::new(); fabric.links().len()], at_senders };
        for link in hosts.into_iter().flat_map(|host| fabric.links_from(host)) {
            if let Some(port) = plan.add(link) {
                plan.views[fabric.reverse(link).index()].push(View { port, inbound: true });
            }
        }
        for link in asked.links.iter().flatten().flat_map(|(from, to)| fabric.links_named(from, to)) {
            plan.add(link);
        }
        Some(plan)
    }

    /// Every port of `fabric`, for packets that leave by it.
    pub(crate) fn of_all(fabric: &Fabric) -> CapturePlan {
        let links = fabric.links().len();
        let mut plan = CapturePlan { ports: Vec::new(), views: vec![Vec::new(); links], at_senders: false };
        LinkId::first(links).for_each(|link| {
            plan.add(link);
        });
        plan
    }

    /// Records the packets that leave by `link`. None if they are recorded already.
    fn add(&mut self, link: LinkId) -> Option<u32> {
        let views = &mut self.views[link.index()];
        let is_new = views.iter().all(|view| view.inbound);
        is_new.then(|| {
            let port = self.ports.len() as u32;
            self.ports.push(link);
            views.push(View { port, inbound: false });
            port
        })
    }

    /// Where the packets of `link` are recorded.
    pub fn views(&self, link: LinkId) -> &[View] {
        &self.views[link.index()]
    }
}
