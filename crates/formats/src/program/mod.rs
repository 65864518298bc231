//! Programs of ranks: GOAL, as text and binary, and Chakra.

mod chakra;
mod goal_binary;
mod goal_text;

pub use chakra::{ChakraRules, Roofline, read_chakra};
pub use goal_binary::{read_goal_binary, write_goal_binary};
pub use goal_text::{read_goal, write_goal};
