//! Training a model with tensor, pipeline and data parallelism: the programs of its ranks. A rank
//! computes, sends messages and waits for messages, one after another.

use super::{Node, Op, Programs, RankBuilder, Source};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order a pipeline stage works on its micro-batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Schedule {
    /// One forward, one backward: after as many forward passes as there are stages behind it, a
    /// stage takes backward and forward passes in turn (Narayanan et al., SC 2021, section 2.2.1).
    #[serde(rename = "1f1b")]
    OneForwardOneBackward,
    /// All forward passes, then all backward passes (Huang et al., GPipe, 2019).
    #[serde(rename = "gpipe")]
    GPipe,
}

/// In which order ranks are numbered: the first group has neighbouring numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankOrder {
    /// Tensor groups, then copies, then stages: Megatron-LM's order.
    TpDpPp,
    /// Tensor groups, then stages, then copies.
    TpPpDp,
}

/// A model in training: its groups, its passes and its data.
#[derive(Clone, Copy, Debug)]
pub struct Training {
    /// Ranks of a tensor group.
    pub tp: u32,
    /// Stages of a pipeline.
    pub pp: u32,
    /// Copies of the model.
    pub dp: u32,
    /// How its ranks are numbered.
    pub order: RankOrder,
    /// Micro-batches of a pipeline in an iteration.
    pub micro_batches: u32,
    /// Order of passes.
    pub schedule: Schedule,
    /// Layers of a stage.
    pub layers: u32,
    /// An all-gather before and a reduce-scatter after each half of a layer, in place of an
    /// all-reduce after it.
    pub sequence_parallel: bool,
    /// Computation of a forward pass.
    pub forward: Time,
    /// Computation of a backward pass.
    pub backward: Time,
    /// Computation at the end of an iteration.
    pub update: Time,
    /// Data of a rank's message to the next stage, and of that back, bytes.
    pub activations: u64,
    /// Data of an all-reduce in a tensor group, bytes.
    pub tensor: u64,
    /// Data of a rank's all-reduce between the copies, bytes.
    pub gradients: u64,
}

/// The place of a rank in its groups, each counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Member {
    /// In its tensor group.
    pub tensor: u32,
    /// Its stage.
    pub stage: u32,
    /// Its copy of the model.
    pub copy: u32,
}

/// A step of a rank's program.
#[derive(Clone, Copy, Debug)]
enum Step {
    Compute(Time),
    Send(Member, u64),
    Receive(Member, u64),
}

impl Training {
    /// All ranks, by their numbers.
    pub fn ranks(&self) -> impl Iterator<Item = Member> + use<'_> {
        (0..self.tp * self.pp * self.dp).map(|number| {
            let (tensor, group) = (number % self.tp, number / self.tp);
            let (copy, stage) = match self.order {
                RankOrder::TpDpPp => (group % self.dp, group / self.dp),
                RankOrder::TpPpDp => (group / self.pp, group % self.pp),
            };
            Member { tensor, stage, copy }
        })
    }

    /// Of tensor groups, between stages and between copies: the messages of one iteration.
    fn counts(&self) -> [u128; 3] {
        let [tp, pp, dp, m] = [self.tp, self.pp, self.dp, self.micro_batches].map(u128::from);
        let ranks = tp * pp * dp;
        // Two passes, each with two halves of a layer, of 2 (n - 1) steps.
        let tensor = ranks * 2 * m * 2 * u128::from(self.layers) * 2 * (tp - 1);
        [tensor, tp * dp * 2 * m * (pp - 1), ranks * 2 * (dp - 1)]
    }

    /// The number of messages of one iteration.
    pub fn count(&self) -> u128 {
        self.counts().into_iter().sum()
    }

    /// What they carry, bytes.
    pub fn bytes(&self) -> f64 {
        let sizes = [part(self.tensor, self.tp), self.activations, part(self.gradients, self.dp)];
        self.counts().into_iter().zip(sizes).map(|(count, size)| count as f64 * size as f64).sum()
    }

    /// What a rank does in an iteration.
    fn program(&self, rank: Member) -> Vec<Step> {
        let (m, behind) = (self.micro_batches, self.pp - 1 - rank.stage);
        let mut steps = Vec::new();
        let first = match self.schedule {
            Schedule::OneForwardOneBackward => behind.min(m),
            Schedule::GPipe => m,
        };
        (0..first).for_each(|_| self.forward(rank, &mut steps));
        for _ in first..m {
            self.forward(rank, &mut steps);
            self.backward(rank, &mut steps);
        }
        (0..first).for_each(|_| self.backward(rank, &mut steps));
        let copies = |copy| Member { copy, ..rank };
        ring((self.dp, rank.copy), copies, 2, self.gradients, &mut steps);
        steps.push(Step::Compute(self.update));
        steps
    }

    fn forward(&self, rank: Member, steps: &mut Vec<Step>) {
        if let Some(stage) = rank.stage.checked_sub(1) {
            steps.push(Step::Receive(Member { stage, ..rank }, self.activations));
        }
        self.pass(rank, self.forward, steps);
        if rank.stage + 1 < self.pp {
            steps.push(Step::Send(Member { stage: rank.stage + 1, ..rank }, self.activations));
        }
    }

    fn backward(&self, rank: Member, steps: &mut Vec<Step>) {
        if rank.stage + 1 < self.pp {
            steps.push(Step::Receive(Member { stage: rank.stage + 1, ..rank }, self.activations));
        }
        self.pass(rank, self.backward, steps);
        if let Some(stage) = rank.stage.checked_sub(1) {
            steps.push(Step::Send(Member { stage, ..rank }, self.activations));
        }
    }

    /// The computation of a stage for a micro-batch. In each layer a tensor group has two
    /// all-reduces in either direction (Shoeybi et al., Megatron-LM, 2019, section 3); with
    /// sequence parallelism each is an all-gather and a reduce-scatter (Korthikanti et al., 2022,
    /// section
    /// 4.2.2).
    fn pass(&self, rank: Member, computation: Time, steps: &mut Vec<Step>) {
        if self.tp == 1 {
            return steps.push(Step::Compute(computation));
        }
        let group = |tensor| Member { tensor, ..rank };
        let place = (self.tp, rank.tensor);
        let halves = 2 * u64::from(self.layers);
        let until = |half: u64| Time((u128::from(computation.0) * u128::from(half) / u128::from(halves)) as u64);
        for half in 0..halves {
            if self.sequence_parallel {
                ring(place, group, 1, self.tensor, steps);
            }
            steps.push(Step::Compute(until(half + 1) - until(half)));
            ring(place, group, if self.sequence_parallel { 1 } else { 2 }, self.tensor, steps);
        }
    }

    /// The number of a rank, by which [`Training::ranks`] is ordered.
    fn number(&self, member: Member) -> u32 {
        let Member { tensor, stage, copy } = member;
        match self.order {
            RankOrder::TpDpPp => tensor + self.tp * (copy + self.dp * stage),
            RankOrder::TpPpDp => tensor + self.tp * (stage + self.pp * copy),
        }
    }

    /// The programs of all ranks, with times in picoseconds; none if they have too many nodes.
    pub fn programs(&self) -> Option<Programs> {
        let ranks: Option<Vec<_>> = self.ranks().map(|member| self.nodes(member)?.finish()).collect();
        let programs = Programs::new(ranks?, Source::Nodes("training".into()));
        Some(programs.matched().expect("each message has its receive"))
    }

    /// The program of a rank, whose steps are one behind another: a message has only to be sent,
    /// and not to be acknowledged, before the next step.
    fn nodes(&self, member: Member) -> Option<RankBuilder> {
        let mut builder = RankBuilder::default();
        let mut before = None;
        for (place, step) in (0..).zip(self.program(member)) {
            let (op, peer, size) = match step {
                Step::Compute(Time::ZERO) => continue,
                Step::Compute(time) => (Op::Calc, 0, time.0),
                Step::Send(to, size) => (Op::Send, self.number(to), size),
                Step::Receive(from, size) => (Op::Recv, self.number(from), size),
            };
            let node = builder.add(Node { size, peer, tag: 0, place, op, cpu: 0, nic: 0 })?;
            match before.replace((node, op)) {
                Some((before, Op::Send)) => builder.irequires(node, before),
                Some((before, _)) => builder.requires(node, before),
                None => {}
            }
        }
        Some(builder)
    }
}

/// The size of a message in a ring of `n` ranks.
fn part(size: u64, n: u32) -> u64 {
    size.div_ceil(n.into()).max(1)
}

/// `phases` times n - 1 steps round a ring of n ranks, in each of which rank `i` passes 1/n of the
/// data on: one phase is a reduce-scatter or an all-gather, two are an all-reduce.
fn ring((n, i): (u32, u32), rank: impl Fn(u32) -> Member, phases: u32, size: u64, steps: &mut Vec<Step>) {
    let part = part(size, n);
    for _ in 0..phases * (n - 1) {
        steps.extend([Step::Send(rank((i + 1) % n), part), Step::Receive(rank((i + n - 1) % n), part)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::check;
    use std::collections::HashMap;

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    fn training((tp, pp, dp): (u32, u32, u32), micro_batches: u32, schedule: Schedule) -> Training {
        Training {
            tp,
            pp,
            dp,
            order: RankOrder::TpDpPp,
            micro_batches,
            schedule,
            layers: 1,
            sequence_parallel: false,
            forward: us(100),
            backward: us(200),
            update: us(7),
            activations: 1000,
            tensor: 2000,
            gradients: 4000,
        }
    }

    /// When the iteration ends if each message takes `latency`: each rank's steps in order.
    fn end(of: &Training, latency: Time) -> Time {
        let programs = of.programs().unwrap();
        check(&programs).unwrap();
        assert_eq!((u128::from(programs.sends), programs.bytes), (of.count(), of.bytes()));
        let mut arrivals: HashMap<(u32, u32), Vec<Time>> = HashMap::new();
        let mut at: Vec<(usize, Time)> = vec![(0, Time::ZERO); programs.ranks.len()];
        let mut taken: HashMap<(u32, u32), usize> = HashMap::new();
        while (0..at.len()).any(|rank| at[rank].0 < programs.ranks[rank].nodes().len()) {
            for (rank, (next, now)) in (0..).zip(&mut at) {
                while let Some(node) = programs.ranks[rank as usize].nodes().get(*next) {
                    match node.op {
                        Op::Calc => *now += Time(node.size),
                        Op::Send => arrivals.entry((rank, node.peer)).or_default().push(*now + latency),
                        Op::Recv => {
                            let place = taken.entry((node.peer, rank)).or_default();
                            let arrived = arrivals.get(&(node.peer, rank)).and_then(|all| all.get(*place));
                            let Some(arrived) = arrived else { break };
                            (*now, *place) = ((*now).max(*arrived), *place + 1);
                        }
                    }
                    *next += 1;
                }
            }
        }
        at.into_iter().map(|(_, end)| end).max().unwrap()
    }

    /// A pipeline of p stages takes (m + p - 1) (f + b) for m micro-batches, and with GPipe's
    /// schedule 2 (p - 1) messages more (Huang et al., section 2.3: the bubble).
    #[test]
    fn pipelines_have_a_bubble() {
        for (pp, m) in [(2, 1), (2, 4), (4, 1), (4, 2), (4, 8)] {
            let ideal = us(300) * u64::from(m + pp - 1) + us(7);
            let gpipe = training((1, pp, 1), m, Schedule::GPipe);
            assert_eq!(end(&gpipe, us(10)), ideal + us(10) * u64::from(2 * (pp - 1)));
            let in_turn = training((1, pp, 1), m, Schedule::OneForwardOneBackward);
            assert_eq!(end(&in_turn, Time::ZERO), ideal);
        }
    }

    /// Two stages, three micro-batches, 10 us a message. Stage 0 takes F F B F B B, stage 1 F B F B
    /// F B. The first activations arrive at 110, and stage 1 has its first gradients at 410. Stage
    /// 0 has them at 420, takes B until 620 and F until 720; stage 1 has taken F and B of the
    /// second from 410 to 710, and has the third activations at 730: until 1,030. They are back at
    /// 1,040: 1,240, and the update.
    #[test]
    fn one_forward_one_backward_by_hand() {
        let of = training((1, 2, 1), 3, Schedule::OneForwardOneBackward);
        assert_eq!(end(&of, us(10)), us(1240 + 7));
        let stage_0 = of.program(Member { tensor: 0, stage: 0, copy: 0 });
        let kinds = stage_0.iter().filter_map(|step| match step {
            Step::Compute(time) => Some(time.0 / us(1).0),
            _ => None,
        });
        assert_eq!(kinds.collect::<Vec<_>>(), [100, 100, 200, 100, 200, 200, 7]);
    }

    /// Three copies: the gradients take 2 * 2 steps round a ring, after m (f + b).
    #[test]
    fn copies_add_their_gradients_up() {
        let of = training((1, 1, 3), 2, Schedule::GPipe);
        assert_eq!(end(&of, us(10)), us(2 * 300 + 4 * 10 + 7));
        assert_eq!(of.bytes(), 1334.0 * 12.0);
    }

    /// Four tensor ranks: a layer has two all-reduces of 2 * 3 steps each way. As all-gathers and
    /// reduce-scatters they have as many.
    #[test]
    fn tensor_groups_reduce_in_each_half_of_a_layer() {
        for sequence_parallel in [false, true] {
            let of = Training { sequence_parallel, layers: 3, ..training((4, 1, 1), 2, Schedule::GPipe) };
            let steps = 2 * 2 * 2 * 3 * 6;
            assert_eq!(end(&of, us(10)), us(2 * 300 + 10 * steps + 7));
            assert_eq!(of.bytes(), 500.0 * 4.0 * steps as f64);
        }
    }

    /// All three: each pass has two all-reduces of two steps; two messages between the stages; a
    /// ring of two steps at the end.
    #[test]
    fn all_groups_together() {
        let of = training((2, 2, 2), 1, Schedule::OneForwardOneBackward);
        assert_eq!(end(&of, us(10)), us(2 * 300 + 10 * (4 * 4 + 2 + 2) + 7));
    }

    /// Two tensor ranks, three stages and five copies: rank 2 is the next copy, or the next stage.
    #[test]
    fn ranks_are_numbered_in_their_order() {
        for (order, second, next_stage) in [(RankOrder::TpDpPp, (0, 1), 2 * 5), (RankOrder::TpPpDp, (1, 0), 2)] {
            let of = Training { order, activations: 999, ..training((2, 3, 5), 1, Schedule::GPipe) };
            assert_eq!(of.ranks().count(), 30);
            assert!(of.ranks().zip(0..).all(|(member, number)| of.number(member) == number));
            let (stage, copy) = second;
            assert_eq!(of.ranks().nth(2), Some(Member { tensor: 0, stage, copy }));
            let programs = of.programs().unwrap();
            let to_next = programs.ranks[0].nodes().iter().find(|node| node.op == Op::Send && node.size == 999);
            assert_eq!(to_next.map(|node| node.peer), Some(next_stage));
        }
    }
}
