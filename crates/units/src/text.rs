//! Quantities as text: a decimal number, at most one space, a unit.

use std::fmt;

use crate::{Bytes, Rate, Time};

/// A unit and how many of the smallest one it is.
struct Unit {
    name: &'static str,
    scale: u64,
}

/// The notation of one kind of quantity.
pub(crate) struct Family {
    /// With its article, as an error says it.
    what: &'static str,
    /// The unit of zero, which needs no prefix.
    zero: &'static str,
    /// Some of them, well written.
    pub(crate) examples: &'static [&'static str],
    /// From the smallest, whose scale is 1, to the largest.
    units: &'static [Unit],
    /// The largest that may be written, in the smallest unit, and its text.
    most: (u64, &'static str),
}

pub(crate) const TIME: Family = Family {
    what: "a time",
    zero: "s",
    examples: &["5.6us", "200ms", "20s"],
    units: &[
        Unit { name: "ps", scale: 1 },
        Unit { name: "ns", scale: 1_000 },
        Unit { name: "us", scale: 1_000_000 },
        Unit { name: "ms", scale: 1_000_000_000 },
        Unit { name: "s", scale: 1_000_000_000_000 },
    ],
    most: (Time::LONGEST.0, "1000000s"),
};

pub(crate) const RATE: Family = Family {
    what: "a rate",
    zero: "bps",
    examples: &["10Gbps", "2.2Mbps"],
    units: &[
        Unit { name: "bps", scale: 1 },
        Unit { name: "kbps", scale: 1_000 },
        Unit { name: "Mbps", scale: 1_000_000 },
        Unit { name: "Gbps", scale: 1_000_000_000 },
        Unit { name: "Tbps", scale: 1_000_000_000_000 },
    ],
    most: (Rate::LARGEST.0, "100Tbps"),
};

pub(crate) const SIZE: Family = Family {
    what: "a size",
    zero: "B",
    examples: &["128KiB", "70KB", "1500B"],
    units: &[
        Unit { name: "B", scale: 1 },
        Unit { name: "KB", scale: 1_000 },
        Unit { name: "KiB", scale: 1 << 10 },
        Unit { name: "MB", scale: 1_000_000 },
        Unit { name: "MiB", scale: 1 << 20 },
        Unit { name: "GB", scale: 1_000_000_000 },
        Unit { name: "GiB", scale: 1 << 30 },
        Unit { name: "TB", scale: 1_000_000_000_000 },
        Unit { name: "TiB", scale: 1 << 40 },
    ],
    most: (Bytes::LARGEST.0, "1000000TB"),
};

const FAMILIES: [&Family; 3] = [&TIME, &RATE, &SIZE];

/// Why a text is not the expected quantity, and which text would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuantityError(String);

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseQuantityError {}

impl Family {
    /// The expected text, for an error: `a rate with its unit, such as "10Gbps"`.
    pub(crate) fn expected(&self) -> String {
        format!("{} with its unit, such as {:?}", self.what, self.examples[0])
    }

    /// A regular expression for the texts that [`Family::parse`] accepts, except for precision and
    /// range.
    pub(crate) fn pattern(&self) -> String {
        let units: Vec<_> = self.units.iter().map(|unit| unit.name).collect();
        format!("^[0-9]+(\\.[0-9]+)? ?({})$", units.join("|"))
    }

    pub(crate) fn parse(&self, text: &str) -> Result<u64, ParseQuantityError> {
        let error = |why: String| ParseQuantityError(format!("{text:?}: {why}"));
        if text.starts_with('-') {
            return Err(error(format!("{} cannot be negative", self.what)));
        }
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        if !is_decimal(number) {
            return Err(error(format!("expected {}", self.expected())));
        }
        let name = unit.strip_prefix(' ').unwrap_or(unit);
        let Some(unit) = self.units.iter().find(|unit| unit.name == name) else {
            return Err(error(self.remedy(number, name)));
        };
        let (most, text_of_most) = self.most;
        let value = multiply(number, unit.scale);
        let value = value.and_then(|value| if value <= most { Ok(value) } else { Err(Fault::TooLarge) });
        value.map_err(|fault| match fault {
            Fault::TooLarge => error(format!("too large; {} is at most {text_of_most}", self.what)),
            Fault::TooPrecise => {
                error(format!("too precise; {} is a whole number of {}", self.what, self.units[0].name))
            }
        })
    }

    /// The text to write in place of `number` with the unknown unit `name`.
    fn remedy(&self, number: &str, name: &str) -> String {
        let Family { what, examples, units, .. } = self;
        if name.is_empty() {
            return format!("the unit is missing; expected {}", self.expected());
        }
        if let Some(bits) = self.in_bits(number, name) {
            return format!("{name:?} are bytes a second, and rates are in bits; write {bits:?}");
        }
        // The micro sign, and the Greek letter.
        let plain = name.trim().replace(['\u{b5}', '\u{3bc}'], "u");
        if let Some(unit) = units.iter().find(|unit| unit.name.eq_ignore_ascii_case(&plain)) {
            return format!("write \"{number}{}\"", unit.name);
        }
        let unknown = match FAMILIES.iter().find(|family| family.units.iter().any(|unit| unit.name == name)) {
            Some(family) => format!("{name} is {}", family.what),
            None => format!("{name:?} is no unit of {what}"),
        };
        match units.iter().find(|unit| same_prefix(unit.name, name)) {
            Some(unit) => format!("{unknown}; write \"{number}{}\"", unit.name),
            None => {
                let names: Vec<_> = units.iter().map(|unit| unit.name).collect();
                format!("{unknown}; units are {}, as in {:?}", names.join(", "), examples[0])
            }
        }
    }

    /// The rate of `number` bytes a second, if `name` is a unit of these, as GB/s and GBps are.
    fn in_bits(&self, number: &str, name: &str) -> Option<String> {
        let prefix = ["B/s", "Bps"].iter().find_map(|per_second| name.strip_suffix(per_second))?;
        let unit = self.units.iter().find(|unit| unit.name.eq_ignore_ascii_case(&format!("{prefix}bps")))?;
        Some(self.format(multiply(number, unit.scale).ok()?.checked_mul(8)?))
    }

    /// The shortest exact text that has no leading zero; of two of one length, that with the
    /// smaller unit ("1500B", not "1.5KB").
    pub(crate) fn format(&self, value: u64) -> String {
        if value == 0 {
            return format!("0{}", self.zero);
        }
        let texts = self.units.iter().filter(|unit| unit.scale <= value).map(|unit| unit.write(value));
        texts.min_by_key(String::len).expect("the smallest unit fits every value but zero")
    }
}

impl Unit {
    fn write(&self, value: u64) -> String {
        let (whole, mut rest) = (value / self.scale, value % self.scale);
        let mut text = whole.to_string();
        if rest > 0 {
            text.push('.');
        }
        // Ends, as every scale divides a power of ten.
        while rest > 0 {
            let tenfold = u128::from(rest) * 10;
            text.push(char::from(b'0' + (tenfold / u128::from(self.scale)) as u8));
            rest = (tenfold % u128::from(self.scale)) as u64;
        }
        text + self.name
    }
}

/// Do two unit names start with the same letter of scale, as GB and Gbps do?
fn same_prefix(a: &str, b: &str) -> bool {
    let prefix = |name: &str| name.chars().next().filter(|c| "kKMGT".contains(*c)).map(|c| c.to_ascii_lowercase());
    prefix(a).is_some() && prefix(a) == prefix(b)
}

/// Digits, or digits with a point and digits behind them.
fn is_decimal(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(text),
    }
}

enum Fault {
    TooLarge,
    TooPrecise,
}

/// The decimal `number` times `scale`, if that is a whole number and fits.
fn multiply(number: &str, scale: u64) -> Result<u64, Fault> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    // More places than this would overflow below; they are far beyond the smallest unit.
    if fraction.len() > 25 {
        return Err(Fault::TooPrecise);
    }
    let whole: u64 = whole.parse().map_err(|_| Fault::TooLarge)?;
    let fraction_digits: u128 =
        if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| Fault::TooPrecise)? };
    let scaled = fraction_digits * u128::from(scale);
    let places = 10u128.pow(fraction.len() as u32);
    if !scaled.is_multiple_of(places) {
        return Err(Fault::TooPrecise);
    }
    let value = u128::from(whole) * u128::from(scale) + scaled / places;
    u64::try_from(value).map_err(|_| Fault::TooLarge)
}

macro_rules! as_text {
    ($quantity:ident, $family:expr) => {
        impl std::str::FromStr for $quantity {
            type Err = ParseQuantityError;
            fn from_str(text: &str) -> Result<$quantity, ParseQuantityError> {
                $family.parse(text).map($quantity)
            }
        }

        impl fmt::Display for $quantity {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&$family.format(self.0))
            }
        }
    };
}

as_text!(Time, TIME);
as_text!(Rate, RATE);
as_text!(Bytes, SIZE);
