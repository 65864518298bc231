//! Programs of ranks: GOAL, as text and binary, Chakra, and flows of SimCCL.

mod chakra;
mod goal_binary;
mod goal_text;
mod simccl;

pub use chakra::{ChakraRules, Roofline, read_chakra};
pub use goal_binary::{read_goal_binary, write_goal_binary};
pub use goal_text::{read_goal, write_goal};
pub use simccl::read_simccl;
