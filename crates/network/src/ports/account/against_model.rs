//! The accounts of a switch against a slow model, which keeps each packet by itself.

use super::*;
use crate::class::{CLASSES, HIGH, LOW};
use linkpool_settings::{Preset, Settings as _};
use linkpool_units::Bytes;
use proptest::prelude::*;

const RESERVE: u64 = 1_000;
const RESUME: u64 = 500;
const HEADROOM: u64 = 2_000;
const PORTS: u32 = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A packet of this size comes by an account, and goes to the port with this place.
    Comes { counted: (u32, u8), size: u16, place: u32 },
    /// A packet of those that wait leaves: one with this number, modulo them.
    Leaves(usize),
    /// So much time passes.
    Waits(u64),
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Held {
    of: (u32, u8),
    size: u64,
    place: u32,
}

/// What the rules of the repository say, computed anew from what waits. Bytes of an account and class that are above the headroom are
/// in the reserve and the shared buffer.
#[derive(Clone, Debug)]
struct Model {
    shared: u64,
    alpha: f64,
    xoff: Option<u64>,
    held: Vec<Held>,
    /// By account and class: bytes in the headroom, whether it is paused, and when that is told again.
    headroom: [[u64; CLASSES]; 2],
    again: [[Option<Time>; CLASSES]; 2],
}

impl Model {
    fn all(&self, (account, class): (u32, u8)) -> u64 {
        self.held.iter().filter(|packet| packet.of == (account, class)).map(|packet| packet.size).sum()
    }

    fn headroom(&mut self, (account, class): (u32, u8)) -> &mut u64 {
        &mut self.headroom[account as usize][usize::from(class)]
    }

    fn again(&mut self, (account, class): (u32, u8)) -> &mut Option<Time> {
        &mut self.again[account as usize][usize::from(class)]
    }

    /// Bytes of the shared buffer that a link and class uses.
    fn beyond(&self, of: (u32, u8)) -> u64 {
        (self.all(of) - self.headroom[of.0 as usize][usize::from(of.1)]).saturating_sub(RESERVE)
    }

    fn used(&self) -> u64 {
        (0..2).flat_map(|account| (0..CLASSES as u8).map(move |class| (account, class))).map(|of| self.beyond(of)).sum()
    }

    fn threshold(&self) -> u64 {
        self.xoff.unwrap_or((self.alpha * (self.shared - self.used()) as f64) as u64)
    }

    /// A packet comes. Returns whether it has room, and whether its neighbour is told to pause.
    fn admit(&mut self, packet: Held, now: Time, half: Time) -> Option<bool> {
        let (used, threshold, shared) = (self.used(), self.threshold(), self.shared);
        let mut with = self.clone();
        with.held.push(packet);
        let fits = with.beyond(packet.of) == 0 || with.beyond(packet.of) <= threshold && with.used() <= shared;
        if !fits {
            *with.headroom(packet.of) += packet.size;
            if *with.headroom(packet.of) > HEADROOM {
                return None;
            }
            assert_eq!(with.used(), used);
        }
        *self = with;
        let over = *self.headroom(packet.of) > 0 || self.beyond(packet.of) >= self.threshold().max(1);
        let tells = over && self.again(packet.of).is_none();
        if tells {
            *self.again(packet.of) = Some(now + half);
        }
        Some(tells)
    }

    /// A packet leaves: what it takes off is the headroom first. Returns whether its neighbour may go on.
    fn release(&mut self, number: usize) -> (Held, bool) {
        let packet = self.held.swap_remove(number);
        let headroom = self.headroom(packet.of);
        *headroom = headroom.saturating_sub(packet.size);
        let resumes = self.again(packet.of).is_some() && self.may_resume(packet.of);
        if resumes {
            *self.again(packet.of) = None;
        }
        (packet, resumes)
    }

    fn may_resume(&mut self, of: (u32, u8)) -> bool {
        let beyond = self.beyond(of);
        *self.headroom(of) == 0 && (beyond == 0 || beyond + RESUME <= self.threshold())
    }

    /// Does it matter what leaves by this port: may it end a pause?
    fn matters(&self, place: u32) -> bool {
        let is_paused = |of: (u32, u8)| self.again[of.0 as usize][usize::from(of.1)].is_some();
        let any = self.again.iter().flatten().any(Option::is_some);
        let counts = |packet: &&Held| packet.place == place && (self.xoff.is_none() || is_paused(packet.of));
        any && self.held.iter().any(|packet| counts(&packet))
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let counted = (0u32..2, prop::sample::select(vec![LOW, LOW, HIGH]));
    let comes =
        (counted, 1u16..1_600, 0..PORTS).prop_map(|(counted, size, place)| Step::Comes { counted, size, place });
    let step =
        prop_oneof![5 => comes, 4 => (0usize..99).prop_map(Step::Leaves), 1 => (0u64..4_000).prop_map(Step::Waits)];
    prop::collection::vec(step, 1..80)
}

fn group(xoff: Option<u64>, alpha: f64) -> Group {
    let mut pfc = Pfc::defaults(Preset::Linux);
    // Of two links and two classes: 8,000 B in headroom, 4,000 in the reserves, so 4,000 are shared.
    (pfc.buffer, pfc.reserve, pfc.headroom, pfc.resume) = (16_000, RESERVE, Some(Bytes(HEADROOM)), RESUME);
    (pfc.xoff, pfc.alpha) = (xoff.map(Bytes), alpha);
    let mut group = Group::new(NodeId::new(5), pfc);
    group.ports = vec![7, 8, 9];
    group.events.resize(PORTS as usize);
    [8, 9].into_iter().for_each(|port| group.add(LinkId::new(port as usize), port, (Rate::gbps(10), Time::from_us(1))));
    group.know_places();
    group
}

fn counted((account, class): (u32, u8)) -> Counted {
    Counted { account, class }
}

/// The half of 65,535 quanta of 51.2 ns.
const HALF: Time = Time(65_535 * 51_200 / 2);

/// The ports of which `stuck` is true give no packet of this class any longer, and all others leave: is `of` paused then for good?
fn stays_paused(model: &Model, of: (u32, u8), stuck: impl Fn(u32) -> bool) -> bool {
    let mut left = model.clone();
    while let Some(number) = left.held.iter().position(|packet| packet.of.1 != of.1 || !stuck(packet.place)) {
        left.release(number);
    }
    model.again[of.0 as usize][usize::from(of.1)].is_some() && !left.may_resume(of)
}

proptest! {
    #[test]
    fn accounts_are_as_the_packets_that_wait(
        steps in steps(),
        xoff in prop_oneof![Just(None), prop::sample::select(vec![Some(600u64), Some(2_000), Some(3_500)])],
        alpha in prop::sample::select(vec![0.125, 0.5, 2.0]),
        is_plain_first in any::<bool>(),
    ) {
        let mut group = group(xoff, alpha);
        let mut model = Model {
            shared: 4_000, alpha, xoff, held: Vec::new(), headroom: [[0; CLASSES]; 2], again: [[None; CLASSES]; 2],
        };
        prop_assert_eq!(group.shared, model.shared);
        let mut gate = Gate::new(0, 0, 65_535);
        let mut now = Time::ZERO;
        for step in steps {
            match step {
                Step::Comes { counted: of, size, place } => {
                    let packet = Held { of, size: size.into(), place };
                    let mut after = model.clone();
                    let expected = after.admit(packet, now, HALF);
                    // Whatever has left that is still counted, the same comes of it.
                    if group.is_certain(counted(of), size) {
                        for last in 0..PORTS {
                            let mut fewer = model.clone();
                            let goes = |packet: &Held| packet.place <= last && !model.matters(packet.place);
                            while let Some(number) = fewer.held.iter().position(goes) {
                                fewer.release(number);
                            }
                            prop_assert_eq!(fewer.admit(packet, now, HALF), expected);
                        }
                    }
                    // Plainly: if it has room, and pauses nothing, and its link is not paused.
                    let is_paused = model.again(of).is_some();
                    let (over, used) = {
                        let mut with = model.clone();
                        with.held.push(packet);
                        (with.beyond(of), with.used())
                    };
                    let threshold = xoff.unwrap_or((alpha * model.shared.saturating_sub(used) as f64) as u64);
                    let is_plain = !is_paused && used <= model.shared && over < threshold.max(1);
                    if is_plain {
                        prop_assert_eq!(expected, Some(false));
                        prop_assert!(group.is_certain(counted(of), size));
                    }
                    if is_plain_first {
                        let before = format!("{group:?}");
                        prop_assert_eq!(group.count_plainly(counted(of), size, place), is_plain);
                        let is_same = format!("{group:?}") == before;
                        prop_assert!(is_plain || is_same);
                    }
                    if !is_plain_first || !is_plain {
                        let admitted = group.admit(counted(of), size, place);
                        prop_assert_eq!(admitted.then(|| group.pauses(counted(of), now)), expected);
                    }
                    model = after;
                }
                Step::Leaves(number) if !model.held.is_empty() => {
                    let number = number % model.held.len();
                    let (packet, resumes) = model.release(number);
                    gate.place = packet.place;
                    gate.left.push((counted(packet.of), packet.size as u16));
                    prop_assert_eq!(group.release_all(&mut gate), resumes.then_some(counted(packet.of)));
                    prop_assert!(gate.left.is_empty());
                }
                Step::Leaves(_) => {}
                Step::Waits(us) => {
                    now += Time::from_us(us);
                    // Each that is due is told once, the first first.
                    let due: Vec<(u32, u8)> = (0..2)
                        .flat_map(|account| (0..CLASSES as u8).map(move |class| (account, class)))
                        .filter(|of| model.again(*of).is_some_and(|again| again <= now))
                        .collect();
                    let first = model.again.iter().flatten().flatten().min().copied();
                    prop_assert!(group.next_refresh() <= first.unwrap_or(Time::MAX));
                    // The first port at which something matters has it done by the time of its place, see below.
                    let done = (0..PORTS).find(|place| model.matters(*place)).map_or(Time::MAX, |place| Time(place.into()));
                    prop_assert_eq!(group.is_up_to(now), group.next_refresh().min(done) > now);
                    for of in due {
                        prop_assert_eq!(group.refresh(now), Some(counted(of)));
                        *model.again(of) = Some(now + HALF);
                    }
                    prop_assert_eq!(group.refresh(now), None);
                    let first = model.again.iter().flatten().flatten().min().copied();
                    prop_assert_eq!(group.next_refresh(), first.unwrap_or(Time::MAX));
                }
            }
            prop_assert_eq!(group.used, model.used());
            prop_assert_eq!(group.threshold(group.used), model.threshold());
            for place in 0..PORTS {
                prop_assert_eq!(group.is_strict_at(place), model.matters(place), "{}", place);
                group.note_event(place, || Time(place.into()));
            }
            let first = (0..PORTS).find(|place| model.matters(*place)).map(|place| Time(place.into()));
            prop_assert_eq!(group.events.at(), first.unwrap_or(Time::MAX));
            for of in [(0, LOW), (0, HIGH), (1, LOW), (1, HIGH)] {
                let at = |place| -> u64 {
                    let held = model.held.iter().filter(|packet| packet.of == of && packet.place == place);
                    held.map(|packet| packet.size).sum()
                };
                let most = (0..PORTS).map(at).max().filter(|most| *most > 0);
                let behind = most.and_then(|most| (0..PORTS).find(|place| at(*place) == most));
                let reason = PauseReason {
                    told: now,
                    shared: model.beyond(of),
                    headroom: model.headroom[of.0 as usize][usize::from(of.1)],
                    threshold: model.threshold(),
                    behind: None,
                };
                prop_assert_eq!(group.reason(counted(of), now), (reason, behind));
                for stuck in 0u32..1 << PORTS {
                    let is_stuck = |place: u32| stuck >> place & 1 == 1;
                    let bytes = |account| -> u64 {
                        let held = model.held.iter().filter(|packet| packet.of == (account, of.1) && is_stuck(packet.place));
                        held.map(|packet| packet.size).sum()
                    };
                    let found = model.again[of.0 as usize][usize::from(of.1)].is_some()
                        && group.stays_paused(counted(of), &[bytes(0), bytes(1)]);
                    // A threshold that depends on what is free takes what is stuck of all to be in the shared buffer.
                    let stays = stays_paused(&model, of, is_stuck);
                    let is_exact = xoff.is_some() || model.headroom.iter().flatten().all(|bytes| *bytes == 0);
                    let is_right = if is_exact { stays == found } else { !stays || found };
                    prop_assert!(is_right);
                }
            }
        }
    }
}

/// What was planned for a neighbour of a slow host counts as told: until it goes on, it is told again, the first first.
#[test]
fn what_a_slow_host_plans_is_told_again() {
    let mut group = group(Some(2_000), 1.0);
    let told =
        |us, account, pauses, used| Planned { at: Time::from_us(us), counted: counted((account, LOW)), pauses, used };
    let after = |us| Time(Time::from_us(us).0 + HALF.0);
    group.tell_planned(told(5, 1, true, 700));
    assert_eq!((group.next_refresh(), group.buffered), (after(5), 700));
    group.tell_planned(told(9, 0, true, 800));
    assert_eq!((group.next_refresh(), group.buffered), (after(5), 800));
    assert_eq!((group.refresh(after(5)), group.refresh(after(5))), (Some(counted((1, LOW))), None));
    assert_eq!(group.next_refresh(), after(9));
    group.tell_planned(told(10, 0, false, 100));
    assert_eq!((group.refresh(after(9)), group.next_refresh()), (None, Time(after(5).0 + HALF.0)));
    group.planned.push_back(told(90, 0, true, 1));
    assert!(!group.is_up_to(Time::ZERO), "something is planned");
}

/// A slow host's adapter pauses at its buffer less the headroom of all lossless priorities; nothing is counted at the host.
#[test]
fn a_slow_host_has_the_headroom_of_all_priorities() {
    let mut group = group(Some(2_000), 1.0);
    let intake =
        Intake { buffer: 9_000, rate: None, packet_time: Time::ZERO, from: Time::ZERO, until: Time::from_us(9) };
    let adapter = group.add_adapter((4, LinkId::new(6)), 6, (Rate::gbps(10), Time::from_us(1)), intake);
    assert_eq!((adapter.xoff, adapter.group, adapter.back), (9_000 - 2 * HEADROOM, 4, 6));
    assert!((0..PORTS).all(|place| group.is_strict_at(place)));
    let packet = Packet { kind: crate::packet::Kind::DATA, ..Packet::default() };
    assert_eq!((group.counted(&packet, || 0), group.accounts.len()), (None, 3));
}
