//! The setting of the send buffer, and the sizes that Linux gives to send buffers.

use linkpool_settings::mixed::quantity;
use linkpool_settings::{Form, Mixed, mixed};
use linkpool_units::Bytes;
use schemars::{Schema, SchemaGenerator};

/// The least and the largest send buffer of a socket, bytes (Linux: the first and the last number
/// of `net.ipv4.tcp_wmem`).
const LEAST: u64 = 4 << 10;
const LARGEST: u64 = 4 << 20;

/// A buffer has room for two windows of at least this number of packets (Linux, `TCP_INIT_CWND`).
const PACKETS: u64 = 10;

/// The application's data is held in pieces of this size, bytes (Linux, `SKB_FRAG_PAGE_ORDER` in
/// net/core/sock.c).
pub(crate) const FRAGMENT: u64 = 1 << 15;

/// Bytes of the TCP option with timestamps.
const TIMESTAMPS: u64 = 12;
/// Memory for the headers of a packet where kernels have wireless networks, bytes (Linux,
/// `MAX_TCP_HEADER`).
pub(crate) const HEADERS: u32 = 320;
/// Memory for the kernel's record of the pages of a packet, bytes (Linux, `struct skb_shared_info`
/// on x86-64).
const PAGES: u64 = 320;
/// Memory for the kernel's record of a packet, bytes (Linux, `struct sk_buff` on x86-64).
const RECORD: u64 = 256;

/// The size of the send buffer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBuffer {
    /// Bytes of payload; `u64::MAX`: without limit.
    Fixed(u64),
    /// It grows with the windows of its subflows, as in Linux. With one subflow it is without
    /// limit.
    Auto,
}

impl SendBuffer {
    /// A buffer without limit.
    pub const UNLIMITED: SendBuffer = SendBuffer::Fixed(u64::MAX);

    /// Its size in bytes if it does not change; `u64::MAX`: without limit.
    pub fn fixed(self) -> u64 {
        match self {
            SendBuffer::Fixed(bytes) => bytes,
            SendBuffer::Auto => u64::MAX,
        }
    }

    /// The first size of a subflow's buffer, bytes, where the kernel has so much memory for the
    /// headers of a packet.
    pub fn first(mss: u16, headers: u32) -> u64 {
        size_for(0.0, packet_memory(mss, headers))
    }
}

impl Mixed for SendBuffer {
    const NAME: &'static str = "SendBuffer";
    const FORMS: &'static str = "a size with its unit, such as \"128KiB\", or \"auto\" or \"unlimited\"";
    const WORDS: &'static [(&'static str, SendBuffer)] =
        &[("auto", SendBuffer::Auto), ("unlimited", SendBuffer::UNLIMITED)];

    fn of_text(text: &str) -> Option<Result<SendBuffer, String>> {
        Some(quantity::<Bytes>(text)?.map(|bytes| SendBuffer::Fixed(bytes.0)))
    }

    fn written(&self) -> Option<Form> {
        match *self {
            SendBuffer::UNLIMITED | SendBuffer::Auto => None,
            SendBuffer::Fixed(bytes) => Some(Form::text(Bytes(bytes))),
        }
    }

    fn text_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<Bytes>())
    }
}

mixed!(SendBuffer);

/// The memory of a packet, bytes, by which send buffers are sized: `headers` are for its headers,
/// and the whole is rounded up to a power of two (Linux, `tcp_sndbuf_expand` in
/// net/ipv4/tcp_input.c).
pub(crate) fn packet_memory(mss: u16, headers: u32) -> u64 {
    (u64::from(mss) + TIMESTAMPS + u64::from(headers) + PAGES).next_power_of_two() + RECORD
}

/// The size of a subflow's send buffer, bytes, for a window of `cwnd` packets with this memory: two
/// windows (Linux, `tcp_sndbuf_expand`).
pub(crate) fn size_for(cwnd: f64, packet: u64) -> u64 {
    (2 * packet * PACKETS.max(cwnd as u64)).min(LARGEST)
}

/// The memory that a packet takes of a subflow's send buffer, bytes: its payload alone if
/// devices segment, for then packets share the memory of a large one, and its own headers and
/// records else (Linux, `SKB_TRUESIZE` in include/linux/skbuff.h of what `mptcp_sendmsg_frag` in
/// net/mptcp/protocol.c allocates).
pub(crate) fn memory_taken(mss: u16, headers: u32, offload: bool) -> u64 {
    let own = if offload { 0 } else { u64::from(headers) + PAGES + RECORD };
    u64::from(mss) + own
}

/// The send buffers of a connection with several subflows, as Linux has them: one for each subflow,
/// for data that was assigned to it, and one for the connection, for data that the application has
/// written.
///
/// With segmentation offload payload alone counts here. The kernel counts memory, which is 1 to 14%
/// more on Linux 6.18.
#[derive(Debug)]
pub(crate) struct SendBuffers {
    /// The size for each subflow, bytes; 0 if it is not established.
    sizes: Box<[u64]>,
    /// The memory of a packet, bytes, by which they are sized.
    packet: u64,
    /// The memory that a packet takes of them, bytes.
    taken: u64,
    /// The size of the connection's buffer, bytes.
    total: u64,
    /// The application has written the stream up to this byte.
    written: u64,
}

impl SendBuffers {
    /// The buffers of a connection before its first subflow is established.
    pub(crate) fn new(subflows: usize, mss: u16, headers: u32, offload: bool) -> SendBuffers {
        let (packet, taken) = (packet_memory(mss, headers), memory_taken(mss, headers, offload));
        SendBuffers { sizes: vec![0; subflows].into(), packet, taken, total: LEAST, written: 0 }
    }

    /// Memory that so many packets take of a subflow's buffer, bytes.
    pub(crate) fn memory_of(&self, packets: usize) -> u64 {
        packets as u64 * self.taken
    }

    /// Has subflow `s` room for more, with so many packets in its buffer (Linux,
    /// `sk_stream_memory_free` in include/net/sock.h)?
    pub(crate) fn has_room(&self, s: usize, packets: usize) -> bool {
        self.memory_of(packets) < self.sizes[s]
    }

    /// End of the data that the application has written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The buffer of subflow `s` grows with its window of `cwnd` packets; it never shrinks. Returns
    /// whether it has grown.
    pub(crate) fn expand(&mut self, s: usize, cwnd: f64) -> bool {
        let size = size_for(cwnd, self.packet);
        let grows = size > self.sizes[s];
        if grows {
            self.set(s, size);
        }
        grows
    }

    /// Subflow `s` has failed.
    pub(crate) fn close(&mut self, s: usize) {
        self.set(s, 0);
    }

    /// The connection's buffer is as large as those of its subflows together (Linux,
    /// `__mptcp_sync_sndbuf` in net/mptcp/protocol.h).
    fn set(&mut self, s: usize, size: u64) {
        self.sizes[s] = size;
        self.total = LEAST + self.sizes.iter().sum::<u64>();
    }

    /// Does the application write when data before `acked` is acknowledged? It waits for room, and is
    /// told once a third of the buffer is free (Linux, `sk_stream_min_wspace` in include/net/sock.h:
    /// the free part is half of the rest).
    #[inline]
    pub(crate) fn writes(&self, acked: u64) -> bool {
        let held = self.written.saturating_sub(acked);
        self.total.saturating_sub(held) >= held / 2
    }

    /// Data before `acked` is acknowledged. The application fills the buffer once it has room, to the end of a fragment: room for one
    /// byte is enough for the last one (`mptcp_sendmsg` in net/mptcp/protocol.c).
    pub(crate) fn write(&mut self, acked: u64) {
        if self.writes(acked) {
            self.written = (acked + self.total).next_multiple_of(FRAGMENT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,448 B with headers of 320 B round up to 4,096 B, and the record makes 4,352 B: 87,040 B for
    /// ten packets, which `ss -m` shows for new connections of distributions. With headers of 256 B
    /// they round up to 2,048 B: `ss -m` shows 46,080 B, and 179,712 B for a window of 39.
    #[test]
    fn a_buffer_holds_two_windows_with_their_headers() {
        for (cwnd, mss, headers, bytes) in [
            (1.0, 1448, 320, 87_040),
            (10.9, 1448, 320, 87_040),
            (20.0, 1448, 320, 174_080),
            (10.0, 1448, 256, 46_080),
            (39.0, 1448, 256, 179_712),
            (20.0, 1000, 320, 20 * 2 * (2048 + 256)),
            (10.0, 8948, 320, 10 * 2 * (16_384 + 256)),
            (482.0, 1448, 320, 4 << 20),
            // 1,460 + 12 + 256 + 320 is 2,048.
            (10.0, 1460, 256, 46_080),
            (10.0, 1461, 256, 87_040),
        ] {
            let size = size_for(cwnd, packet_memory(mss, headers));
            assert_eq!(size, bytes, "{cwnd} packets of {mss} B with {headers} B");
        }
        assert_eq!(SendBuffer::first(1448, 320), 87_040);
        assert_eq!(SendBuffer::first(1448, HEADERS), 87_040, "as kernels of distributions have it");
    }

    /// Without segmentation offload a packet of 1,424 B takes 2,256 B, which is what Linux 6.18 adds
    /// to `sk_wmem_queued` for it; so 46,080 B have room for 20 of them, and not for one more beside
    /// 21. With offload 32 packets leave room.
    #[test]
    fn packets_take_memory_of_their_own_without_offload() {
        assert_eq!(memory_taken(1424, 256, false), 2256);
        for (offload, packets) in [(false, 21), (true, 33)] {
            let mut buffers = SendBuffers::new(1, 1424, 256, offload);
            buffers.expand(0, 10.0);
            assert_eq!([packets - 1, packets].map(|held| buffers.has_room(0, held)), [true, false], "{offload}");
        }
    }

    /// A packet of 1,440 B and its headers of 256 B make 46,080 B for ten packets, which are 32 times
    /// 1,440 B. So 32 packets fill the buffer, and leave no room.
    #[test]
    fn packets_may_fill_a_buffer_exactly() {
        let mut buffers = SendBuffers::new(1, 1440, 256, true);
        buffers.expand(0, 10.0);
        assert_eq!((buffers.sizes[0], buffers.memory_of(32)), (46_080, 46_080));
        assert_eq!([31, 32, 33].map(|held| buffers.has_room(0, held)), [true, false, false]);
    }

    /// Two subflows make a buffer of 178,176 B. With 118,784 B held, 59,392 B are free, exactly half of
    /// that.
    #[test]
    fn exactly_a_third_is_enough() {
        let mut buffers = SendBuffers::new(2, 1448, 320, true);
        (0..2).for_each(|s| assert!(buffers.expand(s, 10.0)));
        buffers.write(0);
        assert_eq!((buffers.total, buffers.written()), (178_176, 196_608));
        let acked = 196_608 - 118_784;
        assert!(buffers.writes(acked) && !buffers.writes(acked - 2));
    }

    /// Half of an odd number is rounded down (Linux: `sk_wmem_queued >> 1`): of 265,216 B, 88,405 B are free beside
    /// 176,811 B, and the half of that is 88,405.5 B.
    #[test]
    fn half_of_an_odd_number_is_rounded_down() {
        let mut buffers = SendBuffers::new(2, 1448, 320, true);
        assert!(buffers.expand(0, 10.0) && buffers.expand(1, 20.0));
        buffers.write(0);
        assert_eq!((buffers.total, buffers.written()), (265_216, 294_912));
        let acked = 294_912 - 176_811;
        assert!(buffers.writes(acked) && !buffers.writes(acked - 1));
    }

    /// When its subflow fails, a connection holds 98,304 B in a buffer of 4,096 B: it writes when 2,731 B are left.
    #[test]
    fn a_buffer_may_hold_more_than_its_size() {
        let mut buffers = SendBuffers::new(1, 1448, 320, true);
        buffers.expand(0, 10.0);
        buffers.write(0);
        buffers.close(0);
        assert_eq!((buffers.total, buffers.written()), (4096, 98_304));
        assert_eq!([0, 98_304 - 2732, 98_304 - 2731].map(|acked| buffers.writes(acked)), [false, false, true]);
    }

    /// Ten packets each: 4,096 + 87,040 and so on. The first subflow grows to 20 packets.
    #[test]
    fn the_connection_has_the_buffers_of_its_subflows() {
        let mut buffers = SendBuffers::new(2, 1448, 320, true);
        assert!(buffers.expand(0, 2.0));
        assert_eq!(buffers.total, 91_136);
        assert!(buffers.expand(1, 10.0));
        assert_eq!(buffers.total, 178_176);
        assert!(buffers.expand(0, 20.0));
        assert_eq!((buffers.total, buffers.sizes[0]), (265_216, 174_080));
        assert!(!buffers.expand(0, 20.0) && !buffers.expand(0, 19.0), "it never shrinks");
        buffers.close(1);
        assert_eq!((buffers.total, buffers.sizes[1]), (178_176, 0));
    }

    /// The buffer has 91,136 B, and the application fills three fragments, 98,304 B. A third of the
    /// buffer is free when 60,757 B are left: the application writes once 37,547 B are acknowledged,
    /// and not one less. Then 128,683 B would fill the buffer, and four fragments are 131,072 B.
    #[test]
    fn the_application_writes_when_a_third_is_free() {
        let mut buffers = SendBuffers::new(1, 1448, 320, true);
        buffers.expand(0, 10.0);
        buffers.write(0);
        assert_eq!(buffers.written(), 98_304);
        buffers.write(37_546);
        assert_eq!(buffers.written(), 98_304);
        buffers.write(37_547);
        assert_eq!(buffers.written(), 131_072);
    }

    #[test]
    fn a_size_is_written_as_it_is_read() {
        let size = SendBuffer::Fixed(128 << 10);
        assert_eq!(SendBuffer::of_text("128KiB"), Some(Ok(size)));
        let Some(Form::Text(text)) = size.written() else { panic!("it has no word") };
        assert_eq!(SendBuffer::of_text(&text), Some(Ok(size)));
        assert_eq!([SendBuffer::Auto, SendBuffer::UNLIMITED].map(|word| word.written()), [None, None]);
        assert_eq!(SendBuffer::WORDS, [("auto", SendBuffer::Auto), ("unlimited", SendBuffer::Fixed(u64::MAX))]);
        assert_eq!((SendBuffer::Fixed(7).fixed(), SendBuffer::Auto.fixed()), (7, u64::MAX));
    }
}
