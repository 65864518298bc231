//! Ranks with several network interfaces, each a host of its own, as ranks of one interface each.

use super::rank::Tie;
use super::{MOST_RANKS, Node, Op, Programs, Rank, RankBuilder};

/// A node: its rank, and its number there.
type Place = (usize, u32);

/// No interface has been seen.
const NONE: u8 = u8::MAX;

impl Programs {
    /// The programs, which are matched, with a rank for each interface of each rank, and as many
    /// interfaces as the trace names: with n of them, interface i of rank r becomes rank r n + i,
    /// as HTSIM maps the traces that ATLAHS writes with `--unique-nic` (`getHtsimNodeNumber` in
    /// atlahs_htsim_api.h). A message goes from the interface of its send to that of the receive
    /// that takes it. (HTSIM takes the interface of the send at both ends, which is the same while
    /// messages stay on one rail.) A calc belongs to the interface of the messages of its
    /// processor, or to interface 0 if there are none. Nodes of two interfaces of which one waits
    /// for the other become ties between ranks.
    ///
    /// # Errors
    ///
    /// A message that begins with the place of a node whose interface is not known before the run,
    /// or not its own: a wildcard, a receive or a send with another interface than others of its
    /// source and tag, a processor that computes for two interfaces.
    pub fn by_interface(self) -> Result<Programs, String> {
        let nodes = self.ranks.iter().flat_map(Rank::nodes);
        let nics = nodes.map(|node| u32::from(node.nic) + 1).max().unwrap_or(1);
        let (ranks, most) = (self.ranks.len() as u64 * u64::from(nics), MOST_RANKS);
        if ranks > u64::from(most) {
            return Err(format!("{ranks} interfaces of all ranks; at most {most}"));
        }
        let end = |rank: u32, nic: u8| rank * nics + u32::from(nic);
        let ends = self.ends_of_channels()?;
        let mut divided = Vec::new();
        for (rank, program) in (0u32..).zip(&self.ranks) {
            let of = self.interfaces(rank, program)?;
            let mut builders: Vec<RankBuilder> = (0..nics).map(|_| RankBuilder::default()).collect();
            let mut places = Vec::new();
            for (i, node) in (0u32..).zip(program.nodes()) {
                let peer = match node.op {
                    Op::Calc => 0,
                    Op::Send => end(node.peer, ends[node.peer as usize][program.channel(i) as usize].1),
                    Op::Recv => end(node.peer, ends[rank as usize][program.channel(i) as usize].0),
                };
                let place = builders[usize::from(of[i as usize])].add(Node { peer, ..*node });
                places.push(place.expect("it has no more nodes than before"));
            }
            for i in 0..program.nodes().len() as u32 {
                let (here, before) = (of[i as usize], places[i as usize]);
                for (follower, on_start) in program.followers(i) {
                    let (there, after) = (of[follower as usize], places[follower as usize]);
                    match (here == there, on_start) {
                        (true, true) => builders[usize::from(here)].irequires(after, before),
                        (true, false) => builders[usize::from(here)].requires(after, before),
                        (false, _) => {
                            let tie = Tie { before, on_start, after: (end(rank, there), after) };
                            builders[usize::from(here)].tell(tie);
                            builders[usize::from(there)].is_told(after);
                        }
                    }
                }
            }
            divided.extend(builders.into_iter().map(|b| b.finish().expect("it has no more pairs than before")));
        }
        Programs::new(divided, self.source).matched()
    }

    /// By receiving rank and channel: the interfaces of the sends and of the receives.
    fn ends_of_channels(&self) -> Result<Vec<Vec<(u8, u8)>>, String> {
        let mut first: Vec<Vec<[Option<Place>; 2]>> =
            self.ranks.iter().map(|rank| vec![[None; 2]; rank.channel_count as usize]).collect();
        for (rank, program) in self.ranks.iter().enumerate() {
            for (i, node) in (0u32..).zip(program.nodes()).filter(|(_, node)| node.op != Op::Calc) {
                let at = if node.op == Op::Send { node.peer as usize } else { rank };
                if self.ranks[at].wild {
                    return Err(format!(
                        "{}: {}, and rank {at} receives by a wildcard; with nic = \"host\" sends and receives name each other",
                        self.place(rank, i),
                        node.text()
                    ));
                }
                let side = usize::from(node.op == Op::Recv);
                let before = *first[at][program.channel(i) as usize][side].get_or_insert((rank, i));
                let nic = self.ranks[before.0].nodes()[before.1 as usize].nic;
                if nic != node.nic {
                    return Err(format!(
                        "{}: {} at interface {}, and {} has interface {nic}; with nic = \"host\" those of one source \
                         and tag have one interface",
                        self.place(rank, i),
                        node.text(),
                        node.nic,
                        self.place(before.0, before.1),
                    ));
                }
            }
        }
        let nic = |node: Option<Place>| {
            let (rank, node) = node.expect("a channel that is matched has sends and receives");
            self.ranks[rank].nodes()[node as usize].nic
        };
        Ok(first.iter().map(|rank| rank.iter().map(|[send, receive]| (nic(*send), nic(*receive))).collect()).collect())
    }

    /// By node of `program`, that of `rank`: its interface.
    fn interfaces(&self, rank: u32, program: &Rank) -> Result<Vec<u8>, String> {
        let mut of_cpu = [NONE; 256];
        let mut several = [false; 256];
        for node in program.nodes().iter().filter(|node| node.op != Op::Calc) {
            let cpu = usize::from(node.cpu);
            several[cpu] |= of_cpu[cpu] != NONE && of_cpu[cpu] != node.nic;
            of_cpu[cpu] = node.nic;
        }
        let of = |(i, node): (u32, &Node)| match (node.op, of_cpu[usize::from(node.cpu)]) {
            (Op::Send | Op::Recv, _) => Ok(node.nic),
            // It takes no time, so it needs no processor.
            (Op::Calc, _) if node.size == 0 && several[usize::from(node.cpu)] => Ok(0),
            (Op::Calc, _) if several[usize::from(node.cpu)] => Err(format!(
                "{}: {} occupies processor {}, which has messages at several interfaces; with nic = \"host\" each \
                 interface has its own processors",
                self.place(rank as usize, i),
                node.text(),
                node.cpu
            )),
            (Op::Calc, NONE) => Ok(0),
            (Op::Calc, nic) => Ok(nic),
        };
        (0u32..).zip(program.nodes()).map(of).collect()
    }
}
