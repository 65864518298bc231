//! Buffers at both ends: windows that limit, shut and open (RFC 9293, section 3.8.6), one for all
//! subflows (RFC 8684, section 3.3.1).

use crate::common::channel::Pair;
use crate::common::opened::both_in_flight;
use crate::common::script::{receiver, sender};
use crate::common::{config, reno};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Buffers, Config, LossRecovery, Multipath, PacketScheduler, SendBuffer};
use linkpool_units::{Rate, Time};

fn receiving(receive: u64) -> Config {
    Config { initial_window: 10, buffers: Buffers { receive, ..Buffers::default() }, ..reno() }
}

fn lia(subflows: usize, buffers: Buffers) -> Config {
    Config { subflows, buffers, ..config(ControlConfig::Lia(())) }
}

/// Ten packets by the congestion window, three by the receiver's. Its edge counts from the
/// acknowledged data; the same ACK with more room is no duplicate.
#[test]
fn the_window_limits() {
    sender(receiving(3000), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-2
         200us  < ack 1 win 3000
                > pkt 3
                < ack 2 win 2000
         300us  < ack 2 win 3000
                > pkt 4
         310us  < ack 2 win 4000
                > pkt 5
         320us  < ack 2 win 5000
                > pkt 6
                = recoveries 0",
    );
}

/// Three duplicates with the same window are a loss.
#[test]
fn duplicates_offer_the_same_window() {
    sender(receiving(4000), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-3
         200us  < ack 0 win 4000
                < ack 0 win 4000
                < ack 0 win 4000
                > pkt 0
                = recoveries 1",
    );
}

/// A segment goes out when it fits as a whole, or is the rest of the stream (RFC 9293, section
/// 3.8.6.2.1).
#[test]
fn no_silly_segments() {
    sender(receiving(2500), Some(4500)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1
         200us  < ack 1 win 2400
                > pkt 2
         300us  < ack 2 win 1999
         310us  < ack 3 win 1500
                > pkt 3
                > pkt 4 len 500 last",
    );
}

/// Probes, at times that double, until the window opens; each is a segment that the receiver has.
#[test]
fn a_shut_window_is_probed() {
    sender(Config { fail_after: 2, ..receiving(2000) }, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1
         200us  < ack 2 win 0
         200.2ms > pkt 1+999 data 2 len 0
         200.3ms < ack 2 win 0
         600.2ms > pkt 1+999 data 2 len 0
         600.3ms < ack 2 win 0
         1400.2ms > pkt 1+999 data 2 len 0
         1400.3ms < ack 2 win 2000
                > pkt 2-3
                = state open",
    );
}

/// A receiver that does not answer probes is gone.
#[test]
fn probes_that_nobody_answers() {
    sender(Config { fail_after: 3, ..receiving(2000) }, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1
         200us  < ack 2 win 0
         200.2ms > pkt 1+999 data 2 len 0
         600.2ms > pkt 1+999 data 2 len 0
         1400.2ms > pkt 1+999 data 2 len 0
         3000.2ms = state failed",
    );
}

/// All subflows ask, each with a back-off of its own, since any path may have died; that probes are
/// not answered does not make a subflow stale, and who is answered first opens the window for all.
#[test]
fn all_subflows_probe() {
    let multipath = Multipath { stale_after: 1, ..Multipath::default() };
    let config = Config { multipath, ..lia(2, Buffers { receive: 2000, ..Buffers::default() }) };
    both_in_flight(config, None).run(
        "300us  < ack 1 data 1 win 1000
         310us  < s1 ack 1 data 2 win 0
         200.31ms > pkt 0+999 data 2 len 0
                > s1 pkt 0+999 data 2 len 0
         600.31ms > pkt 0+999 data 2 len 0
                > s1 pkt 0+999 data 2 len 0
         600.4ms < s1 ack 1 data 2 win 2000
                > pkt 1 data 2
                > s1 pkt 1 data 3
         600.5ms < s1 ack 2 data 2 win 2000
         1400.4ms > pkt 1 data 2                 // now subflow 0 is stale
                > s1 pkt 2 data 2
                = s1 reinjected 1000",
    );
}

/// One window for all subflows: packet 0, on its way on subflow 0, keeps subflow 1 from sending the
/// fifth.
#[test]
fn a_slow_subflow_holds_up_the_others() {
    let config = Config { initial_window: 1, ..lia(2, Buffers { receive: 4000, ..Buffers::default() }) };
    both_in_flight(config, None).run(
        "300us  < s1 ack 1 data 0 win 4000
                > s1 pkt 1 data 2
                > s1 pkt 2 data 3
         400us  < s1 ack 3 data 0 win 4000
                = s1 cwnd 3 flight 0
         500us  < ack 1 data 4 win 4000
                > pkt 1 data 4
                > s1 pkt 3 data 5
                > pkt 2 data 6
                > s1 pkt 4 data 7",
    );
}

/// The send buffer does the same from the other side: it holds what is not acknowledged at
/// connection level.
#[test]
fn the_send_buffer_limits() {
    both_in_flight(lia(2, Buffers { send: SendBuffer::Fixed(2000), ..Buffers::default() }), None).run(
        "300us  < s1 ack 1 data 0
                = s1 cwnd 2 flight 0
         310us  < ack 1 data 2
                > pkt 1 data 2
                > s1 pkt 1 data 3",
    );
}

/// A buffer that grows, of a connection whose second subflow opens later: it begins with 4,096 B
/// and two windows of ten packets, 2,304 B each, 50,176 B. The application fills two fragments of 32
/// KiB, 65,536 B, and writes again when a third of the buffer is free.
///
/// At 200 us the ACK makes room for more than one packet, so the buffer grows to 4,096 B and two
/// windows of 20 packets, 96,256 B; 40,720 B of it are free, more than a third, and the application
/// writes. So it goes on, and the buffer never limits here.
#[test]
fn the_send_buffer_grows_with_the_window() {
    let growing = |send: SendBuffer| {
        let multipath = Multipath { join_at: vec![Time::from_secs(1)], ..Multipath::default() };
        let buffers = Buffers { send, ..Buffers::default() };
        Config { initial_window: 10, byte_counting: true, multipath, ..lia(2, buffers) }
    };
    let opening = "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-9
         200us  < ack 10
                > pkt 10-29
         300us  < ack 30
                > pkt 30-69
         400us  < ack 70
                ";
    sender(growing(SendBuffer::Auto), None).run(&format!("{opening} > pkt 70-149"));
    sender(growing(SendBuffer::Fixed(50_000)), None).run(&format!("{opening} > pkt 70-119"));
}

/// With two subflows the buffer is 96,256 B: 4,096 B and twice 46,080 B; 65,536 B of the stream are
/// written when the second opens, more than two thirds. While packet 1 of the stream is on its way
/// on the slow subflow, the part of the fast one grows with its window, to 147,456 B at 32 packets,
/// and the application writes.
#[test]
fn a_fast_subflow_makes_room_beside_a_slow_one() {
    let buffers = Buffers { send: SendBuffer::Auto, ..Buffers::default() };
    let config = Config { byte_counting: true, ..lia(2, buffers) };
    let script = |last: &str| {
        format!(
            "300us  < ack 1 data 1
                > pkt 1-2 data 2
         400us  < ack 3 data 1
                > pkt 3-6 data 4
         500us  < ack 7 data 1
                > pkt 7-14 data 8
         600us  < ack 15 data 1
                > pkt 15-30 data 16
         700us  < ack 31 data 1
                > pkt 31-62 data 32
         800us  < ack 63 data 1
                > pkt {last} data 64"
        )
    };
    both_in_flight(config.clone(), None).run(&script("63-126"));
    let buffers = Buffers { send: SendBuffer::Fixed(95_000), ..Buffers::default() };
    both_in_flight(Config { buffers, ..config }, None).run(&script("63-94"));
}

/// Of two subflows with room the one with the lower RTT is given data, until its window is full.
#[test]
fn lowest_rtt_first() {
    let multipath = Multipath { scheduler: PacketScheduler::LowestRtt, ..Multipath::default() };
    let config = Config { multipath, ..lia(2, Buffers { send: SendBuffer::Fixed(3000), ..Buffers::default() }) };
    sender(config, None).run(
        "0      > syn
         200us  < synack                     // 200 us
                > ack 0
                > pkt 0
                > s1 syn join
         300us  < s1 synack                  // 100 us
                > s1 ack 0
                > s1 pkt 0 data 1
         400us  < s1 ack 1 data 0
                > s1 pkt 1 data 2
         410us  < ack 1 data 2               // room for two: on subflow 1 there is one place
                > s1 pkt 2 data 3
                > pkt 1 data 4",
    );
}

/// 8 Mbit/s is a byte in a microsecond: of four packets at 100 us the first is read at 1,100 us.
/// What the application has not read is not offered; an ACK says when a shut window has opened by a
/// segment, and then when twice as much can be offered as is left.
#[test]
fn a_slow_application_shuts_the_window() {
    let buffers = Buffers { receive: 4000, read_rate: Some(Rate::mbps(8)), ..Buffers::default() };
    receiver(Config { buffers, ..reno() }).run(
        "0      < syn
                > synack
         100us  < pkt 0
                > ack 1 win 3000
                < pkt 1
                > ack 2 win 2000
                < pkt 2
                > ack 3 win 1000
                < pkt 3
                > ack 4 win 0
         1100us > ack 4 win 1000
         2000us < pkt 4
                > ack 5 win 0
         2100us > ack 5 win 1000
         3100us > ack 5 win 2000
         5100us > ack 5 win 4000
         10ms   < pkt 5
                > ack 6 win 3000",
    );
}

/// The same with delayed ACKs: a packet waits for another one, but no longer than until the window can
/// be offered twice as large, not for 40 ms.
#[test]
fn a_window_is_announced_before_a_delayed_ack_is_due() {
    let slow = |receive: u64| Buffers { receive, read_rate: Some(Rate::mbps(8)), ..Buffers::default() };
    let delayed = |receive: u64| Config { buffers: slow(receive), ack_every: 2, ..reno() };
    receiver(delayed(4000)).run(
        "0      < syn
                > synack
         100us  < pkt 0
                < pkt 1
                > ack 2 win 2000
                < pkt 2
                < pkt 3
                > ack 4 win 0
         1100us > ack 4 win 1000
         1200us < pkt 4
         2100us > ack 5 win 1000
         3100us > ack 5 win 2000
         5100us > ack 5 win 4000
         50ms   quiet",
    );
    // 3,000 B are left of 8,000 B, and 2,000 B unread are 6,000 B of room.
    receiver(delayed(8000)).run(
        "0      < syn
                > synack
         100us  < pkt 0
                < pkt 1
                > ack 2 win 6000
                < pkt 2
                < pkt 3
                > ack 4 win 4000
                < pkt 4
         3100us > ack 5 win 6000
         50ms   quiet",
    );
    // More than half of the buffer is left: only the delayed ACK says more.
    receiver(delayed(8000)).run(
        "0      < syn
                > synack
         100us  < pkt 0
         40.1ms > ack 1 win 8000",
    );
    // What a packet makes due is announced with it.
    receiver(delayed(8000)).run(
        "0      < syn
                > synack
         100us  < pkt 0
                < pkt 1
                > ack 2 win 6000
                < pkt 2
                < pkt 3
                > ack 4 win 4000
         4000us < pkt 4
                > ack 5 win 6900",
    );
}

/// Of MPTCP one window counts, and the subflow that has offered it last offers it anew.
#[test]
fn the_window_of_all_subflows_is_announced() {
    let buffers = Buffers { receive: 4000, read_rate: Some(Rate::mbps(8)), ..Buffers::default() };
    receiver(Config { ack_every: 2, ..lia(2, buffers) }).run(
        "0      < syn
                > synack
                < s1 syn join
                > s1 synack
         100us  < s1 pkt 0
                < s1 pkt 1
                > s1 ack 2 win 2000
                < pkt 0 data 2
         1100us > s1 ack 2 data 3 win 2000
         3100us > s1 ack 2 data 3 win 4000
         40.1ms > ack 1 data 3 win 4000",
    );
}

/// Data with PSH is acknowledged when the application has read all of it, 1 ms after it has come. Of the
/// next two packets 1,500 B are not read when they are acknowledged. They leave 6,500 B, but the edge of
/// the window moves by a segment or stays.
#[test]
fn pushed_data_waits_until_it_is_read() {
    let buffers = Buffers { receive: 8000, read_rate: Some(Rate::mbps(8)), ..Buffers::default() };
    receiver(Config { ack_every: 2, push_acks: true, buffers, ..reno() }).run(
        "0      < syn
                > synack
         100us  < pkt 0 push
         1100us > ack 1 win 8000
         2000us < pkt 1 push
         2500us < pkt 2
                > ack 3 win 6000
         10ms   quiet",
    );
}

/// Rates, in Mbit/s, of Linux 6.18, whose application reads at a rate from a path of 10 Gbit/s and 20
/// us (measured on 28 November 2026): within 1.5%, with one subflow and with two, with Linux's ACKs and
/// with plain delayed ACKs.
#[test]
fn a_slow_reader_gets_its_rate_as_on_linux() {
    let linux = [(16 << 10, 50, 50.09), (64 << 10, 200, 197.4), (2896, 5, 5.00), (256 << 10, 200, 200.0)];
    for ((receive, rate, linux), subflows) in linux.into_iter().flat_map(|row| [(row, 1), (row, 2)]) {
        let buffers = Buffers { receive, read_rate: Some(Rate::mbps(rate)), ..Buffers::default() };
        let more = Config { mss: 1448, initial_window: 10, ack_every: 2, ..lia(subflows, buffers) };
        for config in [Config { push_acks: true, quickack: true, ..more.clone() }, more] {
            let mut pair = Pair::new(config, None, |_| vec![(Time::from_us(10), false)]);
            pair.run_until(Time::from_ms(100));
            let before = pair.sender.acked();
            pair.run_until(Time::from_ms(600));
            let seen = (pair.sender.acked() - before) as f64 * 8.0 / 0.5e6;
            assert!((seen / linux - 1.0).abs() < 0.015, "{receive} B, {rate} Mbit/s, {subflows}: {seen}");
        }
    }
}

/// A probe is answered with the window.
#[test]
fn a_probe_is_answered() {
    receiver(receiving(4000)).run(
        "0      < syn
                > synack
         100us  < pkt 0
                > ack 1 win 4000
         200us  < pkt 0+999 data 1 len 0
                > ack 1 win 4000
                = delivered 1000 duplicates 0",
    );
}

/// What comes on a second subflow is acknowledged there, counted, and delivered once.
#[test]
fn the_receiver_takes_reinjected_data_once() {
    receiver(reno()).run(
        "0      < syn
                > synack
                < s1 syn join
                > s1 synack
         100us  < s1 pkt 0 data 0
                > s1 ack 1
         110us  < pkt 0
                > ack 1
                = delivered 1000 duplicates 1000
         120us  < pkt 0                      // twice on its subflow is not meant
                > ack 1
                = delivered 1000 duplicates 1000",
    );
}

/// Packets acknowledged in a second, over paths of these RTTs without losses or limits of rate.
fn carried(config: Config, rtts_ms: &'static [u64]) -> f64 {
    let channel = |c: &crate::common::channel::Crossing| vec![(Time::from_us(500 * rtts_ms[c.subflow]), false)];
    let mut pair = Pair::new(config, None, channel);
    pair.run_until(Time::from_secs(1));
    let before = pair.sender.acked();
    pair.run_until(Time::from_secs(2));
    (pair.sender.acked() - before) as f64 / 1000.0
}

/// Ten packets an RTT: W/RTT exactly.
#[test]
fn throughput_is_the_window_over_the_rtt() {
    let buffers = |n: u64| Buffers { receive: n * 1000, ..Buffers::default() };
    assert_eq!(carried(Config { buffers: buffers(10), ..reno() }, &[2]), 10.0 * 500.0);
    assert_eq!(carried(Config { buffers: buffers(40), ..reno() }, &[20]), 40.0 * 50.0);
    let sending = Buffers { send: SendBuffer::Fixed(10_000), ..Buffers::default() };
    assert_eq!(carried(Config { buffers: sending, ..reno() }, &[2]), 10.0 * 500.0);
}

/// Head-of-line blocking. Whatever is sent while a packet is on its way on the slow subflow is
/// within a window of it: with a buffer B no more than B (and the packet that made room) in an RTT
/// of the slow path, 2,050 packets a second, though the fast path alone would carry B in its own
/// RTT, 40,000.
#[test]
fn a_slow_path_holds_up_a_fast_one() {
    let buffers = Buffers { receive: 40_000, ..Buffers::default() };
    assert_eq!(carried(lia(1, buffers), &[1]), 40_000.0);
    let both = carried(lia(2, buffers), &[1, 20]);
    assert!((0.9..=1.025).contains(&(both / 2000.0)), "{both} packets a second");
}

/// The window counts from the acknowledged data, which three duplicates do not move.
#[test]
fn duplicates_offer_the_same_window_later_too() {
    sender(receiving(6000), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-5
         200us  < ack 1 win 5000
                < ack 1 win 5000
                < ack 1 win 5000
                < ack 1 win 5000
                > pkt 1
                = recoveries 1",
    );
}

/// An ACK that acknowledges data of its subflow only, or of the connection only, and offers more
/// room says more than that.
#[test]
fn an_ack_with_news_is_more_than_a_window_update() {
    let config = Config { initial_window: 1, ..lia(2, Buffers { receive: 4000, ..Buffers::default() }) };
    both_in_flight(config.clone(), None).run(
        "300us  < s1 ack 1 data 0 win 5000
                > s1 pkt 1 data 2
                > s1 pkt 2 data 3
                = s1 carried 1000 cwnd 2",
    );
    both_in_flight(config, None).run(
        "300us  < s1 ack 0 data 1 win 5000
                = acked 1000 s1 carried 0",
    );
}

/// Duplicates after timeouts are no answer to a probe: the third timeout in a row is the last.
#[test]
fn duplicates_do_not_make_a_dead_path_alive() {
    sender(Config { fail_after: 3, ..receiving(2000) }, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1
         200.1ms > pkt 0
         200.2ms < ack 0 win 2000
         600.1ms > pkt 0
         600.2ms < ack 0 win 2000
         1400.1ms = state failed timeouts 3",
    );
}

fn windowed(subflow_window: u64) -> Buffers {
    Buffers { subflow_window, ..Buffers::default() }
}

/// Windows of 2,900 B for segments of 1,000 B: two segments in flight on each subflow, whatever the
/// other has, from the first byte on that its own subflow has not acknowledged.
#[test]
fn each_subflow_has_a_window_of_its_own() {
    both_in_flight(lia(2, windowed(2900)), None).run(
        "300us  < ack 1 data 1
                > pkt 1 data 2
                > pkt 2 data 3
                = cwnd 2 flight 2
         310us  < s1 ack 1 data 2
                > s1 pkt 1 data 4
                > s1 pkt 2 data 5
         320us  < ack 3 data 4
                > pkt 3 data 6
                > pkt 4 data 7
                = cwnd 3 flight 2
         330us  < ack 4 data 4
                > pkt 5 data 8",
    );
}

/// Data that is sent again lies within the window, so the window does not hold it back, and a duplicate
/// ACK makes no room for new data: recovery inflates the congestion window only.
#[test]
fn the_window_of_a_subflow_does_not_hold_back_retransmissions() {
    for recovery in [LossRecovery::NewReno, LossRecovery::Sack] {
        let config = Config { recovery, initial_window: 10, buffers: windowed(5000), ..reno() };
        let sack = |blocks: &str| if recovery.has_sacks() { format!(" sack {blocks}") } else { String::new() };
        sender(config, None).run(&format!(
            "0      > syn
             100us  < synack
                    > ack 0
                    > pkt 0-4
             200us  < ack 1
                    > pkt 5
             210us  < ack 1{}
             220us  < ack 1{}
             230us  < ack 1{}
                    > pkt 1
             240us  < ack 1{}
             300us  < ack 6
                    > pkt 6-7
                    = recoveries 1",
            sack("2-3"),
            sack("2-4"),
            sack("2-5"),
            sack("2-6"),
        ));
    }
}

/// W/RTT on each subflow: unlike a buffer of the connection, no subflow holds up another.
#[test]
fn throughput_is_the_sum_of_the_subflows_windows_over_their_rtts() {
    assert_eq!(carried(Config { buffers: windowed(10_000), ..reno() }, &[2]), 5000.0);
    assert_eq!(carried(lia(2, windowed(10_000)), &[2, 20]), 5000.0 + 500.0);
}

/// An application writes six packets into a buffer of 6,000 B, and more once a third of it is free: two packets
/// when two are acknowledged. The last packet of each write is pushed, where the window has not let it go before
/// it was written.
#[test]
fn the_end_of_each_write_is_pushed() {
    let buffers = Buffers { send: SendBuffer::Fixed(6000), ..Buffers::default() };
    let config = Config { initial_window: 2, ack_every: 2, push_acks: true, buffers, ..reno() };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1
         200us  < ack 2
                > pkt 2-4
         300us  < ack 3
                > pkt 5 push
                > pkt 6
         310us  < ack 4
                > pkt 7 push
                > pkt 8",
    );
}
