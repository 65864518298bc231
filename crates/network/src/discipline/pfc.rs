//! The settings of priority flow control; the rules are in [`crate::ports`].

use crate::class::{CONTROL, ClassSet, HIGH, LOW};
use crate::packet::Envelope;
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Rate, Time};

settings! {
    /// Priority flow control: switches pause their neighbours instead of dropping.
    #[derive(Copy)]
    pub struct Pfc {
        /// The buffer of a switch for packets that must not be lost.
        buffer: u64 as Bytes, required 12_000_000, within Bounds::POSITIVE;
        /// Part of the buffer that each link and priority has for itself: 4 KB (HPCC's repository).
        reserve: u64 as Bytes = 4_000;
        /// What each link and priority has for packets that come after its neighbour was told to pause. By
        /// default what may come: twice what the link carries in its delay, three of the largest packets
        /// (the one that asks for the pause, one that delays the frame, and one that the neighbour is
        /// sending), and the frame.
        headroom: Option<Bytes>, from |_p| None => "what may come";
        /// The largest packet, for that default.
        packet: Option<Bytes>, from |_p| None => "the largest packet of the transports",
            within Bounds::from(1.0, "{} is no packet; at most 16383B").to(Envelope::LONGEST as f64);
        /// A link and priority is paused when it uses this share of the free shared buffer: 1/8 (HPCC's
        /// repository shifts by 3 at the rate of hosts' links).
        alpha: f64 = 0.125, within Bounds::above(0.0, "{} is not above 0"), when |p| p.xoff.is_none() => "queues without `xoff`";
        /// Use of the shared buffer at which a link and priority is paused, whatever is free.
        xoff: Option<Bytes> = None, within Bounds::POSITIVE;
        /// A paused link and priority goes on when it uses this much less than the threshold: 3 KB
        /// (HPCC's repository).
        resume: u64 as Bytes = 3_000;
        /// Time for which a frame pauses, in quanta of 512 bit times of the link (IEEE 802.3, annex
        /// 31B). 65,535 are 335.5 us at 100 Gbit/s. After it the link goes on by itself.
        quanta: u32 = 65_535, within Bounds::from(1.0, "{} is no time of a pause; it goes from 1 to 65535").to(65_535.0);
        /// While a link and priority stays paused, the frame is repeated after this share of the time that it pauses.
        refresh: f64 = 0.5, within Bounds::above(0.0, "{} is no share of a pause; it is above 0 and at most 1").to(1.0);
        /// Are packets of high priority lossless, where ports have priorities?
        high: bool = true, when |p| p.of_classes.is_none() => "queues without `[[queue.class]]`, where a class is `lossless`";
        /// Are packets of low priority lossless, and all where ports have one?
        low: bool = true, when |p| p.of_classes.is_none() => "queues without `[[queue.class]]`, where a class is `lossless`";
    }
    others {
        /// Where a scenario declares classes: the priorities of which no packet is dropped, bit by bit.
        of_classes: Option<u8> = None;
    }
}

impl Pfc {
    /// The classes of which no packet is dropped.
    pub(crate) fn lossless(&self) -> ClassSet {
        if let Some(of_classes) = self.of_classes {
            return ClassSet::of(of_classes.into());
        }
        let mut lossless = ClassSet::default();
        lossless.set(HIGH, self.high);
        lossless.set(LOW, self.low);
        lossless
    }

    /// The priorities of which no packet is dropped, the largest first.
    pub fn lossless_numbers(&self) -> Vec<u8> {
        (0..CONTROL).rev().filter(|priority| self.lossless().has(*priority)).collect()
    }

    /// How many priorities of data are lossless.
    pub fn lossless_priorities(&self) -> u64 {
        self.lossless().len().into()
    }

    /// The headroom of a link, bytes.
    pub fn headroom_of(&self, rate: Rate, delay: Time) -> u64 {
        let needed = || Pfc::needed(rate, delay, self.packet.unwrap_or(LARGEST).0);
        self.headroom.map_or_else(needed, |headroom| headroom.0)
    }

    /// After what time a frame is repeated that pauses a link of `rate`.
    pub(crate) fn refresh_after(&self, rate: Rate) -> Time {
        let time = pause_time(self.quanta, rate);
        Time(((time.0 as f64 * self.refresh) as u64).max(1))
    }

    /// Does a pause of a link of `rate` end before the frame is repeated, if that waits for a packet of so many bytes
    /// that the link back, of the same rate, is sending?
    pub fn lapses(&self, rate: Rate, packet: u64) -> bool {
        self.refresh_after(rate) + rate.time_of(packet) > pause_time(self.quanta, rate)
    }

    /// What may come by a link from when a packet asks for a pause, bytes, with packets of `packet` bytes
    /// at most: that packet; what the neighbour sends until the frame is there, which waits for a packet
    /// at most and takes the delay of the link; the packet that the neighbour is sending then; and what is on
    /// the link. IEEE 802.1Qbb-2011, annex O, has times to process frames as well, which are 0 here.
    pub fn needed(rate: Rate, delay: Time, packet: u64) -> u64 {
        let carried = (u128::from(rate.0) * u128::from(delay.0)).div_ceil(8_000_000_000_000) as u64;
        2 * carried + 3 * packet + u64::from(FRAME)
    }
}

/// How long `quanta` pause a link of `rate`: each is the time of 512 bits (IEEE 802.3, annex 31B).
pub(crate) fn pause_time(quanta: u32, rate: Rate) -> Time {
    Time((u128::from(quanta) * 512 * 1_000_000_000_000).div_ceil(rate.0.into()) as u64)
}

/// The largest packet where nobody says.
const LARGEST: Bytes = Bytes(1_538);

/// Bytes of a pause frame on the wire: 64, with preamble and gap 84.
pub(crate) const FRAME: u16 = 84;

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings as _};

    /// At 10 Gbit/s 1,000 quanta are 51.2 us. A frame that is repeated after 50 us comes in time if it waits for 1,500 B (1.2 us), and
    /// not for one byte more.
    #[test]
    fn a_pause_lapses_if_the_next_frame_waits_too_long() {
        let pfc = Pfc { quanta: 1_000, refresh: 50.0 / 51.2, ..Pfc::defaults(Preset::Linux) };
        assert_eq!(
            (pfc.refresh_after(Rate::gbps(10)), pause_time(1_000, Rate::gbps(10))),
            (Time::from_us(50), Time(51_200_000))
        );
        assert_eq!([1_499, 1_500, 1_501].map(|packet| pfc.lapses(Rate::gbps(10), packet)), [false, false, true]);
    }

    #[test]
    fn lossless_priorities_are_listed_from_the_largest() {
        let pfc = Pfc::defaults(Preset::Linux);
        let of = |high, low, of_classes| Pfc { high, low, of_classes, ..pfc }.lossless_numbers();
        assert_eq!(
            (of(true, true, None), of(false, true, None), of(true, false, None)),
            (vec![7, 0], vec![0], vec![7])
        );
        assert_eq!(of(true, true, Some(0b0010_1010)), [5, 3, 1]);
    }
}
