//! Taps on links: they show a handler the packets that pass.

use super::handler::Handler;
use super::inputs::TIMERS;
use super::run::Network;
use crate::fabric::LinkId;
use crate::packet::Flags;
use linkpool_units::Time;

impl Network {
    /// Shows the handler, from now on, the packets with any of `flags` that come through `link`
    /// ([`Handler::on_passing`]). Taps on one link add up.
    pub fn tap(&mut self, link: LinkId, flags: Flags) {
        let links = self.links.len();
        let taps = self.taps.get_or_insert_with(|| vec![Flags::default(); links].into());
        taps[link.index()] = taps[link.index()] | flags;
    }

    /// Shows the packets that arrive before `limit`, the end of the window, on the inputs that are
    /// due. They are all on their links already, since a window is as long as the least way of a
    /// packet.
    #[cold]
    pub(super) fn show_passing<H: Handler>(&self, taps: &[Flags], limit: Time, handler: &mut H) {
        for input in self.woken.iter().filter(|input| input.link != TIMERS) {
            let flags = taps[input.link.index()];
            let arriving = self.links[input.link.index()].arriving_before(limit);
            for packet in arriving.filter(|packet| packet.flags.has_any(flags)) {
                handler.on_passing(input.link, packet, self.trailers.of(packet));
            }
        }
    }
}
