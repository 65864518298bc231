//! Fabrics: the papers' and those of their field.

mod bcube;
mod fat_tree;
mod leaf_spine;
mod test_beds;
mod two_level;
mod vl2;

pub use bcube::BCube;
pub use fat_tree::{FatTree, fat_tree};
pub use leaf_spine::LeafSpine;
pub use test_beds::{Ring, Triangle, dumbbell, many_to_one, traffic_shift};
pub use vl2::Vl2;
