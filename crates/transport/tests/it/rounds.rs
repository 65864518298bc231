//! The window of each algorithm round by round, in a model without queues: all packets of a window
//! arrive at once, half an RTT after they were sent, and are acknowledged at once. The tables lie
//! in `snapshots/`; `INSTA_UPDATE=always cargo test -p linkpool-transport --test it rounds::`
//! writes them again.
//!
//! Rounds of 100 us, slow start to 16 packets, an RTO of 10 rounds; DCTCP's alpha starts at 1. A
//! row is a round, its number that of RTTs since the first SYN; a window is looked at in the middle
//! of the round, when its packets are on the way.

use crate::common::channel::{Crossing, Fate, Pair};
use crate::common::{AMP, CUBIC, CUT, DCTCP, FULLY_COUPLED, S, SEMI_COUPLED, XMP};
use linkpool_transport::control::{AmpConfig, ControlConfig, DctcpConfig, EwtcpConfig, EwtcpIncrease};
use linkpool_transport::{Config, Segment, SubflowId};
use linkpool_units::Time;
use std::ops::Range;

const ROUND: Time = Time::from_us(100);

fn algorithms() -> [(&'static str, ControlConfig); 7] {
    let dctcp = || DctcpConfig { alpha0: 1.0, ..DCTCP };
    [
        ("reno", ControlConfig::Reno(())),
        ("dctcp", ControlConfig::Dctcp(dctcp())),
        ("lia", ControlConfig::Lia(())),
        ("dcm", ControlConfig::Dcm(dctcp())),
        ("mptcp-cut", ControlConfig::MptcpCut(CUT)),
        ("xmp", ControlConfig::Xmp(XMP)),
        ("amp", ControlConfig::Amp(AmpConfig { tau: 4, ..AMP })),
    ]
}

/// Algorithms without ECN, beside the two of [`algorithms`].
fn loss_based() -> [(&'static str, ControlConfig); 7] {
    [
        ("olia", ControlConfig::Olia(())),
        ("balia", ControlConfig::Balia(())),
        ("ewtcp", ControlConfig::Ewtcp(EwtcpConfig { increase: EwtcpIncrease::InverseSquare })),
        ("fully", ControlConfig::FullyCoupled(FULLY_COUPLED)),
        ("semi", ControlConfig::SemiCoupled(SEMI_COUPLED)),
        ("uncoupled", ControlConfig::Uncoupled(())),
        ("cubic", ControlConfig::Cubic(CUBIC)),
    ]
}

fn config(control: ControlConfig, subflows: usize) -> Config {
    let mut c = Config { subflows, initial_ssthresh: 16_000, ..crate::common::config(control) };
    c.rtt.min_rto = ROUND * 10;
    c
}

fn round_of(at: Time) -> u64 {
    at.0 / ROUND.0
}

type Channel = Box<dyn FnMut(&Crossing) -> Fate>;

/// A row per round, a column per algorithm.
fn table(title: &str, rounds: u64, subflows: usize, channel: impl Fn() -> Channel) -> String {
    table_of(&algorithms(), title, rounds, subflows, channel)
}

fn table_of(
    algorithms: &[(&str, ControlConfig)],
    title: &str,
    rounds: u64,
    subflows: usize,
    channel: impl Fn() -> Channel,
) -> String {
    let pair = |(_, algorithm): &(_, ControlConfig)| Pair::new(config(algorithm.clone(), subflows), None, channel());
    let mut pairs: Vec<_> = algorithms.iter().map(pair).collect();
    let mut text = format!("{title}\n\n{:>5}", "round");
    for (name, _) in algorithms {
        text += &format!(" {name:>10}");
    }
    for round in 1..=rounds {
        text += &format!("\n{round:>5}");
        for pair in &mut pairs {
            pair.run_until(ROUND * round + Time(ROUND.0 / 2));
            text += &format!(" {:>10}", windows(pair));
        }
    }
    text
}

/// The windows of all subflows, to one decimal; `R`: in recovery, `s`: suppressed.
fn windows(pair: &Pair<Channel>) -> String {
    let window = |s| {
        let path = pair.sender.congestion(s);
        let recovery = if path.in_recovery { "R" } else { "" };
        let suppressed = if pair.sender.is_suppressed(s) { "s" } else { "" };
        if path.established { format!("{:.1}{recovery}{suppressed}", path.cwnd) } else { "-".into() }
    };
    SubflowId::first(pair.sender.subflows()).map(window).collect::<Vec<_>>().join("|")
}

/// A channel of half a round each way that does `fate` to data sent in a round: (subflow, round,
/// place in the round).
fn channel(fate: impl Fn(SubflowId, u64, u64) -> Option<bool> + Copy + 'static) -> impl Fn() -> Channel {
    move || {
        let mut place = [(0, 0); 2];
        Box::new(move |c: &Crossing| {
            // Subflow 1 takes twice as long.
            let delay = Time(ROUND.0 / 2 * (1 + u64::from(c.subflow)));
            let Segment::Data { ect, .. } = c.segment else {
                return vec![(delay, false)];
            };
            let round = round_of(c.at);
            let (last, n) = &mut place[c.subflow];
            *n = if *last == round { *n + 1 } else { 0 };
            *last = round;
            match fate(c.subflow, round, *n) {
                Some(mark) => vec![(delay, mark && ect)],
                None => vec![],
            }
        })
    }
}

fn marks(rounds: Range<u64>) -> impl Fn(SubflowId, u64, u64) -> Option<bool> + Copy {
    move |_, round, _| Some(rounds.start <= round && round < rounds.end)
}

fn check(name: &str, table: String) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, table);
    });
}

/// 1, 2, 4, 8, 16, then a packet a round: round 7 is 17 + 16 ACKs of about 1/17 = 17.9; XMP's are
/// whole.
#[test]
fn slow_start() {
    check("slow_start", table("No marks, no losses", 14, 1, channel(marks(0..0))));
}

/// Of 18.83 in round 8. AMP: 3/4 of it is 14.12, and the 17 other ACKs of that window add 17/14.7:
/// 15.3. XMP: 19 - 19/4 = 15, and no growth. DCTCP: alpha = (15/16)^8 + 1/16 1/17 = 0.600 when the
/// mark is seen, 18.83 (1 - 0.300) = 13.18, + 17/13.8 = 14.4.
#[test]
fn one_mark() {
    let fate = |_, round, n| Some((round, n) == (8, 0));
    check("one_mark", table("The first packet of round 8 is marked", 16, 1, channel(fate)));
}

/// Under full marking AMP tends to w = 3/4 w + 1 = 4, DCTCP to w = w/2 + 1 = 2 (while alpha tends
/// to 1), XMP to its floor.
#[test]
fn a_run_of_marks() {
    check("a_run_of_marks", table("Every packet of rounds 8 to 15 is marked", 22, 1, channel(marks(8..16))));
}

/// Marks end slow start: of 4 packets AMP makes 3 and adds 3/3.3 in the rest of the window; XMP
/// stays at 4, and cuts only for the next window. The algorithms without ECN do not see them.
#[test]
fn marks_in_slow_start() {
    check("marks_in_slow_start", table("Every packet of rounds 3 and 4 is marked", 12, 1, channel(marks(3..5))));
}

/// Of 18 packets in flight: ssthresh 9, the third duplicate makes 12, the 14 others 26; the full
/// ACK 9, and the 8 packets sent in recovery add 8/9.4. XMP had 19: 9 + 3 + 15 = 27.
#[test]
fn a_loss() {
    let fate = |_, round, n| if (round, n) == (8, 0) { None } else { Some(false) };
    check("a_loss", table("The first packet of round 8 is lost", 14, 1, channel(fate)));
}

/// The last ACK comes at the beginning of round 8, the timeout ten rounds later. From 1 to ssthresh
/// 9 by slow start: 8 in round 21, of whose ACKs the first makes 9 and seven add 7/9.4.
#[test]
fn a_timeout() {
    let fate = |_, round, _| if round == 8 { None } else { Some(false) };
    check("a_timeout", table("All packets of round 8 are lost", 26, 1, channel(fate)));
}

/// Subflow 1 doubles every other round. Round 13, AMP: 20.8 x 3/4 = 15.6, the 19 other ACKs add
/// 19/(16 + 16) = 0.6: 16.2. Reno is not coupled: a packet a round trip on each.
#[test]
fn two_subflows() {
    let fate = |s, round, _| Some(s == S[0] && (12..14).contains(&round));
    let title = "Two subflows with RTTs of 1 and 2 rounds; the first one's packets of rounds 12 and 13 are marked";
    check("two_subflows", table(title, 22, 2, channel(fate)));
}

/// One subflow of any but CUBIC is Reno, whose columns are in `a_loss`. CUBIC, of 18 packets in
/// flight: ssthresh 12.6, the third duplicate makes 15.6, the 14 others 29.6; the full ACK 11 + 1,
/// the first of the 11 packets sent in recovery by slow start 13, the others add 10 x 9/17 / 13:
/// 13.4.
#[test]
fn a_loss_of_loss_based_algorithms() {
    let fate = |_, round, n| if (round, n) == (8, 0) { None } else { Some(false) };
    let title = "The first packet of round 8 is lost";
    check("a_loss_of_loss_based_algorithms", table_of(&loss_based(), title, 22, 1, channel(fate)));
}

/// As `a_timeout`; CUBIC's slow start ends at 12.6.
#[test]
fn a_timeout_of_loss_based_algorithms() {
    let fate = |_, round, _| if round == 8 { None } else { Some(false) };
    let title = "All packets of round 8 are lost";
    check("a_timeout_of_loss_based_algorithms", table_of(&loss_based(), title, 26, 1, channel(fate)));
}

/// Of subflow 0: 20 or 22 packets in flight, halved. Full coupling takes (20 + 16.4) / 2 off it,
/// which leaves the floor of 2: + 3 + 16 duplicates. BALIA halves the faster subflow (alpha = 1).
/// OLIA, until round 22, moves window from subflow 1 to subflow 0: its loss is recent, but half the
/// RTT makes it the better path by 4.
#[test]
fn two_subflows_of_loss_based_algorithms() {
    let fate = |s, round, n| if (s, round, n) == (S[0], 12, 0) { None } else { Some(false) };
    let title = "Two subflows with RTTs of 1 and 2 rounds; the first packet of round 12 on the first is lost";
    check("two_subflows_of_loss_based_algorithms", table_of(&loss_based(), title, 30, 2, channel(fate)));
}

/// AMP alone: subflow 1 is suppressed (s) in spite of a window of 3.2 in the middle of the round:
/// it is the window at the end of the round that counts, after the cut. The last marks are seen in
/// round 20, the ACK that ends that round's count comes in round 21; four rounds on, in 25, it is
/// released.
#[test]
fn suppression() {
    let title = "Every packet of rounds 4 to 19 is marked; tau = 4";
    check("suppression", table_of(&algorithms()[6..], title, 40, 2, channel(marks(4..20))));
}
