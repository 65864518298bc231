//! Connections of all controllers in trouble, side by side with those of stock MPTCP: does any
//! stall that would not stall there, does a window leave its bounds, does the kernel complain?

use crate::conditions::Conditions;
use crate::kernel;
use crate::lanes::{Lane, conditions, lanes, scenario};
use crate::memory::Memory;
use crate::run::{Report, record};
use anyhow::Result;
use linkpool_sim::{FlowOutcome, Plan};
use linkpool_units::{Time, counted};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// One packet in a hundred is lost on one path, ACKs too; on the other losses come in bursts of
    /// four.
    Loss,
    /// Every packet takes one of two paths at random, of which one is 2 ms longer.
    Reordering,
    /// Each path is down for 5 s of 20, in turns, and both for 2 s of 60.
    Death,
    /// Every 2 s each connection loses its oldest subflow, and opens another.
    Churn,
    /// The sockets of a controller, two connections at both ends, have 4 MiB of kernel memory in
    /// all.
    Memory,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Trouble; 5] = [Trouble::Loss, Trouble::Reordering, Trouble::Death, Trouble::Churn, Trouble::Memory];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Trouble::Loss => "loss",
            Trouble::Reordering => "reordering",
            Trouble::Death => "death",
            Trouble::Churn => "churn",
            Trouble::Memory => "memory",
        }
    }
}

/// Connections of a lane.
const CONNECTIONS: usize = 2;
/// A pause of a connection is a stall if it is longer than this, s, and twice the longest of a
/// connection of stock MPTCP.
const STALL: f64 = 5.0;
const MEMORY: u64 = 4 << 20;

/// What became of the connections of a controller.
#[derive(Clone, Debug)]
pub struct SoakedController {
    /// Its name; that of a stock one begins so.
    pub name: String,
    /// One of the kernel's own?
    pub is_stock: bool,
    /// Bytes acknowledged to each connection, bit/s, in the mean.
    pub goodput: f64,
    /// The longest time for which the application of one of its receivers got nothing, s.
    pub longest_pause: f64,
    /// Windows that had to be set right.
    pub out_of_bounds: u64,
    /// Connections that the kernel gave up.
    pub failed: usize,
}

/// What a trouble has come to.
#[derive(Clone, Debug)]
pub struct Soaked {
    /// Which.
    pub trouble: Trouble,
    /// By controller, linkpool's first.
    pub controllers: Vec<SoakedController>,
    /// Subflows that were opened in the place of closed ones.
    pub reopened: u64,
    /// Lines of the kernel's log, since the run began, that tell of a fault in the kernel.
    pub complaints: Vec<String>,
    /// Of the run.
    pub report: Report,
}

impl Soaked {
    /// What should not have been, a line each.
    pub fn faults(&self) -> Vec<String> {
        let stock = self.controllers.iter().filter(|c| c.is_stock);
        let bound = 2.0 * stock.map(|c| c.longest_pause).fold(STALL / 2.0, f64::max);
        let mut faults: Vec<String> = self.complaints.iter().map(|line| format!("dmesg: {line}")).collect();
        for c in self.controllers.iter().filter(|c| !c.is_stock) {
            let mut fault = |what: String| faults.push(format!("{}, {}: {what}", self.trouble.name(), c.name));
            if c.longest_pause > bound {
                fault(format!("no data for {:.1} s; more than {bound:.1} s is a stall", c.longest_pause));
            }
            if c.out_of_bounds > 0 {
                fault(format!("{} out of bounds", counted(c.out_of_bounds, "window")));
            }
            if c.failed > 0 {
                fault(format!("{} failed", counted(c.failed, "connection")));
            }
        }
        faults
    }
}

/// Has all controllers send for so long in trouble. None: this machine cannot make it.
///
/// # Errors
/// As [`crate::run()`].
pub fn soak(trouble: Trouble, duration: Time, stop: &dyn Fn() -> bool) -> Result<Option<Soaked>> {
    if trouble == Trouble::Memory && Memory::new(usize::MAX, MEMORY)?.is_none() {
        return Ok(None);
    }
    let lanes = lanes()?;
    // Packets that take paths at random have none of their own.
    let paths = if trouble == Trouble::Reordering { "hash" } else { "distinct" };
    let scenario = scenario(&lanes, &head(trouble, duration), paths, |i, lane| lane_of(trouble, i, lane))?;
    let conditions = Conditions {
        churn: (trouble == Trouble::Churn).then_some(Time::from_secs(2)),
        memory: (trouble == Trouble::Memory).then_some(MEMORY),
        ..conditions(&lanes)
    };
    let before = kernel::complaints()?;
    let plan = Plan::new(&scenario);
    let (report, recorded) = record(&scenario, &plan, &conditions, stop)?;
    let complaints = kernel::complaints()?.split_off(before.len());
    let controllers = lanes.iter().map(|lane| {
        let label = plan.labels.iter().position(|label| *label == lane.name);
        let flows = recorded.flows.iter().filter(|flow| Some(flow.planned.label.index()) == label);
        let out_of_bounds = report.controllers.iter().filter(|c| !lane.is_stock && c.algorithm == lane.name);
        SoakedController { out_of_bounds: out_of_bounds.map(|c| c.out_of_bounds).sum(), ..of_flows(lane, flows) }
    });
    Ok(Some(Soaked { trouble, controllers: controllers.collect(), reopened: report.reopened, complaints, report }))
}

fn of_flows<'f>(lane: &Lane, flows: impl Iterator<Item = &'f FlowOutcome>) -> SoakedController {
    let mut all = SoakedController {
        name: lane.name.clone(),
        is_stock: lane.is_stock,
        goodput: 0.0,
        longest_pause: 0.0,
        out_of_bounds: 0,
        failed: 0,
    };
    for flow in flows {
        let lasted = (flow.active_until - flow.planned.flow.start).secs();
        let pause = flow.metrics.iter().find(|metric| metric.name == "longest_pause").map_or(lasted, |m| m.value);
        all.goodput += 8.0 * flow.acked_bytes as f64 / lasted / CONNECTIONS as f64;
        all.longest_pause = all.longest_pause.max(pause);
        all.failed += usize::from(flow.failed);
    }
    all
}

fn head(trouble: Trouble, duration: Time) -> String {
    let routing = match trouble {
        Trouble::Reordering => "[routing]\nkind = \"spray\"\n",
        Trouble::Death => "[routing]\nreconverge = \"never\"\n",
        _ => "",
    };
    format!("duration = \"{}ms\"\n{routing}[queue]\nlimit = 15\nmark = 10\n", duration.0 / Time::from_ms(1).0)
}

/// Two paths of 5 Mbit/s and 20 ms from S to D, by M and by N.
fn lane_of(trouble: Trouble, i: usize, lane: &Lane) -> [String; 3] {
    let kinds = [("S", "host"), ("D", "host"), ("A", "switch"), ("M", "switch"), ("N", "switch"), ("B", "switch")];
    let nodes = kinds.map(|(name, kind)| format!("{{ id = \"{name}{i}\", kind = \"{kind}\" }}, ")).concat();
    let edge = |from: &str, to: &str, rate: u32, delay: u32| {
        format!("{{ source = \"{from}{i}\", target = \"{to}{i}\", rate = \"{rate}Mbps\", delay = \"{delay}us\" }}, ")
    };
    let longer = if trouble == Trouble::Reordering { 11_600 } else { 9_600 };
    let edges = edge("S", "A", 100, 100)
        + &edge("A", "M", 5, 9_600)
        + &edge("A", "N", 5, longer)
        + &edge("M", "B", 100, 200)
        + &edge("N", "B", 100, 200)
        + &edge("B", "D", 100, 100);
    let name = &lane.name;
    let flow = format!(
        "[[workload.flow]]\nlabel = \"{name}\"\ntransport = \"{name}\"\nfrom = \"S{i}\"\nto = \"D{i}\"\ncount = {CONNECTIONS}\n"
    );
    let change = |links: &str, what: &str| format!("[[change]]\nlinks = [\"{links}\"]\n{what}\n");
    let by = |node: &str| format!("A{i}<->{node}{i}");
    let down = |node: &str, at: u32, every: u32, lasts: u32| {
        let repeat = format!("repeat = {{ every = \"{every}s\", lasts = \"{lasts}s\" }}");
        change(&by(node), &format!("at = \"{at}s\"\nstate = \"down\"\n{repeat}"))
    };
    let changes = match trouble {
        Trouble::Loss => {
            change(&by("M"), "loss = 0.01") + &change(&by("N"), "burst_loss = { to_bad = 0.002, to_good = 0.25 }")
        }
        Trouble::Death => down("M", 5, 20, 5) + &down("N", 15, 20, 5) + &down("M", 32, 60, 2) + &down("N", 32, 60, 2),
        Trouble::Reordering | Trouble::Churn | Trouble::Memory => String::new(),
    };
    [nodes, edges, flow + &changes]
}
