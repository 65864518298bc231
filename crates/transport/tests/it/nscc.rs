//! NSCC by hand: each quadrant, the fast increase, quick adapt, the answer to a trim, and what the
//! specification has otherwise.
//!
//! The network is the reference of its constants, 100 Gb/s and 12 us, so that a = 1: a product of
//! 150,000 B, a target of 9 us, and with packets of 4,096 + 64 B alpha = 4 x 4,096 B / 12 us, fair
//! increase 20,480 B a byte, eta 614.4 B.

use linkpool_settings::{Preset, Settings};
use linkpool_transport::uet::{
    Average, Network, Nscc, NsccConfig, NsccSettings, Rules, Signal, Unit, Window, WithoutSample,
};
use linkpool_units::{Rate, Time};

const NETWORK: Network = Network { base_rtt: Time::from_us(12), rate: Rate::gbps(100) };
const MSS: f64 = 4_096.0;
const ALPHA: f64 = 4.0 * MSS / 12e-6;

fn config(change: impl Fn(&mut NsccSettings)) -> NsccConfig {
    let mut settings = NsccSettings::defaults(Preset::Linux);
    change(&mut settings);
    NsccConfig::new(settings, 4_096, 64, &NETWORK, true)
}

/// A sender at `at` us with a window of `bytes`.
fn sender(bytes: f64) -> (Nscc, Window, NsccConfig) {
    let window = Window::new(Some(bytes), NETWORK.rate, NETWORK.base_rtt, 1.5);
    (Nscc::new(Time::ZERO), window, config(|_| {}))
}

/// An ACK of `bytes` at `at` us with a delay of `delay` us.
fn ack(at: f64, marked: bool, delay: f64, bytes: u64) -> Signal {
    Signal { now: us(at), marked, delay: Some(us(delay)), bytes, in_flight: 100_000, psn: None }
}

fn us(us: f64) -> Time {
    Time((us * 1e6).round() as u64)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b.abs().max(1.0)
}

#[test]
fn the_constants_are_those_of_the_reference() {
    let c = config(|_| {});
    assert_eq!(c.target, Time::from_us(9));
    assert!(near(c.alpha, ALPHA) && near(c.fair, 5.0 * MSS) && near(c.eta, 0.15 * MSS) && near(c.fast, 0.25));
    assert_eq!((c.adjust_bytes, c.least), (8.0 * 4_160.0, 4_160.0));
    // Without trimming the target is the base RTT; at four times the rate a is 4.
    let settings = NsccSettings::defaults(Preset::Linux);
    let faster = Network { rate: Rate::gbps(400), ..NETWORK };
    let c = NsccConfig::new(settings, 4_096, 64, &faster, false);
    assert_eq!(c.target, Time::from_us(12));
    assert!(near(c.alpha, 4.0 * 4.0 * MSS / 12e-6) && near(c.fast, 1.0));
    assert!(near(c.fair, 4.0 * 5.0 * MSS) && near(c.eta, 4.0 * 0.15 * MSS));
    let c = config(|settings| settings.unit = Unit::Mtu);
    assert!(near(c.fair, 5.0 * 4_160.0) && near(c.eta, 0.15 * 4_160.0));
    // Before its correction uet-htsim added 5 B, not 5 packets. 16,000 B are for a target of 12 us, and 9 us have 12,000.
    let c = config(|settings| settings.rules = Rules::OrderedChaos);
    assert_eq!((c.fair, c.adjust_bytes, c.alpha, c.eta), (5.0, 12_000.0, ALPHA, 0.15 * MSS));
    assert_eq!(config(|settings| settings.target = Some(Time::from_us(5))).target, Time::from_us(5));
}

/// Unmarked, at 12 us of delay, above the target: 20,480 x 4,160 B over the window, made when more than
/// 8 packets have come; eta comes with it once 12 us have passed.
#[test]
fn above_the_target_without_a_mark_the_increase_is_fair() {
    let (mut nscc, mut window, c) = sender(100_000.0);
    for i in 1..=8 {
        nscc.on_ack(&ack(f64::from(i), false, 12.0, 4_160), &mut window, &c);
        assert_eq!(window.bytes, 100_000.0, "{i}");
    }
    nscc.on_ack(&ack(9.0, false, 12.0, 4_160), &mut window, &c);
    let fair = 9.0 * 20_480.0 * 4_160.0 / 100_000.0;
    assert!(near(window.bytes, 100_000.0 + fair), "{}", window.bytes);
    // At 12 us it is not yet time; then eta comes with the increase of one more ACK.
    let before = window.bytes;
    nscc.on_ack(&ack(12.0, false, 12.0, 4_160), &mut window, &c);
    assert_eq!(window.bytes, before);
    nscc.on_ack(&ack(12.5, false, 12.0, 4_160), &mut window, &c);
    assert!(near(window.bytes, before + 2.0 * 20_480.0 * 4_160.0 / before + 614.4), "{}", window.bytes);
}

/// Unmarked, at 3 us, 6 us below the target: alpha x 4,160 B x 6 us over the window.
#[test]
fn below_the_target_without_a_mark_the_increase_is_proportional() {
    let (mut nscc, mut window, c) = sender(100_000.0);
    nscc.on_ack(&ack(13.0, false, 3.0, 4_160), &mut window, &c);
    let increase = ALPHA * 4_160.0 * 6e-6 / 100_000.0;
    assert!(near(window.bytes, 100_000.0 + increase + 614.4), "{}", window.bytes);
    assert!(increase > 300.0);
}

/// Both spans count from the last increase: at 14 us, 1 us after it, nothing comes, and more than 8 packets bring
/// their own increase without eta. At 25 us it is 12 us, not more, and eta comes with what 8 packets bring.
#[test]
fn increases_count_from_the_last() {
    let after_one = || {
        let (mut nscc, mut window, c) = sender(100_000.0);
        nscc.on_ack(&ack(13.0, false, 12.0, 0), &mut window, &c);
        assert!(near(window.bytes, 100_614.4));
        (nscc, window, c)
    };
    let (mut nscc, mut window, c) = after_one();
    for (at, bytes) in [(14.0, 1_000), (25.0, 0)] {
        nscc.on_ack(&ack(at, false, 12.0, bytes), &mut window, &c);
        assert!(near(window.bytes, 100_614.4), "{at} us: {}", window.bytes);
    }
    nscc.on_ack(&ack(25.1, false, 12.0, 0), &mut window, &c);
    assert!(near(window.bytes, 100_614.4 + 20_480.0 * 1_000.0 / 100_614.4 + 614.4), "{}", window.bytes);
    for (at, eta) in [(14.0, 0.0), (24.9, 0.0), (25.0, 614.4)] {
        let (mut nscc, mut window, c) = after_one();
        nscc.on_ack(&ack(at, false, 12.0, 40_000), &mut window, &c);
        assert!(near(window.bytes, 100_614.4 + 20_480.0 * 40_000.0 / 100_614.4 + eta), "{at} us: {}", window.bytes);
    }
}

/// Below 1 us: after more than a window of bytes, a quarter of the bytes are added to the window at once,
/// until a delay of 1 us or a mark above the target ends it.
#[test]
fn without_delay_the_increase_is_fast() {
    let (mut nscc, mut window, c) = sender(10_000.0);
    nscc.on_ack(&ack(0.5, false, 0.5, 6_000), &mut window, &c);
    assert_eq!(window.bytes, 10_000.0);
    nscc.on_ack(&ack(0.6, false, 0.5, 4_000), &mut window, &c);
    assert_eq!(window.bytes, 10_000.0, "not more than a window");
    nscc.on_ack(&ack(0.7, false, 0.9, 400), &mut window, &c);
    assert!(near(window.bytes, 10_100.0), "{}", window.bytes);
    nscc.on_ack(&ack(0.8, false, 0.0, 4_000), &mut window, &c);
    assert!(near(window.bytes, 11_100.0));
    // 1 us is some delay: the count begins again.
    nscc.on_ack(&ack(0.9, false, 1.0, 4_000), &mut window, &c);
    nscc.on_ack(&ack(1.0, false, 0.5, 4_000), &mut window, &c);
    assert!(near(window.bytes, 11_100.0), "{}", window.bytes);
}

/// At 800 Gb/s twice the bytes are added: the window outgrows the bytes that were counted, and what was fast stays so.
#[test]
fn a_fast_increase_goes_on_when_the_window_outgrows_its_bytes() {
    let fastest = Network { rate: Rate::gbps(800), ..NETWORK };
    let c = NsccConfig::new(NsccSettings::defaults(Preset::Linux), 4_096, 64, &fastest, true);
    let (mut nscc, mut window, _) = sender(10_000.0);
    nscc.on_ack(&ack(0.5, false, 0.5, 10_400), &mut window, &c);
    assert!(near(window.bytes, 10_000.0 + 20_800.0), "{}", window.bytes);
    nscc.on_ack(&ack(0.6, false, 0.5, 1_000), &mut window, &c);
    assert!(near(window.bytes, 30_800.0 + 2_000.0), "11,400 B are less than 30,800 B: {}", window.bytes);
}

/// A mark above the target ends it, though the average is too low for a cut.
#[test]
fn a_mark_above_the_target_ends_a_fast_increase() {
    for (marked, delay, expected) in [(true, 9.0, 12_600.0), (true, 8.9, 13_600.0), (false, 9.0, 13_600.0)] {
        let (mut nscc, mut window, c) = sender(10_000.0);
        nscc.on_ack(&ack(0.5, false, 0.5, 10_400), &mut window, &c);
        assert!(near(window.bytes, 12_600.0));
        nscc.on_ack(&ack(0.6, marked, delay, 0), &mut window, &c);
        nscc.on_ack(&ack(0.7, false, 0.5, 4_000), &mut window, &c);
        assert!(near(window.bytes, expected), "{marked} {delay}: {}", window.bytes);
    }
}

/// The average of the specification takes a sample after 12 us whole: 30 us. 12 us after the start are not more than a
/// base RTT, and 12.1 us are; 0.8 x 21 / 30 would be more than half.
#[test]
fn a_cut_comes_after_more_than_a_base_rtt() {
    for (at, expected) in [(12.0, 100_000.0), (12.1, 50_614.4)] {
        let c = config(|settings| settings.average = Average::BaseRtt);
        let (mut nscc, mut window, _) = sender(100_000.0);
        nscc.on_ack(&ack(at, true, 30.0, 0), &mut window, &c);
        assert!(near(window.bytes, expected), "{at} us: {}", window.bytes);
    }
}

/// Marked, below the target: nothing. Marked, above it: a cut by 0.8 (average - target) / average, if the
/// average is above the target, once in 12 us; at most by half.
#[test]
fn a_mark_cuts_only_above_the_target() {
    let (mut nscc, mut window, c) = sender(100_000.0);
    nscc.on_ack(&ack(5.0, true, 3.0, 1_000), &mut window, &c);
    nscc.on_ack(&ack(6.0, true, 30.0, 1_000), &mut window, &c);
    assert_eq!(window.bytes, 100_000.0, "the average is low");
    // Marked samples of 30 us: the average passes 9 us with the 29th, 30 (1 - 0.9875^29) = 9.17.
    let mut average = nscc.average();
    let mut at = 6.0;
    while average <= 9e-6 {
        at += 0.1;
        average = 0.0125 * 30e-6 + 0.9875 * average;
        nscc.on_ack(&ack(at, true, 30.0, 0), &mut window, &c);
        assert!(near(nscc.average() * 1e6, average * 1e6));
    }
    assert_eq!(window.bytes, 100_000.0, "not 12 us after the start");
    nscc.on_ack(&ack(12.5, true, 30.0, 0), &mut window, &c);
    average = 0.0125 * 30e-6 + 0.9875 * average;
    // The fulfilment of the same ACK adds eta.
    let cut = 100_000.0 * (1.0 - 0.8 * (average - 9e-6) / average);
    assert!(near(window.bytes, cut + 614.4) && cut < 99_000.0, "{} {cut}", window.bytes);
    nscc.on_ack(&ack(24.4, true, 30.0, 0), &mut window, &c);
    assert!(near(window.bytes, cut + 614.4), "11.9 us after the cut");
    for i in 0..400 {
        nscc.on_ack(&ack(24.4, true, 32.0 + f64::from(i), 0), &mut window, &c);
    }
    let before = window.bytes;
    nscc.on_ack(&ack(24.6, true, 30.0, 0), &mut window, &c);
    assert!(near(window.bytes, before / 2.0 + 614.4), "{before} {}", window.bytes);
}

/// An unmarked sample above the target counts as a quarter of the base RTT: 3 us.
#[test]
fn the_average_takes_unmarked_long_delays_for_short() {
    let (mut nscc, mut window, c) = sender(100_000.0);
    nscc.on_ack(&ack(1.0, false, 100.0, 0), &mut window, &c);
    assert!(near(nscc.average() * 1e6, 0.0125 * 3.0));
    nscc.on_ack(&ack(1.1, true, 100.0, 0), &mut window, &c);
    assert!(near(nscc.average() * 1e6, 0.9875 * 0.0125 * 3.0 + 0.0125 * 100.0));
    nscc.on_ack(&ack(1.2, false, 9.0, 0), &mut window, &c);
    assert!(near(nscc.average() * 1e6, 0.9875 * (0.9875 * 0.0375 + 1.25) + 0.0125 * 9.0), "9 us is not above 9 us");
}

/// The first ACK begins a period of 12 + 9 us. At its end, with a delay above 36 us, less than an eighth
/// of the largest window (28,125 B) has come: the window is what has come. Then marked ACKs change
/// nothing until what was in flight, 100,000 B, has come.
#[test]
fn quick_adapt_takes_what_got_through_for_the_window() {
    let (mut nscc, mut window, c) = sender(200_000.0);
    nscc.on_ack(&ack(1.0, true, 40.0, 4_160), &mut window, &c);
    nscc.on_ack(&ack(22.0, true, 40.0, 20_000), &mut window, &c);
    assert!(window.bytes > 100_000.0, "the period has not passed at its end");
    nscc.on_ack(&ack(22.1, true, 40.0, 0), &mut window, &c);
    assert_eq!(window.bytes, 20_000.0, "the first ACK was before the period");
    nscc.on_ack(&ack(50.0, true, 40.0, 99_999), &mut window, &c);
    assert_eq!(window.bytes, 20_000.0, "ignored");
    nscc.on_ack(&ack(50.1, true, 40.0, 1), &mut window, &c);
    assert!(window.bytes != 20_000.0, "all has come, and the period is over: 100,000 B are enough");
    assert!(window.bytes > 20_000.0);
}

#[test]
fn quick_adapt_needs_a_reason_and_a_gate() {
    // Enough has come: 28,125 B are not less than an eighth.
    for (bytes, delay, expected) in
        [(28_124, 36.1, 28_124.0), (28_125, 36.1, 0.0), (28_124, 36.0, 0.0), (100, 36.1, 4_160.0)]
    {
        let (mut nscc, mut window, c) = sender(200_000.0);
        nscc.on_ack(&ack(1.0, true, 0.0, 0), &mut window, &c);
        nscc.on_ack(&ack(22.1, true, delay, bytes), &mut window, &c);
        assert_eq!(window.bytes == expected, expected > 0.0, "{bytes} {delay}: {}", window.bytes);
    }
    // An unmarked ACK is not ignored after a cut.
    let (mut nscc, mut window, c) = sender(200_000.0);
    nscc.on_ack(&ack(1.0, true, 0.0, 0), &mut window, &c);
    nscc.on_ack(&ack(22.1, true, 40.0, 20_000), &mut window, &c);
    nscc.on_ack(&ack(40.0, false, 3.0, 4_160), &mut window, &c);
    assert!(window.bytes > 20_000.0);
    // With a gate of 2^0 all that is below the largest window is little.
    let c = config(|settings| settings.gate = 0);
    let (mut nscc, mut window, _) = sender(200_000.0);
    nscc.on_ack(&ack(1.0, true, 0.0, 0), &mut window, &c);
    nscc.on_ack(&ack(22.1, true, 36.1, 100_000), &mut window, &c);
    assert_eq!(window.bytes, 100_000.0);
    // Of targets of 9 us, 1.5 are 13.5 us.
    let c = config(|settings| settings.late = 1.5);
    for (delay, acts) in [(13.5, false), (13.6, true)] {
        let (mut nscc, mut window, _) = sender(200_000.0);
        nscc.on_ack(&ack(1.0, true, 0.0, 0), &mut window, &c);
        nscc.on_ack(&ack(22.1, true, delay, 20_000), &mut window, &c);
        assert_eq!(window.bytes == 20_000.0, acts, "{delay}");
    }
}

/// A NACK takes its bytes from the window, counts as a sample of 12 us, and makes quick adapt act at the
/// next end of a period; while a cut by quick adapt has yet to show, it takes nothing.
#[test]
fn a_nack_takes_its_packet_and_calls_quick_adapt() {
    let (mut nscc, mut window, c) = sender(100_000.0);
    let nack = |at| Signal { now: us(at), marked: true, delay: None, bytes: 0, in_flight: 50_000, psn: None };
    nscc.on_nack((4_160, false), &nack(1.0), &mut window, &c);
    assert!(near(window.bytes, 95_840.0) && near(nscc.average() * 1e6, 0.0125 * 12.0));
    // Its period has begun with the NACK. An ACK without delay at its end finds little, and a trim.
    nscc.on_ack(&ack(22.1, false, 0.0, 10_000), &mut window, &c);
    assert_eq!(window.bytes, 10_000.0);
    nscc.on_nack((4_160, false), &nack(22.2), &mut window, &c);
    assert_eq!(window.bytes, 10_000.0, "100,000 B were in flight");
    // After 95,840 B more of ACKs, all of it has had an answer. The window cannot fall below a packet.
    nscc.on_ack(&ack(22.3, false, 3.0, 95_840), &mut window, &c);
    window.bytes = 8_000.0;
    nscc.on_nack((4_160, false), &nack(22.4), &mut window, &c);
    assert_eq!(window.bytes, 4_160.0);
    nscc.on_timeout(4_160, &mut window, &c);
    assert_eq!(window.bytes, 4_160.0);
    // One of the receiver's link, where the receiver grants credit, is a sample and no more.
    (window.bytes, nscc) = (50_000.0, Nscc::new(us(22.4)));
    nscc.on_nack((4_160, true), &nack(22.5), &mut window, &c);
    assert!(window.bytes == 50_000.0 && near(nscc.average() * 1e6, 0.0125 * 12.0));
    window.bytes = 50_000.0;
    nscc.on_timeout(4_160, &mut window, &c);
    assert_eq!(window.bytes, 45_840.0);
}

/// A loss found by timeout counts as ignored bytes in the specification alone.
#[test]
fn bytes_lost_are_ignored_by_the_specification() {
    for (losses_ignored, acts) in [(false, false), (true, true)] {
        let c = config(|settings| settings.losses_ignored = losses_ignored);
        let (mut nscc, mut window, _) = sender(200_000.0);
        nscc.on_ack(&ack(1.0, true, 0.0, 0), &mut window, &c);
        nscc.on_ack(&ack(22.1, true, 40.0, 20_000), &mut window, &c);
        nscc.on_timeout(4_160, &mut window, &c);
        // 100,000 B were in flight, of which 95,840 B come.
        let before = window.bytes;
        nscc.on_ack(&ack(30.0, true, 40.0, 95_840), &mut window, &c);
        assert_eq!(window.bytes != before, acts);
    }
}

/// Without a valid sample the average stands for the delay, or the ACK only counts bytes.
#[test]
fn an_ack_without_a_sample_takes_the_average_or_holds() {
    for (without_sample, raises) in [(WithoutSample::Average, true), (WithoutSample::Hold, false)] {
        let c = config(|settings| settings.without_sample = without_sample);
        let (mut nscc, mut window, _) = sender(100_000.0);
        nscc.on_ack(&ack(1.0, true, 8.0, 0), &mut window, &c);
        let average = nscc.average();
        let signal = Signal { delay: None, ..ack(13.0, false, 0.0, 50_000) };
        nscc.on_ack(&signal, &mut window, &c);
        // 0.1 us of average is about zero: 50,000 B are no window yet.
        let increase = if raises { ALPHA * 50_000.0 * (9e-6 - 0.1e-6) / 100_000.0 } else { 0.0 };
        assert!(near(window.bytes, 100_000.0 + increase + 614.4), "{without_sample:?} {}", window.bytes);
        assert_eq!(nscc.average(), average);
    }
}

/// Over the last base RTT: after 3 us a sample weighs a quarter, after 12 us and more it is all.
#[test]
fn the_average_of_the_specification_is_over_a_base_rtt() {
    let c = config(|settings| settings.average = Average::BaseRtt);
    let (mut nscc, mut window, _) = sender(100_000.0);
    nscc.on_ack(&ack(12.0, true, 8.0, 0), &mut window, &c);
    assert!(near(nscc.average() * 1e6, 8.0));
    nscc.on_ack(&ack(15.0, false, 20.0, 0), &mut window, &c);
    assert!(near(nscc.average() * 1e6, 0.75 * 8.0 + 0.25 * 20.0));
    nscc.on_ack(&ack(40.0, false, 2.0, 0), &mut window, &c);
    assert!(near(nscc.average() * 1e6, 2.0));
}

/// The end of the period itself is in it, or not.
#[test]
fn quick_adapt_acts_at_the_end_by_the_specification() {
    for (at_end, acts) in [(false, false), (true, true)] {
        let c = config(|settings| settings.at_end = at_end);
        let (mut nscc, mut window, _) = sender(200_000.0);
        nscc.on_ack(&ack(1.0, true, 0.0, 0), &mut window, &c);
        nscc.on_ack(&ack(22.0, true, 40.0, 20_000), &mut window, &c);
        assert_eq!(window.bytes == 20_000.0, acts);
    }
}

/// The largest window falls with the base RTT, and with it the window at the next ACK.
#[test]
fn the_window_follows_a_lower_base_rtt() {
    let (mut nscc, mut window, c) = sender(225_000.0);
    window.measured(Time::from_us(6), NETWORK.rate, 1.5);
    nscc.on_ack(&ack(1.0, false, 0.0, 10), &mut window, &c);
    assert_eq!((window.bytes, window.most), (112_500.0, 112_500.0));
}
