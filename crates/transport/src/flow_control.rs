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
        /// `"auto"`: it grows with the windows of several subflows, as in Linux (see below), and is
        /// without limit with one.
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
        /// How fast the receiving application reads data in order; `"unlimited"`: at once.
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
    /// The timer for the time at which a closed window opens, with wake-ups of subflow 0. The
    /// subflow that announced the closed window announces the new one.
    opens: Timer,
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
            opens: Timer::new(),
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
        let edge = self.next - unread + self.buffers.receive;
        // An empty buffer is offered as a whole: the sender could not use less than a segment.
        if edge >= self.edge + self.step || unread == 0 {
            self.edge = edge;
        }
        (self.edge - self.next) as u32
    }

    /// Has the application read all data in order?
    pub(crate) fn is_read(&self, now: Time) -> bool {
        self.unread(now) == 0
    }

    fn unread(&self, now: Time) -> u64 {
        let left = Time(self.read_by.0.saturating_sub(now.0));
        self.buffers.read_rate.map_or(0, |rate| read_in(left, rate))
    }

    /// An ACK on subflow `s` has made an offer. Sets the timer if a larger window must be announced
    /// later without data.
    pub(crate) fn watch(&mut self, s: SubflowId, out: &mut impl Output) {
        self.on = s;
        match self.opens_at() {
            Some(at) => self.opens.set(SubflowId::FIRST, at, out),
            None => self.opens.clear(),
        }
    }

    /// Call it when the timer of subflow `s` may be due. Returns the subflow on which to announce
    /// that the closed window has opened.
    pub(crate) fn has_opened(&mut self, s: SubflowId, now: Time, out: &mut impl Output) -> Option<SubflowId> {
        (s.is_first() && self.opens.has_passed(SubflowId::FIRST, now, out)).then_some(self.on)
    }

    /// After an offer of less than a segment: the time at which the application will have read
    /// enough for a larger offer.
    fn opens_at(&self) -> Option<Time> {
        let rate = self.buffers.read_rate.filter(|_| self.edge - self.next < self.mss)?;
        let unread = (self.next + self.buffers.receive).saturating_sub(self.edge + self.step);
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

    fn window(read_rate: Option<Rate>) -> Window {
        *Window::new(Buffers { receive: 4000, read_rate, ..Buffers::default() }, 1000).unwrap()
    }

    #[test]
    fn what_is_read_at_once_leaves_the_window_as_it_is() {
        let mut w = window(None);
        assert_eq!(w.offer(Time::ZERO), 4000);
        w.deliver(1000, Time::ZERO);
        assert_eq!((w.offer(Time::ZERO), w.opens_at()), (4000, None));
    }

    /// The buffer holds one segment, and 600 B of it are read when an ACK is due. The next ACK
    /// offers the other 400 B, though they are less than half of the buffer.
    #[test]
    fn an_empty_buffer_is_offered_whole() {
        let buffers = Buffers { receive: 1000, read_rate: Some(Rate::mbps(8)), ..Buffers::default() };
        let mut w = *Window::new(buffers, 1000).unwrap();
        w.deliver(1000, Time::ZERO);
        assert_eq!(w.offer(Time::from_us(600)), 600);
        assert_eq!(w.opens_at(), Some(Time::from_us(1000)));
        assert_eq!(w.offer(Time::from_us(1000)), 1000);
    }

    /// 8 Mbit/s is one byte per microsecond. So 4,000 B that arrive at 10 us are read at 4,010 us,
    /// and the first segment of them at 1,010 us.
    #[test]
    fn a_slow_reader_shuts_the_window() {
        let mut w = window(Some(Rate::mbps(8)));
        w.deliver(4000, Time::from_us(10));
        assert_eq!(w.offer(Time::from_us(10)), 0);
        assert_eq!(w.opens_at(), Some(Time::from_us(1010)));
        assert_eq!(w.offer(Time::from_us(1009)), 0);
        assert_eq!(w.offer(Time::from_us(1010)), 1000);
        assert_eq!(w.opens_at(), None);
        assert_eq!(w.offer(Time::from_us(5000)), 4000);
    }
}
