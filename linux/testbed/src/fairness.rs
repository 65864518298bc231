//! MPTCP connections of all controllers beside TCP flows at one bottleneck: the share of each.

use crate::beside::{Measured, measured, simulated};
use crate::conditions::Conditions;
use crate::controllers::Controller;
use crate::kernel;
use crate::lanes::{Lane, conditions, lanes, scenario};
use crate::run::{Report, record};
use anyhow::Result;
use linkpool_sim::Plan;
use linkpool_units::Time;

/// The TCP flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rival {
    /// CUBIC; queues mark no packets.
    Cubic,
    /// CUBIC with ECN, as all others then have it, where queues mark.
    CubicEcn,
    /// Reno; queues mark no packets.
    Reno,
    /// BBR; queues mark no packets.
    Bbr,
}

impl Rival {
    /// All of them.
    pub const ALL: [Rival; 4] = [Rival::Cubic, Rival::CubicEcn, Rival::Reno, Rival::Bbr];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Rival::Cubic => "cubic",
            Rival::CubicEcn => "cubic-ecn",
            Rival::Reno => "reno",
            Rival::Bbr => "bbr",
        }
    }

    /// What the kernel calls it.
    fn kernel_name(self) -> &'static str {
        match self {
            Rival::Cubic | Rival::CubicEcn => "cubic",
            Rival::Reno => "reno",
            Rival::Bbr => "bbr",
        }
    }
}

/// A controller beside its rivals.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Its name; that of a stock one begins so.
    pub name: String,
    /// Goodput of the MPTCP connection over the mean of the TCP flows, on the kernel.
    pub kernel: f64,
    /// The same in the simulator; none: it does not have one of the two.
    pub simulated: Option<f64>,
}

/// What came of a rival: none if this kernel does not have it.
///
/// # Errors
/// As [`crate::run()`].
pub fn fairness(rival: Rival, duration: Time, stop: &dyn Fn() -> bool) -> Result<Option<(Vec<Shares>, Report)>> {
    if !kernel::has_algorithm(rival.kernel_name())? {
        return Ok(None);
    }
    let lanes = lanes()?;
    let scenario = scenario(&lanes, &head(rival, duration), "hash", lane_of)?;
    let mut conditions = Conditions { ecn: rival == Rival::CubicEcn, ..conditions(&lanes) };
    if rival == Rival::Bbr {
        conditions.instead.insert("rival".into(), Controller::OfKernel("bbr".into()));
    }
    let plan = Plan::new(&scenario);
    let (report, recorded) = record(&scenario, &plan, &conditions, stop)?;
    let on_kernel = measured(&plan, &recorded.flows, &recorded.samples);
    let is_simulated = matches!(rival, Rival::Cubic | Rival::Reno);
    let in_simulator = is_simulated.then(|| simulated(&plan, stop)).transpose()?;
    let shares = lanes.iter().map(|lane| Shares {
        name: lane.name.clone(),
        kernel: ratio(&on_kernel, lane),
        simulated: in_simulator.as_ref().filter(|_| lane.is_in_simulator()).map(|measured| ratio(measured, lane)),
    });
    Ok(Some((shares.collect(), report)))
}

fn ratio(measured: &Measured, lane: &Lane) -> f64 {
    let of = |label: &str| measured.flows.iter().find(|(name, ..)| name == label).map_or(f64::NAN, |flow| flow.1);
    of(&lane.name) / of(&format!("{} rivals", lane.name))
}

fn head(rival: Rival, duration: Time) -> String {
    let mark = if rival == Rival::CubicEcn { "mark = 12\n" } else { "" };
    let control = if rival == Rival::Reno { "reno" } else { "cubic" };
    format!(
        "duration = \"{}ms\"\n[measure]\nwarm_up = \"{}ms\"\n[queue]\nlimit = 50\n{mark}[transport.rival]\ncontrol = \"{control}\"\n",
        duration.0 / Time::from_ms(1).0,
        duration.0 / Time::from_ms(6).0,
    )
}

/// A connection with two subflows from S and two TCP flows from T share 10 Mbit/s to D, 20 ms away.
fn lane_of(i: usize, lane: &Lane) -> [String; 3] {
    let kinds = [("S", "host"), ("T", "host"), ("D", "host"), ("A", "switch"), ("B", "switch")];
    let nodes = kinds.map(|(name, kind)| format!("{{ id = \"{name}{i}\", kind = \"{kind}\" }}, ")).concat();
    let edge = |from: &str, to: &str, rate: u32, delay: u32| {
        format!("{{ source = \"{from}{i}\", target = \"{to}{i}\", rate = \"{rate}Mbps\", delay = \"{delay}us\" }}, ")
    };
    let edges =
        edge("S", "A", 100, 100) + &edge("T", "A", 100, 100) + &edge("A", "B", 10, 9_800) + &edge("B", "D", 100, 100);
    let flow = |label: &str, transport: &str, from: &str, count: u32| {
        format!(
            "[[workload.flow]]\nlabel = \"{label}\"\ntransport = \"{transport}\"\nfrom = \"{from}{i}\"\nto = \"D{i}\"\ncount = {count}\n"
        )
    };
    let name = &lane.name;
    [nodes, edges, flow(name, name, "S", 1) + &flow(&format!("{name} rivals"), "rival", "T", 2)]
}
