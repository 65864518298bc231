//! The completion time of a flow that is alone, to the picosecond, by hand.
//!
//! S1 -- W -- R at 10 Gbps with 2 us a link. A data packet of 1,462 B takes 1,169.6 ns on the wire,
//! a SYN or an ACK of 42 B 33.6 ns; both are stored and forwarded once:
//!
//! - data, one way: 2 (1,169.6 + 2,000) = 6,339.2 ns
//! - SYN or ACK, one way: 2 (33.6 + 2,000) = 4,067.2 ns
//! - handshake: 2 x 4,067.2 = 8,134.4 ns; then the third segment, 33.6 ns, is on the wire before
//!   the data: t0 = 8,168.0 ns
//! - data and its ACK: 6,339.2 + 4,067.2 = 10,406.4 ns

use crate::common::run;
use linkpool_scenario::Algorithm;
use linkpool_units::Time;

fn fct(size: &str, transport: &str) -> Time {
    let r = run(&format!(
        r#"
        duration = "1s"
        [topology.many-to-one]
        senders = 1
        rate = "10Gbps"
        delay = "2us"
        [transport.t]
        preset = "paper-2013"
        {transport}
        [[workload.flow]]
        transport = "t"
        from = "S1"
        to = "R"
        size = "{size}"
        start = "3us"
        "#
    ));
    assert_eq!(r.flow(0).established(), Some(Time::from_us(3) + Time::from_ps(8_134_400)));
    assert_eq!(r.flow(0).total(|s| s.retransmits), 0);
    r.fct(0)
}

const T0: u64 = 8_168_000;
const ROUND: u64 = 10_406_400;
const DATA: u64 = 1_169_600;

#[test]
fn one_packet() {
    assert_eq!(fct("1400B", "control = \"reno\""), Time::from_ps(18_574_400));
    assert_eq!(T0 + ROUND, 18_574_400);
}

/// 100 B of payload are 162 B: 129.6 ns on each link.
#[test]
fn less_than_a_packet() {
    assert_eq!(fct("100B", "control = \"reno\""), Time::from_ps(T0 + 2 * (129_600 + 2_000_000) + 4_067_200));
}

/// The second window: its two packets leave back to back when the first ACK comes.
#[test]
fn two_windows() {
    assert_eq!(fct("2800B", "control = \"reno\""), Time::from_ps(T0 + 2 * ROUND));
    assert_eq!(fct("4200B", "control = \"reno\""), Time::from_ps(T0 + 2 * ROUND + DATA));
}

/// The third window: the ACKs of packets 2 and 3 come 1,169.6 ns apart and release two packets
/// each, which queue behind one another.
#[test]
fn three_windows() {
    for (packets, waited) in [(4, 0), (5, 1), (6, 2), (7, 3)] {
        let size = format!("{}B", 1400 * packets);
        assert_eq!(fct(&size, "control = \"reno\""), Time::from_ps(T0 + 3 * ROUND + waited * DATA), "{packets}");
    }
}

/// The last packet of 8,500 B has 100 B. It leaves behind three full ones, and arrives behind them
/// all the same: over the second link it is faster than they, but they are ahead of it.
#[test]
fn a_short_last_packet_waits_its_turn() {
    // The third window's first ACK is back at t0 + 3 rounds; the fourth packet leaves 3 x 1,169.6
    // ns later than the first did.
    let sent = T0 + 2 * ROUND + 3 * DATA + 129_600;
    let at_switch = sent + 2_000_000;
    let port_free = T0 + 2 * ROUND + 3 * DATA + 2_000_000 + DATA;
    let back = at_switch.max(port_free) + 129_600 + 2_000_000 + 4_067_200;
    assert_eq!(fct("8500B", "control = \"reno\""), Time::from_ps(back));
}

/// Without marks and losses the algorithm makes no difference while in slow start. Swift has none: each ACK below the target adds a packet
/// over the window, so seven packets take rounds of 1, 2, 2 and 2, with windows of 1, 2, 2.9 and 3.2.
/// BBR paces from the start (`bbr.rs`).
#[test]
fn slow_start_is_the_same_for_all() {
    for algorithm in Algorithm::ALL.iter().filter(|it| **it != Algorithm::Bbr) {
        let switch = if *algorithm == Algorithm::Mmptcp { "\nswitch_bytes = \"100KB\"" } else { "" };
        let control = format!("control = \"{}\"{switch}", algorithm.name());
        let expected = if *algorithm == Algorithm::Swift { 4 * ROUND + DATA } else { 3 * ROUND + 3 * DATA };
        assert_eq!(fct("9800B", &control), Time::from_ps(T0 + expected), "{control}");
    }
}

/// An initial window of 10: seven packets in one round, back to back.
#[test]
fn the_initial_window() {
    let transport = "control = \"reno\"\ninitial_window = 10";
    assert_eq!(fct("9800B", transport), Time::from_ps(T0 + ROUND + 6 * DATA));
}

/// Delayed ACKs: one packet alone is the last, and is acknowledged at once; of three the first two
/// are acknowledged together.
#[test]
fn delayed_acks() {
    assert_eq!(fct("1400B", "control = \"reno\"\nack_every = 2"), Time::from_ps(T0 + ROUND));
    let transport = "control = \"reno\"\nack_every = 2\ninitial_window = 2";
    assert_eq!(fct("4200B", transport), Time::from_ps(T0 + ROUND + DATA + ROUND));
}

/// A first window of one packet and a receiver that waits for a second: 40 ms go by (RFC 5681,
/// section 4.2).
#[test]
fn delayed_acks_and_a_window_of_one() {
    let transport = "control = \"reno\"\nack_every = 2";
    assert_eq!(fct("2800B", transport), Time::from_ps(T0 + 2 * ROUND) + Time::from_ms(40));
}

/// The run ends at 11 us: three segments are on the wire to the switch, the first of which would be there
/// at 11.5904 us; the other links are empty.
#[test]
fn packets_in_flight_are_counted_at_the_end() {
    let r = run(
        "duration = \"11us\"\ndrain = \"0s\"\n[topology.many-to-one]\nsenders = 1\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
         [transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"3000B\"\n",
    );
    assert_eq!(["S1->W", "W->R", "R->W", "W->S1"].map(|link| r.link(link).in_flight), [3, 1, 0, 0]);
}
