//! The engine: time divided into synchronous windows, the events and wake-ups due in each, timers,
//! random streams.
//!
//! Let L be the least time that a packet needs from one node to the next. In a window of length L
//! no node can affect another, since whatever arrives in it was on a link when it began. So the
//! engine has no global event heap: [`Windows`] cuts time, a [`TimingWheel`] lists the events that
//! are due in a window, and [`Calendar`] says who is to be woken in it.

mod calendar;
mod ones;
mod prefetch;
mod random;
mod timers;
mod timing_wheel;
mod windows;

pub use calendar::Calendar;
pub use ones::ones;
pub use prefetch::{prefetch, prefetch_lines, prefetch_place};
pub use random::{Stream, hash_u64, stream};
pub use timers::Timers;
pub use timing_wheel::TimingWheel;
pub use windows::Windows;
