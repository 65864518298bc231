//! Valiant's routing: a packet goes over something random, and then on, so that any traffic loads
//! links as uniform traffic does, at twice the load (Valiant, Brebner, "Universal schemes for
//! parallel communication", STOC 1981).

use super::detours::{Detours, Path, Step, Via};
use super::{Arrival, Backlog, Balancer, Choice, Queues, one_of};
use crate::fabric::{Fabric, LinkId};
use crate::packet::{Packet, hash};
use crate::trailer::Tag;
use linkpool_engine::{Stream, hash_u64, stream};
use linkpool_settings::{Bounds, settings};
use rand::RngCore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// Valiant's routing: in a dragonfly over a random group (Kim, Dally, Scott, Abts, ISCA 2008,
    /// section 4.1), elsewhere over a random switch (Besta, Hoefler, SC 2014, section IV).
    #[derive(Copy, Eq)]
    pub struct Valiant {
        /// What has a path of its own: `"packet"`, or `"flow"`, by a hash of addresses and ports. Hosts that give packets
        /// an entropy choose the path by it.
        per: Per = Per::Packet;
        /// The percentage of them that take a minimal path instead: with 100, all.
        minimal: u32 = 0, within Bounds::from(0.0, "{} is no percentage, 0 to 100").to(100.0);
    }
}

/// What has a path of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Each packet.
    Packet,
    /// All packets of the same addresses and ports, or of the same entropy.
    Flow,
}

/// Valiant's routing at all switches.
#[derive(Debug)]
pub(super) struct ValiantBalancer {
    settings: Valiant,
    detours: Detours,
    /// By node.
    random: Vec<Stream>,
}

impl ValiantBalancer {
    pub(super) fn new(settings: Valiant, fabric: &Fabric, seed: u64) -> ValiantBalancer {
        let random = (0..fabric.nodes()).map(|node| stream(seed, "valiant", node as u64)).collect();
        ValiantBalancer { settings, detours: Detours::new(fabric), random }
    }

    /// The path of `packet`, which comes from a host of the switch.
    fn path(&mut self, at: &Arrival<'_>, packet: &Packet) -> Path {
        let ValiantBalancer { settings, detours, random } = self;
        let (from, to) = (at.node, detours.switch_of(packet.dst()));
        let mut draws = match settings.per {
            Per::Packet => Draws::Stream(&mut random[from.index()]),
            Per::Flow => Draws::Hash(hash(at.salt ^ u32::from(packet.dst()), packet).into()),
        };
        let is_minimal = one_of(100, draws.next()) < settings.minimal;
        let other = if is_minimal { None } else { detours.other(from, to, || draws.next()) };
        other.unwrap_or_else(|| detours.minimal(from, to, || draws.next()))
    }
}

/// Random numbers: of a switch, or of a flow there.
enum Draws<'a> {
    Stream(&'a mut Stream),
    Hash(u64),
}

impl Draws<'_> {
    fn next(&mut self) -> u32 {
        match self {
            Draws::Stream(stream) => stream.next_u32(),
            Draws::Hash(state) => {
                *state = hash_u64(*state);
                (*state >> 32) as u32
            }
        }
    }
}

impl Balancer for ValiantBalancer {
    /// Of several links of equal cost to a waypoint or to the destination.
    fn choose(&mut self, choice: Choice<'_>, packet: &Packet, _: &mut impl Queues) -> u32 {
        let bits = match self.settings.per {
            Per::Packet => self.random[choice.node.index()].next_u32(),
            Per::Flow => hash(choice.salt, packet),
        };
        one_of(choice.links, bits)
    }

    fn steers(&self) -> bool {
        true
    }

    /// The switch of the source draws a path; the others follow it.
    fn steer(&mut self, at: Arrival<'_>, packet: &Packet, _: Backlog<'_>) -> (LinkId, Option<Tag>) {
        let via = match at.tag {
            Some(tag) => Via::of(tag),
            None if self.detours.leaves_host(at.ingress) => self.path(&at, packet).via,
            None => Via::NOTHING,
        };
        let (step, later) = self.detours.step(at.node, packet.dst(), via);
        let link = match step {
            Step::Over(link) => link,
            Step::Towards(host) => (at.towards)(host, &mut |choice| self.choose(choice, packet, &mut |_| Some(0))),
        };
        (link, later.tag())
    }
}
