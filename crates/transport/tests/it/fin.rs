//! A FIN is sent once. Its loss needs no repair: the data has the end of the stream (DATA_FIN), and
//! a FIN only lets the receiver free its state.

use crate::common::channel::{Crossing, Pair};
use crate::common::{Random, algorithms, config};
use linkpool_transport::{Config, LossRecovery, Segment, SenderState};
use linkpool_units::Time;
use proptest::prelude::*;

/// All that both ends have sent but the FIN, when the flow had ended at both, and whether the
/// receiver was told to forget.
type Outcome = (Vec<Crossing>, [Option<Time>; 2], bool);

fn transfer(config: Config, size: u64, mut stop: Option<Time>, (seed, loss): (u64, f64), fins: bool) -> Outcome {
    let mut random = Random(seed);
    let channel = move |c: &Crossing| match c.segment {
        Segment::Fin { .. } if !fins => vec![],
        Segment::Fin { .. } => vec![(Time::from_us(50), false)],
        _ if random.chance(loss) => vec![],
        _ => vec![(Time::from_us(50) + random.time(Time::from_us(50)), false)],
    };
    let mut pair = Pair::new(config, Some(size), channel);
    let mut sent = pair.wire.sent.clone();
    let mut complete = None;
    while let Some(next) = pair.next_event() {
        if stop.take_if(|at| *at < next).is_some() && pair.sender.state() == SenderState::Open {
            pair.stop();
        } else {
            pair.step();
        }
        sent.extend(&pair.wire.sent);
        complete = complete.or(pair.receiver.is_complete().then_some(pair.wire.now));
    }
    sent.retain(|c| !matches!(c.segment, Segment::Fin { .. }));
    (sent, [complete, pair.sender.ended()], pair.closed)
}

proptest! {
    #![proptest_config(crate::common::cases(200))]

    #[test]
    fn its_loss_changes_nothing_but_what_the_receiver_remembers(
        algorithm in 0..algorithms().len(),
        subflows in 1usize..=3,
        recovery in prop::sample::select(vec![LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Rack]),
        ack_every in 1u32..=2,
        size in 1u64..100_000,
        stop in prop::option::of((0u64..2_000).prop_map(Time::from_us)),
        weather in (any::<u64>(), 0.0f64..0.1),
    ) {
        let config = Config { subflows, recovery, ack_every, ..config(algorithms()[algorithm].1.clone()) };
        let (with, [complete, ended], closed) = transfer(config.clone(), size, stop, weather, true);
        let (without, ends, open) = transfer(config, size, stop, weather, false);
        prop_assert_eq!(with, without);
        prop_assert_eq!([complete, ended], ends);
        prop_assert!(closed && !open);
        // Of a stream that is cut short the end may never be told, or by a copy that comes late;
        // nobody waits for it.
        prop_assert!(stop.is_some() || complete.is_some_and(|at| Some(at) <= ended));
    }
}
