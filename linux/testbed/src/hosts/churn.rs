//! Subflows that come and go.

use super::{Due, Hosts, listener_port};
use crate::address::{End, Side};
use crate::info;
use crate::sending::SubflowState;
use anyhow::{Context as _, Result, ensure};
use linkpool_sim::FlowId;
use std::net::SocketAddrV4;

impl Hosts<'_> {
    /// Each connection that has several subflows loses the oldest, and opens another on its path.
    pub(super) fn churn(&mut self) -> Result<()> {
        let mut flows: Vec<FlowId> = self.senders.keys().copied().collect();
        flows.sort_unstable();
        for flow in flows {
            let Some(sending) = self.senders.get_mut(&flow).filter(|sending| sending.is_mptcp) else { continue };
            if sending.look(self.clock.now()).is_err() {
                continue; // one that has just failed loses nothing more
            }
            let open = |s: &SubflowState| s.established.is_some() && !s.closed;
            let opened = sending.subflows.iter().filter(|s| open(s)).count();
            let Some(oldest) = sending.subflows.iter().position(open).filter(|_| opened > 1) else { continue };
            let planned = sending.planned;
            let (place, port) = (sending.subflows[oldest].place, sending.subflows[oldest].port);
            let token = info::token(&sending.socket).context("an MPTCP connection has a token")?;
            let end = End { host: planned.flow.src, side: Side::Sending };
            let to = End { host: planned.flow.dst, side: Side::Receiving };
            let to = SocketAddrV4::new(to.address(), listener_port(planned.transport));
            let host = self.ends.get_mut(&end).context("hosts that take part have namespaces")?;
            let manager = host.path_manager.as_mut();
            let manager = manager.context("hosts that send over several subflows have a path manager")?;
            manager.destroy(token, SocketAddrV4::new(end.address(), port).into(), to.into())?;
            let port = host.port();
            let another = self.subflows((flow, &planned), &[(place, port)], to)?;
            let Some(sending) = self.senders.get_mut(&flow) else { continue };
            sending.subflows[oldest].closed = true;
            sending.subflows.extend(another);
            ensure!(sending.subflows.len() <= 256, "a connection has no numbers left for further subflows");
            self.reopened += 1;
            self.at(self.clock.now(), Due::Join(flow));
        }
        Ok(())
    }
}
