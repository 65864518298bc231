//! Bounds of numbers: checked when a file is read, and said in its JSON Schema.

use linkpool_units::{Bytes, Rate, Time};
use schemars::Schema;

use crate::{Packets, Size, Speed, Timeouts};

/// Between which values a setting must be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    least: f64,
    /// Must it be above `least`, rather than at least that?
    above: bool,
    most: f64,
    /// Must it be below `most`, rather than at most that?
    below: bool,
    /// The message for a value out of bounds; `{}` stands for the value.
    message: &'static str,
}

impl Bounds {
    /// Above zero.
    pub const POSITIVE: Bounds = Bounds::above(0.0, "must be above zero");
    /// Above zero where there is a limit at all.
    pub const POSITIVE_OR_UNLIMITED: Bounds = Bounds::above(0.0, "must be above zero, or \"unlimited\"");
    /// The same of a number of timeouts.
    pub const POSITIVE_OR_NEVER: Bounds = Bounds::above(0.0, "must be above zero, or \"never\"");
    /// The gain of an average.
    pub const GAIN: Bounds = Bounds::above(0.0, "{} is no gain; it is above 0 and at most 1").to(1.0);
    /// No time in a scenario is longer: sums of some of them still fit into [`Time`].
    pub const SPAN: Bounds = Bounds::from(0.0, "{} is too long; at most 1000000s").to(1e18);
    /// [`Bounds::SPAN`], and above zero.
    pub const POSITIVE_SPAN: Bounds = Bounds::above(0.0, "{} must be above zero and at most 1000000s").to(1e18);

    /// More than `least`, or else `message`.
    pub const fn above(least: f64, message: &'static str) -> Bounds {
        Bounds { least, above: true, most: f64::INFINITY, below: true, message }
    }

    /// `least` or more, or else `message`.
    pub const fn from(least: f64, message: &'static str) -> Bounds {
        Bounds { least, above: false, most: f64::INFINITY, below: true, message }
    }

    /// And `most` or less.
    pub const fn to(self, most: f64) -> Bounds {
        Bounds { most, below: false, ..self }
    }

    /// And less than `most`.
    pub const fn below(self, most: f64) -> Bounds {
        Bounds { most, below: true, ..self }
    }

    /// The error of `value`, if it has one.
    pub fn wrong(&self, value: &impl Quantity) -> Option<String> {
        let number = value.number()?;
        let high = if self.above { number > self.least } else { number >= self.least };
        let low = if self.below { number < self.most } else { number <= self.most };
        (!(high && low)).then(|| self.message.replace("{}", &value.text()))
    }

    /// Says so in the schema of a number. Quantities are strings there, with their unit.
    pub fn describe(&self, schema: &mut Schema) {
        let kind = schema.get("type").and_then(|kind| kind.as_str());
        let whole = match kind {
            Some("integer") => true,
            Some("number") => false,
            _ => return,
        };
        let mut say = |key: &str, number: f64| {
            let value = if number.fract() == 0.0 { (number as i64).into() } else { number.into() };
            schema.insert(key.to_string(), value);
        };
        match (self.above, whole) {
            (true, true) => say("minimum", self.least + 1.0),
            (true, false) => say("exclusiveMinimum", self.least),
            (false, _) => say("minimum", self.least),
        }
        if self.most.is_finite() {
            say(if self.below { "exclusiveMaximum" } else { "maximum" }, self.most);
        }
    }
}

/// A value that may have bounds.
pub trait Quantity {
    /// As a number, in the smallest unit; none if it has no limit.
    fn number(&self) -> Option<f64>;
    /// As a person writes it.
    fn text(&self) -> String;
}

macro_rules! quantities {
    ($($type:ty: |$x:ident| $number:expr;)*) => {$(
        impl Quantity for $type {
            fn number(&self) -> Option<f64> {
                let $x = self;
                $number
            }
            fn text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

quantities! {
    u32: |x| Some(f64::from(*x));
    u64: |x| Some(*x as f64);
    f64: |x| Some(*x);
    Time: |x| Some(x.0 as f64);
    Rate: |x| Some(x.0 as f64);
    Bytes: |x| Some(x.0 as f64);
    Size: |x| x.0.map(|bytes| bytes.0 as f64);
    Speed: |x| x.0.map(|rate| rate.0 as f64);
    Packets: |x| x.0.map(f64::from);
    Timeouts: |x| x.0.map(f64::from);
}
