//! Changes of links.

use linkpool_network::{Layer, Loss, QueueLimit};
use linkpool_settings::{Bounds, Length, LinkEnds, LinkName, Preset, Settings, settings};
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changed_links::{ChangedLinks, Draw, Tier};

const PROBABILITY: Bounds = Bounds::from(0.0, "{} is not between 0 and 1").to(1.0);

settings! {
    /// A change of some links at some time: exactly one of `links`, `nodes`, `layer` and `between`,
    /// and at least one of `state`, `rate`, `rate_factor`, `limit`, `loss`, `burst_loss` and
    /// `bit_errors`.
    pub struct Change {
        /// Time at which the change begins; `"0s"`: it holds from the start.
        at: Time = Time::ZERO;
        /// Time at which the change ends: from then on links are as the topology and `[queue]` have
        /// them.
        until: Option<Time>, from |_c| None => "for good", within Bounds::SPAN;
        /// These links: "A->B" is one direction, "A<->B" both.
        links: Option<Vec<LinkEnds>> as Option<Vec<LinkName>> = None,
            within Length::from(1, "names none; write for example links = [\"A->B\"]");
        /// All links from and to these switches or hosts.
        nodes: Option<Vec<String>> = None, within Length::from(1, "names none; write for example nodes = [\"c0\"]");
        /// All links from and to the switches of this layer (or hosts).
        layer: Option<Layer> = None;
        /// All cables between two layers: `"edge<->core"`; `"edge->core"` is one direction of them.
        /// A `switch` is a switch of any layer here.
        between: Option<Tier> = None;
        /// Only this share of the `layer`, or of the cables `between`, drawn at random; of one seed
        /// a larger share has all those of a smaller.
        share: f64 = 1.0, within PROBABILITY,
            when |c| c.can_draw() && c.count.is_none() => "`layer` and `between` without `count`";
        /// Instead of `share`: this number of them.
        count: Option<u32> = None, within Bounds::POSITIVE, when |c| c.can_draw() => "`layer` and `between`";
        /// `"down"`: packets that are queued or in service are lost, and all that arrive, until
        /// `"up"`.
        state: Option<LinkState> = None;
        /// The rate of the links.
        rate: Option<Rate> = None, within Bounds::POSITIVE;
        /// Instead of `rate`: this part of the rate that each link has by the topology.
        rate_factor: Option<f64> = None,
            within Bounds::above(0.0, "{} is no part of a rate; it is above 0 and at most 1").to(1.0),
            refused |c| c.rate_factor.is_some() && c.rate.is_some() => "there is `rate` too; leave one out";
        /// The limit of the queues at their ports, in packets or as a size, for packets that come
        /// from then on.
        limit: Option<QueueLimit> = None,
            within Bounds::above(0.0, "a queue with a limit of 0 drops every packet; write for example limit = 10");
        /// Probability that a packet is lost on the wire, each by itself.
        loss: Option<f64> = None, within PROBABILITY;
        /// Probability that a bit is wrong. A packet of n bytes is lost on the wire with the
        /// probability 1 - (1 - p)^(8 n), beside its other losses.
        bit_errors: Option<f64> = None, within PROBABILITY;
    }
    tables {
        /// Loss in bursts instead of `loss`.
        burst_loss: BurstLoss,
            refused |c| c.loss.is_some() && c.burst_loss.is_some() => "there is `loss` too; leave one out";
        /// The change comes and goes, from `at` to `until`: a cable that flaps.
        repeat: Repeat;
    }
}

settings! {
    /// A change that comes again and again.
    #[derive(Copy)]
    pub struct Repeat {
        /// Time from one beginning of the change to the next.
        every: Time, required Time::from_us(100), within Bounds::POSITIVE_SPAN;
        /// Time for which the change holds each time.
        lasts: Time, required Time::from_us(50), within Bounds::POSITIVE_SPAN,
            refused |r| r.lasts > r.every => "is longer than `every`: the change would overlap its next one",
            refused |r| r.lasts == r.every && !r.redraw => "is as long as `every`: the change would never end";
        /// Are the victims of `share` or `count` drawn anew each time?
        redraw: bool = false;
    }
}

settings! {
    /// Loss by the model of Gilbert and Elliott: a good and a bad state, one step per packet.
    #[derive(Copy)]
    pub struct BurstLoss {
        /// Probability that the bad state follows the good one.
        to_bad: f64, required 0.001, within PROBABILITY;
        /// Probability that the good state follows the bad one: 1 / the mean length of a burst.
        to_good: f64, required 0.25, within PROBABILITY;
        /// Probability of loss in the good state.
        in_good: f64 = 0.0, within PROBABILITY;
        /// Probability of loss in the bad state.
        in_bad: f64 = 1.0, within PROBABILITY;
    }
}

impl Change {
    /// These links fail at the start.
    pub fn down(links: Vec<LinkEnds>) -> Change {
        Change { links: Some(links), state: Some(LinkState::Down), ..Change::defaults(Preset::Linux) }
    }

    /// Which links change.
    pub fn changed(&self) -> ChangedLinks<'_> {
        match (&self.links, &self.nodes, self.layer, self.between) {
            (.., Some(tier)) => ChangedLinks::Between(tier),
            (_, _, Some(layer), _) => ChangedLinks::OfLayer(layer),
            (_, Some(nodes), ..) => ChangedLinks::OfNodes(nodes),
            (links, ..) => ChangedLinks::Listed(links.as_deref().unwrap_or_default()),
        }
    }

    /// May chance choose among its victims?
    fn can_draw(&self) -> bool {
        self.layer.is_some() || self.between.is_some()
    }

    /// How many of its victims chance chooses; `None`: all change.
    pub fn draw(&self) -> Option<Draw> {
        let share = Some(Draw::Share(self.share)).filter(|_| self.share < 1.0);
        self.count.map(Draw::Count).or(share).filter(|_| self.can_draw())
    }

    /// When it begins and ends, each time before `end`.
    pub fn spans(&self, end: Time) -> impl Iterator<Item = (Time, Time)> + use<> {
        let Change { at, until, repeat, .. } = *self;
        let until = until.unwrap_or(Time::MAX);
        let begins = (0..).map_while(move |i| {
            let later = repeat.map_or(u64::MAX, |repeat| repeat.every.0).saturating_mul(i);
            Some(at.saturating_add(Time(later))).filter(|begins| *begins < until.min(end))
        });
        let lasts = repeat.map_or(Time::MAX, |repeat| repeat.lasts);
        begins.map(move |begins| (begins, begins.saturating_add(lasts).min(until)))
    }

    /// How the links lose packets, if that changes.
    pub fn losses(&self) -> Option<Loss> {
        let of = |BurstLoss { to_bad, to_good, in_good, in_bad }| Loss { in_good, in_bad, to_bad, to_good };
        self.loss.map(Loss::random).or(self.burst_loss.map(of))
    }
}

/// Does a link work?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// It works.
    Up,
    /// It has failed.
    Down,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_comes_again_before_the_end_alone() {
        let second = Time::from_secs;
        let repeat = Some(Repeat { every: second(1), lasts: Time::from_ms(400), redraw: false });
        let change = Change { at: second(1), repeat, ..Change::defaults(Preset::Linux) };
        let spans = [1, 2].map(|at| (second(at), second(at) + Time::from_ms(400)));
        assert_eq!(change.spans(second(3)).collect::<Vec<_>>(), spans);
        let until = Change { until: Some(second(3)), ..change };
        assert_eq!(until.spans(second(9)).collect::<Vec<_>>(), spans);
    }

    /// Where chance chooses nothing, no random number is drawn.
    #[test]
    fn all_of_a_layer_change_without_a_draw() {
        let of = |share, count| {
            let layer = Some(Layer::Core);
            Change { layer, share, count, ..Change::defaults(Preset::Linux) }.draw()
        };
        assert_eq!(of(1.0, None), None);
        assert_eq!((of(0.5, None), of(1.0, Some(2))), (Some(Draw::Share(0.5)), Some(Draw::Count(2))));
        assert_eq!(Change { share: 0.5, ..Change::defaults(Preset::Linux) }.draw(), None);
    }
}
