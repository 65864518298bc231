//! The application's writes: the last packet of each is pushed (PSH; Linux, `tcp_mark_push` in
//! net/ipv4/tcp.c).

use crate::config::Config;
use crate::send_buffer::{SendBuffer, memory_taken, packet_memory, size_for};
use std::collections::VecDeque;

/// Where the writes of an application end that has more data than a socket's send buffer has room
/// for. It writes until the buffer is full, and again once a third of it is free (Linux,
/// `sk_stream_min_wspace` in include/net/sock.h); the last packet of each write is pushed
/// (`tcp_sendmsg_locked`).
#[derive(Debug)]
pub(super) struct Writes {
    mss: u64,
    /// The memory of a packet by which the buffer is sized, bytes; 0: its size stays.
    packet: u64,
    /// The memory that a packet takes of it, bytes.
    taken: u64,
    /// The size of the buffer, bytes.
    size: u64,
    /// The stream is written up to here.
    written: u64,
    /// Where writes ended that have not been sent.
    ends: VecDeque<u64>,
    /// So much is written at most before a packet is pushed: half of the receiver's window (Linux,
    /// `forced_push`).
    most: u64,
    /// End of the last packet that was pushed.
    pushed: u64,
}

impl Writes {
    /// Of a connection with so many subflows; `None` if nothing is pushed for that.
    pub(super) fn new(config: &Config, subflows: usize) -> Option<Box<Writes>> {
        let (mss, buffers) = (config.mss, config.buffers);
        if !config.push_acks() || subflows > 1 || buffers.send == SendBuffer::UNLIMITED {
            return None;
        }
        let (packet, taken, size) = match buffers.send {
            SendBuffer::Fixed(bytes) => (0, u64::from(mss), bytes),
            SendBuffer::Auto => {
                let packet = packet_memory(mss, buffers.headers);
                (packet, memory_taken(mss, buffers.headers, buffers.offload), size_for(0.0, packet))
            }
        };
        let mss = u64::from(mss);
        let (most, ends) = (buffers.receive / 2, VecDeque::new());
        let mut writes = Writes { mss, packet, taken, size, written: 0, ends, most, pushed: 0 };
        writes.write(0, 0.0);
        Some(Box::new(writes))
    }

    /// Data before `acked` is acknowledged, and the window has `cwnd` packets: the buffer grows with
    /// it, and the application writes if it is told of room.
    pub(super) fn write(&mut self, acked: u64, cwnd: f64) {
        if self.packet > 0 {
            self.size = self.size.max(size_for(cwnd, self.packet));
        }
        let packets = self.written.saturating_sub(acked).div_ceil(self.mss);
        let held = packets * self.taken;
        if held < self.size && self.size - held >= held / 2 {
            self.written = self.written.max(acked) + (self.size.div_ceil(self.taken) - packets) * self.mss;
            self.ends.push_back(self.written);
        }
    }

    /// Is the packet with the data from `start` to `end`, which is sent now, pushed?
    pub(super) fn push(&mut self, start: u64, end: u64) -> bool {
        let ended = self.ends.iter().take_while(|written| **written <= end).count();
        let last = self.ends.drain(..ended).next_back();
        let pushes = last.is_some_and(|written| written > start) || end - self.pushed > self.most;
        if pushes {
            self.pushed = end;
        }
        pushes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings as _};

    /// With headers of 256 B, and without offload, ten windows of two packets are 46,080 B, and a
    /// packet of 1,448 B takes 2,280 B: 21 packets fill the buffer. A third is free when 13 are left:
    /// 46,080 - 29,640 = 16,440, and half of 29,640 is 14,820; with 14 left 14,160 B are free, and
    /// half is 15,960.
    #[test]
    fn writes_end_where_the_buffer_is_full() {
        let mut config = Config::defaults(Preset::Linux);
        (config.buffers.headers, config.buffers.offload) = (256, false);
        let mut writes = Writes::new(&config, 1).unwrap();
        let packets = |writes: &Writes| writes.written / 1448;
        assert_eq!(packets(&writes), 21);
        writes.write(7 * 1448, 10.0);
        assert_eq!(packets(&writes), 21);
        writes.write(8 * 1448, 10.0);
        assert_eq!(packets(&writes), 29);
        // A window of 20 doubles the buffer, 41 packets.
        writes.write(8 * 1448, 20.0);
        assert_eq!(packets(&writes), 49);
        let pushed: Vec<u64> = (0..60).filter(|n| writes.push(n * 1448, (n + 1) * 1448)).map(|n| n + 1).collect();
        assert_eq!(pushed, [21, 29, 49]);
    }

    /// A receiver with a buffer of ten packets: more than five are not sent without a push.
    #[test]
    fn half_a_window_is_pushed() {
        let mut config = Config::defaults(Preset::Linux);
        config.buffers.receive = 10 * 1448;
        let mut writes = Writes::new(&config, 1).unwrap();
        let pushed: Vec<u64> = (0..20).filter(|n| writes.push(n * 1448, (n + 1) * 1448)).map(|n| n + 1).collect();
        assert_eq!(pushed, [6, 12, 18]);
    }

    /// A buffer of fixed size, and packets that do not end where writes do.
    #[test]
    fn a_write_may_end_within_a_packet() {
        let mut config = Config::defaults(Preset::Linux);
        config.buffers.send = SendBuffer::Fixed(10 * 1448);
        let mut writes = Writes::new(&config, 1).unwrap();
        assert!(!writes.push(13_100, 14_479));
        assert!(writes.push(14_479, 15_000));
        writes.write(15_000, 10.0);
        assert!(!writes.push(15_000, 16_448));
        assert_eq!(writes.written, 15_000 + 14_480);
    }

    #[test]
    fn without_delayed_acks_or_with_several_subflows_there_are_none() {
        let config = Config::defaults(Preset::Linux);
        assert!(Writes::new(&config, 1).is_some() && Writes::new(&config, 2).is_none());
        assert!(Writes::new(&Config { ack_every: 1, ..config.clone() }, 1).is_none());
        assert!(Writes::new(&Config { push_acks: false, ..config.clone() }, 1).is_none());
        let mut unlimited = config;
        unlimited.buffers.send = SendBuffer::UNLIMITED;
        assert!(Writes::new(&unlimited, 1).is_none());
    }
}
