//! Taps on links: they show a handler the packets that pass.

use super::handler::Handler;
use super::run::Network;
use crate::fabric::LinkId;
use crate::in_flight::Incoming;
use crate::observer::Seen;
use crate::packet::Kind;
use crate::telemetry::Written;

impl Network {
    /// Shows the handler, from now on, the packets with any bit of `kinds` that come through `link`
    /// ([`Handler::on_passing`]); with all kinds, also pause frames. Taps on one link add up.
    pub fn tap(&mut self, link: LinkId, kinds: Kind) {
        let links = self.egress.links.len();
        let taps = self.taps.get_or_insert_with(|| vec![Kind::default(); links].into());
        taps[link.index()] = taps[link.index()] | kinds;
    }

    /// Shows the packets that arrive in this window, those of a link in order. They are all on their links already, since a
    /// window is as long as the least way of a packet.
    #[cold]
    pub(super) fn show_passing<H: Handler>(&mut self, handler: &mut H) {
        let Some(taps) = &self.taps else { return };
        for (link, Seen { packet, trailer }) in std::mem::take(&mut self.aside) {
            let is_shown = match packet.kind {
                Kind::PAUSE => taps[link.index()] == Kind::ALL,
                kind => kind.has_any(taps[link.index()]),
            };
            if is_shown {
                handler.on_passing(link, &packet, trailer.as_ref(), Written::default());
            }
        }
        for arrivals in [&self.to_hosts, &self.to_switches] {
            // What a slow host has taken now was shown when it came.
            let ports = &self.egress.ports;
            let is_shown = |i: &&Incoming| i.packet.kind.has_any(taps[i.link.index()]) && !ports.is_slow(i.link);
            let mut passing: Vec<Incoming> = arrivals.packets.iter().filter(is_shown).copied().collect();
            passing.sort_unstable_by_key(|incoming| (incoming.link, incoming.packet.arrival));
            for incoming in &passing {
                let Seen { packet, trailer } = self.egress.trailers.see(&incoming.packet);
                let written = self.egress.trailers.written(&incoming.packet);
                handler.on_passing(incoming.link, &packet, trailer.as_ref(), written);
            }
        }
    }
}
