//! Values that may be without limit.

use std::fmt;

use linkpool_units::{Bytes, Rate};
use schemars::{Schema, SchemaGenerator};

use crate::Written;
use crate::bounds::{Quantity, quantities};
use crate::mixed::{Form, Mixed, mixed, quantity};

/// Numbers that may be without limit: the type, the word for "without limit", and what the number
/// counts.
macro_rules! numbers {
    ($($name:ident, $endless:literal, $what:literal;)*) => {$(
        #[doc = concat!("A whole number of ", $what, ", or \"", $endless, "\".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(
            /// None: without limit.
            pub Option<u32>,
        );

        impl Mixed for $name {
            const NAME: &'static str = stringify!($name);
            const FORMS: &'static str = concat!("a whole number of ", $what, ", such as 3, or \"", $endless, "\"");
            const WORDS: &'static [(&'static str, $name)] = &[($endless, $name(None))];
            const NUMBERS: Option<(u32, u32)> = Some((1, u32::MAX));

            fn of_number(number: u32) -> Option<$name> {
                Some($name(Some(number)))
            }

            fn written(&self) -> Option<Form> {
                self.0.map(Form::Number)
            }
        }

        mixed!($name);
    )*};
}

numbers! {
    Timeouts, "never", "timeouts in a row";
    Packets, "unlimited", "packets";
    Messages, "unlimited", "messages";
}

/// Quantities that may be "unlimited": the type, the quantity, and what a file writes for it.
macro_rules! unlimited {
    ($($(#[doc = $doc:literal])+ $name:ident($quantity:ident), $form:literal;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(
            /// None: without limit.
            pub Option<$quantity>,
        );

        impl Mixed for $name {
            const NAME: &'static str = stringify!($name);
            const FORMS: &'static str = concat!($form, ", or \"unlimited\"");
            const WORDS: &'static [(&'static str, $name)] = &[("unlimited", $name(None))];

            fn of_text(text: &str) -> Option<Result<$name, String>> {
                Some(quantity(text)?.map(|limit| $name(Some(limit))))
            }

            fn written(&self) -> Option<Form> {
                self.0.map(Form::text)
            }

            fn text_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
                Some(generator.subschema_for::<$quantity>())
            }
        }

        mixed!($name);
    )*};
}

unlimited! {
    /// A rate, or "unlimited".
    Speed(Rate), "a rate with its unit, such as \"10Gbps\"";
    /// A size, or "unlimited".
    Size(Bytes), "a size with its unit, such as \"128KiB\"";
}

macro_rules! texts {
    ($($name:ident, $endless:literal;)*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match &self.0 {
                    Some(limit) => limit.fmt(f),
                    None => f.write_str($endless),
                }
            }
        }
    )*};
}

texts! {
    Size, "unlimited";
    Speed, "unlimited";
    Packets, "unlimited";
    Messages, "unlimited";
    Timeouts, "never";
}

/// The values in code of numbers that may be without limit: the largest number stands for "without
/// limit".
macro_rules! held_as {
    ($($form:ty => $type:ty: |$limit:ident| $held:expr, |$value:ident| $written:expr, $endless:expr;)*) => {$(
        impl Written<$type> for $form {
            fn of(value: &$type) -> $form {
                let $value = *value;
                Self(if $value == $endless { None } else { Some($written) })
            }
            fn value(self) -> $type {
                self.0.map_or($endless, |$limit| $held)
            }
        }
    )*};
}

held_as! {
    Size => u64: |bytes| bytes.0, |n| Bytes(n), u64::MAX;
    Packets => u32: |n| n, |n| n, u32::MAX;
    Packets => f64: |n| f64::from(n), |n| n as u32, f64::INFINITY;
    Messages => u32: |n| n, |n| n, u32::MAX;
    Timeouts => u32: |n| n, |n| n, u32::MAX;
}

impl Written<Option<Rate>> for Speed {
    fn of(value: &Option<Rate>) -> Speed {
        Speed(*value)
    }
    fn value(self) -> Option<Rate> {
        self.0
    }
}

/// Code that calculates with windows holds whole packets as `f64`.
impl Written<f64> for u32 {
    fn of(value: &f64) -> u32 {
        *value as u32
    }
    fn value(self) -> f64 {
        f64::from(self)
    }
}

impl Written<u64> for Bytes {
    fn of(value: &u64) -> Bytes {
        Bytes(*value)
    }
    fn value(self) -> u64 {
        self.0
    }
}

/// A number that does not fit becomes the largest one, which is larger than any packet; bounds
/// refuse it.
impl Written<u32> for Bytes {
    fn of(value: &u32) -> Bytes {
        Bytes((*value).into())
    }
    fn value(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

/// As for `u32`.
impl Written<u16> for Bytes {
    fn of(value: &u16) -> Bytes {
        Bytes((*value).into())
    }
    fn value(self) -> u16 {
        u16::try_from(self.0).unwrap_or(u16::MAX)
    }
}

quantities! {
    Size: |x| x.0.map(|bytes| bytes.0 as f64);
    Speed: |x| x.0.map(|rate| rate.0 as f64);
    Packets: |x| x.0.map(f64::from);
    Messages: |x| x.0.map(f64::from);
    Timeouts: |x| x.0.map(f64::from);
}
