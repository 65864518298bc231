//! When the receiver acknowledges (RFC 5681, section 4.2), and which marks it echoes (RFC 8257,
//! section 3.2).

use crate::common::reno;
use crate::common::script::{Script, receiver};
use linkpool_transport::{Buffers, Config, Receiver};

/// A receiver on whose subflow 0 a SYN has arrived at 0.
fn open(ack_every: u32) -> Script<Receiver> {
    let mut script = receiver(Config { ack_every, ..reno() });
    script.run("0 < syn\n > synack");
    script
}

#[test]
fn an_ack_for_every_second_packet() {
    open(2).run(
        "100us  < pkt 0
         110us  < pkt 1
                > ack 2
         120us  < pkt 2
         130us  < pkt 3
                > ack 4",
    );
}

#[test]
fn a_single_packet_waits_for_the_timer() {
    open(2).run(
        "100us      < pkt 0
         40.1ms     > ack 1
         50ms       < pkt 1     // the timer starts anew
         90ms       > ack 2
         1s         quiet",
    );
}

/// The timer of a packet that has been acknowledged meanwhile does not acknowledge the next one
/// early.
#[test]
fn the_timer_belongs_to_the_packet_that_waits() {
    open(2).run(
        "0      < pkt 0
         10ms   < pkt 1
                > ack 2
         20ms   < pkt 2
         60ms   > ack 3",
    );
}

/// Out-of-order segments, and the segment that fills the gap: at once.
#[test]
fn a_gap_is_reported_at_once() {
    open(2).run(
        "100us  < pkt 0
         110us  < pkt 2
                > ack 1
                < pkt 3
                > ack 1
                < pkt 1
                > ack 4
                < pkt 4        // in order again: it waits
                < pkt 5
                > ack 6",
    );
}

/// One of two gaps filled: still at once, up to the next gap.
#[test]
fn filling_one_of_two_gaps() {
    open(2).run(
        "100us  < pkt 1
                > ack 0
                < pkt 3
                > ack 0
                < pkt 0
                > ack 2
                < pkt 2
                > ack 4",
    );
}

#[test]
fn what_has_come_before_is_acknowledged_at_once() {
    open(2).run(
        "100us  < pkt 0
                < pkt 1
                > ack 2
                < pkt 0
                > ack 2",
    );
}

/// Who sends last does not wait for who acknowledges.
#[test]
fn the_last_packet_is_acknowledged_at_once() {
    open(2).run(
        "100us  < pkt 0 len 300 last
                > ack 0+300
                = complete true delivery complete delivered 300",
    );
}

/// RFC 8257, Figure 1: when the mark changes, what waits is acknowledged under the old mark; else
/// every second packet.
#[test]
fn the_state_machine_of_dctcp() {
    open(2).run(
        "100us  < pkt 0
                < pkt 1 ce
                > ack 1            // of 0, unmarked, at once
                < pkt 2 ce
                > ack 3 ece
                < pkt 3 ce
                < pkt 4
                > ack 4 ece        // of 3, marked
                < pkt 5
                > ack 6
                < pkt 6 ce         // nothing waits: no ACK for the change alone
                < pkt 7 ce
                > ack 8 ece",
    );
}

/// The echo of a delayed ACK is that of the packets that it waited for.
#[test]
fn the_timer_echoes_the_mark() {
    open(2).run(
        "0      < pkt 0 ce
         40ms   > ack 1 ece",
    );
}

/// With an ACK per packet the echo is exact.
#[test]
fn an_ack_per_packet_echoes_each_mark() {
    open(1).run(
        "100us  < pkt 0
                > ack 1
                < pkt 1 ce
                > ack 2 ece
                < pkt 2
                > ack 3
                < pkt 4 ce
                > ack 3 ece
                < pkt 3
                > ack 5
                < pkt 4 ce         // again
                > ack 5 ece",
    );
}

/// Subflows count for themselves.
#[test]
fn delays_are_per_subflow() {
    open(2).run(
        "0      < s1 syn join
                > s1 synack
         100us  < pkt 0
                < s1 pkt 0 data 1
                < s1 pkt 1 data 2 ce
                > s1 ack 1 data 2
                < pkt 1 data 3
                > ack 2 data 4
         40.1ms > s1 ack 2 data 4 ece",
    );
}

/// Data on a subflow that nobody has opened is not answered.
#[test]
fn no_answer_without_a_handshake() {
    receiver(reno()).run("0 < pkt 0\n 1s quiet\n = delivered 0");
}

#[test]
fn a_fin_closes() {
    open(1).run(
        "100us  < pkt 0 last
                > ack 1
                = delivery complete
                < pkt 0 last
                > ack 1
                = delivery none     // complete only once
                < fin
                = delivery closed",
    );
}

/// A receiver like Linux's, with a buffer of so many packets, on whose subflow 0 a SYN has arrived
/// at 0.
fn quick(buffer: u64) -> Script<Receiver> {
    let buffers = Buffers { receive: buffer * 1000, ..Buffers::default() };
    let mut script = receiver(Config { ack_every: 2, quickack: true, buffers, ..reno() });
    script.run("0 < syn\n > synack");
    script
}

/// The first ACKs are not delayed: half the buffer's packets.
#[test]
fn the_first_packets_are_acknowledged_at_once() {
    quick(6).run(
        "100us      < pkt 0
                    > ack 1 win 6000
         110us      < pkt 1
                    > ack 2 win 6000
         120us      < pkt 2
                    > ack 3 win 6000
         130us      < pkt 3
         40.13ms    > ack 4 win 6000",
    );
}

/// Sixteen at most, and two if the buffer has room for one.
#[test]
fn how_many_are_acknowledged_at_once() {
    for (buffer, quick_ones) in [(1, 2), (3, 1), (31, 15), (34, 16), (1000, 16)] {
        let mut script = quick(buffer);
        for n in 0..quick_ones {
            script.run(&format!("< pkt {n}\n > ack {} win {buffer}000", n + 1));
        }
        script.run(&format!("< pkt {quick_ones}\n = delivered {}000", quick_ones + 1));
    }
}

/// After more than the least RTO, 200 ms, the sender may have had a timeout and a window of one.
#[test]
fn after_a_silence_they_are_acknowledged_at_once() {
    quick(2).run(
        "100us      < pkt 0
                    > ack 1 win 2000
                    < pkt 1
         40.1ms     > ack 2 win 2000
         200.1ms    < pkt 2             // 200 ms after packet 1: not more
         240.1ms    > ack 3 win 2000
         400.2ms    < pkt 3
                    > ack 4 win 2000
                    < pkt 4
         440.2ms    > ack 5 win 2000",
    );
}

/// What comes twice was perhaps sent after a timeout.
#[test]
fn after_a_duplicate_they_are_acknowledged_at_once() {
    quick(4).run(
        "100us      < pkt 0
                    > ack 1 win 4000
                    < pkt 1
                    > ack 2 win 4000
                    < pkt 2
         40.1ms     > ack 3 win 4000
                    < pkt 2             // this ACK counts
                    > ack 3 win 4000
                    < pkt 3
                    > ack 4 win 4000
                    < pkt 4
         80.1ms     > ack 5 win 4000",
    );
}

/// A packet whose mark differs from the last one's is acknowledged at once, after what waits, under
/// the old mark (Linux, `dctcp_ece_ack_update`). Worked by hand: of packets 2 to 9 the kernel holds
/// back 3, 6 and 8.
#[test]
fn a_change_of_the_mark_is_acknowledged_at_once() {
    quick(4).run(
        "100us      < pkt 0
                    > ack 1 win 4000
                    < pkt 1
                    > ack 2 win 4000
                    < pkt 2 ce          // nothing waits
                    > ack 3 ece win 4000
                    < pkt 3 ce
                    < pkt 4             // 3 waits
                    > ack 4 ece win 4000
                    > ack 5 win 4000
                    < pkt 5 ce
                    > ack 6 ece win 4000
                    < pkt 6 ce
                    < pkt 7 ce
                    > ack 8 ece win 4000
                    < pkt 8 ce
                    < pkt 9
                    > ack 9 ece win 4000
                    > ack 10 win 4000
         1s         quiet",
    );
}

/// So is a packet with CWR: the window of its sender may have no room for another (Linux,
/// `tcp_ecn_accept_cwr`). Receivers that delay ACKs otherwise take no notice of it.
#[test]
fn a_packet_with_cwr_is_acknowledged_at_once() {
    quick(4).run(
        "100us      < pkt 0
                    > ack 1 win 4000
                    < pkt 1
                    > ack 2 win 4000
                    < pkt 2 cwr
                    > ack 3 win 4000
                    < pkt 3
                    < pkt 4 cwr
                    > ack 5 win 4000
                    < pkt 5
         40.1ms     > ack 6 win 4000",
    );
    open(2).run(
        "100us      < pkt 0 cwr
         40.1ms     > ack 1",
    );
}

/// A receiver that acknowledges pushed data once nothing is left to read, with these buffers.
fn pushed(buffers: Buffers) -> Script<Receiver> {
    let mut script = receiver(Config { ack_every: 2, push_acks: true, buffers, ..reno() });
    script.run("0 < syn\n > synack");
    script
}

/// On one subflow data in order is read at once. With a gap nothing is, but then each packet is
/// acknowledged anyway.
#[test]
fn a_pushed_packet_is_acknowledged_at_once() {
    pushed(Buffers::default()).run(
        "100us      < pkt 0 push
                    > ack 1
                    < pkt 1
                    < pkt 2 push
                    > ack 3
                    < pkt 3
         40.1ms     > ack 4",
    );
    open(2).run(
        "100us      < pkt 0 push
         40.1ms     > ack 1",
    );
}

/// Packet 1 of the connection is missing, so the application cannot read packets 2 and 3; once it can,
/// both subflows with pushed data acknowledge, and the one without does not. An acknowledged packet is
/// not acknowledged again.
#[test]
fn pushed_data_waits_until_all_subflows_have_been_read() {
    pushed(Buffers::default()).run(
        "0          < s1 syn join
                    > s1 synack
                    < s2 syn join
                    > s2 synack
         100us      < pkt 0
                    < s1 pkt 0 data 2 push
                    < s2 pkt 0 data 3
         200us      < pkt 1
                    > ack 2 data 4
                    > s1 ack 1 data 4
         40.1ms     > s2 ack 1 data 4
         50ms       < s1 pkt 1 data 5 push
                    < s1 pkt 2 data 6
                    > s1 ack 3 data 4
         60ms       < pkt 2 data 4
         100ms      > ack 3 data 7",
    );
}

/// Data that has come twice gives the application nothing to read.
#[test]
fn no_push_without_new_data() {
    pushed(Buffers::default()).run(
        "0          < s1 syn join
                    > s1 synack
         100us      < pkt 0
                    < pkt 1 data 0
                    > ack 2 data 1
                    < s1 pkt 0 data 0 push
         40.1ms     > s1 ack 1 data 1",
    );
}

/// 8 Mbit/s is one byte per microsecond: 1,000 B are read after 1 ms, and acknowledged then.
#[test]
fn a_slow_reader_has_not_read_all() {
    let read_rate = Some(linkpool_units::Rate::mbps(8));
    pushed(Buffers { receive: 100_000, read_rate, ..Buffers::default() }).run(
        "100us      < pkt 0 push
         1.1ms      > ack 1 win 100000
         50ms       quiet",
    );
}
