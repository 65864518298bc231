//! Trimming: a data packet that finds no room loses its payload, not its header.
//!
//! Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
//! performance", SIGCOMM 2017, section 3.1.

use super::waiting::{Arrival, Discipline, Verdict, Waiting, mark};
use crate::headers::Headers;
use crate::link::RareEvents;
use crate::packet::{Flags, Packet};
use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;
use linkpool_engine::Stream;
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Time};
use rand::Rng;

/// The limit of the data queue, unless the scenario sets another (section 3.1).
pub(super) const DEFAULT_LIMIT: QueueLimit = QueueLimit::Packets(8);

settings! {
    /// The settings of a port that trims (Handley et al., SIGCOMM 2017, section 3.1). `limit`
    /// is the limit of the data queue.
    #[derive(Copy)]
    pub struct Trimming {
        /// Limit of the queue for headers and control packets, in packets or as a size.
        headers: Option<QueueLimit>, from |_t| None => "as many bytes as `limit` packets of the largest size";
        /// While both queues hold packets, this many of the header queue are served for one of the
        /// data queue.
        share: u32 = 10,
            within Bounds::above(0.0, "with a share of 0 no header is sent while data waits; write for example 10");
        /// Probability that the arriving packet is trimmed. Otherwise the last packet of the data
        /// queue is trimmed.
        trim_arriving: f64 = 0.5, within Bounds::from(0.0, "{} is no probability, 0 to 1").to(1.0);
        /// Data packets are marked as they leave, by the bytes of data that they leave behind: none below
        /// this size, all above `mark_max`, and in between with a probability that grows linearly from 0
        /// to 1. Without the key, the marking is that of `[queue]`. Ports of hosts do not mark.
        mark_min: Option<Bytes>, from |_t| None => "none",
            refused |t| t.mark_min.is_none() && t.mark_max.is_some() => "needed with `mark_max`; where do marks begin?";
        /// See `mark_min`.
        mark_max: Option<Bytes>, from |_t| None => "none",
            refused |t| t.mark_max.is_none() && t.mark_min.is_some() =>
                "needed with `mark_min`; from which size on are all packets marked?",
            refused |t| t.mark_max.is_some() && t.mark_max < t.mark_min => "must not be below `mark_min`";
        /// Does a header that finds no room go back to its sender, if its transport supports this?
        return_to_sender: bool = true;
    }
}

impl Trimming {
    /// The header queue has as much memory as the data queue (section 3.1).
    pub(super) fn complete(&mut self, limit: QueueLimit, largest_packet: u64) {
        self.headers.get_or_insert(match limit {
            QueueLimit::Bytes(bytes) => QueueLimit::Bytes(bytes),
            QueueLimit::Packets(packets) => QueueLimit::Bytes(largest_packet * u64::from(packets)),
        });
    }

    /// A host does not trim its own packets, but sends headers and control packets before data in
    /// the same proportion.
    pub(super) fn at_hosts(self) -> Trimming {
        let headers = Some(QueueLimit::Packets(u32::MAX));
        Trimming { headers, return_to_sender: false, mark_min: None, mark_max: None, ..self }
    }
}

/// The two queues of a port that trims.
#[derive(Debug)]
pub(super) struct TrimmingQueue {
    trimming: Trimming,
    header_limits: Thresholds,
    headers: Waiting,
    data: Waiting,
    /// Packets of the header queue served since the last packet of the data queue, while data
    /// waited.
    headers_served: u32,
    random: Stream,
}

impl TrimmingQueue {
    pub(super) fn new(trimming: Trimming, random: Stream) -> TrimmingQueue {
        let header_limits = Thresholds::drop_tail(trimming.headers.unwrap_or(QueueLimit::Packets(u32::MAX)));
        let (headers, data) = (Waiting::default(), Waiting::default());
        TrimmingQueue { trimming, header_limits, headers, data, headers_served: 0, random }
    }

    /// Queues a header or a control packet.
    fn admit_header(&mut self, packet: Packet) -> Verdict {
        let (packets, bytes) = self.headers.length();
        if !self.header_limits.is_full(packets, bytes + u64::from(packet.size())) {
            self.headers.put(packet);
            return Verdict::Queued;
        }
        let returnable = self.trimming.return_to_sender && packet.flags.has(Flags::TRIMMED | Flags::RETURNABLE);
        if returnable { Verdict::Returned(packet.returned()) } else { Verdict::Dropped(packet) }
    }

    /// Queues a data packet that finds its queue over the marking threshold, or full, or trims one.
    #[inline(never)]
    fn admit_data(
        &mut self,
        mut packet: Packet,
        (over, full): (bool, bool),
        arrival: &Arrival<'_>,
        events: &mut RareEvents,
    ) -> Verdict {
        let markable = packet.flags.has(Flags::ECT);
        if !full || !packet.flags.has(Flags::TRIMMABLE) {
            return self.data.admit(packet, (over, full, markable), arrival, events);
        }
        if over && markable {
            mark(&mut packet, events);
        }
        let victim = self.victim(packet, arrival);
        events.trims += 1;
        let header = arrival.trim(victim);
        match self.admit_header(header) {
            Verdict::Queued => Verdict::Trimmed(header),
            verdict => verdict,
        }
    }

    /// Is a packet marked that leaves the data queue as it is now?
    fn marks_behind(&mut self) -> bool {
        let (Some(Bytes(min)), Some(Bytes(max))) = (self.trimming.mark_min, self.trimming.mark_max) else {
            return false;
        };
        let (_, bytes) = self.data.length();
        bytes > max || bytes > min && self.random.random::<f64>() * ((max - min) as f64) < (bytes - min) as f64
    }

    /// Chooses the packet to trim when `packet` finds no room: `packet` itself, or the last one of
    /// the data queue, which it then replaces. The choice is random, so that no pattern of arrivals
    /// trims always the same flow (section 3.1 of the paper).
    fn victim(&mut self, packet: Packet, arrival: &Arrival<'_>) -> Packet {
        if self.random.random::<f64>() < self.trimming.trim_arriving {
            return packet;
        }
        let Some(last) = self.data.take_last() else { return packet };
        // A limit in bytes may not let a larger packet take the place of a smaller one.
        let replaces = last.flags.has(Flags::TRIMMABLE) && self.data.has_room(packet.size(), arrival);
        let (stays, victim) = if replaces { (packet, last) } else { (last, packet) };
        self.data.put(stays);
        victim
    }
}

impl Discipline for TrimmingQueue {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        if !packet.is_control() {
            let (over, full) = self.data.meets(packet.size(), arrival);
            if !over && !full {
                self.data.put(packet);
                return Verdict::Queued;
            }
            return self.admit_data(packet, (over, full), arrival, events);
        }
        self.admit_header(packet)
    }

    /// Weighted round robin of headers and data, so that data is not starved by headers (section
    /// 3.1 of the paper).
    fn dequeue(&mut self, _: &Thresholds, events: &mut RareEvents) -> Option<Packet> {
        if self.headers.is_empty() || self.headers_served >= self.trimming.share && !self.data.is_empty() {
            self.headers_served = 0;
            let mut packet = self.data.take()?;
            if self.marks_behind() && packet.flags.has(Flags::ECT) {
                mark(&mut packet, events);
            }
            return Some(packet);
        }
        self.headers_served += !self.data.is_empty() as u32;
        self.headers.take()
    }

    fn sent(&mut self, _now: Time) {
        self.headers.sent();
        self.data.sent();
    }

    /// Where nobody waits, no header has been served before data.
    fn leaves_at_once(&self, thresholds: &Thresholds) -> bool {
        !thresholds.act_on_empty() && !self.header_limits.act_on_empty()
    }

    fn serve(&mut self, packet: &Packet) {
        let queue = if packet.is_control() { &mut self.headers } else { &mut self.data };
        queue.serve(packet.size());
    }

    fn give_up(&mut self, _now: Time) -> Option<Packet> {
        self.headers.take_unsent().or_else(|| self.data.take_unsent())
    }

    fn prefetch(&self) {
        self.headers.prefetch();
        self.data.prefetch();
    }

    fn waiting(&self) -> (u32, u64) {
        let ((headers, header_bytes), (data, data_bytes)) = (self.headers.length(), self.data.length());
        (headers + data, header_bytes + data_bytes)
    }

    fn counted(&self, thresholds: &Thresholds) -> u32 {
        self.headers.counted(thresholds).0 + self.data.counted(thresholds).0
    }

    /// The data queue.
    fn longest(&self, thresholds: &Thresholds) -> u32 {
        self.data.counted(thresholds).0
    }

    /// In place of a header that comes, that of the last packet that waits may join them.
    fn room_for_headers(&self) -> Headers {
        if !self.trimming.return_to_sender {
            return Headers::ENDLESS;
        }
        let (waiting, waiting_bytes) = self.headers.length();
        let last = self.data.last().map_or(0, Packet::header_size);
        let bytes = self.header_limits.limit_bytes.checked_sub(waiting_bytes + u64::from(last));
        // Where the last has no room, nobody has.
        bytes.map_or(Headers::default(), |bytes| Headers { packets: self.header_limits.limit_packets - waiting, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkKind;
    use crate::packet::Envelope;
    use crate::packet::Kind;
    use linkpool_engine::stream;
    use linkpool_units::{HostId, Rate};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const HEADER: u16 = 64;

    /// A queue that trims, with its counters.
    struct Port {
        queue: TrimmingQueue,
        kind: LinkKind,
        events: RareEvents,
    }

    fn port(data: QueueLimit, trimming: Trimming) -> Port {
        let queue = TrimmingQueue::new(trimming, stream(1, "trim", 0));
        let kind = LinkKind::new(Rate::gbps(10), Time::ZERO, Thresholds::drop_tail(data));
        Port { queue, kind, events: RareEvents::default() }
    }

    impl Port {
        fn offer(&mut self, packet: Packet) -> Verdict {
            let (kind, thresholds) = (&self.kind, &self.kind.thresholds);
            let to = HostId::new(0).into();
            let arrival = Arrival { now: Time::ZERO, to, kind, thresholds, buffer: None, lossless: false };
            self.queue.enqueue(packet, &arrival, &mut self.events)
        }
        fn dequeue(&mut self) -> Option<Packet> {
            self.queue.sent(Time::ZERO);
            self.queue.dequeue(&self.kind.thresholds, &mut self.events)
        }
        /// The numbers of the packets sent from now on; headers have a minus sign.
        fn drain(&mut self) -> Vec<i64> {
            let number = |p: Packet| if p.is_control() { -i64::from(p.seq) } else { i64::from(p.seq) };
            std::iter::from_fn(|| self.dequeue()).map(number).collect()
        }
    }

    fn data(seq: u32) -> Packet {
        let flags = Flags::TRIMMABLE | Flags::RETURNABLE;
        Packet {
            seq,
            ack: 3,
            envelope: Envelope::new(HostId::new(7), 1500, 1500 - HEADER),
            flags,
            kind: Kind::DATA,
            ..Packet::default()
        }
    }

    fn control(seq: u32) -> Packet {
        Packet { seq, envelope: Envelope::default().with_size(HEADER), kind: Kind::ACK, ..Packet::default() }
    }

    fn paper(trim_arriving: f64) -> Trimming {
        Trimming {
            headers: Some(QueueLimit::Packets(4)),
            share: 10,
            trim_arriving,
            mark_min: None,
            mark_max: None,
            return_to_sender: true,
        }
    }

    #[test]
    fn the_packet_that_comes_is_trimmed() {
        let mut port = port(QueueLimit::Packets(2), paper(1.0));
        for seq in 1..=4 {
            let trimmed = matches!(port.offer(data(seq)), Verdict::Trimmed(header) if header.seq == seq);
            assert_eq!(trimmed, seq > 2);
        }
        assert_eq!(port.queue.waiting(), (4, 2 * 1500 + 2 * 64));
        assert_eq!((port.queue.longest(&port.kind.thresholds), port.events.trims), (2, 2));
        let header = port.dequeue().unwrap();
        assert_eq!((header.seq, header.size(), header.payload()), (3, 64, 1436));
        assert!(header.flags.has(Flags::TRIMMED) && header.kind.has(Kind::DATA));
        assert_eq!(port.drain(), [-4, 1, 2]);
    }

    /// The port leads to host 0: a header to this host says that it was trimmed before its last link.
    #[test]
    fn the_port_of_the_receiver_says_so() {
        let mut port = port(QueueLimit::Packets(0), paper(1.0));
        for (host, at_last) in [(7, false), (0, true)] {
            let envelope = Envelope::new(HostId::new(host), 1500, 1500 - HEADER);
            let flags = Flags::TRIMMABLE | Flags::ECT;
            let verdict = port.offer(Packet { envelope, flags, ..data(1) });
            assert!(matches!(verdict, Verdict::Trimmed(header) if header.is_trimmed_at_last() == at_last), "{host}");
        }
    }

    #[test]
    fn the_tail_makes_way() {
        let mut port = port(QueueLimit::Packets(2), paper(0.0));
        for seq in 1..=4 {
            port.offer(data(seq));
        }
        // 3 takes the place of 2, and 4 that of 3.
        assert_eq!(port.drain(), [-2, -3, 1, 4]);
    }

    #[test]
    fn either_is_trimmed_as_often() {
        let mut port = port(QueueLimit::Packets(1), Trimming { headers: Some(QueueLimit::Packets(1)), ..paper(0.5) });
        port.offer(data(0));
        let mut arriving = 0;
        for seq in 1..=10_000 {
            port.offer(data(seq));
            let Some(header) = port.queue.headers.take_unsent() else { panic!("nothing was trimmed") };
            arriving += i32::from(header.seq == seq);
        }
        // Binomial: a standard deviation of 50.
        assert!((4750..5250).contains(&arriving), "{arriving}");
    }

    #[test]
    fn ten_headers_for_one_data_packet() {
        let mut port = port(QueueLimit::Packets(8), Trimming { headers: Some(QueueLimit::Packets(100)), ..paper(0.5) });
        for packet in (1..=3).map(data).chain((101..=125).map(control)) {
            port.offer(packet);
        }
        let sent = port.drain();
        let places: Vec<usize> = (0..sent.len()).filter(|i| sent[*i] > 0).collect();
        assert_eq!(places, [10, 21, 27], "ten headers, data, ten, data, five, data: {sent:?}");
    }

    /// With marks from 3,000 B to 6,000 B: a packet that leaves three of 1,500 B behind is marked every
    /// other time, one that leaves four always, and one that leaves two never.
    #[test]
    fn leaving_packets_are_marked_by_the_bytes_behind_them() {
        let trimming = Trimming { mark_min: Some(Bytes(3_000)), mark_max: Some(Bytes(6_000)), ..paper(1.0) };
        let mut port = port(QueueLimit::Packets(8), trimming);
        let mut marked = [0; 6];
        for _ in 0..10_000 {
            for seq in 0..6 {
                port.offer(Packet { flags: Flags::ECT, ..data(seq) });
            }
            for behind in (0..6).rev() {
                let packet = port.dequeue().unwrap();
                marked[behind] += i32::from(packet.flags.has(Flags::CE));
            }
        }
        assert_eq!([marked[0], marked[1], marked[2], marked[5]], [0, 0, 0, 10_000]);
        // Binomial: a standard deviation of 50.
        assert!((4_750..5_250).contains(&marked[3]), "{marked:?}");
        assert_eq!((marked[4], port.events.marks), (10_000, marked.iter().sum::<i32>() as u64));
        port.offer(control(9));
        (0..6).map(data).for_each(|packet| assert!(matches!(port.offer(packet), Verdict::Queued)));
        let sent = std::iter::from_fn(|| port.dequeue());
        assert!(sent.into_iter().all(|packet| !packet.flags.has(Flags::CE)), "headers, and packets without ECT");
    }

    #[test]
    fn a_header_without_room_goes_back() {
        let mut port = port(QueueLimit::Packets(1), Trimming { headers: Some(QueueLimit::Packets(1)), ..paper(1.0) });
        port.offer(data(1));
        port.offer(data(2));
        let Verdict::Returned(back) = port.offer(data(3)) else { panic!("it was not returned") };
        assert_eq!((back.seq, back.ack, back.envelope), (3, 7, Envelope::new(HostId::new(3), 64, 1436)));
        assert!(back.is_returned() && !back.flags.has(Flags::RETURNABLE));
        // Packets that have been returned once, control packets, and packets of senders that do not
        // want them back are dropped.
        assert!(matches!(port.offer(back), Verdict::Dropped(_)));
        assert!(matches!(port.offer(control(4)), Verdict::Dropped(_)));
        let unwanted = Packet { flags: Flags::TRIMMABLE, ..data(5) };
        assert!(matches!(port.offer(unwanted), Verdict::Dropped(p) if p.flags.has(Flags::TRIMMED)));
        let untrimmable = Packet { flags: Flags::default(), ..data(6) };
        assert!(matches!(port.offer(untrimmable), Verdict::Dropped(p) if !p.flags.has(Flags::TRIMMED)));
        port.queue.trimming.return_to_sender = false;
        assert!(matches!(port.offer(data(7)), Verdict::Dropped(_)));
    }

    /// Four headers have room: those that wait and those that come, of which the last finds three.
    #[test]
    fn headers_may_go_back_if_more_come_than_have_room() {
        let mut of_packets = port(QueueLimit::Packets(1), paper(1.0));
        let may_return = |port: &Port, packets: u32| {
            !port.queue.room_for_headers().has_room_for(Headers { packets, bytes: u64::from(packets) * 64 })
        };
        assert_eq!([4, 5].map(|packets| may_return(&of_packets, packets)), [false, true]);
        of_packets.offer(control(1));
        assert_eq!([3, 4].map(|packets| may_return(&of_packets, packets)), [false, true]);
        // 200 bytes are three headers of 64. The header of the last data packet that waits may come in place of one that is shorter.
        let mut of_bytes =
            port(QueueLimit::Packets(1), Trimming { headers: Some(QueueLimit::Bytes(200)), ..paper(1.0) });
        assert_eq!([3, 4].map(|packets| may_return(&of_bytes, packets)), [false, true]);
        of_bytes.offer(data(1));
        assert_eq!([2, 3].map(|packets| may_return(&of_bytes, packets)), [false, true]);
        of_bytes.offer(control(2));
        assert_eq!([1, 2].map(|packets| may_return(&of_bytes, packets)), [false, true]);
        of_bytes.queue.trimming.return_to_sender = false;
        assert!(!may_return(&of_bytes, 1000), "they are dropped");
    }

    /// Where a threshold acts on packets that find nobody, none passes the port.
    #[test]
    fn packets_pass_unless_a_threshold_acts_on_the_first() {
        let passes = |limit, headers, mark: Option<u32>, uncounted| {
            let Port { queue, kind, .. } = port(limit, Trimming { headers: Some(headers), ..paper(1.0) });
            let thresholds = mark.map_or(kind.thresholds, |k| kind.thresholds.marking(QueueLimit::Packets(k), false));
            queue.passes(&Thresholds { uncounted, ..thresholds })
        };
        let (room, none) = (QueueLimit::Packets(8), QueueLimit::Bytes(100));
        assert!(passes(room, room, Some(1), 1));
        assert!(!passes(room, room, Some(0), 1), "the first is marked");
        assert!(!passes(none, room, None, 1), "long packets have no room");
        assert!(!passes(room, none, None, 1), "long headers have no room");
        assert!(!passes(room, room, None, 0), "the packet in service counts");
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Data { size: u16, trimmable: bool, returnable: bool },
        Control,
        Serve,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (HEADER..1500, prop::bool::weighted(0.8), any::<bool>())
                .prop_map(|(size, trimmable, returnable)| Step::Data { size, trimmable, returnable }),
            1 => Just(Step::Control),
            2 => Just(Step::Serve),
        ]
    }

    fn limit() -> impl Strategy<Value = QueueLimit> {
        prop_oneof![(1u32..10).prop_map(QueueLimit::Packets), (64u64..9000).prop_map(QueueLimit::Bytes)]
    }

    proptest! {
        /// If no packet may go back, none does, whatever has waited and whatever comes.
        #[test]
        fn packets_go_back_only_if_they_may(
            (data_limit, headers) in (limit(), limit()),
            trim_arriving in 0.0f64..=1.0,
            before in prop::collection::vec(step(), 0..30),
            sizes in prop::collection::vec((HEADER..1500, 40u16..=HEADER), 1..9),
        ) {
            let trimming = Trimming { headers: Some(headers), share: 10, trim_arriving, return_to_sender: true, mark_min: None, mark_max: None };
            let mut port = port(data_limit, trimming);
            for (seq, step) in (0..).zip(before) {
                match step {
                    Step::Data { size, .. } => _ = port.offer(Packet { envelope: Envelope::new(HostId::new(7), size, size - HEADER), ..data(seq) }),
                    Step::Control => _ = port.offer(control(seq)),
                    Step::Serve => _ = port.dequeue(),
                }
            }
            let bytes = sizes.iter().map(|(_, header)| u64::from(*header)).sum();
            let may_return = !port.queue.room_for_headers().has_room_for(Headers { packets: sizes.len() as u32, bytes });
            for (size, header) in sizes {
                let packet = Packet { envelope: Envelope::new(HostId::new(7), size, size - header), ..data(1) };
                let returned = matches!(port.offer(packet), Verdict::Returned(_));
                prop_assert!(may_return || !returned);
            }
        }

        /// Each packet is sent, dropped, returned or still there, once; no queue is longer than its
        /// limit; payloads are cut off whole.
        #[test]
        fn nothing_is_lost_and_nothing_comes_twice(
            (data_limit, headers) in (limit(), limit()),
            (share, trim_arriving, return_to_sender) in (1u32..12, 0.0f64..=1.0, any::<bool>()),
            steps in prop::collection::vec(step(), 1..300),
        ) {
            let mut port = port(data_limit, Trimming { headers: Some(headers), share, trim_arriving, return_to_sender, ..paper(0.5) });
            let mut out = Vec::new();
            let mut kept_waiting = 0;
            for (seq, step) in (0..).zip(&steps) {
                let packet = match *step {
                    Step::Data { size, trimmable, returnable } => {
                        let flags = Flags::default().with_if(Flags::TRIMMABLE, trimmable).with_if(Flags::RETURNABLE, returnable);
                        Packet { envelope: Envelope::new(HostId::new(7), size, size - HEADER), flags, ..data(seq) }
                    }
                    Step::Control => control(seq),
                    Step::Serve => {
                        let data_waits = !port.queue.data.is_empty();
                        let Some(packet) = port.dequeue() else { continue };
                        kept_waiting = if packet.is_control() && data_waits { kept_waiting + 1 } else { 0 };
                        prop_assert!(kept_waiting <= share, "data is served in time");
                        out.push(packet);
                        continue;
                    }
                };
                match port.offer(packet) {
                    Verdict::Queued | Verdict::Trimmed(_) => {}
                    Verdict::Dropped(packet) => out.push(packet),
                    Verdict::Returned(packet) => {
                        prop_assert!(return_to_sender && packet.is_returned() && packet.dst() == HostId::new(3));
                        out.push(packet);
                    }
                }
                for (limit, queue) in [(data_limit, &port.queue.data), (headers, &port.queue.headers)] {
                    let (packets, bytes) = queue.length();
                    let holds = match limit {
                        QueueLimit::Packets(n) => packets <= n,
                        QueueLimit::Bytes(n) => bytes <= n,
                    };
                    prop_assert!(holds, "{packets} packets of {bytes} bytes");
                }
            }
            out.extend(std::iter::from_fn(|| port.dequeue()));
            let trimmed = out.iter().filter(|p| p.flags.has(Flags::TRIMMED)).count();
            prop_assert_eq!(trimmed as u64, port.events.trims);
            for packet in &out {
                let expected = if packet.is_control() { HEADER } else { HEADER + packet.payload() };
                prop_assert_eq!(packet.size(), expected);
            }
            let numbers: BTreeSet<u32> = out.iter().map(|p| p.seq).collect();
            let came = steps.iter().filter(|step| !matches!(step, Step::Serve)).count();
            prop_assert_eq!((out.len(), numbers.len()), (came, came));
        }
    }
}
