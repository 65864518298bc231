//! Chooses the decode instance of each request.

/// What a router knows of decode instances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Router {
    /// By instance: the requests that it has, as far as is known, and the number of choices when it
    /// got the last.
    loads: Vec<(u32, u32)>,
    choices: u32,
}

impl Router {
    /// Of this many instances, which have nothing to do.
    pub fn new(instances: usize) -> Router {
        Router { loads: vec![(0, 0); instances], choices: 0 }
    }

    /// The instance of the next request: the one with the fewest; of several, the one that has got
    /// none for longest.
    pub fn choose(&mut self) -> u32 {
        let least = (0u32..).zip(&self.loads).min_by_key(|(_, load)| **load).map_or(0, |(i, _)| i);
        self.choices += 1;
        let load = &mut self.loads[least as usize];
        *load = (load.0 + 1, self.choices);
        least
    }

    /// An instance has generated all tokens of a request.
    pub fn over(&mut self, instance: u32) {
        self.loads[instance as usize].0 -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In turn while nothing ends; then the one that has the fewest; then, of two, the one that has
    /// waited longest.
    #[test]
    fn the_instance_with_the_fewest_requests_is_next() {
        let mut router = Router::new(3);
        let choose = |router: &mut Router, n| (0..n).map(|_| router.choose()).collect::<Vec<_>>();
        assert_eq!(choose(&mut router, 4), [0, 1, 2, 0]);
        router.over(0);
        router.over(0);
        assert_eq!(choose(&mut router, 4), [0, 1, 2, 0]);
        router.over(2);
        router.over(1);
        assert_eq!(choose(&mut router, 1), [1]);
    }
}
