//! Sequence numbers have 32 bits: a flow that goes round them, on its subflows and as a whole, with
//! losses all the way.

use crate::common::channel::{Crossing, Pair};
use crate::common::ledger::Ledger;
use crate::common::{Random, S, algorithms};
use linkpool_transport::{Config, SenderState};
use linkpool_units::Time;

const ROUND: u64 = 1 << 32;

/// 12 GiB and a bit in segments of 65,000 B over two subflows: the stream wraps three times, each
/// subflow once.
#[test]
fn a_flow_goes_round_the_sequence_numbers() {
    let size = 3 * ROUND + 12_345;
    let (_, lia) = algorithms().swap_remove(2);
    let config = Config { subflows: 2, mss: 65_000, initial_ssthresh: 30 * 65_000, ..crate::common::config(lia) };
    let mut random = Random(7);
    let channel = move |c: &Crossing| {
        let lost = random.chance(1.0 / 500.0);
        let delay = Time::from_us(20) + random.time(Time::from_us(1));
        if lost { vec![] } else { vec![(delay + Time::from_us(u64::from(c.subflow)), false)] }
    };
    let mut ledger = Ledger::new(2, config.mss, 2.0);
    let mut pair = Pair::new(config, Some(size), channel);
    let mut around = [false; 2];
    while let Some(event) = pair.step() {
        ledger.enter(&pair, &event);
        for (s, around) in around.iter_mut().enumerate() {
            *around |= pair.sender.congestion(S[s]).snd_una > ROUND;
        }
    }
    assert_eq!((pair.sender.state(), pair.sender.acked()), (SenderState::Finished, size));
    assert!(pair.receiver.is_complete() && pair.closed);
    assert_eq!(around, [true, true]);
    let recoveries: u64 = (0..2).map(|s| pair.sender.stats(S[s]).recoveries).sum();
    assert!(recoveries > 50, "losses on the way: {recoveries}");
}
