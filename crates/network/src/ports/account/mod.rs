//! The bytes that have come to a switch by each link, and when its neighbours are told to pause.
//!
//! Bytes are counted by the link and the class by which they have come, until they have left. The rules
//! are those of HPCC's repository (`switch-mmu.cc`, commit 9f4be2a): each link and class has a reserve; what
//! is more counts as shared, up to a threshold; what is above it goes to the headroom. A link is paused
//! when it uses headroom, or as much of the shared buffer as the threshold, and resumed when it uses no
//! headroom, and so much less of the shared buffer.
//!
//! **What need not be known at once.** A packet that leaves makes only less of what is counted. So while nothing is paused for which it
//! counts, nothing depends on when it leaves, as long as the packets that come have room, and pause nothing, even if none has
//! left since this was last looked at. Ports then go on each for itself, and their packets are counted off when somebody looks at
//! them. Ports where packets stand that keep a link paused are looked at whenever a packet has left ([`Group::is_strict_at`]), and
//! all ports before a packet is queued for which the above does not hold ([`Group::is_certain`]).

use super::adapter::{Adapter, Intake, Planned};
use super::counted::Counted;
use super::pause::Gate;
use super::places::Places;
use super::soonest::Soonest;
use crate::class::{CLASSES, ClassSet, class_of};
use crate::discipline::Pfc;
use crate::fabric::{LinkId, NodeId};
use crate::packet::Packet;
use crate::pauses::PauseReason;
use linkpool_units::{Rate, Time};
use std::collections::VecDeque;

/// The bytes that have come by one link, by class.
#[derive(Debug)]
pub(super) struct Account {
    link: LinkId,
    /// The number of the port that leads back.
    pub(super) back: u32,
    headroom: u64,
    /// After what time its neighbour is told again to pause.
    refresh_after: Time,
    classes: [Share; CLASSES],
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
    /// When something happens next at each of them at which that matters to others.
    pub(super) events: Soonest,
    /// Does it matter at all of them?
    pub(super) strict: bool,
    /// The number of links and classes that are paused.
    paused: u32,
    /// By port, by its place: the bytes there that keep links paused, see [`Group::keeps`].
    keeping: Vec<u64>,
    /// At which ports packets are, by link and class, if somebody asks for that.
    places: Option<Box<Places>>,
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
            strict: false,
            paused: 0,
            keeping: Vec::new(),
            places: pfc.xoff.is_some().then(Box::default),
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

    /// Keeps from now on at which ports packets are. That is needed to say why a link is paused; and with a threshold that does not
    /// depend on what is free, since packets keep only their own link paused then. No packet has come yet.
    pub(super) fn know_places(&mut self) {
        self.places.get_or_insert_default();
    }

    /// Adds the account of `link`, which leads here with `rate` and `delay`; `back` is the number of the port
    /// that leads back.
    pub(super) fn add(&mut self, link: LinkId, back: u32, (rate, delay): (Rate, Time)) {
        let headroom = self.pfc.headroom_of(rate, delay);
        self.shared = self.shared.saturating_sub(self.pfc.lossless_priorities() * (headroom + self.pfc.reserve));
        self.keeping.resize(self.ports.len(), 0);
        let refresh_after = self.pfc.refresh_after(rate);
        self.accounts.push(Account { link, back, headroom, refresh_after, classes: [Share::default(); CLASSES] });
    }

    /// Adds the account of a link that leads here, to a host that takes slowly what comes. Returns its adapter.
    pub(super) fn add_adapter(
        &mut self,
        (me, link): (u32, LinkId),
        back: u32,
        (rate, delay): (Rate, Time),
        intake: Intake,
    ) -> Adapter {
        (self.is_host, self.strict) = (true, true);
        self.add(link, back, (rate, delay));
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

    /// Does it matter to others when a packet leaves by the port with this place? If so, [`Group::events`] has the port.
    #[inline]
    pub(super) fn is_strict_at(&self, place: u32) -> bool {
        self.strict || self.paused > 0 && self.keeping[place as usize] > 0
    }

    /// The next event at the port with this place is `at` that time.
    #[inline]
    pub(super) fn note_event(&mut self, place: u32, at: impl FnOnce() -> Time) {
        let at = if self.is_strict_at(place) { at() } else { Time::MAX };
        self.events.set(place, at);
    }

    /// May the packets of a link and class keep a link paused, if it `is_paused` itself or not? With a threshold that does not depend on
    /// what is free, they keep their own; otherwise any.
    fn keeps(&self, is_paused: bool) -> bool {
        is_paused || self.pfc.xoff.is_none()
    }

    /// A link and class is paused, or is not any longer.
    fn count_pause(&mut self, counted: Counted, is_paused: bool) {
        self.paused = if is_paused { self.paused + 1 } else { self.paused - 1 };
        let Some(places) = self.places.as_ref().filter(|_| !self.keeps(false)) else { return };
        for (keeping, bytes) in self.keeping.iter_mut().zip(places.of(counted)) {
            *keeping = if is_paused { *keeping + bytes } else { *keeping - bytes };
        }
    }

    /// Counts a packet of `size` that has come by `account` and goes to the port with this place, if nothing comes of it whether or not
    /// packets have left that are still counted: it has room, and its link is not paused, and stays so. Returns whether that is so.
    #[inline]
    pub(super) fn count_plainly(&mut self, Counted { account, class }: Counted, size: u16, place: u32) -> bool {
        let (size, reserve) = (u64::from(size), self.pfc.reserve);
        let of = &mut self.accounts[account as usize];
        let share = &mut of.classes[usize::from(class)];
        let before = share.bytes.saturating_sub(reserve);
        let after = (share.bytes + size).saturating_sub(reserve);
        let used = self.used + (after - before);
        let threshold = match self.pfc.xoff {
            Some(xoff) => xoff.0,
            None => (self.pfc.alpha * self.shared.saturating_sub(used) as f64) as u64,
        };
        if share.is_paused || used > self.shared || after >= threshold.max(1) {
            return false;
        }
        share.bytes += size;
        self.used = used;
        if self.places.is_some() {
            self.come_to(place, Counted { account, class }, size);
        }
        if self.pfc.xoff.is_none() {
            self.keeping[place as usize] += size;
        }
        true
    }

    /// `size` bytes have come to the port with this place. Out of line, as is what follows: few ask for places.
    #[inline(never)]
    fn come_to(&mut self, place: u32, counted: Counted, size: u64) {
        let ports = self.ports.len();
        if let Some(places) = &mut self.places {
            places.add(counted, size, place, ports);
        }
    }

    /// `size` bytes have left that port.
    #[inline(never)]
    fn leave(&mut self, place: u32, counted: Counted, size: u64) {
        if let Some(places) = &mut self.places {
            places.remove(counted, size, place);
        }
    }

    /// Is a packet of `size` that comes by `account` counted, and pauses its link or not, in the same way whether or not packets have left
    /// that are still counted?
    pub(super) fn is_certain(&self, Counted { account, class }: Counted, size: u16) -> bool {
        if self.strict || self.paused > 0 && self.keeps(false) {
            return true; // all that is counted is up to date
        }
        let share = self.accounts[account as usize].classes[usize::from(class)];
        let (before, after) = (self.beyond_reserve(share.bytes), self.beyond_reserve(share.bytes + u64::from(size)));
        let (more, free) = (after - before, self.shared.saturating_sub(self.used));
        if share.is_paused {
            // What is counted for this link is up to date, and so is the threshold.
            return more <= free || after > self.threshold(self.used);
        }
        more <= free && after < self.threshold(self.used + more).max(1)
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
        let share_is_paused = share.is_paused;
        let (before, after) = (self.beyond_reserve(share.bytes), self.beyond_reserve(share.bytes + size));
        let fits = after == 0 || after <= threshold && after - before <= free;
        if !fits && share.headroom + size > most {
            return false;
        }
        let share = &mut self.accounts[account as usize].classes[usize::from(class)];
        if fits {
            share.bytes += size;
            self.used += after - before;
        } else {
            share.headroom += size;
        }
        if self.places.is_some() {
            self.come_to(place, Counted { account, class }, size);
        }
        if self.keeps(share_is_paused) {
            self.keeping[place as usize] += size;
        }
        true
    }

    /// A packet of `size` has left by the port with this place.
    pub(super) fn release(&mut self, Counted { account, class }: Counted, size: u16, place: u32) {
        let (size, reserve) = (u64::from(size), self.pfc.reserve);
        let share = &mut self.accounts[account as usize].classes[usize::from(class)];
        let from_headroom = share.headroom.min(size);
        let before = share.bytes.saturating_sub(reserve);
        share.headroom -= from_headroom;
        share.bytes -= size - from_headroom;
        self.used -= before - share.bytes.saturating_sub(reserve);
        let is_paused = share.is_paused;
        if self.places.is_some() {
            self.leave(place, Counted { account, class }, size);
        }
        if self.keeps(is_paused) {
            self.keeping[place as usize] -= size;
        }
    }

    /// Counts off what has left by the port of `gate`. Returns whose neighbour is to be told to resume, if one is; it counts as
    /// told.
    #[inline]
    pub(super) fn release_all(&mut self, gate: &mut Gate) -> Option<Counted> {
        let mut resumed = None;
        for (counted, size) in gate.left.drain(..) {
            self.release(counted, size, gate.place);
            if self.resumes(counted) {
                resumed = Some(counted);
            }
        }
        resumed
    }

    /// Is the neighbour to be told to pause `now`? It counts as told.
    pub(super) fn pauses(&mut self, Counted { account: number, class }: Counted, now: Time) -> bool {
        let threshold = self.threshold(self.used);
        let share = self.accounts[number as usize].classes[usize::from(class)];
        let is_over = share.headroom > 0 || self.beyond_reserve(share.bytes) >= threshold.max(1);
        let tells = is_over && !share.is_paused;
        if tells {
            let account = &mut self.accounts[number as usize];
            let share = &mut account.classes[usize::from(class)];
            (share.is_paused, share.again) = (true, now + account.refresh_after);
            self.next_refresh = self.next_refresh.min(share.again);
            self.count_pause(Counted { account: number, class }, true);
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

    /// Why the neighbour is told something `now` of what comes by its link, and the place of the port at which most of that is
    /// ([`Group::know_places`]).
    pub(super) fn reason(&self, counted: Counted, now: Time) -> (PauseReason, Option<u32>) {
        let Share { bytes, headroom, .. } = self.share(counted);
        let reason = PauseReason {
            told: now,
            shared: self.beyond_reserve(bytes),
            headroom,
            threshold: self.threshold(self.used),
            behind: None,
        };
        // Of ports with as many bytes, the first.
        let at_ports = self.places.as_ref().map_or(&[][..], |places| places.of(counted));
        let behind = (0..).zip(at_ports).map(|(place, bytes)| (*bytes, std::cmp::Reverse(place))).max();
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
        if tells {
            self.accounts[account as usize].classes[usize::from(class)].is_paused = false;
            self.count_pause(Counted { account, class }, false);
        }
        tells
    }

    fn share(&self, Counted { account, class }: Counted) -> Share {
        self.accounts[account as usize].classes[usize::from(class)]
    }

    /// The links that lead to this switch and are paused, each with the class.
    pub(super) fn paused(&self) -> impl Iterator<Item = (u8, LinkId)> + '_ {
        let accounts = self.accounts.iter().filter(|_| self.paused > 0);
        accounts.flat_map(|Account { link, classes, .. }| {
            let paused = (0..).zip(classes).filter(|(_, share)| share.is_paused);
            paused.map(|(class, _)| (class, *link))
        })
    }

    /// Stays the class of the account paused for good if packets never leave, and all others do? `stuck` are those, by account of this
    /// class: bytes.
    pub(super) fn stays_paused(&self, counted: Counted, stuck: &[u64]) -> bool {
        let share = self.share(counted);
        let own = stuck[counted.account as usize];
        // What leaves is taken from the headroom first. The less is used, the higher is the threshold: of the others
        // no more is left than what is stuck.
        let left = share.bytes + share.headroom - own;
        let headroom = share.headroom.saturating_sub(left);
        let used: u64 = stuck.iter().map(|bytes| self.beyond_reserve(*bytes)).sum();
        share.is_paused && !self.may_resume(headroom, self.beyond_reserve(own - headroom), used.min(self.used))
    }
}

#[cfg(test)]
mod against_model;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class;
    use crate::packet::Kind;
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::Bytes;

    const LOW: Counted = Counted { account: 0, class: class::LOW };
    /// A switch of two links with a buffer of 20,000 B, a reserve of 1,000 and headroom of 3,000 for each and class: 4,000 B are shared.
    fn group(change: impl Fn(&mut Pfc)) -> Group {
        let mut pfc = Pfc::defaults(Preset::Linux);
        (pfc.buffer, pfc.reserve, pfc.headroom, pfc.resume) = (20_000, 1_000, Some(Bytes(3_000)), 500);
        change(&mut pfc);
        let mut group = Group::new(NodeId::new(5), pfc);
        group.ports = vec![8, 9];
        let link = |port| LinkId::new(10 * port as usize);
        [8, 9].into_iter().for_each(|port| group.add(link(port), port, (Rate::gbps(10), Time::from_us(1))));
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
        let at_port = |group: &Group| group.places.as_ref().map_or(0, |places| places.of(LOW)[1]);
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
        assert_eq!((share(&group, 0), at_port(&group)), ((3_000, 3_000), 6_000));
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
        assert_eq!((share(&group, 0), group.used, at_port(&group)), ((0, 0), 0, 0));
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
        let stays = |group: &Group, stuck: u64| group.stays_paused(LOW, &[stuck, 0]);
        assert!(!stays(&group, 3_000), "it is not paused");
        assert_eq!(group.paused().count(), 0);
        assert!(group.pauses(LOW, Time::ZERO));
        assert_eq!(group.paused().collect::<Vec<_>>(), [(class::LOW, LinkId::new(80))]);
        assert!(stays(&group, 3_000));
        // 1,000 B are left of it, or 2,000: the reserve, or 1,000 above, which is 500 below the threshold.
        assert!(!stays(&group, 1_000) && !stays(&group, 2_000));
        // 2,500 B are 1,500 above the reserve, which is 500 below the threshold.
        assert!(group.admit(LOW, 1_600, 1));
        assert_eq!([0, 2_500, 2_501, 3_600].map(|stuck| stays(&group, stuck)), [false, false, true, true]);
    }

    /// With alpha = 1/2, and 500 B less than the threshold to go on: 700 B above the reserve may if only they are used, as half of the 3,300
    /// that are free then are 1,650; if another link's 1,000 stand, too, half of 2,300 are too few.
    #[test]
    fn what_stands_of_others_keeps_a_link_paused() {
        let mut group = group(|pfc| pfc.alpha = 0.5);
        assert!(group.admit(Counted { account: 1, class: class::LOW }, 2_000, 0) && group.admit(LOW, 2_500, 1));
        assert!(group.pauses(LOW, Time::ZERO));
        let stays = [[1_700, 0], [1_700, 2_000], [2_500, 0]].map(|stuck| group.stays_paused(LOW, &stuck));
        assert_eq!(stays, [false, true, true]);
    }

    /// Two links are paused, each with packets at a port of its own. When one goes on, what is left of it matters no longer.
    #[test]
    fn a_link_that_goes_on_keeps_nothing_paused() {
        let mut group = group(|pfc| pfc.xoff = Some(Bytes(2_000)));
        let other = Counted { account: 1, class: class::LOW };
        for (counted, place) in [(LOW, 1), (other, 0)] {
            assert!(group.admit(counted, 3_000, place) && group.pauses(counted, Time::ZERO));
        }
        assert!(group.is_strict_at(0) && group.is_strict_at(1));
        group.release(LOW, 1_500, 1);
        assert!(group.resumes(LOW) && group.is_strict_at(0) && !group.is_strict_at(1));
    }

    /// With xoff = 2,000 B above a reserve of 1,000: a packet that makes 2,999 B is certain, one that makes 3,000 is not, since what has
    /// left may have made room. Once the link is paused, what is counted for it is up to date: only what is free of the shared 4,000 B
    /// may not be.
    #[test]
    fn what_pauses_nothing_is_certain() {
        let mut group = group(|pfc| pfc.xoff = Some(Bytes(2_000)));
        let other = Counted { account: 1, class: class::LOW };
        assert!(group.admit(LOW, 2_000, 1));
        assert_eq!([999, 1_000].map(|size| group.is_certain(LOW, size)), [true, false]);
        assert!(group.admit(LOW, 1_000, 0) && !group.is_strict_at(0));
        assert!(group.pauses(LOW, Time::ZERO) && group.is_strict_at(0) && group.is_strict_at(1));
        // It goes to the headroom; the other link has 2,000 B of the shared ones left, and 1,999 pause nothing.
        assert!(group.is_certain(LOW, 1) && group.is_certain(LOW, 5_000));
        assert_eq!([2_999, 3_000].map(|size| group.is_certain(other, size)), [true, false]);
        assert!(group.admit(other, 2_999, 0));
        assert_eq!([1, 2].map(|size| group.is_certain(other, size)), [false; 2]);
        // What is paused is at port 1 alone, then nowhere.
        group.release(LOW, 1_000, 0);
        assert!(!group.is_strict_at(0) && group.is_strict_at(1));
        assert!(group.resumes(LOW) && !group.is_strict_at(1));
    }

    /// If the threshold depends on what is free, what leaves of any link may end a pause of any.
    #[test]
    fn what_is_free_matters_to_all_that_is_paused() {
        let mut group = group(|pfc| pfc.alpha = 0.5);
        let other = Counted { account: 1, class: class::LOW };
        assert!(group.admit(other, 500, 1) && group.admit(LOW, 2_000, 0));
        assert!(!group.pauses(LOW, Time::ZERO) && !group.is_strict_at(1));
        // With 333 B more 1,333 are used, and half of what is free is as much.
        assert_eq!([332, 334].map(|size| group.is_certain(LOW, size)), [true, false]);
        assert!(group.admit(LOW, 900, 0) && group.pauses(LOW, Time::ZERO));
        assert!([0, 1].iter().all(|place| group.is_strict_at(*place)) && group.is_certain(LOW, 9_000));
        group.release(other, 500, 1);
        assert!(!group.is_strict_at(1) && group.is_strict_at(0));
        group.release(LOW, 2_900, 0);
        assert!(group.resumes(LOW) && !group.is_strict_at(0));
        // Where nobody may be late, all matter.
        group.strict = true;
        assert!(group.is_strict_at(0) && group.is_strict_at(1));
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
        let told = Time::from_us(3);
        let filled = |mut group: Group| {
            for (size, place) in [(1_500, 0), (1_500, 1), (1_000, 1)] {
                assert!(group.admit(LOW, size, place));
            }
            group
        };
        let xoff = filled(group(|pfc| pfc.xoff = Some(Bytes(2_000))));
        let reason = PauseReason { told, shared: 2_000, headroom: 1_000, threshold: 2_000, behind: None };
        assert_eq!(xoff.reason(LOW, told), (reason, Some(1)));
        assert_eq!(xoff.reason(Counted { account: 1, class: 3 }, told).1, None);
        // With half of what is free, 1,500 B go to the headroom: 2,000 above the reserve are more than 1,750. It is not known where they
        // are unless somebody asks.
        let mut half = group(|pfc| pfc.alpha = 0.5);
        assert!(half.places.is_none());
        half.know_places();
        let half = filled(half);
        let reason = PauseReason { told, shared: 1_500, headroom: 1_500, threshold: 1_250, behind: None };
        assert_eq!(half.reason(LOW, told), (reason, Some(1)));
    }
}
