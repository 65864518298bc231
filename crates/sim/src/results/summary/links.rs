//! What a summary says of links.

use crate::results::read::TableFile;
use crate::results::summary::groups::{Groups, Name};
use crate::results::summary::statistics::mean;
use parquet::errors::Result;
use serde::Serialize;
use std::cmp::Ordering;

/// How many links a summary lists.
const BUSIEST: usize = 20;

/// One directed link; the fields are columns of the table.
#[derive(Clone, PartialEq, Serialize, Debug)]
struct LinkUse {
    link: Name,
    utilisation: Option<f64>,
    packets: i64,
    drops: i64,
    marks: i64,
    max_queue_pkts: i64,
}

/// The links from one layer to another.
#[derive(Clone, PartialEq, Default, Serialize, Debug)]
struct LayerUse {
    layer: Name,
    to_layer: Name,
    links: usize,
    utilisation: Option<f64>,
    utilisation_max: Option<f64>,
    drops: i64,
    drops_down: i64,
    drops_loss: i64,
    loss: Option<f64>,
    loss_mean: f64,
    marks: i64,
}

/// All links.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(super) struct Links {
    layers: Vec<LayerUse>,
    links: Vec<LinkUse>,
    drops: i64,
    drops_down: i64,
    drops_loss: i64,
    marks: i64,
    trims: i64,
}

/// Sums over the links of a layer.
#[derive(Clone, Default)]
struct Sums {
    used: Vec<f64>,
    offered: i64,
    losses: f64,
}

impl Links {
    /// Reads the table, and returns beside it what the links from all hosts carry, bit/s.
    pub(super) fn of(table: &TableFile) -> Result<(Links, f64)> {
        let count = |name| table.column::<i64, i64>(name, Option::unwrap_or_default);
        let (packets, drops, marks) = (count("packets")?, count("drops")?, count("marks")?);
        let trims = count("trims")?;
        let (down, loss, longest) = (count("drops_down")?, count("drops_loss")?, count("max_queue_pkts")?);
        let utilisation = table.column::<f64, _>("utilisation", |used| used)?;
        let between = Groups::read(table, ["layer", "to_layer"])?;
        let mut layers = vec![(LayerUse::default(), Sums::default()); between.names.len()];
        for (row, group) in between.of.iter().enumerate() {
            let (of, sums) = &mut layers[*group as usize];
            of.links += 1;
            of.drops += drops[row];
            of.drops_down += down[row];
            of.drops_loss += loss[row];
            of.marks += marks[row];
            sums.used.extend(utilisation[row]);
            let offered = packets[row] + drops[row];
            sums.offered += offered;
            // A port that was offered nothing lost nothing.
            sums.losses += if offered > 0 { drops[row] as f64 / offered as f64 } else { 0.0 };
        }
        let layers = layers.into_iter().zip(between.names).map(|((of, sums), [layer, to_layer])| LayerUse {
            layer,
            to_layer,
            utilisation: mean(&sums.used),
            utilisation_max: sums.used.iter().copied().max_by(f64::total_cmp),
            loss: (sums.offered > 0).then(|| of.drops as f64 / sums.offered as f64),
            loss_mean: sums.losses / of.links as f64,
            ..of
        });
        let layers = layers.collect();
        let names = table.column::<str, Name>("link", |name| name.map(str::to_string))?;
        let mut order: Vec<usize> = (0..names.len()).collect();
        // Of equal ones by name; those that could send nothing come last.
        let by_use = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => b.total_cmp(&a),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        order.sort_by(|a, b| by_use(utilisation[*a], utilisation[*b]).then_with(|| names[*a].cmp(&names[*b])));
        let links = order.into_iter().take(BUSIEST).map(|row| LinkUse {
            link: names[row].clone(),
            utilisation: utilisation[row],
            packets: packets[row],
            drops: drops[row],
            marks: marks[row],
            max_queue_pkts: longest[row],
        });
        let sum = |counts: &[i64]| counts.iter().sum();
        let found = Links {
            layers,
            links: links.collect(),
            drops: sum(&drops),
            drops_down: sum(&down),
            drops_loss: sum(&loss),
            marks: sum(&marks),
            trims: sum(&trims),
        };
        let from_host = table.column::<str, bool>("layer", |layer| layer == Some("host"))?;
        let mut access = 0.0;
        table.each::<f64>("rate_bps", |row, rate| {
            if from_host[row] {
                access += rate.unwrap_or_default();
            }
        })?;
        Ok((found, access))
    }
}
