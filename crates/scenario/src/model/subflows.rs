//! The number of subflows of a connection.

use linkpool_settings::{Form, Mixed, mixed};

/// The setting for the number of subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subflows {
    /// A fixed number.
    Count(u32),
    /// The number of equal-cost paths, at most [`Subflows::MOST_AUTO`].
    Auto,
}

impl Subflows {
    /// The most that "auto" opens (MMPTCP paper, section 3.10).
    pub const MOST_AUTO: u32 = 8;

    /// The most that a connection may have.
    pub fn most(self) -> u32 {
        match self {
            Subflows::Count(n) => n,
            Subflows::Auto => Subflows::MOST_AUTO,
        }
    }
}

impl Mixed for Subflows {
    const NAME: &'static str = "Subflows";
    const FORMS: &'static str = "a whole number of subflows, such as 4, or \"auto\"";
    const WORDS: &'static [(&'static str, Subflows)] = &[("auto", Subflows::Auto)];
    const NUMBERS: Option<(u32, u32)> = Some((1, 32));

    fn of_number(number: u32) -> Option<Subflows> {
        Some(Subflows::Count(number))
    }

    fn written(&self) -> Option<Form> {
        match *self {
            Subflows::Count(number) => Some(Form::Number(number)),
            Subflows::Auto => None,
        }
    }
}

mixed!(Subflows);
