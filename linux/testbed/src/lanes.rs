//! A lane for each controller: hosts, links and connections of its own, side by side in one
//! scenario.

use crate::conditions::Conditions;
use crate::controllers::Controller;
use crate::kernel;
use anyhow::{Result, anyhow};
use linkpool_linux_control::algorithm::ALL;
use linkpool_scenario::Scenario;
use std::collections::BTreeMap;

/// The preset's, which the scenarios of lanes leave as it is.
const MSS: u16 = 1448;

/// What the connections of a lane run.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Its label, and the name of its transport.
    pub(crate) name: String,
    /// One of the kernel's own, for each subflow by itself?
    pub(crate) is_stock: bool,
    /// The scenario's algorithm. The simulator has some only for one path: then another stands for
    /// it, and `instead` says what the kernel runs.
    control: &'static str,
    instead: Option<Controller>,
}

impl Lane {
    /// Does the simulator run what the kernel runs?
    pub(crate) fn is_in_simulator(&self) -> bool {
        self.instead.is_none()
    }
}

/// Those of linkpool's algorithms, then the kernel's own.
pub(crate) fn lanes() -> Result<Vec<Lane>> {
    let own = ALL.iter().map(|algorithm| {
        let alone = algorithm.name == "dctcp";
        Lane {
            name: algorithm.name.to_string(),
            is_stock: false,
            control: if alone { "dcm" } else { algorithm.name },
            instead: alone.then(|| Controller::Load(*algorithm, Box::default())),
        }
    });
    let mut lanes: Vec<Lane> = own.collect();
    for (name, control) in [("cubic", "cubic"), ("reno", "uncoupled"), ("bbr", "uncoupled")] {
        if kernel::has_algorithm(name)? {
            let instead = (name != control).then(|| Controller::OfKernel(name.to_string()));
            lanes.push(Lane { name: format!("stock {name}"), is_stock: true, control, instead });
        }
    }
    Ok(lanes)
}

/// A scenario of these lanes: `head`, then nodes, edges and tables of each by its number; subflows
/// choose their `paths` so. Each lane has a switch "A" with its number. These have one in their
/// middle, for a network is in one piece; no packet takes it. The simulator's send buffers are
/// those of this kernel.
pub(crate) fn scenario(
    lanes: &[Lane],
    head: &str,
    paths: &str,
    of_lane: impl Fn(usize, &Lane) -> [String; 3],
) -> Result<Scenario> {
    let parts: Vec<[String; 3]> = lanes.iter().enumerate().map(|(i, lane)| of_lane(i, lane)).collect();
    let all = |part: usize| parts.iter().map(|p| p[part].as_str()).collect::<String>();
    let headers =
        kernel::send_buffer_headers(MSS).map_or(String::new(), |h| format!("send_buffer_headers = \"{h}B\"\n"));
    let buffers = format!("segmentation_offload = false\n{headers}");
    let transports = lanes.iter().map(|lane| {
        let (name, control) = (&lane.name, lane.control);
        format!("[transport.\"{name}\"]\ncontrol = \"{control}\"\nsubflows = 2\npaths = \"{paths}\"\n{buffers}")
    });
    let transports: String = transports.collect();
    let middle = |i| format!("{{ source = \"middle\", target = \"A{i}\", rate = \"100Mbps\", delay = \"1ms\" }}, ");
    let middle: String = (0..lanes.len()).map(middle).collect();
    let nodes = format!("{{ id = \"middle\", kind = \"switch\" }}, {}", all(0));
    let text =
        format!("{head}[topology.graph]\nnodes = [{nodes}]\nedges = [{middle}{}]\n{transports}{}", all(1), all(2));
    linkpool_scenario::load(&text, "lanes", None, &[]).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow!("{}", lines.join("\n"))
    })
}

/// What the kernel runs where the scenario names another algorithm.
pub(crate) fn conditions(lanes: &[Lane]) -> Conditions {
    let instead: BTreeMap<_, _> =
        lanes.iter().filter_map(|lane| Some((lane.name.clone(), lane.instead.clone()?))).collect();
    Conditions { instead, ..Conditions::default() }
}
