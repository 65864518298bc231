//! How fast a subflow's packets are delivered, as Linux measures it for the algorithms that ask for
//! it (net/ipv4/tcp_rate.c; draft-cheng-iccrg-delivery-rate-estimation-02, section 3).

use crate::congestion::CongestionState;
use crate::control::RateSample;
use crate::loss::Delivered;
use crate::outstanding::Mark;
use crate::subflow::Subflow;
use linkpool_units::Time;
use std::collections::VecDeque;

/// What was known when segments were sent at one instant (Linux: `tx` of `struct tcp_skb_cb`).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sending {
    at: Time,
    /// Segments delivered before, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    /// When the first segment of the flight was sent whose delivery was the last that was measured.
    first_sent: Time,
    /// Had the application too little data to fill the window?
    limited: bool,
}

/// The deliveries of a subflow.
#[derive(Debug)]
pub(super) struct Deliveries {
    /// Segments delivered, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// The application was short of data until this many segments are delivered; 0: it is not.
    limited_until: u64,
    /// No data waits, and the window has room: what is sent next comes from an application that was
    /// short of data.
    dry: bool,
    /// Has it begun to send anew since the last ACK, after it was idle for want of data?
    restarted: bool,
    /// Segments sent and losses detected, of which account has been taken.
    segments: u64,
    losses: u64,
    /// Segments in flight before the last ACK.
    in_flight: u32,
    /// By time, of segments that are outstanding.
    sendings: VecDeque<Sending>,
}

/// With fewer entries nothing is forgotten.
const FEW: usize = 64;

impl Deliveries {
    pub(super) fn new() -> Deliveries {
        Deliveries {
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            limited_until: 0,
            dry: false,
            restarted: false,
            segments: 0,
            losses: 0,
            in_flight: 0,
            sendings: VecDeque::new(),
        }
    }

    /// `subflow` may have sent segments at `now` (Linux: `tcp_rate_skb_sent`).
    pub(super) fn note_sent(&mut self, subflow: &Subflow, now: Time) {
        let new = subflow.segments - self.segments;
        if new == 0 {
            return;
        }
        self.segments = subflow.segments;
        let flight_before = u64::from(subflow.in_flight).saturating_sub(new);
        if std::mem::take(&mut self.dry) {
            // Linux: `tcp_rate_check_app_limited`, when the application writes.
            self.limited_until = (self.delivered + flight_before).max(1);
        }
        if subflow.sent.len() as u64 <= new {
            (self.first_sent, self.delivered_at) = (now, now);
            self.restarted |= self.limited_until > 0;
        }
        self.in_flight = subflow.in_flight;
        let Deliveries { delivered, delivered_at, first_sent, .. } = *self;
        let sending = Sending { at: now, delivered, delivered_at, first_sent, limited: self.limited_until > 0 };
        match self.sendings.back_mut() {
            Some(last) if last.at == now => *last = sending,
            _ => self.sendings.push_back(sending),
        }
        if self.sendings.len() > 2 * subflow.sent.len() + FEW {
            let oldest = subflow.sent.range(0..).filter(|s| !s.is(Mark::SACKED)).map(|s| s.at()).min();
            self.sendings.retain(|sending| oldest.is_some_and(|oldest| sending.at >= oldest));
        }
    }

    /// An ACK has `told` of segments (Linux: `tcp_rate_skb_delivered`, `tcp_rate_gen`).
    pub(super) fn on_ack(&mut self, told: &Delivered, subflow: &Subflow, now: Time) -> RateSample {
        let fresh = told.fresh;
        self.delivered += u64::from(fresh);
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if fresh > 0 {
            self.delivered_at = now;
        }
        let losses = subflow.board.as_ref().map_or(0, |board| board.losses);
        let lost = (losses - self.losses) as u32;
        let mut sample = RateSample {
            now,
            acked: fresh,
            lost,
            delivered: self.delivered,
            measured: None,
            rtt: told.latest.filter(|(.., again)| !again).map(|(at, ..)| now - at),
            // Linux: `FLAG_ACK_MAYBE_DELAYED`, of an ACK for the only segment in flight.
            may_be_delayed: fresh == 1 && subflow.sent.is_empty(),
            in_flight_before: std::mem::replace(&mut self.in_flight, subflow.in_flight),
            in_flight: subflow.in_flight,
            limited: false,
            restarted: std::mem::take(&mut self.restarted),
            next_departure: Time::ZERO,
        };
        self.losses = losses;
        let Some((at, ..)) = told.latest else { return sample };
        let Ok(place) = self.sendings.binary_search_by_key(&at, |sending| sending.at) else { return sample };
        let sending = self.sendings[place];
        self.first_sent = at;
        sample.limited = sending.limited;
        // The slower of both: neither a burst of packets nor one of ACKs is faster than the path.
        let interval = (at - sending.first_sent).max(now - sending.delivered_at);
        let least = subflow.rtt.min().unwrap_or(Time::ZERO);
        if interval > Time::ZERO && interval >= least {
            sample.measured = Some((self.delivered - sending.delivered, interval, sending.delivered));
        }
        sample
    }

    /// After an event: does the application have `data` that waits to be sent?
    pub(super) fn note_data(&mut self, data: bool, state: &CongestionState, subflow: &Subflow) {
        let waits_for_repair = subflow.board.as_ref().is_some_and(|board| board.lost > board.resent);
        self.dry = !data && !waits_for_repair && subflow.in_flight < state.cwnd as u32;
    }

    /// What is delivered from here on counts as an application's that is short of data, until what
    /// is in flight is delivered.
    pub(super) fn limit(&mut self) {
        self.limited_until = (self.delivered + u64::from(self.in_flight)).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::control::testing::state;
    use crate::outstanding::Sent;
    use crate::seq::Seq;
    use linkpool_settings::{Preset, Settings as _};

    /// A subflow whose packets are of 1 B, and what is measured of it.
    struct Flow {
        subflow: Subflow,
        deliveries: Deliveries,
        next: u64,
    }

    impl Flow {
        fn new() -> Flow {
            let config = Config::defaults(Preset::Linux);
            Flow { subflow: Subflow::new(&config), deliveries: Deliveries::new(), next: 1 }
        }

        fn send(&mut self, us: u64, n: u32) {
            for _ in 0..n {
                self.next += 1;
                self.subflow.sent.push_back(Sent::new(Time::from_us(us), Seq::of(self.next), Seq::of(0)));
            }
            self.subflow.segments += u64::from(n);
            self.subflow.in_flight += n;
            self.deliveries.note_sent(&self.subflow, Time::from_us(us));
        }

        /// At `us` an ACK says that the first `n` packets have arrived, the last of which was sent
        /// at `sent`.
        fn ack(&mut self, us: u64, n: u32, sent: u64) -> RateSample {
            (0..n).for_each(|_| self.subflow.sent.pop_front());
            self.subflow.in_flight -= n;
            let told = Delivered { fresh: n, latest: Some((Time::from_us(sent), 0, false)), ..Delivered::default() };
            self.deliveries.on_ack(&told, &self.subflow, Time::from_us(us))
        }

        /// The application has data that waits, or not; the window is of so many packets.
        fn data(&mut self, waits: bool, cwnd: f64) {
            self.deliveries.note_data(waits, &state(cwnd), &self.subflow);
        }
    }

    fn measured(sample: &RateSample) -> Option<(u64, u64, u64)> {
        sample.measured.map(|(delivered, interval, before)| (delivered, interval.0 / 1_000_000, before))
    }

    /// Packets leave every 10 us and arrive 100 us later; then a queue holds the ACKs 20 us apart.
    /// The rate is that of the slower side.
    #[test]
    fn the_slower_of_sending_and_arriving_counts() {
        let mut flow = Flow::new();
        (0..4).for_each(|i| flow.send(10 * i, 1));
        // Delivered since the flow began at 0: one packet in 100 us, two in 110 us.
        let first = flow.ack(100, 1, 0);
        assert_eq!((measured(&first), first.rtt, first.acked), (Some((1, 100, 0)), Some(Time::from_us(100)), 1));
        assert_eq!((first.in_flight_before, first.in_flight, first.delivered), (4, 3, 1));
        flow.send(100, 1);
        assert_eq!(measured(&flow.ack(110, 1, 10)), Some((2, 110, 0)));
        flow.send(110, 1);
        flow.ack(120, 1, 20);
        flow.send(120, 1);
        let fourth = flow.ack(130, 1, 30);
        assert_eq!((measured(&fourth), fourth.in_flight_before, fourth.in_flight), (Some((4, 130, 0)), 4, 3));
        // Sent at 100 us, after the first was delivered: from then on four more, in 120 us.
        assert_eq!(measured(&flow.ack(220, 1, 100)), Some((4, 120, 1)));
        // Sent at 120 us, when three had arrived: from then on four more, in 101 us.
        assert_eq!(measured(&flow.ack(221, 2, 120)), Some((4, 101, 3)));
    }

    /// Three packets are delivered in 100 us, but a path on which they left in 300 us is not so
    /// fast.
    #[test]
    fn a_burst_of_acks_is_no_faster_than_its_sending() {
        let mut flow = Flow::new();
        (0..3).for_each(|i| flow.send(100 * i, 1));
        flow.ack(300, 1, 0);
        flow.send(300, 1);
        assert_eq!(measured(&flow.ack(400, 3, 300)), Some((3, 300, 1)));
        // Nothing is in flight: it begins anew.
        flow.send(400, 1);
        let alone = flow.ack(500, 1, 400);
        assert_eq!((measured(&alone), alone.may_be_delayed), (Some((1, 100, 4)), true));
        assert!(!alone.restarted, "it had no lack of data");
    }

    /// Sent at one instant, they share what was known then. An ACK without news says nothing.
    #[test]
    fn packets_of_one_instant_have_one_origin() {
        let mut flow = Flow::new();
        flow.send(0, 2);
        flow.send(0, 1);
        assert_eq!(flow.deliveries.sendings.len(), 1);
        assert_eq!(measured(&flow.ack(50, 2, 0)), Some((2, 50, 0)));
        let told = Delivered::default();
        let none = flow.deliveries.on_ack(&told, &flow.subflow, Time::from_us(60));
        assert_eq!((none.measured, none.rtt, none.acked, none.delivered), (None, None, 0, 2));
        let third = flow.ack(70, 1, 0);
        assert_eq!((measured(&third), third.may_be_delayed), (Some((3, 70, 0)), true));
    }

    /// A shorter time than the least round-trip time is no measure; a packet that was sent again
    /// has no round-trip time.
    #[test]
    fn too_short_a_time_says_nothing() {
        let mut flow = Flow::new();
        flow.subflow.rtt.sample(&crate::rtt::RttConfig::defaults(Preset::Linux), Time::from_us(100));
        flow.send(0, 2);
        assert_eq!(measured(&flow.ack(99, 1, 0)), None);
        flow.subflow.sent.pop_front();
        let told = Delivered { fresh: 1, latest: Some((Time::ZERO, 0, true)), ..Delivered::default() };
        let again = flow.deliveries.on_ack(&told, &flow.subflow, Time::from_us(100));
        assert_eq!((measured(&again), again.rtt), (Some((2, 100, 0)), None));
    }

    /// With no data that waits and room in the window, what is sent next, and all that is in flight
    /// before, is an application's that is short of data.
    #[test]
    fn an_application_that_is_short_of_data_limits_the_rate() {
        let mut flow = Flow::new();
        flow.send(0, 2);
        flow.data(false, 2.0);
        flow.send(1, 1);
        assert_eq!(flow.deliveries.limited_until, 0, "the window is full");
        flow.data(true, 9.0);
        flow.send(2, 1);
        assert_eq!(flow.deliveries.limited_until, 0, "data waits");
        flow.data(false, 9.0);
        flow.send(3, 1);
        assert_eq!(flow.deliveries.limited_until, 4);
        assert!(!flow.ack(100, 4, 2).limited, "they were sent before");
        assert_eq!(flow.deliveries.limited_until, 4);
        let fifth = flow.ack(103, 1, 3);
        assert_eq!((fifth.limited, fifth.restarted, flow.deliveries.limited_until), (true, false, 0));
        // Idle, and it begins again: counts from then on.
        flow.data(false, 9.0);
        flow.send(1_000, 1);
        let again = flow.ack(1_100, 1, 1_000);
        assert_eq!((again.restarted, again.limited, measured(&again)), (true, true, Some((1, 100, 5))));
        // A small window that the algorithm wants counts the same.
        flow.send(1_200, 2);
        flow.deliveries.limit();
        assert_eq!(flow.deliveries.limited_until, 8);
    }

    #[test]
    fn losses_are_told_once() {
        let mut flow = Flow::new();
        flow.send(0, 4);
        flow.subflow.board.as_mut().unwrap().losses += 2;
        assert_eq!([flow.ack(100, 1, 0).lost, flow.ack(101, 1, 0).lost], [2, 0]);
    }

    /// What was known when segments were sent that have arrived is forgotten.
    #[test]
    fn memory_is_bounded_by_what_is_outstanding() {
        let mut flow = Flow::new();
        for i in 0..1_000 {
            flow.send(10 * i, 1);
            if i >= 10 {
                assert!(measured(&flow.ack(10 * i + 5, 1, 10 * (i - 10))).is_some());
            }
        }
        assert!(flow.deliveries.sendings.len() <= 2 * 11 + FEW, "{}", flow.deliveries.sendings.len());
    }

    /// Packets sent at 0 and 90 us are delivered at 100 and 190 us; an ACK at 250 us delivers nothing. What is sent at 260 us
    /// and delivered at 400 us was 210 us after the last delivery, in which two packets came.
    #[test]
    fn an_ack_of_nothing_is_no_delivery() {
        let mut flow = Flow::new();
        flow.send(0, 1);
        flow.send(90, 2);
        flow.ack(100, 1, 0);
        flow.ack(190, 1, 90);
        flow.deliveries.on_ack(&Delivered::default(), &flow.subflow, Time::from_us(250));
        flow.send(260, 1);
        assert_eq!(measured(&flow.ack(400, 2, 260)), Some((2, 210, 2)));
    }
}
