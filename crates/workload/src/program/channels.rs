//! Gives each send and receive its channel at the receiver: the messages of one source with one
//! tag. Checks that each has a counterpart.

use super::{ANY, Node, Op, Programs};
use linkpool_units::counted;

/// A send or a receive, for one receiving rank: source, tag, kind, the rank where it stands, node.
type End = (u32, u32, Op, u32, u32);

impl Programs {
    /// The programs with their channels.
    ///
    /// # Errors
    ///
    /// A message that begins with the place of a send or a receive without a counterpart, or of one
    /// that is too small.
    pub fn matched(mut self) -> Result<Programs, String> {
        // By receiving rank: the sends to it, each with its rank and node.
        let mut sends: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.ranks.len()];
        for (rank, program) in (0u32..).zip(&self.ranks) {
            for (i, node) in (0u32..).zip(program.nodes()).filter(|(_, node)| node.op == Op::Send) {
                sends[node.peer as usize].push((rank, i));
                self.sends += 1;
                self.bytes += node.size as f64;
            }
        }
        for (rank, sends) in sends.into_iter().enumerate() {
            self.match_rank(rank, &sends)?;
            let mut from: Vec<u32> = sends.iter().map(|(from, _)| *from).collect();
            from.sort_unstable();
            from.dedup();
            self.pairs.extend(from.into_iter().map(|from| (from, rank as u32)));
        }
        Ok(self)
    }

    fn node(&self, rank: u32, node: u32) -> &Node {
        &self.ranks[rank as usize].nodes()[node as usize]
    }

    /// Matches what is sent to `rank`.
    fn match_rank(&mut self, rank: usize, sends: &[(u32, u32)]) -> Result<(), String> {
        let to = rank as u32;
        let send = |(from, i): &(u32, u32)| (*from, self.node(*from, *i).tag, Op::Send, *from, *i);
        let mut ends: Vec<End> = sends.iter().map(send).collect();
        let here = (0u32..).zip(self.ranks[rank].nodes()).filter(|(_, node)| node.op == Op::Recv);
        ends.extend(here.map(|(i, node)| (node.peer, node.tag, Op::Recv, to, i)));
        ends.sort_unstable_by_key(|(source, tag, op, at, i)| (*source, *tag, *op as u8, *at, *i));
        let wild = ends.iter().any(|(source, tag, ..)| *source == ANY || *tag == ANY);
        let mut channels = 0;
        let mut channel_of = Vec::with_capacity(ends.len());
        for channel in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            if !wild {
                self.check_channel(to, channel)?;
            }
            channel_of.resize(channel_of.len() + channel.len(), channels);
            channels += 1;
        }
        if wild {
            self.check_wild(to, &ends)?;
        }
        for ((.., at, i), channel) in ends.iter().zip(channel_of) {
            self.ranks[*at as usize].channels[*i as usize] = channel;
        }
        (self.ranks[rank].channel_count, self.ranks[rank].wild) = (channels, wild);
        Ok(())
    }

    /// As many receives as sends, each large enough for one of them.
    fn check_channel(&self, to: u32, channel: &[End]) -> Result<(), String> {
        let of = |wanted: Op| channel.iter().filter(move |end| end.2 == wanted);
        let (sends, receives) = (of(Op::Send).count(), of(Op::Recv).count());
        let (from, tag, ..) = channel[0];
        let from_to = format!("from rank {from} to rank {to} with tag {tag}");
        if sends != receives {
            let (more, less) = if sends > receives { (Op::Send, Op::Recv) } else { (Op::Recv, Op::Send) };
            let unmatched = of(more).nth(sends.min(receives)).expect("there are more");
            let place = self.place(unmatched.3 as usize, unmatched.4);
            let counts = format!("{}, {}", counted(sends, "send"), counted(receives, "receive"));
            let what = self.node(unmatched.3, unmatched.4).text();
            return Err(format!("{place}: {what} of rank {} has no {}: {counts} {from_to}", unmatched.3, less.name()));
        }
        let sizes = |wanted: Op| {
            let mut sizes: Vec<(u64, u32, u32)> = of(wanted).map(|e| (self.node(e.3, e.4).size, e.3, e.4)).collect();
            sizes.sort_unstable();
            sizes
        };
        // In order of size: if one receive is too small there, some receive always is.
        for ((sent, ..), (room, rank, node)) in sizes(Op::Send).into_iter().zip(sizes(Op::Recv)) {
            if room < sent {
                let place = self.place(rank as usize, node);
                return Err(format!("{place}: receives {}, and a message {from_to} has {sent}", counted(room, "byte")));
            }
        }
        Ok(())
    }

    /// With wildcards: as many receives as sends, and enough sends for those without wildcards.
    fn check_wild(&self, to: u32, ends: &[End]) -> Result<(), String> {
        let of = |wanted: Op| ends.iter().filter(move |end| end.2 == wanted);
        let matches = |receive: &End, send: &End| {
            (receive.0 == ANY || receive.0 == send.0) && (receive.1 == ANY || send.1 == ANY || receive.1 == send.1)
        };
        let (sends, receives) = (of(Op::Send).count(), of(Op::Recv).count());
        let counts = format!("rank {to} is sent {} and receives {receives}", counted(sends, "message"));
        // Those with the fewest choices first, so that the message names the right one.
        let lonely = |more: Op| {
            let less = if more == Op::Send { Op::Recv } else { Op::Send };
            let other = move |a: &End, b: &End| if more == Op::Recv { matches(a, b) } else { matches(b, a) };
            // Too many pairs would take too long.
            let few = of(more).count().saturating_mul(of(less).count()) <= 10_000_000;
            of(more).find(move |one| few && !of(less).any(|two| other(one, two)))
        };
        let some = |more: Op| lonely(more).or_else(|| of(more).next_back());
        let wrong = match sends.cmp(&receives) {
            std::cmp::Ordering::Greater => some(Op::Send),
            std::cmp::Ordering::Less => some(Op::Recv),
            std::cmp::Ordering::Equal => None,
        };
        let Some(end) = wrong else { return Ok(()) };
        let place = self.place(end.3 as usize, end.4);
        Err(format!("{place}: {} of rank {} has no counterpart: {counts}", self.node(end.3, end.4).text(), end.3))
    }
}
