//! The C interface: a run that a program in C, C++ or any other language drives.
//! `include/linkpool.h` is made of the documentation and the types here; `docs/c.md` is its guide.
//!
//! Unsafe code is in `abi.rs` alone: there is a C caller on the other side of it.

mod abi;
mod handle;
mod receives;
mod types;

pub use abi::*;
pub use handle::linkpool_session;
pub use types::*;

use mimalloc::MiMalloc;

/// The memory of large simulations is in huge pages where the system grants them
/// (`docs/engine.md`).
#[global_allocator]
static MEMORY: MiMalloc = MiMalloc;
