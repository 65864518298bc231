//! Resolves sizes: constants, distributions and tables.

use std::sync::Arc;

use linkpool_units::Bytes;
use linkpool_workload::{Cdf, Sizes};

use super::included;
use super::section::Section;
use crate::file::{CdfSource, DistributionTable, FlowSize, ParetoTable, Size};
use crate::names::closest;

/// The distribution of the size at `key`, if it is not unlimited.
pub(super) fn resolve(key: &str, size: FlowSize, section: &mut Section<'_, '_>) -> Option<Sizes> {
    match size {
        FlowSize::One(Size(bytes)) => {
            let bytes = bytes?;
            section.check(bytes != Bytes(0), key, "must be above zero: a flow carries at least \"1B\"");
            (bytes != Bytes(0)).then_some(Sizes::Constant(bytes.0))
        }
        FlowSize::Drawn(table) => drawn(key, *table, section),
    }
}

fn drawn(key: &str, table: DistributionTable, section: &mut Section<'_, '_>) -> Option<Sizes> {
    if table.cdf.is_none() {
        for (part, given) in [
            ("interpolation", table.interpolation.is_some()),
            ("name", table.name.is_some()),
            ("mean", table.mean.is_some()),
        ] {
            section.check(!given, &at(key, part), "says something about `cdf`, which is not given; leave it out");
        }
    }
    match (table.uniform, table.pareto, table.cdf) {
        (Some(ends), None, None) => uniform(key, &ends, section),
        (None, Some(table), None) => pareto(key, &table, section),
        (None, None, Some(source)) => {
            let interpolation = table.interpolation;
            if interpolation.is_none() {
                let why = "missing, and it changes the load by up to a half; write \"linear\" or \"stair\"";
                section.error(&at(key, "interpolation"), why);
            }
            let stated = table.mean;
            let table = Arc::new(cdf(key, source, table.name, section)?);
            let sizes = Sizes::Cdf { table, interpolation: interpolation?.interpolation() };
            if let Some(Bytes(stated)) = stated {
                let mean = sizes.mean();
                let message = format!("{stated}B is not the mean of this table with this interpolation, {mean:.0}B");
                section.check((stated as f64 - mean).abs() <= 0.01 * mean + 1.0, &at(key, "mean"), message);
            }
            Some(sizes)
        }
        _ => {
            section.error(key, "a distribution has exactly one of `uniform`, `pareto` and `cdf`");
            None
        }
    }
}

fn uniform(key: &str, ends: &[Bytes], section: &mut Section<'_, '_>) -> Option<Sizes> {
    let [Bytes(min), Bytes(max)] = *ends else {
        section.error(&at(key, "uniform"), "write the smallest and the largest, such as [\"1KB\", \"1MB\"]");
        return None;
    };
    let good = 0 < min && min <= max;
    section.check(good, &at(key, "uniform"), "the smallest must be at least \"1B\", and the largest not smaller");
    good.then_some(Sizes::Uniform { min, max })
}

fn pareto(key: &str, table: &ParetoTable, section: &mut Section<'_, '_>) -> Option<Sizes> {
    let ParetoTable { shape, mean: Bytes(mean), max } = *table;
    if !(shape > 1.0 && shape.is_finite()) {
        section.error(&at(key, "pareto.shape"), format!("{shape}: a Pareto distribution has a mean only above 1"));
        return None;
    }
    let least = mean as f64 * (shape - 1.0) / shape;
    section.check(least >= 1.0, &at(key, "pareto.mean"), "the smallest flows would carry less than a byte; raise it");
    let max = max.map(|Bytes(max)| max);
    let message = format!("must be above the smallest size, {least:.0}B with this mean and shape");
    section.check(max.is_none_or(|max| max as f64 > least), &at(key, "pareto.max"), message);
    section.is_good().then_some(Sizes::Pareto { shape, mean: mean as f64, max })
}

/// A published table, one from a file, or one written out.
fn cdf(key: &str, source: CdfSource, name: Option<String>, section: &mut Section<'_, '_>) -> Option<Cdf> {
    let (given, text) = match source {
        CdfSource::Points(points) => {
            let table = Cdf::new(name.as_deref().unwrap_or("table"), points);
            return table.map_err(|(i, why)| section.error(&format!("{key}.cdf.{i}"), why)).ok();
        }
        CdfSource::Named(given) => {
            if let Some(table) = Cdf::named(&given) {
                section.check(name.is_none(), &at(key, "name"), "a published table has its name; leave it out");
                return Some(table);
            }
            let text = included::read(&section.beside(&given));
            (given, text)
        }
    };
    match text {
        Ok(text) => {
            let table = Cdf::parse(&name.unwrap_or_else(|| given.clone()), &text);
            table.map_err(|(line, why)| section.error(&at(key, "cdf"), format!("{given}:{line}: {why}"))).ok()
        }
        Err(why) => {
            let meant =
                closest(&given, &Cdf::NAMES).map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
            let known = Cdf::NAMES.join(", ");
            section.error(
                &at(key, "cdf"),
                format!(
                    "{given:?} is no published table ({meant}known: {known}) and no file that can be read: it {why}"
                ),
            );
            None
        }
    }
}

/// The key of a part of the size at `key`.
fn at(key: &str, part: &str) -> String {
    format!("{key}.{part}")
}
