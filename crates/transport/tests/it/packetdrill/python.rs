//! The assertions of a script, which are in Python: comparisons of a field of the kernel's `struct
//! tcp_info` with a number, and numbers that have a name.

use super::parse::Wrong;
use std::collections::HashMap;

/// Numbers that have a name.
pub type Names = HashMap<String, u64>;

/// Linux's value of an unlimited slow-start threshold.
const UNLIMITED: u64 = 0x7fff_ffff;

/// What the assertions of a block mean in our script language.
#[derive(Debug, Default, PartialEq)]
pub struct Checks {
    /// Pairs of a state's name and its value.
    pub pairs: Vec<String>,
    /// The fields that have no counterpart.
    pub left_out: Vec<String>,
}

/// Translates a block of Python.
pub fn translate(block: &[(usize, String)], names: &mut Names) -> Result<Checks, Wrong> {
    let mut checks = Checks::default();
    for (line, text) in block {
        let code = text.split('#').next().unwrap_or("");
        for statement in code.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
            if let Some(assertion) = statement.strip_prefix("assert ") {
                assert_field(*line, assertion, names, &mut checks)?;
            } else if !statement.starts_with("print(") {
                assign(*line, statement, names)?;
            }
        }
    }
    Ok(checks)
}

/// `tcpi_snd_cwnd == 10, MESSAGE`
fn assert_field(line: usize, text: &str, names: &Names, checks: &mut Checks) -> Result<(), Wrong> {
    let comparison = text.split(',').next().unwrap_or("");
    let Some((field, value)) = comparison.split_once("==") else {
        return Wrong::at(line, format!("the assertion `{comparison}`"));
    };
    let (field, value) = (field.trim(), value.trim());
    if field == "tcpi_ca_state" {
        let phase = match value {
            "TCP_CA_Open" => "open",
            "TCP_CA_Disorder" => "disorder",
            "TCP_CA_Recovery" => "recovery",
            _ => return Wrong::at(line, format!("the state `{value}`")),
        };
        checks.pairs.push(format!("phase {phase}"));
        return Ok(());
    }
    let value = number(line, value, names)?;
    let name = match field {
        "tcpi_snd_cwnd" => "window",
        "tcpi_snd_ssthresh" => "threshold",
        "tcpi_unacked" => "outstanding",
        "tcpi_sacked" => "sacked",
        "tcpi_lost" => "lost",
        "tcpi_retrans" => "resent",
        "tcpi_reordering" | "tcpi_reord_seen" => {
            checks.left_out.push(field.into());
            return Ok(());
        }
        _ => return Wrong::at(line, format!("the field `{field}`")),
    };
    let unlimited = name == "threshold" && value == UNLIMITED;
    checks.pairs.push(if unlimited { format!("{name} inf") } else { format!("{name} {value}") });
    Ok(())
}

/// `cwnd = 58` or `cwnd += 1`
fn assign(line: usize, statement: &str, names: &mut Names) -> Result<(), Wrong> {
    let Some((name, value)) = statement.split_once('=') else {
        return Wrong::at(line, format!("the statement `{statement}`"));
    };
    let value = number(line, value.trim(), names)?;
    let (name, before) = match name.trim().strip_suffix('+').map(str::trim) {
        Some(name) => (name, number(line, name, names)?),
        None => (name.trim(), 0),
    };
    names.insert(name.into(), before + value);
    Ok(())
}

fn number(line: usize, text: &str, names: &Names) -> Result<u64, Wrong> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match parsed.or_else(|| names.get(text).copied()) {
        Some(number) => Ok(number),
        None => Wrong::at(line, format!("the value `{text}`")),
    }
}
