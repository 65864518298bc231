//! When further subflows are opened, and which of them new data goes to.

use crate::common::config;
use crate::common::script::{sender, sender_with_jitters};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Buffers, Config, Multipath, PacketScheduler};
use linkpool_units::Time;

fn lia(subflows: usize, multipath: Multipath) -> Config {
    Config { subflows, multipath, ..config(ControlConfig::Lia(())) }
}

/// Counted from the first SYN; one whose time has passed when the first handshake is done is opened
/// at once.
#[test]
fn subflows_are_opened_at_set_times() {
    let join_at = vec![Time::from_us(50), Time::from_us(250)];
    let config = Config { join_jitter: Time::from_us(9), ..lia(4, Multipath { join_at, ..Multipath::default() }) };
    sender_with_jitters(config, None, &[Time::ZERO, Time::from_us(5), Time::from_us(9)]).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         109us  > s3 syn join               // beyond the list: at once, but for the jitter
         200us  < ack 1
                > pkt 1-2
         255us  > s2 syn join",
    );
}

/// With the first ACK after more than this amount has been sent.
#[test]
fn subflows_are_opened_on_data_sent() {
    let config = lia(2, Multipath { join_after: 3000, ..Multipath::default() });
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200us  < ack 1
                > pkt 1-2
         300us  < ack 2
                > pkt 3-4
         310us  < ack 3
                > pkt 5-6
                > s1 syn join",
    );
}

/// A flow that ends before its subflows were due opens none.
#[test]
fn no_subflow_is_opened_after_the_end() {
    let config = lia(2, Multipath { join_at: vec![Time::from_secs(5)], ..Multipath::default() });
    sender(config, Some(1000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0 last
         200us  < ack 1
                > fin
         10s    quiet",
    );
}

/// A backup is opened like the others, and idle while there is a regular one.
#[test]
fn a_backup_is_idle() {
    let config = lia(3, Multipath { backup: 0b010, ..Multipath::default() });
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
                > s2 syn join
         200us  < s1 synack
                > s1 ack 0
                < s2 synack
                > s2 ack 0
                > s2 pkt 0 data 1",
    );
}

/// Until the first regular one is there, the backup carries data.
#[test]
fn a_backup_is_used_while_it_is_alone() {
    let config = lia(2, Multipath { backup: 0b01, ..Multipath::default() });
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < ack 1
                > pkt 1-2
         300us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 3
                < ack 2
                = s0 cwnd 3 flight 1",
    );
}

/// Lowest time to send. The rate of a subflow in slow start is two windows an RTT. Its send buffer
/// has 46,080 B (two windows of ten packets of 1,000 B, each with its headers 2,304 B), and 33
/// packets at a time are assigned until it is full.
///
/// At 100 us subflow 0 is alone and gets packets 0 to 32, and then 33 to 65, for 33 packets fill no
/// buffer. At 300 us subflow 1 has nothing and gets 66 to 131. It then has 66 packets for 3,300 us
/// (window 2, RTT 200 us), which is more than the 65 packets of subflow 0 need, but the buffer of
/// subflow 0 is full: all wait.
#[test]
fn lowest_time_to_send() {
    let multipath = Multipath { scheduler: PacketScheduler::LowestTimeToSend, ..Multipath::default() };
    let config = Config { initial_window: 2, ..lia(2, multipath) };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1
                > s1 syn join
         200us  < ack 1
                > pkt 2-3
         300us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 66
                > s1 pkt 1 data 67
                < ack 2
                > pkt 4-5
         500us  < s1 ack 1 data 4
                > s1 pkt 2 data 68
                > s1 pkt 3 data 69",
    );
}

/// The last packet in a send queue is pushed, where ACKs are delayed: the receiver's window has room
/// for ten.
#[test]
fn the_last_packet_of_a_queue_is_pushed() {
    let multipath = Multipath { scheduler: PacketScheduler::LowestTimeToSend, ..Multipath::default() };
    let buffers = Buffers { receive: 10_000, ..Buffers::default() };
    let config = Config { initial_window: 20, ack_every: 2, push_acks: true, buffers, ..lia(2, multipath) };
    let open = "0      > syn
                100us  < synack
                       > ack 0
                       > pkt 0-8
                       > pkt 9";
    sender(config.clone(), None).run(&format!("{open} push\n > s1 syn join"));
    sender(Config { push_acks: false, ..config }, None).run(&format!("{open}\n > s1 syn join"));
}

/// Without segmentation offload a packet of 1,000 B takes 1,896 B of a send buffer: 320 B for
/// headers, 320 B and 256 B for records. So 33 packets fill 46,080 B, and a subflow gets one piece of
/// 32 KiB where it has room for two above.
#[test]
fn packets_that_share_no_memory_fill_send_buffers_sooner() {
    let multipath = Multipath { scheduler: PacketScheduler::LowestTimeToSend, ..Multipath::default() };
    let buffers = Buffers { offload: false, ..Buffers::default() };
    let config = Config { initial_window: 2, buffers, ..lia(2, multipath) };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1
                > s1 syn join
         200us  < ack 1
                > pkt 2-3
         300us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 33
                > s1 pkt 1 data 34
                < ack 2
                > pkt 4-5
         500us  < s1 ack 1 data 4
                > s1 pkt 2 data 35
                > s1 pkt 3 data 36",
    );
}

/// New data is assigned 64 KiB at a time, 66 packets of 1,000 B. The send buffers hold 460,800 B.
///
/// At 100 us subflow 0 gets 462 packets, and at 300 us it needs 231 us for them (RTT 100 us: 2
/// packets/us). Subflow 1 (RTT 200 us: 1/us) gets four bursts, after which it needs 66, 132, 198 and
/// 264 us. Then subflow 0 is sooner, but its buffer is full. So the next data of subflow 0 is 726.
/// Each ACK makes its window larger by one.
#[test]
fn bursts_of_64_kib_are_assigned() {
    let multipath = Multipath { scheduler: PacketScheduler::LowestTimeToSend, ..Multipath::default() };
    let config = Config { initial_window: 100, ..lia(2, multipath) };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-99
                > s1 syn join
         300us  < s1 synack
                > s1 ack 0
                > s1 pkt 0-99 data 462
         310us  < ack 100
                > pkt 100-200
         320us  < ack 201
                > pkt 201-302
         330us  < ack 303
                > pkt 303-405
         340us  < ack 406
                > pkt 406-461
                > pkt 462-509 data 726",
    );
}
