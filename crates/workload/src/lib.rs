//! Workloads: who sends how much to whom, and when.

mod arrivals;
mod cdf;
mod flow;
mod matrix;
mod sizes;

pub use arrivals::{jitter, poisson_times};
pub use cdf::{Cdf, Interpolation};
pub use flow::{Flow, incast};
pub use matrix::{hotspot_pair, permutation, random_matrix, random_pair, staggered_destination, stride};
pub use sizes::Sizes;
