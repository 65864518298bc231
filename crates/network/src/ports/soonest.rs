//! When something happens next at the ports of a switch that pause each other.

use linkpool_units::Time;

/// A time for each port of a switch, and the soonest of them: a tree whose nodes have the sooner time of the two below them. To
/// change one takes a step for each level; to ask for the soonest takes none.
#[derive(Debug)]
pub(super) struct Soonest {
    /// Node 1 is the root, those below node n are 2n and 2n + 1, and the last half are ports by their places.
    times: Vec<Time>,
}

impl Soonest {
    /// Of no port.
    pub(super) fn new() -> Soonest {
        Soonest { times: vec![Time::MAX; 2] }
    }

    /// Makes room for this many ports, at none of which anything happens.
    pub(super) fn resize(&mut self, ports: usize) {
        self.times = vec![Time::MAX; 2 * ports.next_power_of_two()];
    }

    /// The next thing at the port with this place happens at `at`.
    #[inline]
    pub(super) fn set(&mut self, place: u32, at: Time) {
        let mut node = self.times.len() / 2 + place as usize;
        self.times[node] = at;
        while node > 1 {
            let sooner = self.times[node].min(self.times[node ^ 1]);
            node /= 2;
            if std::mem::replace(&mut self.times[node], sooner) == sooner {
                return;
            }
        }
    }

    /// The next thing at the port with this place happens no later than `at`.
    #[inline]
    pub(super) fn set_before(&mut self, place: u32, at: Time) {
        let known = self.times[self.times.len() / 2 + place as usize];
        self.set(place, known.min(at));
    }

    /// The soonest time.
    #[inline]
    pub(super) fn at(&self) -> Time {
        self.times[1]
    }

    /// The place of the port at which something happens then; of several the first.
    pub(super) fn place(&self) -> u32 {
        let (at, half) = (self.times[1], self.times.len() / 2);
        let mut node = 1;
        while node < half {
            node = 2 * node + usize::from(self.times[2 * node] != at);
        }
        (node - half) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// It is what a look at all ports finds, of several ports the first.
        #[test]
        fn the_soonest_is_that_of_all(
            ports in 1usize..20,
            changes in prop::collection::vec((0u32..20, prop::option::of(0u64..9), any::<bool>()), 1..80),
        ) {
            let mut soonest = Soonest::new();
            prop_assert_eq!(soonest.at(), Time::MAX);
            soonest.resize(ports);
            let mut all = vec![Time::MAX; ports];
            for (place, at, before) in changes {
                let (place, at) = (place % ports as u32, at.map_or(Time::MAX, Time));
                let time = &mut all[place as usize];
                if before {
                    soonest.set_before(place, at);
                    *time = at.min(*time);
                } else {
                    soonest.set(place, at);
                    *time = at;
                }
                let expected = all.iter().copied().zip(0u32..).min().unwrap();
                prop_assert_eq!((soonest.at(), soonest.place()), expected);
            }
        }
    }
}
