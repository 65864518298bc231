//! RCCC, congestion control by credits of the receiver (uec.cpp, `UecSrc::computePullTarget` and
//! `handlePull`; `UecSink::pull`, `UecPullPacer`).
//!
//! A sender spends credit, bytes on the wire, with each packet of data, and says in it how much credit it
//! wants in all. Its receiver grants credit in quanta of 256 bytes. The receivers of a host take turns: those
//! that owe credit first; when there are none, those that owe nothing grant some in advance (slow pulls).

use linkpool_units::Time;

/// Bytes of a quantum (`UEC_PULL_SHIFT`).
const QUANTUM: u64 = 256;
/// Quanta of a pull: those of four packets of 4,096 B (`_credit_per_pull`).
const PER_PULL: u32 = 64;
/// A pull that grants nothing takes the time of so many quanta.
const EMPTY_PULL: u32 = 4;
/// The part of the rate of the receiving host for which it grants credit (`pull_rate_modifier`).
const OF_RATE: f64 = 0.99;

/// The credit of a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    /// Bytes that it may send; a packet may take it below 0.
    left: i64,
    /// The most that it may be.
    most: i64,
    /// It has heard nothing of the receiver, and has credit that nobody has granted.
    speculates: bool,
    /// Quanta that were granted in all.
    granted: u32,
    /// When the receiver was heard last, or the sender had data to send again.
    heard: Time,
    /// When the sender asked for credit last.
    asked: Option<Time>,
    /// Since when there has been no credit and no PULL, if there is none.
    lacks_from: Time,
    /// How long that was when the last PULL ended it.
    lacked: Time,
}

impl Credit {
    /// The credit of a sender whose window is at most `most` bytes.
    pub(super) fn new(most: f64) -> Credit {
        let most = most as i64;
        let (heard, lacks_from, lacked) = (Time::ZERO, Time::ZERO, Time::ZERO);
        Credit { left: most, most, speculates: true, granted: 0, heard, asked: None, lacks_from, lacked }
    }

    /// The sender has data to send from now on: silence before it says nothing.
    pub(super) fn wait_from(&mut self, now: Time) {
        (self.heard, self.lacks_from) = (now, now);
    }

    /// May a packet be sent?
    pub(super) fn is_left(&self) -> bool {
        self.left > 0
    }

    /// A packet of so many bytes is sent.
    pub(super) fn spend(&mut self, bytes: i64, now: Time) {
        self.left -= bytes;
        if !self.is_left() {
            self.lacks_from = now;
        }
    }

    /// The receiver has said something: what is left of the credit that it has not granted is gone
    /// (`stopSpeculating`).
    pub(super) fn heard(&mut self, now: Time) {
        self.heard = now;
        if std::mem::take(&mut self.speculates) && self.is_left() {
            (self.left, self.lacks_from) = (0, now);
        }
    }

    /// A PULL has come: the receiver has granted so many quanta in all.
    pub(super) fn grant(&mut self, granted: u32, now: Time) {
        if !self.is_left() {
            (self.lacked, self.lacks_from) = (now - self.lacks_from, now);
        }
        self.heard(now);
        let more = granted.wrapping_sub(self.granted) as i32;
        if more > 0 {
            self.left = (self.left + i64::from(more) * QUANTUM as i64).min(self.most);
            self.granted = granted;
        }
    }

    /// When a sender that has nothing in flight takes a PULL for lost. A receiver with many senders is silent for as long as
    /// it pulls from the others: only a silence beyond a timeout and twice the wait for the last PULL says more. (The last,
    /// not the longest: that for a PULL after a lost one is no measure.)
    pub(super) fn overdue_at(&self, rto: Time) -> Time {
        self.heard.max(self.asked.unwrap_or(self.heard)) + rto + self.lacked * 2
    }

    /// The sender asks.
    pub(super) fn ask(&mut self, now: Time) {
        self.asked = Some(now);
    }

    /// The quanta that the sender wants to be granted in all, with so many bytes `to_send`, of which are
    /// `new` data, a `window` if it has one, full packets of `mtu` bytes, and so many senders on its host
    /// that want to send, itself included (`computePullTarget`).
    pub(super) fn target(&self, (to_send, new): (i64, i64), window: Option<f64>, mtu: i64, senders: usize) -> u32 {
        let mut wanted = window.map_or(to_send, |window| to_send.min(window as i64 + mtu)).min(self.most) - self.left;
        if self.speculates && wanted < mtu && new > 0 {
            wanted = mtu;
        }
        let wanted = wanted / senders.max(1) as i64;
        let quanta = (wanted + QUANTUM as i64 - 1).div_euclid(QUANTUM as i64);
        self.granted.wrapping_add(quanta as u32)
    }
}

/// What a receiver owes its sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grants {
    /// Quanta granted in all, and those that the sender has wanted at most.
    granted: u32,
    wanted: u32,
    /// Does it wait among the receivers that owe credit, and among the others?
    owes: bool,
    waits_idle: bool,
}

/// Where a receiver is to wait for its next turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Nowhere.
    None,
    /// Among those that owe credit.
    Owing,
    /// Among the others.
    Idle,
}

/// A turn that a receiver has had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pulled {
    /// Quanta granted in all, for the PULL.
    pub granted: u32,
    /// Bytes on the links of the host for which no other receiver may grant credit.
    pub bytes: u64,
    /// Its next turn.
    pub next: Turn,
}

impl Grants {
    /// A packet has come whose sender wants so many quanta in all. `lost`: it was trimmed, or asks to send.
    /// Returns where the receiver is to wait, where it does not yet.
    pub(super) fn want(&mut self, target: u32, lost: bool) -> Turn {
        let more = target.wrapping_sub(self.wanted) as i32 > 0;
        if more {
            self.wanted = target;
        }
        if (more || lost) && !std::mem::replace(&mut self.owes, true) { Turn::Owing } else { Turn::None }
    }

    fn owed(&self) -> u32 {
        (self.wanted.wrapping_sub(self.granted) as i32).max(0) as u32
    }

    fn in_advance(&self) -> u32 {
        (self.granted.wrapping_sub(self.wanted) as i32).max(0) as u32
    }

    /// Its turn has come (`UecPullPacer::doNextEvent`); `most` bytes may be granted in advance. A receiver
    /// that waits in both places has its turn among those that owe first.
    pub(super) fn pull(&mut self, most: f64) -> Pulled {
        let (quanta, next) = if self.owes {
            let quanta = self.owed().min(PER_PULL);
            self.granted = self.granted.wrapping_add(quanta);
            self.owes = self.owed() > 0;
            let next = match self.owes {
                true => Turn::Owing,
                false if std::mem::replace(&mut self.waits_idle, true) => Turn::None,
                false => Turn::Idle,
            };
            (if quanta == 0 { EMPTY_PULL } else { quanta }, next)
        } else {
            self.granted = self.granted.wrapping_add(PER_PULL);
            let goes_on = self.owed() == 0 && u64::from(self.in_advance()) < most as u64 / QUANTUM;
            self.waits_idle = goes_on;
            (PER_PULL, if goes_on { Turn::Idle } else { Turn::None })
        };
        let bytes = (f64::from(quanta) * QUANTUM as f64 / OF_RATE).round() as u64;
        Pulled { granted: self.granted, bytes, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10,000 B of credit that nobody granted: three packets of 4,000 B go, the third on what is left.
    #[test]
    fn a_sender_speculates_until_it_hears() {
        let mut credit = Credit::new(10_000.0);
        for _ in 0..3 {
            assert!(credit.is_left());
            credit.spend(4_000, Time::ZERO);
        }
        assert!(!credit.is_left());
        credit.heard(Time::ZERO);
        assert_eq!(credit.left, -2_000);
        // 8 quanta are 2,048 B. The same PULL again, or an older one, grants nothing.
        credit.grant(8, Time::ZERO);
        assert_eq!(credit.left, 48);
        credit.grant(8, Time::ZERO);
        credit.grant(3, Time::ZERO);
        assert_eq!(credit.left, 48);
        credit.grant(1_000, Time::ZERO);
        assert_eq!(credit.left, 10_000, "no more than the most");
        let mut unused = Credit::new(10_000.0);
        unused.spend(4_000, Time::ZERO);
        unused.heard(Time::ZERO);
        assert!(!unused.is_left() && unused.left == 0);
    }

    /// A PULL that came 50 us after there was no credit, and one 338 us after it, are no reason to ask: the next silence may
    /// last 100 us (the timeout) and 100 us, then 676 us. What the receiver says in between, as its ACK of a request, and
    /// PULLs while there is credit, make neither shorter.
    #[test]
    fn patience_follows_what_receivers_take() {
        let us = Time::from_us;
        let mut credit = Credit::new(1_000.0);
        credit.wait_from(us(10));
        assert_eq!(credit.overdue_at(us(100)), us(110));
        credit.spend(1_000, us(15));
        credit.heard(us(30));
        assert_eq!(credit.overdue_at(us(100)), us(130));
        credit.grant(1, us(65));
        assert_eq!(credit.overdue_at(us(100)), us(65 + 100 + 100));
        credit.grant(2, us(900));
        assert_eq!(credit.overdue_at(us(100)), us(900 + 100 + 100), "there was credit");
        credit.spend(2_000, us(920));
        credit.ask(us(1_000));
        credit.heard(us(1_014));
        assert_eq!(credit.overdue_at(us(100)), us(1_014 + 200));
        credit.grant(3, us(1_258));
        assert_eq!(credit.overdue_at(us(100)), us(1_258 + 100 + 676));
        credit.ask(us(1_600));
        assert_eq!(credit.overdue_at(us(100)), us(1_600 + 776));
        // Credit is still missing, from the last PULL on: the last wait counts, not the longest.
        credit.grant(4, us(1_700));
        assert_eq!(credit.overdue_at(us(100)), us(1_700 + 100 + 884));
        credit.grant(5, us(1_730));
        assert_eq!(credit.overdue_at(us(100)), us(1_730 + 100 + 60));
        // What a receiver's first word takes back is missing from then on.
        let mut credit = Credit::new(1_000.0);
        credit.heard(us(7));
        credit.grant(1, us(27));
        assert_eq!(credit.overdue_at(us(100)), us(27 + 100 + 40));
    }

    /// What is wanted, in quanta of 256 B: all that is to be sent, at most the window and a packet, at most
    /// the most, less what is left, among the senders of the host.
    #[test]
    fn a_sender_wants_what_it_can_send() {
        let mut credit = Credit::new(10_000.0);
        credit.spend(4_000, Time::ZERO);
        let target =
            |credit: &Credit, to_send, window, senders| credit.target((to_send, to_send), window, 4_000, senders);
        // 6,000 B are left: at least a packet while it speculates.
        assert_eq!(target(&credit, 7_000, None, 1), 16);
        assert_eq!(target(&credit, 10_000, None, 1), 16);
        credit.heard(Time::ZERO);
        assert_eq!(target(&credit, 7_000, None, 1), 28);
        assert_eq!(target(&credit, 20_000, None, 1), 40, "10,000 B at most");
        assert_eq!(target(&credit, 20_000, Some(2_000.0), 1), 24, "a window of 2,000 B and a packet");
        assert_eq!(target(&credit, 7_000, None, 2), 14);
        credit.grant(20, Time::ZERO);
        assert_eq!(target(&credit, 7_000, None, 1), 20 + 8, "5,120 B are left: 1,880 B");
        assert_eq!(credit.target((0, 0), None, 4_000, 1), 0, "less than was granted");
    }

    /// 100 quanta are owed: 64, then 36, each in its time at 0.99 of the rate; then in advance, 64 at a
    /// time, as long as less than 40,000 B (156 quanta) are.
    #[test]
    fn a_receiver_grants_what_is_owed_and_some_in_advance() {
        let mut grants = Grants::default();
        assert_eq!(
            [grants.want(100, false), grants.want(100, false), grants.want(50, true)],
            [Turn::Owing, Turn::None, Turn::None]
        );
        let mut pulls = Vec::new();
        loop {
            let pulled = grants.pull(40_000.0);
            pulls.push((pulled.granted, pulled.next));
            if pulled.next == Turn::None {
                break;
            }
        }
        let expected = [(64, Turn::Owing), (100, Turn::Idle), (164, Turn::Idle), (228, Turn::Idle), (292, Turn::None)];
        assert_eq!(pulls, expected);
        // All in advance is used up by what comes to be wanted: then nothing is granted, for the time of 4 quanta.
        assert_eq!(grants.want(200, false), Turn::Owing);
        let pulled = grants.pull(40_000.0);
        assert_eq!((pulled.granted, pulled.bytes, pulled.next), (292, (1_024.0f64 / 0.99).round() as u64, Turn::Idle));
        assert_eq!(grants.want(300, false), Turn::Owing);
        let pulled = grants.pull(40_000.0);
        assert_eq!((pulled.granted, pulled.bytes), (300, (8.0f64 * 256.0 / 0.99).round() as u64));
        assert_eq!(pulled.next, Turn::None, "it waits among the others already");
    }

    /// A trimmed packet wants no more, but its receiver owes a turn.
    #[test]
    fn what_was_trimmed_asks_for_a_turn() {
        let mut grants = Grants::default();
        assert_eq!((grants.want(0, false), grants.want(0, true)), (Turn::None, Turn::Owing));
    }
}
