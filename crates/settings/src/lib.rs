//! Settings, each declared once: as a field of a struct beside the code that uses it.
//!
//! [`settings!`] creates the struct, and [`Settings::each`], which calls a [`Visit`] for every
//! setting. Reading a file, checking bounds, writing the scenario as run, the JSON Schema and the
//! reference page are visits. None of them lists the settings again.
//!
//! ```
//! use linkpool_settings::{Bounds, Preset, Settings, settings};
//!
//! settings! {
//!     /// Parameters of a window.
//!     pub struct WindowConfig {
//!         /// Initial window, packets.
//!         initial: u32 = 10, paper_2013 = 1, within Bounds::POSITIVE;
//!         /// Does it grow in slow start?
//!         slow_start: bool = true;
//!         /// Packets by which it grows at most.
//!         growth: u32 = 2, when |c| c.slow_start => "`slow_start = true`";
//!     }
//! }
//!
//! let window = WindowConfig::defaults(Preset::Paper2013);
//! assert_eq!((window.initial, window.slow_start, window.growth), (1, true, 2));
//! ```

mod bounds;
mod declare;
mod kinds;
mod limits;
pub mod mixed;
mod names;
mod nearest;
mod references;
mod visit;

pub use bounds::{Bounds, Even, Length, Limit, Quantity, Wrong};
pub use kinds::Name;
pub use limits::{Messages, Packets, Size, Speed, Timeouts};
pub use mixed::{Form, Mixed};
pub use names::{HostName, LinkEnds, LinkName, Names, NoNames, TransportName};
pub use nearest::{closest, nearest};
pub use visit::{
    Condition, Declared, EachKind, Fallback, Gated, Kinds, OfFamily, OfLaws, Preset, Scope, Setting, Settings, State,
    Visit, Written, one_line,
};

#[doc(hidden)]
pub use schemars;
