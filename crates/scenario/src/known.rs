//! What a scenario has, by name, as far as it is known.

use std::path::PathBuf;

use linkpool_network::{Fabric, NodeId, split_member};
use linkpool_settings::{HostName, LinkEnds, LinkName, Names, closest, nearest};
use linkpool_units::HostId;

use crate::hosts::names_of_hosts;
use crate::included;
use linkpool_formats::quoted;

/// What a scenario has, by name; `None`: it is not known, because it is in error.
pub(crate) struct Known<'f> {
    pub(crate) fabric: Option<&'f Fabric>,
    /// The names of the transports, in the order of the file.
    pub(crate) transports: Option<Vec<String>>,
    /// The directory of the scenario.
    pub(crate) directory: PathBuf,
}

impl Known<'_> {
    /// Which hosts there are.
    pub(crate) fn host_names(&self) -> String {
        self.fabric.map_or_else(String::new, |fabric| {
            let indices = format!("their indices 0 to {}", fabric.hosts() - 1);
            // An index that is the name of a node means that node.
            let is_name = |index: &usize| fabric.node(&index.to_string()).is_some_and(|node| node.index() != *index);
            let names: Vec<String> = (0..fabric.hosts()).filter(is_name).map(|index| index.to_string()).collect();
            let others = match &names[..] {
                [] => String::new(),
                [only] => format!(" but {only}, which is a name"),
                [some @ .., last] if some.len() < 4 => format!(" but {} and {last}, which are names", some.join(", ")),
                [one, two, ..] => format!(" but {one}, {two} and {} more, which are names", names.len() - 2),
            };
            format!("hosts are {}, or {indices}{others}", names_of_hosts(fabric))
        })
    }

    /// The host that a file calls `text`: by its name, or else by its index.
    pub(crate) fn host_in_file(&self, text: &str) -> Result<HostId, String> {
        let fabric = self.fabric.ok_or_else(String::new)?;
        match (fabric.node(text), text.parse()) {
            (None, Ok(index)) => self.host_of_index(fabric, index),
            (node, _) => self.host_of_node(fabric, node, &quoted(text)),
        }
    }

    /// The host of this index, unless a node has this number as its name: then only that is meant.
    fn host_of_index(&self, fabric: &Fabric, index: u32) -> Result<HostId, String> {
        match fabric.node(&index.to_string()) {
            None if (index as usize) < fabric.hosts() => Ok(index.into()),
            node => self.host_of_node(fabric, node, &index.to_string()),
        }
    }

    /// The host that `node` is, of the name that messages show as `name`.
    fn host_of_node(&self, fabric: &Fabric, node: Option<NodeId>, name: &str) -> Result<HostId, String> {
        match node {
            Some(node) if node.index() < fabric.hosts() => Ok(node.into()),
            Some(_) => Err(format!("{name} is a switch; {}", self.host_names())),
            None => Err(format!("there is no host {name}; {}", self.host_names())),
        }
    }
}

impl Names for Known<'_> {
    fn host(&self, name: &HostName) -> Result<HostId, String> {
        let fabric = self.fabric.ok_or_else(String::new)?;
        match name {
            HostName::Index(index) => self.host_of_index(fabric, *index),
            HostName::Name(name) => self.host_of_node(fabric, fabric.node(name), &quoted(name)),
        }
    }

    fn host_name(&self, host: HostId) -> String {
        self.fabric.map_or("S1", |fabric| fabric.name(NodeId::from(host))).to_string()
    }

    fn transport(&self, name: &str) -> Result<usize, String> {
        let names = self.transports.as_ref().ok_or_else(String::new)?;
        let index = names.iter().position(|known| known == name);
        index.ok_or_else(|| match &names[..] {
            [] => format!("no transport is defined; write [transport.{name}] with its `control`"),
            _ => format!("no transport is named {name:?}; {}", nearest(name, names.iter().map(String::as_str))),
        })
    }

    fn transport_name(&self, transport: usize) -> String {
        let known = self.transports.as_ref().and_then(|names| names.get(transport));
        known.map_or("amp", String::as_str).to_string()
    }

    fn links(&self, LinkName(text): &LinkName) -> Result<Vec<LinkEnds>, String> {
        let fabric = self.fabric.ok_or_else(String::new)?;
        let both = text.contains("<->");
        let text = text.replace("<->", "->");
        let ends = text.split_once("->").map(|(from, to)| (from.trim().to_string(), to.trim().to_string()));
        let is_link = |(from, to): &LinkEnds| !fabric.links_named(from, to).is_empty();
        let (from, to) = ends.filter(is_link).ok_or_else(|| no_such_link(&text, fabric))?;
        let back = both.then(|| match (fabric.node(&to), split_member(&to)) {
            (None, Some((to, member))) => (to.to_string(), format!("{from}#{member}")),
            _ => (to.clone(), from.clone()),
        });
        Ok([(from, to)].into_iter().chain(back).collect())
    }

    fn content(&self, file: &str) -> Result<String, String> {
        included::read(&self.directory.join(file))
    }
}

/// Says which links there are at the node that was probably meant.
pub(crate) fn no_such_link(text: &str, fabric: &Fabric) -> String {
    let Some((from, to)) = text.split_once("->") else {
        let first = &fabric.links()[0];
        let (from, to) = (fabric.name(first.from), fabric.name(first.to));
        return format!("{text:?} is no link; links are written FROM->TO, as in \"{from}->{to}\"");
    };
    let (from, to) = (from.trim(), to.trim());
    if let Some(message) = no_such_member(from, to, fabric) {
        return message;
    }
    for end in [from, to] {
        if fabric.node(end).is_none() {
            let nodes: Vec<&str> = NodeId::first(fabric.nodes()).map(|node| fabric.name(node)).collect();
            let meant = closest(end, &nodes).map(|meant| format!(", did you mean {meant}?")).unwrap_or_default();
            return format!("no host or switch is named {end:?}{meant}");
        }
    }
    let at = fabric.node(from).into_iter().flat_map(|node| fabric.links_from(node));
    let mut neighbours: Vec<&str> = at.map(|link| fabric.name(fabric.links()[link.index()].to)).collect();
    neighbours.dedup();
    let more = if neighbours.len() > 8 { ", ..." } else { "" };
    neighbours.truncate(8);
    format!("there is no link from {from} to {to}; {from} is linked to {}{more}", neighbours.join(", "))
}

/// Says how many cables there are, if one is named that there is not.
fn no_such_member(from: &str, to: &str, fabric: &Fabric) -> Option<String> {
    let (to, member) = split_member(to).filter(|_| fabric.node(to).is_none())?;
    let cables = fabric.links_between(fabric.node(from)?, fabric.node(to)?).count();
    Some(match cables {
        0 => return None,
        1 => format!("one cable joins {from} and {to}, whose direction is {from}->{to} without #{member}"),
        n => format!("{n} cables join {from} and {to}: {from}->{to}#0 to {from}->{to}#{}", n - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::no_such_link;
    use linkpool_network::topology;
    use linkpool_units::{Rate, Time};

    /// Core switches of a fat-tree of k = 8 have eight neighbours, those of k = 10 ten.
    #[test]
    fn eight_neighbours_are_named() {
        let at_core = |k| no_such_link("c0->h0", &topology::fat_tree(k, k / 2, Rate::gbps(1), Time::ZERO));
        let first = "there is no link from c0 to h0; c0 is linked to a0.0, a1.0, a2.0, a3.0, a4.0, a5.0, a6.0, a7.0";
        assert_eq!((at_core(8), at_core(10)), (first.to_string(), format!("{first}, ...")));
    }
}
