//! Priority flow control (PFC, IEEE 802.1Qbb): a switch whose packets from one neighbour take too much of
//! its buffer tells that neighbour to send no more of their class.
//!
//! Bytes are counted by the link and the class by which they have come, until they have left. The rules
//! are those of HPCC's repository (`switch-mmu.cc`, commit 9f4be2a): each link and class has a reserve; what
//! is more counts as shared, up to a threshold; what is above it goes to the headroom. A link is paused
//! when it uses headroom, or as much of the shared buffer as the threshold, and resumed when it uses no
//! headroom, and so much less of the shared buffer.
//!
//! A frame pauses for a time, in quanta. While a link stays paused the frame is repeated before that is over;
//! a port whose pause is over goes on by itself.

use super::adapter::{Adapter, Intake, Planned};
use super::counted::Counted;
use super::reasons::Reasons;
use super::soonest::Soonest;
use crate::class::{CLASSES, ClassSet, class_of};
use crate::discipline::{FRAME, Pfc, pause_time};
use crate::fabric::{LinkId, NodeId};
use crate::packet::{Envelope, Kind, Packet};
use crate::pauses::PauseReason;
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
    /// A packet that has left since that was asked: where it is counted, and its size.
    pub(super) left: Option<(Counted, u16)>,
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
            closed: ClassSet::default(),
            until: [Time::MAX; CLASSES],
            wakes_at: Time::MAX,
            quanta,
            number: 0,
            coming: VecDeque::new(),
            told: Told::default(),
            sends_frame: false,
            serving: None,
            left: None,
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
    }

    /// When a class goes on by itself at the earliest.
    pub(super) fn lapses_at(&self) -> Time {
        if self.closed.is_empty() { Time::MAX } else { self.until.into_iter().min().unwrap_or(Time::MAX) }
    }

    /// When the next frame takes effect, or a class goes on by itself.
    pub(super) fn next_change(&self) -> Time {
        self.coming.front().map_or(Time::MAX, |(at, _)| *at).min(self.lapses_at())
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
        let told = std::mem::take(&mut self.told);
        if told.about.is_empty() {
            return None;
        }
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

/// The bytes that have come by one link, by class.
#[derive(Debug)]
pub(super) struct Account {
    /// The number of the port that leads back.
    pub(super) back: u32,
    headroom: u64,
    /// After what time its neighbour is told again to pause.
    refresh_after: Time,
    classes: [Share; CLASSES],
    /// By port of the switch, by its place, and class: those that wait there or are in service.
    at_ports: Vec<[u64; CLASSES]>,
}

/// The bytes of a class that have come by one link.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// In the reserve and in the shared buffer.
    bytes: u64,
    headroom: u64,
    /// Was the neighbour told to pause it?
    is_paused: bool,
    /// When it is told again, if so.
    again: Time,
}

/// A switch with ports that pause, or a host.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) node: NodeId,
    /// The numbers of its ports.
    pub(super) ports: Vec<u32>,
    /// When something happens next at each of them.
    pub(super) events: Soonest,
    /// Of a switch: by link that leads to it. Of a host: by link by which it takes what comes slowly.
    pub(super) accounts: Vec<Account>,
    is_host: bool,
    /// Of such a host: what neighbours are told at what times of this window, the first first.
    pub(super) planned: VecDeque<Planned>,
    /// Of such a host: bytes that waited for it when a neighbour was told something last.
    pub(super) buffered: u64,
    pfc: Pfc,
    lossless: ClassSet,
    /// The buffer that is shared, and what is used of it.
    shared: u64,
    used: u64,
    /// No neighbour is told again to pause before this.
    next_refresh: Time,
    /// A port is woken then, as a neighbour may have to be told again.
    pub(super) wakes_at: Time,
}

impl Group {
    pub(super) fn new(node: NodeId, pfc: Pfc) -> Group {
        Group {
            node,
            ports: Vec::new(),
            events: Soonest::new(),
            accounts: Vec::new(),
            is_host: false,
            planned: VecDeque::new(),
            buffered: 0,
            pfc,
            lossless: pfc.lossless(),
            shared: pfc.buffer,
            used: 0,
            next_refresh: Time::MAX,
            wakes_at: Time::MAX,
        }
    }

    /// For how many quanta its frames pause.
    pub(super) fn quanta(&self) -> u32 {
        self.pfc.quanta
    }

    /// Adds the account of a link that leads here with `rate` and `delay`; `back` is the number of the port
    /// that leads back.
    pub(super) fn add(&mut self, back: u32, (rate, delay): (Rate, Time)) {
        let headroom = self.pfc.headroom_of(rate, delay);
        self.shared = self.shared.saturating_sub(self.pfc.lossless_priorities() * (headroom + self.pfc.reserve));
        let at_ports = vec![[0; CLASSES]; self.ports.len()];
        let refresh_after = self.pfc.refresh_after(rate);
        self.accounts.push(Account { back, headroom, refresh_after, classes: [Share::default(); CLASSES], at_ports });
    }

    /// Adds the account of a link that leads here, to a host that takes slowly what comes. Returns its adapter.
    pub(super) fn add_adapter(&mut self, me: u32, back: u32, (rate, delay): (Rate, Time), intake: Intake) -> Adapter {
        self.is_host = true;
        self.add(back, (rate, delay));
        let account = self.accounts.len() as u32 - 1;
        let headroom = self.pfc.headroom_of(rate, delay) * self.pfc.lossless_priorities();
        Adapter::new(intake, (me, account, back), (headroom, self.pfc.resume), self.pfc.lossless())
    }

    /// The neighbour is told what was planned. It counts as told.
    pub(super) fn tell_planned(&mut self, Planned { at, counted, pauses, used }: Planned) {
        self.buffered = used;
        let account = &mut self.accounts[counted.account as usize];
        let share = &mut account.classes[usize::from(counted.class)];
        (share.is_paused, share.again) = (pauses, at + account.refresh_after);
        if pauses {
            self.next_refresh = self.next_refresh.min(share.again);
        }
    }

    /// Where `packet` is counted, if its class is lossless, and this is no host; `account` is that of the link by which it
    /// has come.
    pub(super) fn counted(&self, packet: &Packet, account: impl Fn() -> u32) -> Option<Counted> {
        let class = class_of(packet);
        let counts = !self.is_host && !self.accounts.is_empty() && self.lossless.has(class);
        counts.then(|| Counted { account: account(), class })
    }

    /// So much of the shared buffer may a link and class use if `used` of it is used.
    fn threshold(&self, used: u64) -> u64 {
        let free = self.shared.saturating_sub(used);
        self.pfc.xoff.map_or((self.pfc.alpha * free as f64) as u64, |xoff| xoff.0)
    }

    fn beyond_reserve(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.pfc.reserve)
    }

    /// Counts a packet of `size` that has come by `account` and goes to the port with this place. Returns false
    /// if there is no room.
    pub(super) fn admit(&mut self, Counted { account, class }: Counted, size: u16, place: u32) -> bool {
        let (size, threshold, free) =
            (u64::from(size), self.threshold(self.used), self.shared.saturating_sub(self.used));
        let Account { headroom, classes, .. } = &self.accounts[account as usize];
        let (most, share) = (*headroom, classes[usize::from(class)]);
        let (before, after) = (self.beyond_reserve(share.bytes), self.beyond_reserve(share.bytes + size));
        let fits = after == 0 || after <= threshold && after - before <= free;
        if !fits && share.headroom + size > most {
            return false;
        }
        let account = &mut self.accounts[account as usize];
        let share = &mut account.classes[usize::from(class)];
        if fits {
            share.bytes += size;
            self.used += after - before;
        } else {
            share.headroom += size;
        }
        account.at_ports[place as usize][usize::from(class)] += size;
        true
    }

    /// A packet of `size` has left by the port with this place.
    pub(super) fn release(&mut self, Counted { account, class }: Counted, size: u16, place: u32) {
        let (size, reserve) = (u64::from(size), self.pfc.reserve);
        let account = &mut self.accounts[account as usize];
        let share = &mut account.classes[usize::from(class)];
        let from_headroom = share.headroom.min(size);
        let before = share.bytes.saturating_sub(reserve);
        share.headroom -= from_headroom;
        share.bytes -= size - from_headroom;
        self.used -= before - share.bytes.saturating_sub(reserve);
        account.at_ports[place as usize][usize::from(class)] -= size;
    }

    /// Is the neighbour to be told to pause `now`? It counts as told.
    pub(super) fn pauses(&mut self, Counted { account, class }: Counted, now: Time) -> bool {
        let threshold = self.threshold(self.used);
        let share = self.accounts[account as usize].classes[usize::from(class)];
        let is_over = share.headroom > 0 || self.beyond_reserve(share.bytes) >= threshold.max(1);
        let tells = is_over && !share.is_paused;
        if tells {
            let account = &mut self.accounts[account as usize];
            let share = &mut account.classes[usize::from(class)];
            (share.is_paused, share.again) = (true, now + account.refresh_after);
            self.next_refresh = self.next_refresh.min(share.again);
        }
        tells
    }

    /// Does nothing happen by `now` that has not been done?
    #[inline]
    pub(super) fn is_up_to(&self, now: Time) -> bool {
        self.events.at().min(self.next_refresh) > now && self.planned.is_empty()
    }

    /// No neighbour is told again to pause before this.
    pub(super) fn next_refresh(&self) -> Time {
        self.next_refresh
    }

    /// What of which neighbour is told again to pause `now`, of what is next.
    pub(super) fn refresh(&mut self, now: Time) -> Option<Counted> {
        let mut next = Time::MAX;
        for (number, account) in (0..).zip(&mut self.accounts) {
            for (class, share) in (0..).zip(&mut account.classes).filter(|(_, share)| share.is_paused) {
                if share.again <= now {
                    share.again = now + account.refresh_after;
                    self.next_refresh = now;
                    return Some(Counted { account: number, class });
                }
                next = next.min(share.again);
            }
        }
        self.next_refresh = next;
        None
    }

    /// Why the neighbour is told something `now` of what comes by its link.
    pub(super) fn reason(&self, Counted { account, class }: Counted, now: Time) -> (PauseReason, Option<u32>) {
        let Account { classes, at_ports, .. } = &self.accounts[account as usize];
        let class = usize::from(class);
        let Share { bytes, headroom, .. } = classes[class];
        let reason = PauseReason {
            told: now,
            shared: self.beyond_reserve(bytes),
            headroom,
            threshold: self.threshold(self.used),
            behind: None,
        };
        // Of ports with as many bytes, the first.
        let behind = (0..).zip(at_ports).map(|(place, bytes)| (bytes[class], std::cmp::Reverse(place))).max();
        (reason, behind.filter(|(bytes, _)| *bytes > 0).map(|(_, std::cmp::Reverse(place))| place))
    }

    /// May a share that uses so much headroom and so much of the shared buffer, of which all use `used`, go on?
    fn may_resume(&self, headroom: u64, shared: u64, used: u64) -> bool {
        headroom == 0 && (shared == 0 || shared + self.pfc.resume <= self.threshold(used))
    }

    /// Is the neighbour to be told to resume now? It counts as told.
    pub(super) fn resumes(&mut self, Counted { account, class }: Counted) -> bool {
        let share = self.accounts[account as usize].classes[usize::from(class)];
        let tells = share.is_paused && self.may_resume(share.headroom, self.beyond_reserve(share.bytes), self.used);
        self.accounts[account as usize].classes[usize::from(class)].is_paused &= !tells;
        tells
    }

    /// Stays `class` of `account` paused for good if its packets at the ports of which `is_stuck` is true never leave,
    /// and all others do? If so, returns the places of these ports.
    pub(super) fn stuck_at(&self, Counted { account, class }: Counted, is_stuck: impl Fn(u32) -> bool) -> Vec<u32> {
        let class = usize::from(class);
        let of = |account: &Account| -> u64 {
            let places = (0..).zip(&account.at_ports).filter(|(place, _)| is_stuck(*place));
            places.map(|(_, bytes)| bytes[class]).sum()
        };
        let Account { classes, at_ports, .. } = &self.accounts[account as usize];
        let (share, stuck) = (classes[class], of(&self.accounts[account as usize]));
        // What leaves is taken from the headroom first. The less is used, the higher is the threshold: of the others
        // no more is left than what is stuck.
        let left = share.bytes + share.headroom - stuck;
        let headroom = share.headroom.saturating_sub(left);
        let used: u64 = self.accounts.iter().map(|account| self.beyond_reserve(of(account))).sum();
        if !share.is_paused || self.may_resume(headroom, self.beyond_reserve(stuck - headroom), used.min(self.used)) {
            return Vec::new();
        }
        (0..)
            .zip(at_ports)
            .filter(|(place, bytes)| is_stuck(*place) && bytes[class] > 0)
            .map(|(place, _)| place)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{self, HIGH};
    use crate::pauses::{PauseChange, PauseEvent};
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::Bytes;

    const LOW: Counted = Counted { account: 0, class: class::LOW };
    /// A port at 100 Gbit/s.
    const PORT: (LinkId, Rate) = (LinkId::new(4), Rate(100_000_000_000));

    /// A switch of two links with a buffer of 20,000 B, a reserve of 1,000 and headroom of 3,000 for each and class: 4,000 B are shared.
    fn group(change: impl Fn(&mut Pfc)) -> Group {
        let mut pfc = Pfc::defaults(Preset::Linux);
        (pfc.buffer, pfc.reserve, pfc.headroom, pfc.resume) = (20_000, 1_000, Some(Bytes(3_000)), 500);
        change(&mut pfc);
        let mut group = Group::new(NodeId::new(5), pfc);
        group.ports = vec![8, 9];
        [8, 9].into_iter().for_each(|port| group.add(port, (Rate::gbps(10), Time::from_us(1))));
        group
    }

    fn share(group: &Group, account: usize) -> (u64, u64) {
        let Share { bytes, headroom, .. } = group.accounts[account].classes[0];
        (bytes, headroom)
    }

    #[test]
    fn the_default_headroom_is_what_may_come() {
        let pfc = Pfc { packet: Some(Bytes(1_500)), headroom: None, ..Pfc::defaults(Preset::Linux) };
        // 40 Gbit/s for 1.5 us are 7,500 B.
        assert_eq!(pfc.headroom_of(Rate::gbps(40), Time::from_ns(1_500)), 15_000 + 4_500 + 84);
        assert_eq!(group(|_| {}).shared, 4_000);
        // A lossy priority needs nothing.
        assert_eq!(group(|pfc| pfc.high = false).shared, 12_000);
    }

    /// By hand, with xoff = 2,000 B: two packets of 1,000 B are below 1,000 of reserve and 2,000 shared, and a third is at
    /// it, which pauses. The next three go to the headroom, one more nowhere. The headroom empties first; at 1,500 B
    /// shared the link goes on.
    #[test]
    fn a_link_is_paused_at_the_threshold_and_resumed_below() {
        let mut group = group(|pfc| pfc.xoff = Some(Bytes(2_000)));
        for (n, expected) in [((1_000, 0), false), ((2_000, 0), false), ((3_000, 0), true)].into_iter().enumerate() {
            assert!(group.admit(LOW, 1_000, 1));
            assert_eq!((share(&group, 0), group.pauses(LOW, Time::ZERO)), expected, "{n}");
        }
        for n in 1..=3 {
            assert!(group.admit(LOW, 1_000, 1));
            assert_eq!(
                (share(&group, 0), group.pauses(LOW, Time::ZERO), group.used),
                ((3_000, n * 1_000), false, 2_000)
            );
        }
        assert!(!group.admit(LOW, 1, 1));
        assert_eq!((share(&group, 0), group.accounts[0].at_ports[1][0]), ((3_000, 3_000), 6_000));
        for (left, resumes) in [((3_000, 2_000), false), ((3_000, 1_000), false), ((3_000, 0), false)] {
            group.release(LOW, 1_000, 1);
            assert_eq!((share(&group, 0), group.resumes(LOW)), (left, resumes));
        }
        group.release(LOW, 499, 1);
        assert!(!group.resumes(LOW));
        group.release(LOW, 1, 1);
        assert_eq!((group.resumes(LOW), group.resumes(LOW), group.used), (true, false, 1_500));
        assert_eq!(share(&group, 1), (0, 0));
        group.release(LOW, 2_500, 1);
        assert_eq!((share(&group, 0), group.used, group.accounts[0].at_ports[1][0]), ((0, 0), 0, 0));
    }

    /// With alpha = 1/2 a link may use half of what is free: 2,000 B of 4,000; once 1,000 B are used by another, 1,500.
    #[test]
    fn a_dynamic_threshold_is_a_share_of_what_is_free() {
        let mut group = group(|pfc| pfc.alpha = 0.5);
        let other = Counted { account: 1, class: class::LOW };
        assert_eq!(group.threshold(group.used), 2_000);
        assert!(group.admit(other, 2_000, 0) && !group.pauses(other, Time::ZERO));
        assert_eq!((group.used, group.threshold(group.used)), (1_000, 1_500));
        // 1,500 B above the reserve are not above the threshold before them, and more than that after them.
        assert!(group.admit(LOW, 2_500, 0));
        assert_eq!((share(&group, 0), group.used, group.pauses(LOW, Time::ZERO)), ((2_500, 0), 2_500, true));
        assert!(group.admit(LOW, 100, 0));
        assert_eq!(share(&group, 0), (2_500, 100));
        // Control packets and lossy ones are not counted, nor is anything at a host.
        let packet = |kind| Packet { kind, ..Packet::default() };
        assert_eq!(group.counted(&packet(Kind::ACK), || 1), None);
        assert_eq!(group.counted(&packet(Kind::DATA), || 1), Some(other));
        group.accounts.clear();
        assert_eq!(group.counted(&packet(Kind::DATA), || 1), None);
    }

    /// A paused link stays so if its packets stand at a port for ever, unless so few do that it is resumed without them.
    #[test]
    fn packets_that_stand_keep_a_link_paused() {
        let mut group = group(|pfc| pfc.xoff = Some(Bytes(2_000)));
        for (size, place) in [(1_000, 0), (2_000, 1)] {
            assert!(group.admit(LOW, size, place));
        }
        let stuck = |group: &Group, places: &[u32]| group.stuck_at(LOW, |place| places.contains(&place));
        assert!(stuck(&group, &[0, 1]).is_empty(), "it is not paused");
        assert!(group.pauses(LOW, Time::ZERO));
        assert_eq!(stuck(&group, &[0, 1]), [0, 1]);
        // 1,000 B are left of it, or 2,000: the reserve, or 1,000 above, which is 500 below the threshold.
        assert!(stuck(&group, &[0]).is_empty() && stuck(&group, &[1]).is_empty());
        assert!(group.admit(LOW, 1_600, 1));
        assert_eq!(stuck(&group, &[1]), [1]);
        assert!(stuck(&group, &[]).is_empty());
    }

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

    /// The neighbour is told again after half of the time that a pause lasts, while it is paused: here 65,535 x 51.2 ns / 2 =
    /// 1.677696 ms at 10 Gbit/s.
    #[test]
    fn a_pause_is_told_again_while_it_lasts() {
        let mut group = group(|pfc| pfc.xoff = Some(Bytes(2_000)));
        let half = Time(65_535 * 51_200 / 2);
        let at = |n: u64| Time(Time::from_us(7).0 + n * half.0);
        assert_eq!(group.next_refresh(), Time::MAX);
        assert!(group.admit(LOW, 3_000, 1) && group.pauses(LOW, at(0)));
        assert_eq!(group.next_refresh(), at(1));
        assert_eq!((group.refresh(at(1)), group.refresh(at(1)), group.next_refresh()), (Some(LOW), None, at(2)));
        group.release(LOW, 3_000, 1);
        assert!(group.resumes(LOW));
        assert_eq!((group.refresh(at(2)), group.next_refresh()), (None, Time::MAX));
    }

    /// 3,000 B above the reserve, of which 1,000 in the headroom; 2,500 of the 4,000 B wait at the port with place 1.
    #[test]
    fn a_pause_has_a_reason() {
        let mut group = group(|pfc| pfc.xoff = Some(Bytes(2_000)));
        for (size, place) in [(1_500, 0), (1_500, 1), (1_000, 1)] {
            assert!(group.admit(LOW, size, place));
        }
        let told = Time::from_us(3);
        let reason = PauseReason { told, shared: 2_000, headroom: 1_000, threshold: 2_000, behind: None };
        assert_eq!(group.reason(LOW, told), (reason, Some(1)));
        assert_eq!(group.reason(Counted { account: 1, class: 3 }, told).1, None);
    }
}
