//! Bounds of numbers: checked when a file is read, and said in its JSON Schema.

use linkpool_units::{Bytes, Rate, Time};
use schemars::Schema;

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
    /// A probability, or a share of something.
    pub const SHARE: Bounds = Bounds::from(0.0, "{} is no share; it goes from 0 to 1").to(1.0);
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

    fn holds(&self, number: f64) -> bool {
        let high = if self.above { number > self.least } else { number >= self.least };
        let low = if self.below { number < self.most } else { number <= self.most };
        high && low
    }
}

/// A limit that the values of a setting keep.
pub trait Limit<T> {
    /// What is wrong with `value`.
    fn wrong(&self, value: &T) -> Option<Wrong>;
    /// Says so in the schema of the setting, as far as a schema can.
    fn describe(&self, _schema: &mut Schema) {}
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The part of the value that is wrong, as a dotted path; none: the whole.
    pub at: Option<String>,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Wrong {
    /// An error of the part of a value at this dotted path.
    pub fn at(path: impl ToString, message: impl Into<String>) -> Wrong {
        Wrong { at: Some(path.to_string()), message: message.into() }
    }
}

impl<M: Into<String>> From<M> for Wrong {
    fn from(message: M) -> Wrong {
        Wrong { at: None, message: message.into() }
    }
}

impl<T: Quantity> Limit<T> for Bounds {
    fn wrong(&self, value: &T) -> Option<Wrong> {
        value.outside(self)
    }

    /// Quantities are strings in a schema, with their unit.
    fn describe(&self, schema: &mut Schema) {
        // Of an optional number, "null" is another of its types.
        let kinds = schema.get("type").map(|kind| kind.as_array().map_or(std::slice::from_ref(kind), Vec::as_slice));
        let kind = kinds.into_iter().flatten().filter_map(|kind| kind.as_str()).find(|kind| *kind != "null");
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

/// The number of elements of an array.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    least: usize,
    most: usize,
    message: &'static str,
}

impl Length {
    /// `least` or more, or else `message`.
    pub const fn from(least: usize, message: &'static str) -> Length {
        Length { least, most: usize::MAX, message }
    }

    /// Just so many, or else `message`.
    pub const fn of(length: usize, message: &'static str) -> Length {
        Length { least: length, most: length, message }
    }

    fn describe(&self, schema: &mut Schema) {
        schema.insert("minItems".to_string(), self.least.into());
        if self.most < usize::MAX {
            schema.insert("maxItems".to_string(), self.most.into());
        }
    }
}

impl<T> Limit<Vec<T>> for Length {
    fn wrong(&self, value: &Vec<T>) -> Option<Wrong> {
        (!(self.least..=self.most).contains(&value.len())).then(|| self.message.into())
    }

    fn describe(&self, schema: &mut Schema) {
        self.describe(schema);
    }
}

/// An even number, or else the message; `{}` stands for the number.
#[derive(Clone, Copy, Debug)]
pub struct Even(pub &'static str);

impl Limit<u32> for Even {
    fn wrong(&self, value: &u32) -> Option<Wrong> {
        (value % 2 == 1).then(|| self.0.replace("{}", &value.to_string()).into())
    }

    fn describe(&self, schema: &mut Schema) {
        schema.insert("multipleOf".to_string(), 2.into());
    }
}

/// A value that may have bounds.
pub trait Quantity {
    /// As a number, in the smallest unit; none if it has no limit.
    fn number(&self) -> Option<f64>;
    /// As a person writes it.
    fn text(&self) -> String;
    /// What is wrong with it, if these are its bounds.
    fn outside(&self, bounds: &Bounds) -> Option<Wrong> {
        let number = self.number()?;
        (!bounds.holds(number)).then(|| bounds.message.replace("{}", &self.text()).into())
    }
}

/// An array that is not given is of any length.
impl<T> Limit<Option<Vec<T>>> for Length {
    fn wrong(&self, value: &Option<Vec<T>>) -> Option<Wrong> {
        value.as_ref().and_then(|value| Limit::<Vec<T>>::wrong(self, value))
    }

    fn describe(&self, schema: &mut Schema) {
        self.describe(schema);
    }
}

/// What is not given is within any bounds.
impl<T: Quantity> Quantity for Option<T> {
    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }
    fn text(&self) -> String {
        self.as_ref().map_or(String::new(), Quantity::text)
    }
}

/// Each element has the bounds.
impl<T: Quantity> Quantity for Vec<T> {
    fn number(&self) -> Option<f64> {
        None
    }
    fn text(&self) -> String {
        String::new()
    }
    fn outside(&self, bounds: &Bounds) -> Option<Wrong> {
        let element = |(at, value): (usize, &T)| Some(Wrong { at: Some(at.to_string()), ..value.outside(bounds)? });
        self.iter().enumerate().find_map(element)
    }
}

/// Makes a type a quantity: its number, and its text as it is displayed.
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
}

pub(crate) use quantities;
