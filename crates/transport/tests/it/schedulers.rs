//! When further subflows are opened, and which of them new data goes to.

use crate::common::config;
use crate::common::script::{open_sender, sender, sender_with_jitters};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Buffers, Config, Multipath, PacketScheduler, SendBuffer};
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

/// Two subflows, of which the first has an RTT of 10 us and its initial window of 2 packets in flight when
/// the second is established, with an RTT of 100 us; `then` follows.
fn fast_and_slow(config: Config, size: Option<u64>, then: &str) {
    let last = if size == Some(2000) { " last" } else { "" };
    sender(config, size).run(&format!(
        "0      > syn
         10us   < synack
                > ack 0
                > pkt 0
                > pkt 1{last}
                > s1 syn join
         110us  < s1 synack
                > s1 ack 0
                {then}"
    ));
}

fn scheduled(scheduler: PacketScheduler) -> Config {
    Config { initial_window: 2, ..lia(2, Multipath { scheduler, ..Multipath::default() }) }
}

/// ECF. The deviations are half of the first RTT, 5 and 50 us, so the margin is 50 us. Of `k` packets that
/// wait the fast subflow will have sent the last after 10 us (1 + k / 2), and the slow one needs 100 us.
///
/// - 28: 150 us are not less than 100 + 50 us, so the slow subflow gets a packet. 27 are sooner by the fast
///   one: they wait.
/// - 1: 20 us.
#[test]
fn ecf_waits_while_that_is_sooner() {
    let ecf =
        |waiting: u64, then: &str| fast_and_slow(scheduled(PacketScheduler::Ecf), Some(2000 + waiting * 1000), then);
    ecf(28, "> s1 pkt 0 data 2\n119us quiet");
    ecf(27, "119us quiet");
    ecf(1, "119us quiet");
}

/// What waits goes to the fast subflow as soon as its window has room, for three packets at 120 us. The RTT
/// of 110 us that the ACK measures makes the fast subflow's estimate 22.5 us and the margin stays 50 us. So
/// the two packets that are left wait, for 45 us are less than 150 us, and 100 us no less than 45 + 50 us.
#[test]
fn what_waits_goes_to_the_fast_subflow() {
    fast_and_slow(
        scheduled(PacketScheduler::Ecf),
        Some(7000),
        "120us  < ack 2 data 2
                > pkt 2-4
         129us  quiet",
    );
}

/// Only what the application has written counts: of a stream without end and a send buffer of 5,000 B it is
/// 3,000 B, for which the slow subflow is not used; with one of 30,000 B they are 28 packets.
#[test]
fn ecf_looks_at_the_send_buffer() {
    let buffers = |send: u64| Buffers { send: SendBuffer::Fixed(send), ..Buffers::default() };
    let ecf = |send: u64| Config { buffers: buffers(send), ..scheduled(PacketScheduler::Ecf) };
    fast_and_slow(ecf(5_000), None, "119us quiet");
    fast_and_slow(ecf(30_000), None, "> s1 pkt 0 data 2\n119us quiet");
}

/// BLEST. In 100 us the fast subflow has 11 round trips; in slow start it is taken to have the window that
/// ends it, 21: 21 x 11 + 55 = 286 packets. lambda is 1.19, since an RTT of the slow subflow has passed. So
/// 340,340 B and the packet itself must fit into the receiver's window, and then one more.
#[test]
fn blest_keeps_the_window_for_the_fast_subflow() {
    let blest = |receive: u64| {
        let buffers = Buffers { receive, ..Buffers::default() };
        Config { buffers, initial_ssthresh: 20_000, ..scheduled(PacketScheduler::Blest) }
    };
    fast_and_slow(blest(341_339), None, "119us quiet");
    fast_and_slow(blest(341_340), None, "> s1 pkt 0 data 2\n119us quiet");
    fast_and_slow(blest(342_340), None, "> s1 pkt 0 data 2\n> s1 pkt 1 data 3\n119us quiet");
}

/// Redundant: the second subflow begins at the first byte that is not acknowledged, and goes on where it
/// is unless more has been acknowledged.
#[test]
fn redundant_subflows_carry_the_same() {
    fast_and_slow(
        scheduled(PacketScheduler::Redundant),
        None,
        "> s1 pkt 0 data 0
         > s1 pkt 1 data 1
         120us  < ack 1 data 1
                > pkt 2-3
         130us  < s1 ack 1 data 1
                > s1 pkt 2 data 2
                > s1 pkt 3 data 3
         140us  < ack 4 data 4
                > pkt 4-7
         150us  < s1 ack 2 data 5
                > s1 pkt 4 data 5
                > s1 pkt 5 data 6
                = s0 reinjected 0 s1 reinjected 0",
    );
}

/// The end of the stream is told on each subflow.
#[test]
fn both_copies_of_the_last_byte_end_the_stream() {
    fast_and_slow(scheduled(PacketScheduler::Redundant), Some(2000), "> s1 pkt 0 data 0\n> s1 pkt 1 data 1 last");
}

/// A backup carries nothing while another subflow works, and all that is not acknowledged when none does.
/// The data of a stale subflow is not given to others, which have it.
#[test]
fn copies_are_for_subflows_that_work() {
    let multipath =
        Multipath { scheduler: PacketScheduler::Redundant, backup: 0b10, stale_after: 1, ..Multipath::default() };
    let config = Config { initial_window: 2, ..lia(2, multipath) };
    fast_and_slow(
        config,
        None,
        "200.01ms > s1 pkt 0 data 0
                  > pkt 0
                  > s1 pkt 1 data 1
                  = s1 reinjected 0",
    );
}

/// A connection that sends less than one path carries, as a stream of video does, and gets a subflow with a
/// tenth of the RTT, as when a path is restored (the issue multipath-tcp/mptcp_net-next#581). Both subflows
/// have nothing to send when a message comes, so both need no time for it. Linux's scheduler takes the first
/// then, and never learns of the other. The lowest RTT, BLEST and ECF take the other, and redundant both.
#[test]
fn a_restored_subflow_is_idle_if_all_fits_the_old_one() {
    let others = "1010us > s1 pkt 0 data 1
                         > s1 pkt 1 data 2 last
                  1020us < s1 ack 1 data 2
                         < s1 ack 2 data 3";
    for (scheduler, third) in [
        (PacketScheduler::LowestTimeToSend, "1010us > pkt 1\n> pkt 2 last\n1110us < ack 2\n< ack 3"),
        (PacketScheduler::LowestRtt, others),
        (PacketScheduler::Ecf, others),
    ] {
        let mut script = open_sender(Config { initial_window: 4, ..scheduled(scheduler) }, 1_000);
        script.run(
            "0      > syn
             100us  < synack
                    > ack 0
                    > pkt 0 last
                    > s1 syn join
             110us  < s1 synack
                    > s1 ack 0
             200us  < ack 1",
        );
        script.extend("1010us", 2_000).run(third);
    }
}

/// As in the first case of ECF above with a window of 2.5 packets, which holds two: it was 2, and grows by
/// 1/2 for packet 0 in congestion avoidance. 28 packets do not wait, though three at a time would be sooner.
#[test]
fn a_part_of_a_packet_sends_nothing() {
    let ecf = Config { initial_ssthresh: 2000, ..scheduled(PacketScheduler::Ecf) };
    let opening = "20us   < ack 1 data 1
                > pkt 2";
    sender(ecf, Some(31_000)).run(&format!(
        "0      > syn
         10us   < synack
                > ack 0
                > pkt 0-1
                > s1 syn join
         {opening}
                = cwnd 2.5
         110us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 3
         119us  quiet"
    ));
}

/// Data of a subflow that does not work goes to the other one first, with any scheduler that holds data back.
#[test]
fn what_a_stale_subflow_holds_comes_first() {
    let multipath = Multipath { scheduler: PacketScheduler::Ecf, stale_after: 1, ..Multipath::default() };
    fast_and_slow(
        Config { initial_window: 2, ..lia(2, multipath) },
        Some(4000),
        "200.01ms > pkt 0
                  > s1 pkt 0-1
                  = s1 reinjected 2000",
    );
}

/// BLEST adds 0.04 to lambda, 1.2 at first, when an RTT of the slow subflow has passed in which the receiver's
/// window held back data: of two packets, while the window of the subflow had room for three. By the rules
/// above the fast subflow sends 286 packets in 100 us, so 354,640 B and the packet itself must fit.
/// Where the window of the subflow held two packets too, nothing was held back: 340,340 B, as above.
#[test]
fn blest_notes_that_the_window_held_back_data() {
    for (initial_window, window, sent, then) in
        [(3, 355_639, "2-5", ""), (3, 355_640, "2-5", "> s1 pkt 0 data 6"), (2, 341_340, "2-4", "> s1 pkt 0 data 5")]
    {
        let buffers = Buffers { receive: 2000, ..Buffers::default() };
        let blest = Config { initial_window, initial_ssthresh: 20_000, ..scheduled(PacketScheduler::Blest) };
        sender(Config { buffers, ..blest }, None).run(&format!(
            "0      > syn
             10us   < synack
                    > ack 0
                    > pkt 0-1
                    > s1 syn join
             20us   < ack 2 win {window}
                    > pkt {sent}
             110us  < s1 synack
                    > s1 ack 0
                    {then}
             119us  quiet"
        ));
    }
}
