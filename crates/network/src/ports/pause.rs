//! Priority flow control (PFC, IEEE 802.1Qbb): a switch whose packets from one neighbour take too much of
//! its buffer tells that neighbour to send no more of their class.
//! When it does is in [`super::account`].
//!
//! A frame pauses for a time, in quanta. While a link stays paused the frame is repeated before that is over;
//! a port whose pause is over goes on by itself.

use super::counted::Counted;
use super::reasons::Reasons;
use crate::class::{CLASSES, ClassSet};
use crate::discipline::{FRAME, pause_time};
use crate::fabric::LinkId;
use crate::packet::{Envelope, Kind, Packet};
use linkpool_units::{HostId, Rate, Time};
use std::collections::VecDeque;

/// What a frame says, as one of IEEE 802.1Qbb does: a bit for each class that it is about, and
/// whether it closes it (for so many quanta) or opens it (0).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Told {
    about: ClassSet,
    closes: ClassSet,
    quanta: u32,
    /// How often the port had been told something when the frame was made.
    number: u32,
}

/// A pause frame, as it is on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PauseFrame {
    /// Of which priorities it speaks: bit n is priority n.
    pub enabled: u8,
    /// By priority: for how many quanta of 512 bit times it is paused; 0: it goes on.
    pub quanta: [u16; 8],
}

impl PauseFrame {
    /// What `packet` says, if it is a pause frame.
    pub fn of(packet: &Packet) -> Option<PauseFrame> {
        let told = (packet.kind == Kind::PAUSE).then(|| Told::of(packet))?;
        let quanta = |priority| if told.closes.has(priority) { told.quanta as u16 } else { 0 };
        Some(PauseFrame { enabled: told.about.bits() as u8, quanta: std::array::from_fn(|p| quanta(p as u8)) })
    }
}

impl Told {
    /// The class is to be closed, or to be opened. What was said of it before, and not sent, no
    /// longer counts.
    pub(super) fn say(&mut self, class: u8, closes: bool) {
        self.about.set(class, true);
        self.closes.set(class, closes);
    }

    /// The frame on the wire.
    fn frame(self) -> Packet {
        Packet {
            kind: Kind::PAUSE,
            envelope: Envelope::new(HostId::new(0), FRAME, 0),
            seq: u32::from(self.about.bits()) | u32::from(self.closes.bits()) << 16,
            ack: self.quanta,
            endpoint: self.number,
            ..Packet::default()
        }
    }

    fn of(frame: &Packet) -> Told {
        Told {
            about: ClassSet::of(frame.seq as u16),
            closes: ClassSet::of((frame.seq >> 16) as u16),
            quanta: frame.ack,
            number: frame.endpoint,
        }
    }
}

/// The side of a port that neighbours pause.
#[derive(Debug)]
pub(super) struct Gate {
    /// The number of its switch, or host, among those with such ports.
    pub(super) group: u32,
    /// Its number among the ports of that.
    pub(super) place: u32,
    /// When the next frame takes effect, or a class goes on by itself.
    next_change: Time,
    /// The classes that are paused.
    pub(super) closed: ClassSet,
    /// By class that is paused: when it goes on by itself.
    until: [Time; CLASSES],
    /// The port is woken then, as a class may go on by itself.
    pub(super) wakes_at: Time,
    /// For how many quanta its frames pause, and how often it was told something for them.
    quanta: u32,
    number: u32,
    /// Frames that have come, the next first, that are later than what is done.
    coming: VecDeque<(Time, Told)>,
    /// What the next frame tells the neighbour: one frame at most waits.
    pub(super) told: Told,
    /// Is a frame in service?
    pub(super) sends_frame: bool,
    /// Where the packet in service is counted.
    pub(super) serving: Option<Counted>,
    /// Packets that have left since that was asked: where they are counted, and their sizes.
    pub(super) left: Vec<(Counted, u16)>,
    /// When a class was closed while none was.
    since: Time,
    stats: PauseStats,
    /// Why it is paused, where somebody asks.
    pub(super) reasons: Option<Box<Reasons>>,
}

/// What a port knows of pauses at the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PauseStats {
    /// How often a class of the link was closed.
    pub pauses: u64,
    /// How often a class went on by itself, as its pause was over and no frame had come.
    pub lapsed: u64,
    /// Frames that this port has sent, to pause or to resume its neighbour.
    pub frames: u64,
    /// The time for which a class or several were closed.
    pub paused: Time,
}

impl Gate {
    pub(super) fn new(group: u32, place: u32, quanta: u32) -> Gate {
        Gate {
            group,
            place,
            next_change: Time::MAX,
            closed: ClassSet::default(),
            until: [Time::MAX; CLASSES],
            wakes_at: Time::MAX,
            quanta,
            number: 0,
            coming: VecDeque::new(),
            told: Told::default(),
            sends_frame: false,
            serving: None,
            left: Vec::new(),
            since: Time::ZERO,
            stats: PauseStats::default(),
            reasons: None,
        }
    }

    /// The next frame tells the neighbour to close a class, or to open it. Returns the number of that.
    pub(super) fn say(&mut self, class: u8, closes: bool) -> u32 {
        self.told.say(class, closes);
        self.number = self.number.wrapping_add(1);
        self.number
    }

    /// `frame` comes at its arrival, which is later than what is done.
    pub(super) fn expect(&mut self, frame: &Packet) {
        let place = self.coming.partition_point(|(at, _)| *at <= frame.arrival);
        self.coming.insert(place, (frame.arrival, Told::of(frame)));
        self.next_change = self.next_change.min(frame.arrival);
    }

    /// When a class goes on by itself at the earliest.
    #[inline]
    pub(super) fn lapses_at(&self) -> Time {
        if self.closed.is_empty() { Time::MAX } else { self.until.into_iter().min().unwrap_or(Time::MAX) }
    }

    /// Does a frame for the neighbour wait?
    #[inline]
    pub(super) fn has_frame(&self) -> bool {
        !self.told.about.is_empty()
    }

    /// When the next frame takes effect, or a class goes on by itself.
    #[inline]
    pub(super) fn next_change(&self) -> Time {
        self.next_change
    }

    /// Lets the frames take effect that have come by `now`, and ends what they have paused for long enough; `link` is that of
    /// the port, of `rate`. Returns the classes that are closed then, if anything has changed.
    pub(super) fn apply(&mut self, now: Time, (link, rate): (LinkId, Rate)) -> Option<ClassSet> {
        let mut any = None;
        loop {
            let at = self.next_change();
            if at > now || at == Time::MAX {
                return any;
            }
            let was_open = self.closed.is_empty();
            // A frame that comes as a pause ends makes it longer.
            match self.coming.front() {
                Some((arrival, told)) if *arrival == at => {
                    let told = *told;
                    self.coming.pop_front();
                    self.obey(told, at, (link, rate));
                }
                _ => self.lapse(at, link),
            }
            match (was_open, self.closed.is_empty()) {
                (true, false) => self.since = at,
                (false, true) => self.stats.paused += at - self.since,
                _ => {}
            }
            self.next_change = self.coming.front().map_or(Time::MAX, |(at, _)| *at).min(self.lapses_at());
            any = Some(self.closed);
        }
    }

    /// A frame has come at `at`.
    fn obey(&mut self, told: Told, at: Time, (link, rate): (LinkId, Rate)) {
        if let Some(reasons) = &mut self.reasons {
            reasons.hear(told.number);
        }
        for class in (0..CLASSES as u8).filter(|class| told.about.has(*class)) {
            let (closes, was_closed) = (told.closes.has(class), self.closed.has(class));
            self.stats.pauses += u64::from(closes && !was_closed);
            self.closed.set(class, closes);
            let until = if closes { at + pause_time(told.quanta, rate) } else { Time::MAX };
            self.until[usize::from(class)] = until;
            if let Some(reasons) = &mut self.reasons {
                reasons.change(class, (was_closed, closes), at, link);
            }
        }
    }

    /// Classes go on at `at`, as their pauses are over.
    fn lapse(&mut self, at: Time, link: LinkId) {
        let until = self.until;
        for class in (0..CLASSES as u8).filter(|class| until[usize::from(*class)] == at) {
            self.closed.set(class, false);
            self.until[usize::from(class)] = Time::MAX;
            self.stats.lapsed += 1;
            if let Some(reasons) = &mut self.reasons {
                reasons.lapse(class, at, link);
            }
        }
    }

    /// The frame for the neighbour that begins to be sent, if one waits.
    pub(super) fn next_frame(&mut self) -> Option<Packet> {
        if !self.has_frame() {
            return None;
        }
        let told = std::mem::take(&mut self.told);
        self.stats.frames += 1;
        self.sends_frame = true;
        Some(Told { quanta: self.quanta, number: self.number, ..told }.frame())
    }

    /// What is known at `now`.
    pub(super) fn stats(&self, now: Time) -> PauseStats {
        let open = self.closed.is_empty();
        let paused = self.stats.paused + if open { Time::ZERO } else { now.saturating_sub(self.since) };
        PauseStats { paused, ..self.stats }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{self, HIGH};
    use crate::pauses::{PauseChange, PauseEvent, PauseReason};

    /// A port at 100 Gbit/s.
    const PORT: (LinkId, Rate) = (LinkId::new(4), Rate(100_000_000_000));

    /// Frames take effect in order of time. A time counts in which a class or several are closed.
    #[test]
    fn frames_close_and_open_classes() {
        let mut gate = Gate::new(0, 0, 65_535);
        let mut expect = |us, class, closes| {
            let mut told = Told::default();
            told.say(class, closes);
            told.quanta = 65_535;
            let frame = Packet { arrival: Time::from_us(us), ..told.frame() };
            assert_eq!((frame.size(), frame.kind), (84, Kind::PAUSE));
            gate.expect(&frame);
        };
        [(20, HIGH, true), (10, class::LOW, true), (30, class::LOW, false), (45, HIGH, false), (60, class::LOW, true)]
            .into_iter()
            .for_each(|(us, class, closes)| expect(us, class, closes));
        assert_eq!((gate.next_change(), gate.apply(Time::from_us(9), PORT)), (Time::from_us(10), None));
        for (us, closed) in [(10, [false, true]), (20, [true, true]), (30, [true, false]), (45, [false, false])] {
            let now = gate.apply(Time::from_us(us), PORT).expect("a change");
            assert_eq!([HIGH, class::LOW].map(|class| now.has(class)), closed, "{us}");
        }
        assert_eq!(
            gate.stats(Time::from_us(50)),
            PauseStats { pauses: 2, lapsed: 0, frames: 0, paused: Time::from_us(35) }
        );
        gate.apply(Time::from_us(60), PORT);
        assert_eq!(
            gate.stats(Time::from_us(70)),
            PauseStats { pauses: 3, lapsed: 0, frames: 0, paused: Time::from_us(45) }
        );
    }

    /// While a frame waits it takes in what is to be told next: the last word on each class. A class
    /// that is closed already is not paused again.
    #[test]
    fn one_frame_tells_of_all_classes() {
        let (mut sender, mut receiver) = (Gate::new(0, 0, 65_535), Gate::new(0, 0, 65_535));
        assert!(sender.next_frame().is_none());
        let say = |sender: &mut Gate, said: &[(u8, bool)]| {
            said.iter().for_each(|(class, closes)| _ = sender.say(*class, *closes));
            let frame = sender.next_frame().expect("a frame");
            (sender.next_frame().is_some(), std::mem::take(&mut sender.sends_frame), frame)
        };
        let said: [(&[_], _, _); 4] = [
            (&[(1, true), (0, true), (1, false), (1, true)], [true, true], 2),
            (&[(0, false), (0, true)], [true, true], 2),
            (&[(1, false)], [false, true], 2),
            (&[(0, false), (1, true)], [true, false], 3),
        ];
        for (us, (said, closed, pauses)) in (1..).zip(said) {
            let (more, sends, frame) = say(&mut sender, said);
            assert_eq!((more, sends), (false, true));
            receiver.expect(&Packet { arrival: Time::from_us(us), ..frame });
            let now = receiver.apply(Time::from_us(us), PORT).expect("a change");
            assert_eq!(([1, 0].map(|class| now.has(class)), receiver.stats.pauses), (closed, pauses), "{us}");
        }
        assert_eq!(sender.stats.frames, 4);
    }

    /// 10,000 quanta of 512 bits at 100 Gbit/s are 51.2 us. A pause ends by itself then, unless a frame makes it longer; one
    /// that comes at that instant does. The two classes of a frame end together.
    #[test]
    fn a_pause_is_over_after_its_quanta() {
        let mut gate = Gate::new(0, 0, 10_000);
        gate.reasons = Some(Box::default());
        let mut sender = Gate::new(0, 0, 10_000);
        let mut expect = |ns, said: &[(u8, bool)]| {
            said.iter().for_each(|(class, closes)| _ = sender.say(*class, *closes));
            let reason = PauseReason { told: Time::ZERO, shared: 1, headroom: 2, threshold: 3, behind: None };
            if let Some(reasons) = &mut gate.reasons {
                said.iter().for_each(|(class, _)| reasons.tell(sender.number, *class, reason));
            }
            let frame = sender.next_frame().expect("a frame");
            gate.expect(&Packet { arrival: Time::from_ns(ns), ..frame });
        };
        expect(1_000, &[(3, true), (5, true)]);
        expect(41_000, &[(3, true)]);
        expect(92_200, &[(3, true)]);
        expect(100_000, &[(3, false)]);
        expect(200_000, &[(3, false)]);
        let mut closed = |ns| {
            gate.apply(Time::from_ns(ns), PORT);
            (gate.closed.bits(), gate.next_change(), gate.stats.lapsed)
        };
        assert_eq!(closed(1_000), (0b10_1000, Time::from_ns(41_000), 0));
        assert_eq!(closed(52_199), (0b10_1000, Time::from_ns(52_200), 0));
        assert_eq!(closed(52_200), (0b1000, Time::from_ns(92_200), 1));
        assert_eq!(closed(92_200), (0b1000, Time::from_ns(100_000), 1));
        assert_eq!(closed(300_000), (0, Time::MAX, 1));
        assert_eq!(gate.stats(Time::MAX).paused, Time::from_ns(99_000));
        let told = |change: &PauseChange| (change.at.0 / 1_000, change.priority, change.event);
        let events: Vec<_> = gate.reasons.iter().flat_map(|reasons| reasons.changes.iter().map(told)).collect();
        use PauseEvent::{Lapse, Pause, Refresh, Resume};
        let expected = [
            (1_000, 3, Pause),
            (1_000, 5, Pause),
            (41_000, 3, Refresh),
            (52_200, 5, Lapse),
            (92_200, 3, Refresh),
            (100_000, 3, Resume),
        ];
        assert_eq!(events, expected);
    }

    /// A frame of 65,535 quanta says so of the classes that it closes, and 0 of those that it opens.
    #[test]
    fn a_frame_is_read() {
        let mut gate = Gate::new(0, 0, 65_535);
        [(0, true), (7, true), (3, false)].into_iter().for_each(|(class, closes)| _ = gate.say(class, closes));
        let frame = PauseFrame::of(&gate.next_frame().expect("a frame")).expect("it is one");
        let quanta = [65_535, 0, 0, 0, 0, 0, 0, 65_535];
        assert_eq!(frame, PauseFrame { enabled: 0b1000_1001, quanta });
        assert_eq!(PauseFrame::of(&Packet { kind: Kind::DATA, ..Packet::default() }), None);
    }
}
