//! Limits of the values of settings. They are checked when a file is read, and stand in its JSON
//! Schema.

use linkpool_units::{Bytes, Rate, Time};
use schemars::Schema;

/// The least and the greatest value of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    least: f64,
    /// Must the value be above `least`? Otherwise it may be equal.
    above: bool,
    most: f64,
    /// Must the value be below `most`? Otherwise it may be equal.
    below: bool,
    /// The message for a value outside; `{}` stands for the value.
    message: &'static str,
}

impl Bounds {
    /// Above zero.
    pub const POSITIVE: Bounds = Bounds::above(0.0, "must be above zero");
    /// Above zero, or "unlimited".
    pub const POSITIVE_OR_UNLIMITED: Bounds = Bounds::above(0.0, "must be above zero, or \"unlimited\"");
    /// Above zero, or "never".
    pub const POSITIVE_OR_NEVER: Bounds = Bounds::above(0.0, "must be above zero, or \"never\"");
    /// A probability, or a share of a whole.
    pub const SHARE: Bounds = Bounds::from(0.0, "{} is no share; it goes from 0 to 1").to(1.0);
    /// The gain of an average.
    pub const GAIN: Bounds = Bounds::above(0.0, "{} is no gain; it is above 0 and at most 1").to(1.0);
    /// The longest time in a scenario. Sums of several such times still fit into [`Time`].
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

    /// Adds the greatest value, `most`.
    pub const fn to(self, most: f64) -> Bounds {
        Bounds { most, below: false, ..self }
    }

    /// Adds the bound that the value must be less than `most`.
    pub const fn below(self, most: f64) -> Bounds {
        Bounds { most, below: true, ..self }
    }

    fn holds(&self, number: f64) -> bool {
        let high = if self.above { number > self.least } else { number >= self.least };
        let low = if self.below { number < self.most } else { number <= self.most };
        high && low
    }
}

/// A limit on the values of a setting.
pub trait Limit<T> {
    /// The error of `value`, if it is outside.
    fn wrong(&self, value: &T) -> Option<Wrong>;
    /// Adds the limit to the schema of the setting, as far as a schema can express it.
    fn describe(&self, _schema: &mut Schema) {}
}

/// The error of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The part of the value that is wrong, as a dotted path; `None`: the whole value.
    pub at: Option<String>,
    /// The error, and the remedy.
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
        // An optional number has the types of the number and "null".
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

    /// Exactly `length` elements, or else `message`.
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
    /// The value as a number in the smallest unit; `None` if it is without limit.
    fn number(&self) -> Option<f64>;
    /// The value as a file writes it.
    fn text(&self) -> String;
    /// The error of the value if it is outside `bounds`.
    fn outside(&self, bounds: &Bounds) -> Option<Wrong> {
        let number = self.number()?;
        (!bounds.holds(number)).then(|| bounds.message.replace("{}", &self.text()).into())
    }
}

/// An array that a file leaves out may have any length.
impl<T> Limit<Option<Vec<T>>> for Length {
    fn wrong(&self, value: &Option<Vec<T>>) -> Option<Wrong> {
        value.as_ref().and_then(|value| Limit::<Vec<T>>::wrong(self, value))
    }

    fn describe(&self, schema: &mut Schema) {
        self.describe(schema);
    }
}

/// A value that a file leaves out is within any bounds.
impl<T: Quantity> Quantity for Option<T> {
    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }
    fn text(&self) -> String {
        self.as_ref().map_or(String::new(), Quantity::text)
    }
    fn outside(&self, bounds: &Bounds) -> Option<Wrong> {
        self.as_ref()?.outside(bounds)
    }
}

/// Each element must be within the bounds.
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

/// Implements [`Quantity`] for a type: its number, and its text as it is displayed.
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
