//! Finds programs that can never end: runs all ranks with messages and computation that take no
//! time, and explains what is left.

use std::collections::{HashMap, VecDeque};

use super::{ANY, Action, Machine, Op, Programs};

/// No explanation is longer.
const MOST_STEPS_SHOWN: usize = 8;

/// No search for a circle takes more steps.
const MOST_STEPS_LOOKED_AT: usize = 1000;

/// No more receives that are left are looked at in turn, as each takes a walk through its program.
const MOST_RECEIVES: usize = 64;

/// Checks that the programs, which are matched, can end.
///
/// What is left when nothing can go on is the same in any order of events, unless receives compete
/// for messages: by wildcards, or because several of one source and one tag stand at the same time.
/// Then another order may end, and the programs are not refused. Nor are those that can never end
/// only because a rank has one message or operation at a time: which one depends on times.
///
/// # Errors
///
/// A message that says which node waits for which.
pub fn check(programs: &Programs) -> Result<(), String> {
    let mut machines: Vec<Machine<'_>> = programs.ranks.iter().map(Machine::without_turns).collect();
    let (mut todo, mut actions) = (VecDeque::new(), Vec::new());
    let note = |rank: usize, actions: &mut Vec<Action>, todo: &mut VecDeque<(usize, Action)>| {
        todo.extend(actions.drain(..).map(|action| (rank, action)));
    };
    for (rank, machine) in machines.iter_mut().enumerate() {
        machine.begin(&mut actions);
        note(rank, &mut actions, &mut todo);
    }
    while let Some((rank, action)) = todo.pop_front() {
        let node = match action {
            Action::Send(node) | Action::Calculate(node) => node,
            // Ties come with interfaces, after this check.
            Action::Tell(..) => unreachable!("programs are checked before they are divided"),
        };
        if let Action::Send(_) = action {
            let (send, channel) = (&programs.ranks[rank].nodes()[node as usize], programs.ranks[rank].channel(node));
            let to = send.peer as usize;
            machines[to].arrived(rank as u32, send, channel, &mut actions);
            note(to, &mut actions, &mut todo);
        }
        machines[rank].ended(node, &mut actions);
        note(rank, &mut actions, &mut todo);
    }
    let Some(first) = machines.iter().position(|machine| !machine.is_done()) else { return Ok(()) };
    let left = Left { programs, machines: &machines };
    if left.may_depend_on_order() {
        return Ok(());
    }
    Err(left.explain(first))
}

/// What is left when nothing can go on.
struct Left<'m, 'p> {
    programs: &'p Programs,
    machines: &'m [Machine<'p>],
}

/// A node: its rank, and its number there.
type Place = (usize, u32);

impl Left<'_, '_> {
    /// Could another order of events have ended? Not if each receive that is left had to come after
    /// all receives of its channel that have ended.
    fn may_depend_on_order(&self) -> bool {
        let mut looked_at = 0;
        for (machine, rank) in self.machines.iter().zip(&self.programs.ranks) {
            if machine.is_done() {
                continue;
            }
            let receive = |node: u32| rank.nodes()[node as usize].op == Op::Recv;
            let all = 0..rank.nodes().len() as u32;
            let stands = |node: &u32| receive(*node) && machine.has_started(*node) && !machine.has_ended(*node);
            if rank.wild && all.clone().any(|node| stands(&node)) {
                return true;
            }
            let mut ended: HashMap<u32, u32> = HashMap::new();
            for node in all.clone().filter(|node| receive(*node) && machine.has_ended(*node)) {
                *ended.entry(rank.channel(node)).or_default() += 1;
            }
            let before = (!ended.is_empty()).then(|| self.before(rank));
            for node in all.filter(stands).filter(|node| ended.contains_key(&rank.channel(*node))) {
                looked_at += 1;
                let Some(before) = &before else { continue };
                let (mut seen, mut walk) = (vec![false; rank.nodes().len()], vec![node]);
                let mut found = 0;
                while let Some(at) = walk.pop() {
                    for other in before.of(at) {
                        if !std::mem::replace(&mut seen[*other as usize], true) {
                            found += u32::from(receive(*other) && rank.channel(*other) == rank.channel(node));
                            walk.push(*other);
                        }
                    }
                }
                if looked_at > MOST_RECEIVES || found < ended[&rank.channel(node)] {
                    return true;
                }
            }
        }
        false
    }

    /// By node: the nodes for which it waits.
    fn before(&self, rank: &super::Rank) -> Before {
        let mut first = vec![0u32];
        first.extend_from_slice(rank.needs());
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let (mut next, mut before) = (first.clone(), vec![0; rank.edges()]);
        for node in 0..rank.nodes().len() as u32 {
            for (follower, _) in rank.followers(node) {
                let place = &mut next[follower as usize];
                before[*place as usize] = node;
                *place += 1;
            }
        }
        Before { first, before }
    }

    /// Why the program of `rank` cannot end.
    fn explain(&self, rank: usize) -> String {
        let start = (rank, self.machines[rank].first_left().expect("a node is left"));
        let (mut chain, mut places) = (vec![start], HashMap::from([(start, 0)]));
        let mut before = HashMap::new();
        let circle = loop {
            let next = self.waits_for(*chain.last().expect("it has a first"), &mut before);
            let Some(next) = next.filter(|_| chain.len() < MOST_STEPS_LOOKED_AT) else { break None };
            if let Some(place) = places.get(&next) {
                break Some(*place);
            }
            places.insert(next, chain.len());
            chain.push(next);
        };
        // Only those that wait for each other.
        let shown = &chain[circle.unwrap_or(0)..];
        let mut text = format!("{}: can never end: ", self.programs.place(shown[0].0, shown[0].1));
        for place in shown.iter().take(MOST_STEPS_SHOWN) {
            text += &format!("{} waits for ", self.name(*place));
        }
        match (shown.len(), circle) {
            (more, _) if more > MOST_STEPS_SHOWN => text += &format!("... ({} more)", more - MOST_STEPS_SHOWN),
            (1, Some(_)) => text += "itself",
            (_, Some(_)) => text += "the first",
            (_, None) => text += "a message that no rank sends",
        }
        text
    }

    fn name(&self, (rank, node): Place) -> String {
        let what = self.programs.ranks[rank].nodes()[node as usize].text();
        format!("rank {rank}, {} ({what}), which", self.programs.short_place(rank, node))
    }

    /// A node for which `node`, which is left, waits.
    fn waits_for(&self, (rank, node): Place, before: &mut HashMap<usize, Before>) -> Option<Place> {
        let (machine, program) = (&self.machines[rank], &self.programs.ranks[rank]);
        if !machine.has_started(node) {
            let waits_for = |other: &u32| {
                let waits = |start| if start { !machine.has_started(*other) } else { !machine.has_ended(*other) };
                program.followers(*other).any(|(follower, start)| follower == node && waits(start))
            };
            let before = before.entry(rank).or_insert_with(|| self.before(program));
            return before.of(node).iter().copied().find(waits_for).map(|other| (rank, other));
        }
        let receive = &program.nodes()[node as usize];
        let sends = |from: usize| -> Option<Place> {
            let rank_from = &self.programs.ranks[from];
            let matches = |i: &u32| {
                let send = &rank_from.nodes()[*i as usize];
                let tag = receive.tag == ANY || send.tag == ANY || receive.tag == send.tag;
                send.op == Op::Send && send.peer as usize == rank && tag && !self.machines[from].has_started(*i)
            };
            (0..rank_from.nodes().len() as u32).find(matches).map(|i| (from, i))
        };
        match receive.peer {
            ANY => (0..self.programs.ranks.len()).find_map(sends),
            from => sends(from as usize),
        }
    }
}

/// By node: the nodes for which it waits.
struct Before {
    first: Vec<u32>,
    before: Vec<u32>,
}

impl Before {
    fn of(&self, node: u32) -> &[u32] {
        &self.before[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}
