//! One simulation on several threads, with the same result to the bit.
//!
//! In a window no part can affect another, so threads meet once a window, at a barrier. Before it each has published what
//! it sent to the others and which window it needs next; behind it each takes what was sent to it, and all go to the
//! earliest window that any needs. Notices between hosts go the same way, also within a part. What is published has two places, used in turn: who is slow to read one
//! finds it untouched until it comes to the next barrier.

use crate::fabric::{LinkId, NodeId};
use crate::network::{Handler, Network};
use crate::packet::{Flags, Packet};
use crate::trailer::Trailer;
use linkpool_units::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// How a run on several threads ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// At its end.
    End,
    /// Before it: enough is done. The window that began before this time was the last.
    Done(Time),
    /// Before it: nothing is left that could ever happen; the last event was before this time.
    Silent(Time),
    /// It was told to stop.
    Stopped,
}

/// No window.
const NEVER: u64 = u64::MAX;

/// Packets from one part to another, and the trailers of those that have one.
#[derive(Default)]
struct Parcel {
    packets: Vec<(LinkId, Packet)>,
    trailers: Vec<Trailer>,
}

/// Notices to the hosts of a part.
type Notices<N> = Mutex<Vec<(NodeId, Time, N)>>;

struct Shared<N> {
    parts: usize,
    /// Threads that have come to a barrier, over all barriers.
    arrived: AtomicU64,
    /// A thread has panicked: the others must not wait for it.
    poisoned: AtomicBool,
    /// By turn and part: the next window that it needs, as far as it knows.
    next: [Vec<AtomicU64>; 2],
    /// By turn, sending part and receiving part.
    parcels: [Vec<Mutex<Parcel>>; 2],
    /// By turn, sending part and receiving part.
    notices: [Vec<Notices<N>>; 2],
    /// By turn and part: [`Handler::done`].
    done: [Vec<AtomicU64>; 2],
    /// By part: packet-hops so far.
    hops: Vec<AtomicU64>,
    /// The round after which all stop.
    stop_after: AtomicU64,
}

impl<N> Shared<N> {
    fn new(parts: usize) -> Shared<N> {
        let numbers = |n| (0..parts).map(|_| AtomicU64::new(n)).collect();
        let notices = || (0..parts * parts).map(|_| Mutex::default()).collect();
        let parcels = || (0..parts * parts).map(|_| Mutex::default()).collect();
        Shared {
            parts,
            arrived: AtomicU64::new(0),
            poisoned: AtomicBool::new(false),
            next: [numbers(NEVER), numbers(NEVER)],
            parcels: [parcels(), parcels()],
            notices: [notices(), notices()],
            done: [numbers(0), numbers(0)],
            hops: numbers(0),
            stop_after: AtomicU64::new(NEVER),
        }
    }

    /// Waits until all threads have come to barrier number `round`. What any did before it, all see behind it.
    fn wait(&self, round: u64) {
        let all = (round + 1) * self.parts as u64;
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0u32;
        while self.arrived.load(Ordering::Acquire) < all {
            assert!(!self.poisoned.load(Ordering::Relaxed), "another thread of the simulation has failed");
            spins += 1;
            // Spinning is far shorter than a sleep; but if there are fewer cores than threads, let the others run.
            if spins.is_multiple_of(256) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

/// Tells the other threads if this one panics.
struct Guard<'a, N>(&'a Shared<N>);

impl<N> Drop for Guard<'_, N> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poisoned.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs the parts of a network to `end`: the first, with its handler, on the calling thread, each other on one of its own.
///
/// It ends sooner when the parts have [`Handler::done`] `goal` together, with the window in which they have.
/// `progress` is called on the calling thread every `every` windows with the start of the window, before which all is done,
/// and the packet-hops so far; it ends the run by returning false.
pub fn run_parts<H: Handler + Send>(
    parts: Vec<(&mut Network, &mut H)>,
    end: Time,
    goal: u64,
    every: u64,
    progress: &mut dyn FnMut(Time, u64) -> bool,
) -> Ended {
    let shared = &Shared::new(parts.len());
    std::thread::scope(|scope| {
        let mut parts = parts.into_iter().enumerate();
        let Some((_, (first_network, first_handler))) = parts.next() else {
            return Ended::Silent(Time::ZERO);
        };
        for (me, (network, handler)) in parts {
            scope.spawn(move || {
                let _guard = Guard(shared);
                run_part(me, network, handler, shared, (end, goal), every, None)
            });
        }
        let _guard = Guard(shared);
        run_part(0, first_network, first_handler, shared, (end, goal), every, Some(progress))
    })
}

fn run_part<H: Handler>(
    me: usize,
    network: &mut Network,
    handler: &mut H,
    shared: &Shared<H::Notice>,
    (end, goal): (Time, u64),
    every: u64,
    mut progress: Option<&mut dyn FnMut(Time, u64) -> bool>,
) -> Ended {
    for round in 0.. {
        let turn = (round % 2) as usize;
        publish(me, network, handler, shared, turn);
        if let Some(progress) = &mut progress
            && round % every == every - 1
        {
            let hops = shared.hops.iter().map(|h| h.load(Ordering::Relaxed)).sum();
            if !progress(network.window_start(), hops) {
                shared.stop_after.store(round, Ordering::Relaxed);
            }
        }
        shared.wait(round);
        if shared.stop_after.load(Ordering::Relaxed) == round {
            return Ended::Stopped;
        }
        for from in 0..shared.parts {
            let mut parcel = lock(&shared.parcels[turn][from * shared.parts + me]);
            let Parcel { packets, trailers } = &mut *parcel;
            let mut trailers = trailers.drain(..);
            for (link, packet) in packets.drain(..) {
                let trailer = if packet.flags.has(Flags::TRAILER) { trailers.next() } else { None };
                network.receive(link, packet, trailer);
            }
            for (host, at, notice) in lock(&shared.notices[turn][from * shared.parts + me]).drain(..) {
                handler.on_notice(host, at, notice);
                network.wake(host, handler);
            }
        }
        if goal < NEVER && shared.done[turn].iter().map(|n| n.load(Ordering::Relaxed)).sum::<u64>() >= goal {
            return Ended::Done(network.window_end().min(end));
        }
        let window = shared.next[turn].iter().map(|n| n.load(Ordering::Relaxed)).min().unwrap_or(NEVER);
        if window == NEVER {
            return Ended::Silent(network.window_end().min(end));
        }
        if network.run_window(window, end, handler) {
            return Ended::End;
        }
    }
    unreachable!("rounds do not run out")
}

/// Before the barrier: what was sent to other parts, and the next window that they or this part will need.
fn publish<H: Handler>(me: usize, network: &mut Network, handler: &mut H, shared: &Shared<H::Notice>, turn: usize) {
    let mut next = network.next_window().unwrap_or(NEVER);
    let mut first = Time::MAX;
    let mut open = (usize::MAX, None);
    network.hand_over(|to, link, packet, trailer| {
        first = first.min(packet.arrival);
        let to = to as usize;
        if open.0 != to {
            open = (to, None); // release the lock of the parcel before
            open.1 = Some(lock(&shared.parcels[turn][me * shared.parts + to]));
        }
        if let Some(parcel) = &mut open.1 {
            parcel.packets.push((link, packet));
            parcel.trailers.extend(trailer);
        }
    });
    for (host, at, notice) in handler.take_notices() {
        first = first.min(at);
        lock(&shared.notices[turn][me * shared.parts + network.part_of(host)]).push((host, at, notice));
    }
    shared.done[turn][me].store(handler.done(), Ordering::Relaxed);
    if first != Time::MAX {
        next = next.min(network.window_of(first));
    }
    shared.next[turn][me].store(next, Ordering::Relaxed);
    shared.hops[me].store(network.hops(), Ordering::Relaxed);
}

fn lock<T>(mailbox: &Mutex<T>) -> MutexGuard<'_, T> {
    mailbox.lock().expect("a thread that fails takes the run with it")
}
