//! Resolves `[nic]`: what the adapters of hosts need for messages and packets.

use linkpool_network::{Fabric, HostId, Layer, Queue};
use linkpool_settings::NoNames;
use linkpool_units::Time;

use super::section::Section;
use super::settings::table;
use super::slow_host::check_room;
use crate::model::{Nic, Transport};

/// The adapters, if there is a table of them. Each transport must know them.
pub(super) fn resolve(
    transports: &[Option<Transport>],
    fabric: Option<&Fabric>,
    queues: Option<&(Queue, Vec<(Layer, Queue)>)>,
    top: &mut Section<'_, '_>,
) -> Option<Nic> {
    if !top.has("nic") {
        return None;
    }
    for t in transports.iter().flatten().filter(|t| !t.control.family().facts().turns) {
        let message = format!(
            "applies to RoCE and UET, whose senders take turns at the port of their host, and transport {:?} has control = {:?}; \
             leave [nic] out, or take another control",
            t.name,
            t.control.name()
        );
        top.error("nic", message);
    }
    let nic: Nic = table("nic", &NoNames, top);
    if let (true, Some(fabric), Some(queues)) = (nic.receives_slowly(), fabric, queues) {
        let by = if nic.receive_packet_time > Time::ZERO { "receive_packet_time" } else { "receive_rate" };
        let hosts = &mut HostId::first(fabric.hosts());
        top.within("nic", |section| {
            check_room((hosts, nic.receive_buffer), fabric, queues, (by, "receive_buffer"), section)
        });
    }
    Some(nic)
}
