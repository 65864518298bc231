//! Flows that arrive at random.

use linkpool_engine::stream;
use linkpool_settings::{Bounds, settings};
use linkpool_units::{HostId, Time};

use super::{Demand, Destinations, Expected, Pairs, Place, Run, Setting, SizesOf, Workload};
use crate::arrivals::{PoissonFlows, PoissonTimes, Receivers};
use crate::destination::permutation;
use crate::sizes::{FlowSize, Sizes};

/// Rates of arrivals and loads.
const RATE: Bounds = Bounds::above(0.0, "{} is no rate and no load; it must be above zero");

settings! {
    /// Poisson arrivals, source and destination uniform over distinct hosts.
    pub struct Poisson {
        /// Mean rate of arrivals in the whole network, per second. One of this key and the next two
        /// is required.
        flows_per_second: Option<f64> = None, within RATE;
        /// Mean rate of arrivals at each sending host, per second.
        flows_per_second_per_host: Option<f64> = None, within RATE,
            refused |p| p.flows_per_second.is_some() && p.flows_per_second_per_host.is_some() =>
                "there is `flows_per_second` too; leave one out";
        /// Offered payload over the capacity of all hosts' links together, or of the tier in
        /// `load_of`. If a rate is given too, it must give this load.
        load: Option<f64> = None, within RATE;
        /// The tier for which `load` is meant, as in `"edge->core"`: payload that passes its links,
        /// over their capacity together.
        load_of: Option<String>, from |_p| None => "the links from all hosts",
            when |p| p.load.is_some() => "`load`";
        /// May the load be above 1?
        allow_overload: Option<bool>, from |_p| None => "false";
        /// The rule that draws the receivers.
        to: Destinations = Destinations::Random;
        /// Payload of each flow.
        size: Sizes as FlowSize, required Sizes::Constant(100_000);
        /// No flow arrives at or after this.
        stop: Time, from |_p| Time::MAX => "`duration`";
    }
}

impl Poisson {
    /// Mean rate of arrivals over the whole network, per second.
    pub fn rate(&self) -> f64 {
        self.flows_per_second.expect("it is filled in")
    }

    /// The links of which the load is a share: how many of them a bit passes, and their capacity in
    /// bits a second. None if `load_of` is in error.
    fn tier(&self, place: &mut Place<'_>) -> Option<(f64, f64)> {
        let Some(name) = &self.load_of else { return Some((1.0, place.access_rate)) };
        let plain = |name: &str| name.replace(' ', "");
        let found = place.tiers.iter().find(|tier| plain(&tier.name) == plain(name)).cloned();
        match found {
            Some(tier) if tier.passed > 0.0 => Some((tier.passed, tier.rate)),
            found => {
                let known: Vec<&str> =
                    place.tiers.iter().filter(|tier| tier.passed > 0.0).map(|tier| tier.name.as_str()).collect();
                let why = if found.is_some() { "no flow passes these links" } else { "no links of the topology" };
                let message = format!("{name:?}: {why}; flows pass {}", known.join(", "));
                place.check(false, "load_of", message);
                None
            }
        }
    }
}

impl Workload for Poisson {
    /// The rate of arrivals over the whole network follows from whichever key gives it. A load is
    /// payload over the capacity of the links from all hosts together; beside a rate it states the
    /// load that the rate and the mean size must give.
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_stop(&mut self.stop, place.duration);
        if self.to == Destinations::OtherRacks {
            place.check_other_racks(u32::MAX);
        }
        let mean = self.size.mean();
        let Some((passed, capacity)) = self.tier(place) else { return };
        // Where all hosts are in one server, no link is counted.
        if place.access_rate == 0.0 && self.load.is_some() {
            let message = "no link leaves a server, so there is nothing that it is a share of; write flows_per_second";
            return place.check(false, "load", message);
        }
        // Flows a second at which the links from all hosts are full, and those of the tier.
        let (full_access, full) = (place.access_rate / (8.0 * mean), capacity / (8.0 * mean * passed));
        let (key, rate) = match (self.flows_per_second, self.flows_per_second_per_host, self.load) {
            (Some(rate), ..) => ("flows_per_second", rate),
            (None, Some(rate), _) => ("flows_per_second_per_host", rate * f64::from(place.senders)),
            (None, None, Some(load)) => ("load", load * full),
            (None, None, None) => {
                let missing = "missing; write for example flows_per_second = 1000, or else load = 0.5";
                return place.check(false, "flows_per_second", missing);
            }
        };
        place.check_few_flows(key, (rate * place.duration.saturating_sub(place.start).secs()) as u64);
        if !place.errors.is_empty() {
            return;
        }
        if let Some(load) = self.load {
            let offered = rate / full;
            let message = format!(
                "{load} is not the load of `{key}` with flows of {mean:.0}B in the mean, {offered:.3e}; change one, or leave `load` out"
            );
            place.check((load - offered).abs() <= 0.01 * offered, "load", message);
        }
        let offered = (rate / full_access).max(if self.load_of.is_some() { rate / full } else { 0.0 });
        let message = format!("offers a load of {offered:.3}, above 1; lower it, or write allow_overload = true");
        let fits = offered <= 1.0 + 1e-9 || place.access_rate == 0.0;
        place.check(fits || self.allow_overload == Some(true), key, message);
        (self.flows_per_second, self.flows_per_second_per_host) = (Some(rate), None);
        (self.load, self.load_of) = (None, None);
        let is_over = place.access_rate > 0.0 && 8.0 * mean * rate / place.access_rate > 1.0;
        self.allow_overload = is_over.then_some(true);
    }

    fn has_role(&self) -> bool {
        true
    }

    fn expected(&self, setting: &Setting) -> Expected {
        let (span, mean) = (setting.starting_until(self.stop), self.size.mean());
        // Ten times the time that a flow needs alone: more than that is overload.
        let alone = mean * setting.hosts / setting.access;
        let flows = self.rate() * span;
        Expected { flows, at_once: self.rate() * span.min(10.0 * alone), listed: false, bytes: flows * mean }
    }

    fn demand(&self, run: &Run) -> Demand {
        let stop = self.stop.min(run.duration);
        let times = PoissonTimes::new(self.rate(), run.start, stop, run.random());
        let senders = run.senders.clone().unwrap_or_else(|| HostId::first(run.hosts()).collect());
        // As the first workload of kind permutation draws it.
        let first = || permutation(run.hosts(), &mut stream(run.seed, "permutation", 0));
        let to = match self.to {
            Destinations::Permutation => Receivers::Permutation(first().into()),
            Destinations::OtherRacks => Receivers::OtherRacks(run.racks_and_pods.clone()),
            Destinations::Random => Receivers::Any(run.hosts()),
        };
        let flows = PoissonFlows::new(times, senders, to, self.size.clone());
        Demand { drawn: Some(Box::new(flows)), ..Demand::default() }
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::from(&self.size)
    }

    fn arrival_rate(&self) -> Option<f64> {
        Some(self.rate())
    }

    fn pairs(&self, _: u32) -> Pairs {
        Pairs::Any { in_rack: self.to != Destinations::OtherRacks }
    }
}
