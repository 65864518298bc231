//! Buffers at both ends, and the window that a receiver offers.

use crate::id::SubflowId;
use crate::segment::Output;
use crate::send_buffer::{HEADERS, SendBuffer};
use crate::timer::Timer;
use linkpool_settings::{Bounds, Size, Speed, settings};
use linkpool_units::{Bytes, Rate, Time};

settings! {
    /// The buffers at the two ends of a connection.
    #[derive(Copy)]
    pub struct Buffers {
        /// The most data that the sender holds until it is acknowledged, on all subflows together.
        /// `"auto"`: it grows with the windows of several subflows, as in Linux
        /// ([more](scenario/subflows.md)), and is without limit with one.
        send "send_buffer": SendBuffer = SendBuffer::Auto, paper_2013 = SendBuffer::UNLIMITED;
        /// With `send_buffer = "auto"`: memory that the sender counts for the headers of a packet
        /// (`MAX_TCP_HEADER`). Kernels of distributions have 320 B, kernels without wireless
        /// networks 256 B. So with an MSS of 1,448 B a buffer grows by 8,704 B or by 4,608 B for
        /// each packet of the window.
        headers "send_buffer_headers": u32 as Bytes = HEADERS, of Several,
            when |b| b.send == SendBuffer::Auto => "`send_buffer = \"auto\"`";
        /// With `send_buffer = "auto"`: do the sender's devices segment? `false`: each packet takes
        /// memory for headers and records of its own in the buffer of its subflow, 832 B with
        /// `send_buffer_headers = "256B"` and 896 B with `"320B"`. `true`: payload alone counts.
        /// Packets are sent one by one in any case.
        offload "segmentation_offload": bool = true, of Several,
            when |b| b.send == SendBuffer::Auto => "`send_buffer = \"auto\"`";
        /// The most data that the receiver holds until the application reads it, on all subflows
        /// together. The receiver offers it as its window; at most `"1GiB"`.
        receive "receive_buffer": u64 as Size = u64::MAX,
            within Bounds::from(0.0, "at most 1GiB, the largest window of TCP, or \"unlimited\"").to(Buffers::LARGEST as f64);
        /// The most data in flight on each subflow: a sender begins no new segment that would end more
        /// than this beyond the first byte that the subflow has not acknowledged, whatever its
        /// congestion window. So it acts as a receive window of each subflow, which RFC 8684, section
        /// 3.3.1, does not have but some implementations do (that of AMP's and MMPTCP's authors: 65,535
        /// B).
        subflow_window "subflow_window": u64 as Size = u64::MAX;
        /// How fast the receiving application reads data in order; `"unlimited"`: at once. It reads
        /// without pauses; the receiver announces a larger window as Linux does
        /// ([more](scenario/subflows.md)).
        read_rate: Option<Rate> as Speed = None, within Bounds::POSITIVE,
            when |b| b.receive < u64::MAX => "a limited `receive_buffer`";
    }
}

impl Buffers {
    /// The largest window that a TCP header can offer (RFC 7323, section 2.2).
    pub const LARGEST: u64 = 1 << 30;
}

/// Buffers that hold whatever comes.
impl Default for Buffers {
    fn default() -> Buffers {
        Buffers {
            send: SendBuffer::UNLIMITED,
            headers: HEADERS,
            offload: true,
            receive: u64::MAX,
            subflow_window: u64::MAX,
            read_rate: None,
        }
    }
}

/// The window of a receiver with a limited buffer: one for all subflows, from the DATA_ACK on (RFC
/// 8684, section 3.3.1).
///
/// The application reads continuously. So what Linux does at an application's next read
/// (`__tcp_cleanup_rbuf` in net/ipv4/tcp.c; of MPTCP, `mptcp_cleanup_rbuf` in net/mptcp/protocol.c) the
/// receiver does as soon as enough has been read. There are three such events:
///
/// - Two packets wait for a delayed ACK: they are acknowledged when the second arrives.
/// - The window could be offered twice as large as what is left of the last offer.
/// - Data with PSH waits for a delayed ACK, and all data has been read.
#[derive(Debug)]
pub(crate) struct Window {
    buffers: Buffers,
    /// While there is data to read, the edge moves by at least this or stays (RFC 9293, section
    /// 3.8.6.2.2).
    step: u64,
    mss: u64,
    /// One beyond the last byte that the sender may send.
    edge: u64,
    /// End of the data in order.
    next: u64,
    /// The time at which the application will have read all data in order.
    read_by: Time,
    /// Does data with PSH wait until the application has read all data?
    awaits_read: bool,
    /// The timer for the time at which enough has been read, with wake-ups of subflow 0. The subflow
    /// that announced the last window announces the new one.
    timer: Timer,
    on: SubflowId,
}

impl Window {
    /// Returns `None` if the buffer is unlimited.
    pub(crate) fn new(buffers: Buffers, mss: u16) -> Option<Box<Window>> {
        let mss = mss as u64;
        let step = mss.min(buffers.receive / 2);
        let window = Window {
            buffers,
            step,
            mss,
            edge: buffers.receive,
            next: 0,
            read_by: Time::ZERO,
            awaits_read: false,
            timer: Timer::new(),
            on: SubflowId::FIRST,
        };
        (buffers.receive != u64::MAX).then(|| Box::new(window))
    }

    /// The data before `next` is in order at `now`.
    #[inline(never)]
    pub(crate) fn deliver(&mut self, next: u64, now: Time) {
        if let Some(rate) = self.buffers.read_rate {
            self.read_by = self.read_by.max(now) + time_to_read(next - self.next, rate);
        }
        self.next = next;
    }

    /// The window that the next ACK offers: bytes after the data in order.
    pub(crate) fn offer(&mut self, now: Time) -> u32 {
        let unread = self.unread(now);
        let (room, edge) = (self.buffers.receive - unread, self.next - unread + self.buffers.receive);
        // An empty buffer is offered as a whole: the sender could not use less than a segment.
        if room >= self.least_room() && edge >= self.edge + self.step || unread == 0 {
            self.edge = edge;
        }
        (self.edge - self.next) as u32
    }

    /// With less room than this, the edge stays: a sixteenth of the buffer (Linux, `__tcp_select_window`
    /// in net/ipv4/tcp_output.c).
    fn least_room(&self) -> u64 {
        self.buffers.receive / 16
    }

    /// Has the application read all data in order?
    pub(crate) fn is_read(&self, now: Time) -> bool {
        self.unread(now) == 0
    }

    fn unread(&self, now: Time) -> u64 {
        let left = Time(self.read_by.0.saturating_sub(now.0));
        self.buffers.read_rate.map_or(0, |rate| read_in(left, rate))
    }

    /// An ACK on subflow `s` has made an offer.
    pub(crate) fn offered(&mut self, s: SubflowId, out: &mut impl Output) {
        self.on = s;
        self.watch(out);
    }

    /// Data with PSH is to be acknowledged when the application has read all data.
    pub(crate) fn await_read(&mut self, out: &mut impl Output) {
        self.awaits_read = true;
        self.watch(out);
    }

    /// Sets the timer for the next time at which enough has been read, after an offer or with new
    /// data.
    pub(crate) fn watch(&mut self, out: &mut impl Output) {
        let read = self.awaits_read.then_some(self.read_by);
        match self.announces_at().into_iter().chain(read).min() {
            Some(at) => self.timer.set(SubflowId::FIRST, at, out),
            None => self.timer.clear(),
        }
    }

    /// Call it when the timer of subflow `s` may be due. Returns the subflow on which to announce a
    /// larger window, if it is time for that, and whether all data has been read for which data with
    /// PSH waits.
    pub(crate) fn look(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> (Option<SubflowId>, bool) {
        if !s.is_first() || !self.timer.has_passed(SubflowId::FIRST, now, out) {
            return (None, false);
        }
        let (on, read) = (self.announces(now).then_some(self.on), self.awaits_read && self.is_read(now));
        self.awaits_read &= !read;
        if on.is_none() {
            self.watch(out); // an announcement sets the timer
        }
        (on, read)
    }

    /// Has the application read enough to announce a larger window?
    pub(crate) fn announces(&self, now: Time) -> bool {
        self.announces_at().is_some_and(|at| at <= now)
    }

    /// The time at which the application will have read enough for an offer of twice what is left
    /// of the last one. If less than a segment is left, the sender waits for the offer; so then the
    /// empty buffer is enough.
    fn announces_at(&self) -> Option<Time> {
        let (rate, receive, left) = (self.buffers.read_rate?, self.buffers.receive, self.edge - self.next);
        let wanted = (2 * left).max(left + self.step).max(self.least_room());
        if wanted > receive && left >= self.mss {
            return None;
        }
        let unread = receive.saturating_sub(wanted);
        Some(Time(self.read_by.0.saturating_sub(time_to_read(unread, rate).0)))
    }
}

fn time_to_read(bytes: u64, rate: Rate) -> Time {
    Time((bytes as u128 * 8_000_000_000_000 / rate.0 as u128) as u64)
}

/// Number of bytes read so far, the last one perhaps only in part.
fn read_in(time: Time, rate: Rate) -> u64 {
    (time.0 as u128 * rate.0 as u128).div_ceil(8_000_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::S;
    use crate::segment::Segment;

    fn window(read_rate: Option<Rate>) -> Window {
        *Window::new(Buffers { receive: 4000, read_rate, ..Buffers::default() }, 1000).unwrap()
    }

    #[test]
    fn what_is_read_at_once_leaves_the_window_as_it_is() {
        let mut w = window(None);
        assert_eq!(w.offer(Time::ZERO), 4000);
        w.deliver(1000, Time::ZERO);
        assert_eq!((w.offer(Time::ZERO), w.announces_at()), (4000, None));
    }

    /// The buffer holds one segment, and 600 B of it are read when an ACK is due. The next ACK
    /// offers the other 400 B, though they are less than half of the buffer.
    #[test]
    fn an_empty_buffer_is_offered_whole() {
        let buffers = Buffers { receive: 1000, read_rate: Some(Rate::mbps(8)), ..Buffers::default() };
        let mut w = *Window::new(buffers, 1000).unwrap();
        w.deliver(1000, Time::ZERO);
        assert_eq!(w.offer(Time::from_us(600)), 600);
        assert_eq!(w.announces_at(), Some(Time::from_us(1000)));
        assert_eq!(w.offer(Time::from_us(1000)), 1000);
        assert_eq!(w.announces_at(), None);
    }

    /// 8 Mbit/s is one byte per microsecond. So 4,000 B that arrive at 10 us are read at 4,010 us,
    /// and the first segment of them at 1,010 us. Half a microsecond before that, half a byte of it is
    /// not read.
    #[test]
    fn a_slow_reader_shuts_the_window() {
        let mut w = window(Some(Rate::mbps(8)));
        w.deliver(4000, Time::from_us(10));
        assert_eq!(w.offer(Time::from_us(10)), 0);
        assert_eq!(w.announces_at(), Some(Time::from_us(1010)));
        assert_eq!(w.offer(Time::from_ns(1_009_500)), 0);
        assert!(!w.announces(Time::from_ns(1_009_999)) && w.announces(Time::from_us(1010)));
        assert_eq!(w.offer(Time::from_us(1010)), 1000);
        assert_eq!(w.announces_at(), Some(Time::from_us(2010)), "twice what is left");
        assert_eq!(w.offer(Time::from_us(5000)), 4000);
    }

    /// Of a buffer of 4,000 B, 1,000 B after 1,000 B were offered, 1,500 B after 1,500 B. With more than
    /// half of the buffer left, twice as much cannot be offered.
    #[test]
    fn twice_what_is_left_is_announced() {
        for (arrived, at) in
            [(1999, None), (2000, Some(2000)), (2500, Some(1500)), (3000, Some(1000)), (3500, Some(1000))]
        {
            let mut w = window(Some(Rate::mbps(8)));
            w.deliver(arrived, Time::ZERO);
            assert_eq!(w.announces_at(), at.map(Time::from_us), "{arrived}");
        }
    }

    /// 64,000 B arrive at once. Room for a segment is not offered, nor for 3,999 B; a sixteenth is.
    #[test]
    fn a_sixteenth_of_the_buffer_is_offered() {
        let buffers = Buffers { receive: 64_000, read_rate: Some(Rate::mbps(8)), ..Buffers::default() };
        let mut w = *Window::new(buffers, 1000).unwrap();
        w.deliver(64_000, Time::ZERO);
        assert_eq!([1000, 3999].map(|us| w.offer(Time::from_us(us))), [0, 0]);
        assert_eq!(w.announces_at(), Some(Time::from_us(4000)));
        assert_eq!(w.offer(Time::from_us(4000)), 4000);
    }

    #[derive(Default)]
    struct Wakes(Vec<(SubflowId, Time)>);

    impl Output for Wakes {
        fn send(&mut self, _: SubflowId, _: Segment) {}
        fn wake(&mut self, s: SubflowId, at: Time) {
            self.0.push((s, at));
        }
        fn jitter(&mut self, _: Time) -> Time {
            Time::ZERO
        }
    }

    /// Subflow 1 has offered the last window; the wake-ups are those of subflow 0.
    #[test]
    fn the_subflow_of_the_last_offer_announces() {
        let (mut w, mut out) = (window(Some(Rate::mbps(8))), Wakes::default());
        w.deliver(4000, Time::ZERO);
        w.offer(Time::ZERO);
        w.offered(S[1], &mut out);
        assert_eq!(out.0, [(S[0], Time::from_us(1000))]);
        assert_eq!(w.look(S[1], Time::from_us(1000), &mut out), (None, false));
        assert_eq!(w.look(S[0], Time::from_us(999), &mut out), (None, false));
        assert_eq!(w.look(S[0], Time::from_us(1000), &mut out), (Some(S[1]), false));
    }

    /// 2,500 B came: a larger window is announced at 1,500 us, before all is read.
    #[test]
    fn what_is_due_first_sets_the_timer() {
        let (mut w, mut out) = (window(Some(Rate::mbps(8))), Wakes::default());
        w.deliver(2500, Time::ZERO);
        w.await_read(&mut out);
        assert_eq!(out.0, [(S[0], Time::from_us(1500))]);
        assert_eq!(w.look(S[0], Time::from_us(1500), &mut out), (Some(S[0]), false));
    }

    /// All is read at 2,500 us, half a byte is left half a microsecond before, and no data with PSH waits.
    #[test]
    fn what_nobody_waits_for_is_not_told() {
        let (mut w, mut out) = (window(Some(Rate::mbps(8))), Wakes::default());
        w.deliver(2500, Time::ZERO);
        w.watch(&mut out);
        assert!(!w.is_read(Time::from_ns(2_499_500)) && w.is_read(Time::from_us(2500)));
        assert_eq!(w.look(S[0], Time::from_us(2500), &mut out), (Some(S[0]), false));
    }

    /// All is read at 1,000 us, and once only. Data that comes meanwhile is read by 2,000 us.
    #[test]
    fn it_tells_when_all_is_read() {
        for more in [false, true] {
            let (mut w, mut out) = (window(Some(Rate::mbps(8))), Wakes::default());
            w.deliver(1000, Time::ZERO);
            w.await_read(&mut out);
            if more {
                w.deliver(2000, Time::from_us(500));
            }
            assert_eq!(w.look(S[0], Time::from_us(1000), &mut out), (None, !more));
            assert_eq!(w.look(S[0], Time::from_us(2000), &mut out).1, more);
            assert_eq!(w.look(S[0], Time::from_us(3000), &mut out), (None, false));
        }
    }
}
