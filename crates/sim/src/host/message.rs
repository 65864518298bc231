//! Messages between hosts, or from a host to itself for later, without a packet.

use crate::host::handle::Handle;
use crate::host::messages::Announced;
use crate::plan::{FlowId, PlannedFlow, ProcessId};
use crate::results::event::Posted;
use linkpool_network::{HostId, LinkId, NodeId};
use linkpool_workload::{FlowEnd, Process};

/// A message that a host gets at a set time.
#[derive(Debug)]
pub(crate) enum Message {
    /// Start this flow, which has this number in the results.
    Start(FlowId, PlannedFlow),
    /// This process of the plan begins here.
    Begin(ProcessId, Box<Process>),
    /// The flow of this number, of a process that is here, has ended elsewhere.
    Ended(FlowId, FlowEnd),
    /// The first flow has ended; the second flow, which starts here, waits for it.
    Over(FlowId, FlowId),
    /// This rank of these programs of the plan, which is here, begins.
    BeginRank((u32, u32)),
    /// The job of this rank of these programs fails; the number of failures before.
    Failed((u32, u32), u32),
    /// This rank of these programs has written a checkpoint.
    Saved((u32, u32)),
    /// A calc of this rank of these programs is done: that of this node.
    Calculated((u32, u32), u32),
    /// What this node of this rank of these programs waits for at another rank has happened.
    Told((u32, u32), u32),
    /// A connection to this host will carry this message.
    Announce(Announced),
    /// The connection of this flow to this host is closed at its sender, which has sent so many
    /// packets that may open it.
    Closed(FlowId, u32),
    /// This host reports its long flows to the scheduler.
    Scan,
    /// The report of a host to the scheduler, which is here.
    Report(NodeId, Report),
    /// All reports have arrived: the scheduler decides.
    Decide,
    /// A flow takes this path from now on.
    Place(Long, Vec<LinkId>),
    /// Something about this model of the plan, which is served here.
    Serve(u32, Serve),
    /// A timer of the program that drives the run is due here.
    Timer(Posted),
}

impl Message {
    /// The order of messages that are due at one time; it is total.
    pub(crate) fn order(&self) -> (u8, u32, u32) {
        match self {
            Message::Start(flow, _) => (0, (*flow).into(), 0),
            Message::Begin(process, _) => (1, (*process).into(), 0),
            Message::Ended(flow, _) => (2, (*flow).into(), 0),
            Message::Over(flow, follower) => (3, (*flow).into(), (*follower).into()),
            Message::Place(long, _) => (4, long.flow.into(), 0),
            Message::Announce(announced) => (8, announced.flow.into(), 0),
            Message::Scan => (5, 0, 0),
            Message::Report(host, _) => (6, (*host).into(), 0),
            Message::Decide => (7, 0, 0),
            // A host has one rank of the same programs at the most.
            Message::BeginRank((programs, _)) => (9, *programs, 0),
            Message::Calculated((programs, _), node) => (10, *programs, *node),
            Message::Failed((programs, _), before) => (18, *programs, *before),
            Message::Saved((programs, _)) => (19, *programs, 0),
            Message::Closed(flow, _) => (11, (*flow).into(), 0),
            Message::Told((programs, _), node) => (12, *programs, *node),
            Message::Serve(served, Serve::Over(request, _)) => (14, *served, *request),
            Message::Serve(served, Serve::Choose(place)) => (15, *served, *place),
            Message::Serve(served, Serve::Computed(request)) => (16, *served, *request),
            Message::Serve(served, Serve::Stepped(instance)) => (17, *served, *instance),
            // Each host numbers the timers that it sets.
            Message::Timer(timer) => (13, timer.from.into(), timer.id.into()),
        }
    }
}

/// What a host learns about a model that is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Serve {
    /// The router, which is here, chooses a decode instance for the request whose prompt is computed
    /// as this number.
    Choose(u32),
    /// The prompt of this request is computed here.
    Computed(u32),
    /// This decode instance, which is here, has computed.
    Stepped(u32),
    /// All tokens of this request are there, at this decode instance; the router is here.
    Over(u32, u32),
}

/// A flow that its host reports as long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Long {
    pub(crate) flow: FlowId,
    pub(crate) handle: Handle,
    pub(crate) ends: (HostId, HostId),
}

/// The report of a host to the scheduler that places flows.
#[derive(Default, Debug)]
pub(crate) struct Report {
    pub(crate) long: Vec<Long>,
    /// Flows that were long, and no longer are.
    pub(crate) over: Vec<FlowId>,
}
