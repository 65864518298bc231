//! The fabric: which kind it is, and its settings.

use linkpool_network::topology;
use linkpool_settings::{Kinds, NoNames};

use super::graph;
use super::section::Section;
use super::settings::{check_kind, read_kind};
use super::size::fits;
use crate::errors::Report;
use crate::file::{AnyTable, GRAPH};
use crate::model::Topology;
use crate::tree::KeyPath;

pub(super) fn resolve(report: &mut Report<'_>) -> Option<Topology> {
    let top = &mut Section::new(report, KeyPath::default());
    if top.has("topology") {
        top.read::<AnyTable>("topology")?;
    }
    let section = &mut top.at(KeyPath::default().at("topology"));
    let known = [topology::Topology::NAMES, &[GRAPH]].concat();
    let given = section.keys();
    section.refuse_unknown(&known);
    match &given[..] {
        [] => {
            let (first, last) = (known[0], known[known.len() - 1]);
            let others = known[1..known.len() - 1].join(", ");
            section.fail(format!("missing; write exactly one of [topology.{first}], {others} or {last}"));
            None
        }
        [kind] if kind == GRAPH => graph::resolve(section).map(Topology::Graph),
        [kind] => drawn(topology::Topology::named(kind)?, section).map(Topology::Drawn),
        [.., last] => {
            let all = given.join(" and ");
            section.error(last, format!("there is exactly one topology, and here are {all}; leave only one"));
            None
        }
    }
}

/// A topology with its settings.
fn drawn(mut kind: topology::Topology, section: &mut Section<'_, '_>) -> Option<topology::Topology> {
    let name = kind.name();
    let resolve = |section: &mut Section<'_, '_>| {
        read_kind(&mut kind, &NoNames, section);
        check_kind(&mut kind, section);
        if section.is_good() {
            let generator = kind.generator();
            let keys = generator.size_keys();
            let blamed = keys.iter().find(|key| section.has(key)).unwrap_or(&keys[keys.len() - 1]);
            fits(generator.hosts(), generator.cables(), blamed, section);
        }
        section.is_good()
    };
    section.within(name, resolve)?.then_some(kind)
}
