//! Graphs in the topology files of HPCC's simulator (`mix/fat.txt` there).
//!
//! The numbers of nodes, switches and links; the switches, which are nodes by number; then a line
//! for each link: its ends, its rate, its delay, and the share of packets that it loses.

use std::str::FromStr;

use linkpool_units::{Rate, Time, counted};

use super::GraphFile;
use super::{EdgeTable, NodeKind, NodeTable};
use super::{MOST_CABLES, MOST_NODES};
use crate::quoted;

pub(super) fn parse(text: &str) -> Result<GraphFile, String> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (line, first) = lines.next().ok_or("line 1: an empty file")?;
    let counts: Option<Vec<u64>> = first.split_whitespace().map(|count| count.parse().ok()).collect();
    let Some([nodes, switches, links]) = counts.as_deref().and_then(|counts| <[u64; 3]>::try_from(counts).ok()) else {
        return Err(format!("line {line}: is not the numbers of nodes, switches and links, which come first"));
    };
    if nodes > MOST_NODES || links > MOST_CABLES {
        return Err(format!(
            "line {line}: {nodes} nodes and {links} links; at most {MOST_NODES} and {MOST_CABLES} can be simulated"
        ));
    }
    let mut is_switch = vec![false; nodes as usize];
    let node = |line: usize, text: &str| {
        let number = text.parse::<usize>().ok().filter(|node| *node < nodes as usize);
        number.ok_or_else(|| {
            format!("line {line}: {} is no node: they are 0 to {}", quoted(text), nodes.saturating_sub(1))
        })
    };
    if switches > 0 {
        let (line, list) = lines.next().ok_or("ends before the list of its switches")?;
        for text in list.split_whitespace() {
            if std::mem::replace(&mut is_switch[node(line, text)?], true) {
                return Err(format!("line {line}: switch {text} stands here twice"));
            }
        }
        let found = is_switch.iter().filter(|is_switch| **is_switch).count() as u64;
        if found != switches {
            let [found, announced] = [found, switches].map(|number| counted(number, "switch"));
            return Err(format!("line {line}: names {found}, and line 1 announces {announced}"));
        }
    }
    let mut file = GraphFile::default();
    for (i, is_switch) in is_switch.into_iter().enumerate() {
        let kind = if is_switch { NodeKind::Switch } else { NodeKind::Host };
        file.nodes.push(("line 2".to_string(), NodeTable::new(i.to_string(), kind, None)));
    }
    for (line, text) in lines {
        if file.edges.len() as u64 == links {
            return Err(format!(
                "line {line}: line 1 announces {}, and this line follows them",
                counted(links, "link")
            ));
        }
        let cells: Vec<&str> = text.split_whitespace().collect();
        let [source, target, rate, delay, loss] = cells[..] else {
            let found = counted(cells.len(), "value");
            return Err(format!("line {line}: {found}; a link has 5: two nodes, rate, delay, share of lost packets"));
        };
        let [source, target] = [source, target].map(|text| node(line, text).map(|node| node.to_string()));
        let loses = loss.parse::<f64>().map_err(|_| format!("line {line}: {} is no share of packets", quoted(loss)))?;
        if loses != 0.0 {
            return Err(format!(
                "line {line}: the link loses packets; write 0, and in the scenario a [[change]] with loss = {loss}"
            ));
        }
        let edge = EdgeTable {
            source: source?,
            target: target?,
            rate: Some(value::<Rate>(line, rate)?),
            delay: Some(value::<Time>(line, delay)?),
        };
        file.edges.push((format!("line {line}"), edge));
    }
    if file.edges.len() as u64 != links {
        let [announced, found] = [links, file.edges.len() as u64].map(|number| counted(number, "link"));
        return Err(format!("line {line}: announces {announced}, and the file has {found}"));
    }
    Ok(file)
}

fn value<T: FromStr<Err: std::fmt::Display>>(line: usize, text: &str) -> Result<T, String> {
    text.parse().map_err(|why| format!("line {line}: {why}"))
}
