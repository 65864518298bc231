//! Resolves `[[slow_host]]`: which hosts take slowly what comes, and how slowly.

use linkpool_network::{Fabric, HostId, Layer, NodeId, Queue};
use linkpool_settings::{Preset, Settings};

use super::Period;
use super::section::Section;
use super::settings::{check, read};
use crate::known::Known;
use crate::model::SlowHost;
use crate::pausing::queue_of;

/// The hosts, where ports have the queues `queues`.
pub(super) fn resolve(
    known: &Known<'_>,
    period: Option<Period>,
    queues: Option<&(Queue, Vec<(Layer, Queue)>)>,
    top: &mut Section<'_, '_>,
) -> Vec<SlowHost> {
    let places = top.elements("slow_host");
    let mut slow: Vec<SlowHost> = Vec::new();
    for path in places {
        let section = &mut top.at(path);
        let mut host = SlowHost::defaults(Preset::Linux);
        read(&mut host, &[], known, section);
        check(&mut host, section);
        if let Some(period) = period {
            if !section.has("until") {
                host.until = period.end;
            }
            let (from, until, end) = (host.from, host.until, period.end);
            section.check(from < end, "from", format!("{from} is not before the end of the run at {end}"));
            section.check(from < until || from >= end, "until", format!("{until} is not after `from`, {from}"));
        }
        let twice = host.hosts.iter().find(|named| slow.iter().any(|other| other.hosts.contains(named)));
        section.check(twice.is_none(), "hosts", "a host of it is in another [[slow_host]]; leave it in one");
        if let (Some(fabric), Some(queues)) = (known.fabric, queues) {
            let hosts = &mut host.hosts.iter().copied();
            check_room((hosts, host.buffer), fabric, queues, ("hosts", "buffer"), section);
        }
        slow.push(host);
    }
    slow
}

/// An adapter with a `buffer` pauses its neighbour while it still has room for what comes until the
/// pause holds. `keys`: of what makes it slow, and of its buffer.
pub(super) fn check_room(
    (hosts, buffer): (&mut dyn Iterator<Item = HostId>, u64),
    fabric: &Fabric,
    (queue, layers): &(Queue, Vec<(Layer, Queue)>),
    (slow, room): (&str, &str),
    section: &mut Section<'_, '_>,
) {
    let Some(pfc) = queue_of((queue, layers), Layer::Host).pausing() else {
        section.error(slow, "a host is slow where it can pause its neighbours; write pfc in [queue]");
        return;
    };
    let links = hosts.flat_map(|host| fabric.links_from(NodeId::from(host)));
    let needed = links.map(|link| {
        let spec = &fabric.links()[fabric.reverse(link).index()];
        pfc.headroom_of(spec.rate, spec.delay) * pfc.lossless_priorities()
    });
    let needed = needed.max().unwrap_or(0);
    let message = format!(
        "{buffer} B is no more than what comes until a pause holds, {needed} B; write a larger one, for example {} B",
        2 * needed
    );
    section.check(buffer > needed, room, message);
}
