//! Numbers of tokens as a scenario writes them: a number, or a distribution.

use std::borrow::Cow;
use std::fmt;

use linkpool_engine::Stream;
use linkpool_settings::{Names, NoNames, Written, Wrong};
use rand::Rng;
use rand_distr::{Distribution, LogNormal};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many tokens a prompt or an answer has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tokens {
    /// Always as many.
    Constant(u32),
    /// Uniform over whole numbers, both ends included.
    Uniform(u32, u32),
    /// The logarithm is normal, and larger numbers are drawn again.
    LogNormal(LogNormalTokens),
}

/// A log-normal distribution of numbers of tokens.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormalTokens {
    /// Mean of the distribution without `max`.
    mean: u32,
    /// Standard deviation of the natural logarithm.
    #[schemars(range(min = 0))]
    sigma: f64,
    /// The largest number: larger ones are drawn again.
    max: u32,
}

/// Tokens as they are written.
#[derive(Clone, Debug)]
pub enum TokenCount {
    /// Always as many.
    One(u32),
    /// By a distribution.
    Drawn(TokenDistribution),
}

/// A distribution of numbers of tokens: exactly one of `uniform` and `lognormal`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenDistribution {
    /// From the first to the second, both included.
    #[schemars(length(min = 2, max = 2))]
    uniform: Option<Vec<u32>>,
    /// The logarithm is normal.
    lognormal: Option<LogNormalTokens>,
}

/// The most tokens of a prompt or an answer.
pub const MOST_TOKENS: u32 = 100_000_000;

impl Tokens {
    /// The number of one request, at least one.
    pub fn draw(&self, random: &mut Stream) -> u32 {
        match *self {
            Tokens::Constant(number) => number,
            Tokens::Uniform(min, max) => random.random_range(min..=max),
            Tokens::LogNormal(LogNormalTokens { mean, sigma, max }) => {
                let mu = f64::from(mean).ln() - sigma * sigma / 2.0;
                let drawn = LogNormal::new(mu, sigma).expect("sigma is checked");
                // The median is below the mean, which is at most `max`: half of the draws are
                // taken.
                let found = std::iter::repeat_with(|| drawn.sample(random).round()).find(|n| *n <= f64::from(max));
                found.map_or(1, |number| number.max(1.0) as u32)
            }
        }
    }

    /// The mean of what is drawn; none if it is not known.
    pub fn mean(&self) -> Option<f64> {
        match *self {
            Tokens::Constant(number) => Some(number.into()),
            Tokens::Uniform(min, max) => Some((f64::from(min) + f64::from(max)) / 2.0),
            Tokens::LogNormal(_) => None,
        }
    }

    /// About the mean.
    pub fn about(&self) -> f64 {
        match self {
            Tokens::LogNormal(LogNormalTokens { mean, .. }) => f64::from(*mean),
            other => other.mean().unwrap_or(1.0),
        }
    }

    /// Its name in results.
    pub fn name(&self) -> &'static str {
        match self {
            Tokens::Constant(_) => "constant",
            Tokens::Uniform(..) => "uniform",
            Tokens::LogNormal(_) => "lognormal",
        }
    }
}

impl Written<Tokens> for TokenCount {
    fn of(value: &Tokens) -> TokenCount {
        let none = TokenDistribution::default();
        match *value {
            Tokens::Constant(number) => TokenCount::One(number),
            Tokens::Uniform(min, max) => TokenCount::Drawn(TokenDistribution { uniform: Some(vec![min, max]), ..none }),
            Tokens::LogNormal(of) => TokenCount::Drawn(TokenDistribution { lognormal: Some(of), ..none }),
        }
    }

    fn value(self) -> Tokens {
        self.find(&NoNames).unwrap_or(Tokens::Constant(1))
    }

    fn find(self, _: &dyn Names) -> Result<Tokens, Vec<Wrong>> {
        let wrong = |at: &str, why: String| Err(vec![Wrong::at(at, why)]);
        let fits = |number: u32| (1..=MOST_TOKENS).contains(&number);
        match self {
            TokenCount::One(number) if fits(number) => Ok(Tokens::Constant(number)),
            TokenCount::One(number) => Err(vec![format!("{number}: must be from 1 to {MOST_TOKENS} tokens").into()]),
            TokenCount::Drawn(TokenDistribution { uniform: Some(ends), lognormal: None }) => match ends[..] {
                [min, max] if fits(min) && fits(max) && min <= max => Ok(Tokens::Uniform(min, max)),
                _ => wrong("uniform", format!("write the least and the greatest number, from 1 to {MOST_TOKENS}")),
            },
            TokenCount::Drawn(TokenDistribution { uniform: None, lognormal: Some(of) }) => {
                let LogNormalTokens { mean, sigma, max } = of;
                if !(0.0..=5.0).contains(&sigma) {
                    return wrong("lognormal.sigma", format!("{sigma}: must be from 0 to 5"));
                }
                if !fits(mean) || !fits(max) || mean > max {
                    return wrong("lognormal.max", format!("must be from `mean`, {mean}, to {MOST_TOKENS} tokens"));
                }
                Ok(Tokens::LogNormal(of))
            }
            TokenCount::Drawn(_) => Err(vec!["a distribution has exactly one of `uniform` and `lognormal`".into()]),
        }
    }
}

impl Serialize for TokenCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            TokenCount::One(number) => number.serialize(serializer),
            TokenCount::Drawn(distribution) => distribution.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TokenCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TokenCount, D::Error> {
        deserializer.deserialize_any(TokenCountVisitor)
    }
}

struct TokenCountVisitor;

impl<'de> Visitor<'de> for TokenCountVisitor {
    type Value = TokenCount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of tokens, such as 1024, or a distribution, such as { uniform = [64, 256] }")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<TokenCount, E> {
        u32::try_from(number).map(TokenCount::One).map_err(|_| E::custom(format!("{number} is no number of tokens")))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<TokenCount, E> {
        u32::try_from(number).map(TokenCount::One).map_err(|_| E::custom(format!("{number} is no number of tokens")))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TokenCount, A::Error> {
        TokenDistribution::deserialize(MapAccessDeserializer::new(map)).map(TokenCount::Drawn)
    }
}

impl JsonSchema for TokenCount {
    fn schema_name() -> Cow<'static, str> {
        "TokenCount".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = json_schema!({ "type": "integer", "minimum": 1, "maximum": MOST_TOKENS });
        json_schema!({
            "description": "A number of tokens, or a distribution.",
            "anyOf": [number, generator.subschema_for::<TokenDistribution>()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    #[test]
    fn means_are_those_of_what_is_drawn() {
        let wide = LogNormalTokens { mean: 1_000, sigma: 0.5, max: 1_000_000 };
        for (tokens, mean) in
            [(Tokens::Constant(7), 7.0), (Tokens::Uniform(64, 256), 160.0), (Tokens::LogNormal(wide), 1_000.0)]
        {
            let mut random = stream(1, "tokens", 0);
            let found = (0..200_000).map(|_| f64::from(tokens.draw(&mut random))).sum::<f64>() / 200_000.0;
            assert!((found / mean - 1.0).abs() < 0.01, "{tokens:?}: {found}");
            assert_eq!(tokens.about(), mean);
            assert!(tokens.mean().is_none_or(|of| of == mean));
        }
    }

    /// The logarithm of a log-normal number has the mean ln(mean) - sigma^2 / 2: half are below
    /// 1,000 / e^(1/8), 882.
    #[test]
    fn numbers_are_within_bounds() {
        let of = |sigma, max| Tokens::LogNormal(LogNormalTokens { mean: 1_000, sigma, max });
        let mut random = stream(2, "tokens", 0);
        let mut draw = |tokens: Tokens| (0..20_000).map(|_| tokens.draw(&mut random)).collect::<Vec<_>>();
        let drawn = draw(of(5.0, 1_000));
        assert!(drawn.iter().all(|n| (1..=1_000).contains(n)) && drawn.contains(&1));
        let below = draw(of(0.5, 100_000)).into_iter().filter(|n| *n <= 882).count();
        assert!((9_700..10_300).contains(&below), "{below}");
        let ends = draw(Tokens::Uniform(3, 5));
        assert!([3, 4, 5].iter().all(|n| ends.contains(n)) && ends.iter().all(|n| (3..=5).contains(n)));
    }
}
