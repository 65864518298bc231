//! Parameters as people write them, and as the programs hold them.

use crate::algorithm::Algorithm;
use crate::intf::{Params, fixed, real};
use anyhow::{Result, bail, ensure};

/// Parameters that are given; all others stay as they are.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Settings {
    pub beta: Option<f64>,
    pub cwnd_min: Option<u32>,
    pub gamma: Option<u32>,
    pub tau: Option<u32>,
    pub suppression: Option<bool>,
    pub release: Option<String>,
    pub ack_order: Option<String>,
    pub alpha0: Option<f64>,
    pub g: Option<f64>,
    pub ssthresh_after_cut: Option<String>,
    pub ewtcp_increase: Option<String>,
    pub observe: Option<bool>,
    pub join_bytes: Option<u64>,
}

/// The defaults: those of the simulator's `linux` preset.
pub fn defaults() -> Params {
    Params {
        beta: fixed(4.0),
        alpha0: fixed(1.0),
        g: fixed(0.0625),
        join_bytes: 0,
        cwnd_min: 2,
        gamma: 2,
        tau: 8,
        suppression: 1,
        release: 0,
        ack_order: 1,
        ssthresh_below: 0,
        ewtcp_increase: 0,
        observe: 0,
        unused: [0; 6],
    }
}

const RELEASES: [&str; 2] = ["rounds", "acks"];
const ACK_ORDERS: [&str; 2] = ["grow-then-cut", "cut-instead-of-growth"];
const SSTHRESHES: [&str; 2] = ["w", "w-1"];
const EWTCP_INCREASES: [&str; 2] = ["1/n^2", "1/sqrt(n)"];

impl Settings {
    /// Puts what is given into `params`. Errors: a parameter that the algorithm does not have, or a
    /// value out of bounds.
    pub fn apply(&self, algorithm: &Algorithm, params: &mut Params) -> Result<()> {
        for (name, given) in self.given() {
            if given && !algorithm.parameters.contains(&name) {
                let has = match algorithm.parameters {
                    [] => "it has none".to_owned(),
                    all => format!("its parameters: {}", all.join(", ")),
                };
                bail!("{} has no parameter `{name}`; {has}", algorithm.name);
            }
        }
        if let Some(beta) = self.beta {
            ensure!((1.0..=1e6).contains(&beta), "beta = {beta}: a mark cuts the window by 1/beta, so 1 to 1000000");
            params.beta = fixed(beta);
        }
        for (value, name, to, most) in [
            (self.cwnd_min, "cwnd-min", &mut params.cwnd_min, 1 << 19),
            (self.gamma, "gamma", &mut params.gamma, u32::MAX),
            (self.tau, "tau", &mut params.tau, u32::MAX),
        ] {
            if let Some(value) = value {
                ensure!((1..=most).contains(&value), "{name} = {value}: a whole number from 1 to {most}");
                *to = value;
            }
        }
        for (value, name, to) in [(self.alpha0, "alpha0", &mut params.alpha0), (self.g, "g", &mut params.g)] {
            if let Some(value) = value {
                ensure!((0.0..=1.0).contains(&value), "{name} = {value}: a fraction, 0 to 1");
                *to = fixed(value);
            }
        }
        choose("release", &self.release, &RELEASES, &mut params.release)?;
        choose("ack-order", &self.ack_order, &ACK_ORDERS, &mut params.ack_order)?;
        choose("ssthresh-after-cut", &self.ssthresh_after_cut, &SSTHRESHES, &mut params.ssthresh_below)?;
        choose("ewtcp-increase", &self.ewtcp_increase, &EWTCP_INCREASES, &mut params.ewtcp_increase)?;
        params.suppression = self.suppression.map_or(params.suppression, u8::from);
        params.observe = self.observe.map_or(params.observe, u8::from);
        params.join_bytes = self.join_bytes.unwrap_or(params.join_bytes);
        Ok(())
    }

    fn given(&self) -> [(&'static str, bool); 11] {
        [
            ("beta", self.beta.is_some()),
            ("cwnd-min", self.cwnd_min.is_some()),
            ("gamma", self.gamma.is_some()),
            ("tau", self.tau.is_some()),
            ("suppression", self.suppression.is_some()),
            ("release", self.release.is_some()),
            ("ack-order", self.ack_order.is_some()),
            ("alpha0", self.alpha0.is_some()),
            ("g", self.g.is_some()),
            ("ssthresh-after-cut", self.ssthresh_after_cut.is_some()),
            ("ewtcp-increase", self.ewtcp_increase.is_some()),
        ]
    }
}

fn choose(name: &str, value: &Option<String>, names: &[&str], to: &mut u8) -> Result<()> {
    if let Some(value) = value {
        match names.iter().position(|known| known == value) {
            Some(at) => *to = at as u8,
            None => bail!("{name} = {value}: one of {}", names.join(", ")),
        }
    }
    Ok(())
}

/// The parameters of an algorithm in words, as the command line takes them.
pub fn describe(algorithm: &Algorithm, params: &Params) -> String {
    let value = |name: &str| match name {
        "beta" => real(params.beta).to_string(),
        "cwnd-min" => params.cwnd_min.to_string(),
        "gamma" => params.gamma.to_string(),
        "tau" => params.tau.to_string(),
        "suppression" => (params.suppression != 0).to_string(),
        "release" => RELEASES[usize::from(params.release & 1)].to_owned(),
        "ack-order" => ACK_ORDERS[usize::from(params.ack_order & 1)].to_owned(),
        "alpha0" => real(params.alpha0).to_string(),
        "g" => real(params.g).to_string(),
        "ssthresh-after-cut" => SSTHRESHES[usize::from(params.ssthresh_below & 1)].to_owned(),
        "ewtcp-increase" => EWTCP_INCREASES[usize::from(params.ewtcp_increase & 1)].to_owned(),
        other => unreachable!("parameter {other}"),
    };
    algorithm.parameters.iter().map(|name| format!("--{name} {}", value(name))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::ALL;

    #[test]
    fn a_parameter_of_another_algorithm_is_refused() {
        let lia = Algorithm::named("lia").unwrap();
        let error = Settings { beta: Some(4.0), ..Settings::default() }.apply(&lia, &mut defaults()).unwrap_err();
        assert_eq!(error.to_string(), "lia has no parameter `beta`; it has none");
    }

    #[test]
    fn values_out_of_bounds_are_refused() {
        let amp = Algorithm::named("amp").unwrap();
        for bad in [
            Settings { beta: Some(0.5), ..Settings::default() },
            Settings { beta: Some(f64::NAN), ..Settings::default() },
            Settings { cwnd_min: Some(0), ..Settings::default() },
            Settings { tau: Some(0), ..Settings::default() },
            Settings { release: Some("never".to_owned()), ..Settings::default() },
        ] {
            assert!(bad.apply(&amp, &mut defaults()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_given_is_shown() {
        let amp = Algorithm::named("amp").unwrap();
        let mut params = defaults();
        let given = Settings { beta: Some(2.5), tau: Some(5), release: Some("acks".to_owned()), ..Settings::default() };
        given.apply(&amp, &mut params).unwrap();
        assert_eq!(
            describe(&amp, &params),
            "--beta 2.5 --cwnd-min 2 --ack-order cut-instead-of-growth --gamma 2 --tau 5 --suppression true --release acks"
        );
    }

    #[test]
    fn each_algorithm_can_describe_itself() {
        for algorithm in ALL {
            assert_eq!(describe(algorithm, &defaults()).matches("--").count(), algorithm.parameters.len());
        }
    }
}
