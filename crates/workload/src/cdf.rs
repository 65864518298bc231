//! Distributions of flow sizes by tables, among them the published ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How sizes between two points of a table are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Sizes are uniform between the two.
    Linear,
    /// Only the sizes of the points; a draw between two points gives the upper one.
    Stair,
}

impl Interpolation {
    /// As scenarios and results write it.
    pub fn name(self) -> &'static str {
        match self {
            Interpolation::Linear => "linear",
            Interpolation::Stair => "stair",
        }
    }
}

/// A cumulative distribution of flow sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Cdf {
    /// Its name in results.
    pub name: String,
    /// Size in bytes and the probability of at most this; both never fall, and the last probability
    /// is 1.
    points: Vec<(f64, f64)>,
}

/// The published tables; each file names its source.
const TABLES: [(&str, &str); 9] = [
    ("alistorage_hpcc", include_str!("../data/alistorage_hpcc.txt")),
    ("datamining_mqecn", include_str!("../data/datamining_mqecn.txt")),
    ("datamining_opera", include_str!("../data/datamining_opera.txt")),
    ("datamining_vl2", include_str!("../data/datamining_vl2.txt")),
    ("fb_hadoop_all_homa", include_str!("../data/fb_hadoop_all_homa.txt")),
    ("fb_hadoop_hpcc", include_str!("../data/fb_hadoop_hpcc.txt")),
    ("fb_kv", include_str!("../data/fb_kv.txt")),
    ("websearch_dctcp", include_str!("../data/websearch_dctcp.txt")),
    ("websearch_opera", include_str!("../data/websearch_opera.txt")),
];

impl Cdf {
    /// The published tables' names.
    pub const NAMES: [&str; TABLES.len()] = {
        let mut names = [""; TABLES.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = TABLES[i].0;
            i += 1;
        }
        names
    };

    /// The published table called `name`.
    pub fn named(name: &str) -> Option<Cdf> {
        let (_, text) = TABLES.iter().find(|(known, _)| *known == name)?;
        Some(Cdf::parse(name, text).unwrap_or_else(|(line, why)| unreachable!("{name}:{line}: {why}")))
    }

    /// Reads a table of lines `BYTES PROBABILITY`, with comments after `#`. An error is the number
    /// of the line, from 1, and a message.
    pub fn parse(name: &str, text: &str) -> Result<Cdf, (usize, String)> {
        let mut points = Vec::new();
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let content = line.split('#').next().unwrap_or_default();
            let fields: Vec<&str> = content.split_whitespace().collect();
            let numbers: Vec<f64> = fields.iter().filter_map(|field| field.parse().ok()).collect();
            match (fields.len(), &numbers[..]) {
                (0, _) => continue,
                (2, [size, probability]) => points.push((*size, *probability)),
                // The message does not quote the line: the file may be of another format.
                _ => return Err((number, "is no size in bytes and probability, two numbers".to_string())),
            }
            lines.push(number);
        }
        let last = lines.last().copied().unwrap_or(1);
        Cdf::new(name, points).map_err(|(point, why)| (lines.get(point).copied().unwrap_or(last), why))
    }

    /// The table of these points. An error is the number of the point, from 0, and a message.
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Result<Cdf, (usize, String)> {
        let mut before = (0.0, 0.0);
        for (i, (size, probability)) in points.iter().copied().enumerate() {
            if !(size >= 0.0 && size.is_finite()) {
                return Err((i, format!("{size} is no size")));
            }
            if !(0.0..=1.0).contains(&probability) {
                return Err((i, format!("{probability} is no probability; they go from 0 to 1")));
            }
            for (what, now, before) in [("size", size, before.0), ("probability", probability, before.1)] {
                if now < before {
                    return Err((
                        i,
                        format!("the {what} {now} is below the one before it, {before}; a table never falls"),
                    ));
                }
            }
            before = (size, probability);
        }
        let last = points.len().saturating_sub(1);
        match points.last() {
            None => Err((0, "an empty table".to_string())),
            Some((_, end)) if *end != 1.0 => Err((last, format!("a table ends at probability 1, not {end}"))),
            Some((size, _)) if *size < 1.0 => Err((last, "no flow carries a byte".to_string())),
            Some(_) => Ok(Cdf { name: name.to_string(), points }),
        }
    }

    /// Sizes in bytes and the probabilities of at most these.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The size below which a flow is with probability `p`. Below the first point, all sizes are
    /// that point's.
    pub fn quantile(&self, p: f64, interpolation: Interpolation) -> f64 {
        // The last point is at probability 1.
        let upper = self.points.partition_point(|(_, at)| *at < p);
        let (size, at) = self.points[upper];
        match upper.checked_sub(1).map(|lower| self.points[lower]) {
            Some((lower, from)) if interpolation == Interpolation::Linear => {
                lower + (size - lower) * ((p - from) / (at - from)).clamp(0.0, 1.0)
            }
            _ => size,
        }
    }

    /// The mean size, bytes.
    pub fn mean(&self, interpolation: Interpolation) -> f64 {
        let (first, atom) = self.points[0];
        let steps = self.points.windows(2).map(|pair| {
            let [(lower, from), (upper, to)] = [pair[0], pair[1]];
            let middle = if interpolation == Interpolation::Linear { (lower + upper) / 2.0 } else { upper };
            (to - from) * middle
        });
        first * atom + steps.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means as the tables' own sources or collections of them state.
    #[test]
    fn published_tables_have_their_means() {
        for (name, linear, stair) in [
            ("alistorage_hpcc", 40_870.0, 67_050.0),
            ("datamining_mqecn", 7_470_236.0, 13_821_966.0),
            ("datamining_opera", 5_036_535.0, 7_861_995.0),
            ("datamining_vl2", 12_658_199.0, 23_199_799.0),
            ("fb_hadoop_all_homa", 134_854.0, 194_331.0),
            ("fb_hadoop_hpcc", 120_421.0, 183_897.0),
            ("fb_kv", 342.0, 457.0),
            ("websearch_dctcp", 1_711_250.0, 2_434_900.0),
            ("websearch_opera", 1_490_033.0, 1_875_928.0),
        ] {
            let table = Cdf::named(name).unwrap();
            for (interpolation, mean) in [(Interpolation::Linear, linear), (Interpolation::Stair, stair)] {
                assert!((table.mean(interpolation) - mean).abs() <= 1.0, "{name}: {}", table.mean(interpolation));
            }
        }
    }

    #[test]
    fn quantiles_lie_on_the_table() {
        let table = Cdf::parse("t", "0 0\n100 0.5 # half\n\n300 1\n").unwrap();
        assert_eq!(table.points(), [(0.0, 0.0), (100.0, 0.5), (300.0, 1.0)]);
        for (p, linear, stair) in
            [(0.0, 0.0, 0.0), (0.25, 50.0, 100.0), (0.5, 100.0, 100.0), (0.75, 200.0, 300.0), (1.0, 300.0, 300.0)]
        {
            assert_eq!(table.quantile(p, Interpolation::Linear), linear);
            assert_eq!(table.quantile(p, Interpolation::Stair), stair);
        }
    }

    #[test]
    fn tables_that_are_none_are_refused_at_their_line() {
        for (text, line, why) in [
            ("", 1, "empty"),
            ("0 0\n\n10 0.5\n5 1", 4, "size 5 is below"),
            ("0 0\n10 0.5\n20 0.4\n30 1", 3, "probability 0.4 is below"),
            ("# x\n0 0\n10 0.9", 3, "ends at probability 1"),
            ("0 0\n10 90\n20 100", 2, "from 0 to 1"),
            ("0 0\n10 ten\n20 1", 2, "is no size in bytes"),
            ("0 0\n10\n20 1", 2, "is no size in bytes"),
            ("0 0\n0 1", 2, "carries a byte"),
            ("-1 0\n10 1", 1, "is no size"),
            ("0 nan\n10 1", 1, "is no probability"),
        ] {
            let (at, message) = Cdf::parse("t", text).unwrap_err();
            assert!(at == line && message.contains(why), "{text:?}: {at}: {message}");
        }
    }
}
