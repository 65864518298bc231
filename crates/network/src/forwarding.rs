//! The forwarding table, packed into 32 bits an entry.

use crate::fabric::LinkId;
use linkpool_engine::prefetch_place;
use std::collections::HashMap;

/// The next hop of a node for a column: one link, or any of several equal-cost links.
///
/// 32 bits, so that tables stay in the cache: two for the kind, then the length and the first of a
/// run of consecutive links (as the uplinks of a switch usually are; a single link is a run too,
/// so that both are read alike); the number of a list of links; or nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Next(u32);

const KIND: u32 = 0b11 << 30;
const RUN: u32 = 0b00 << 30;
const LIST: u32 = 0b10 << 30;
/// Not where to go, but the number of a block that knows.
const BLOCK: u32 = 0b11 << 30;
const RUN_FIRST_BITS: u32 = 22;

impl Next {
    /// There is no way.
    pub(crate) const NOWHERE: Next = Next(u32::MAX);

    /// The number of a block; of another entry, a number that no block has.
    #[inline]
    fn block(self) -> usize {
        // The kind of a block is the greatest, and nowhere the greatest number.
        self.0.wrapping_sub(BLOCK) as usize
    }

    /// The first link, if it is a run.
    #[inline]
    pub(crate) fn first_of_run(self) -> Option<LinkId> {
        (self.0 & KIND == RUN).then(|| self.first())
    }

    /// The first link of a run.
    #[inline]
    fn first(self) -> LinkId {
        LinkId::from(self.0 & ((1 << RUN_FIRST_BITS) - 1))
    }
}

/// Columns in a block.
const COLUMNS: usize = 16;

/// The forwarding table of a fabric: per row (node) and column (destination) a [`Next`].
///
/// A switch sends most blocks of neighbouring columns one way: an edge switch sends all but its own up, an aggregation switch
/// all but those of its pod. So a row has one entry per block from the first to the last that differ from the usual one, then
/// the usual one. Only a block whose columns differ has an entry for each, elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Next>,
    blocks: Vec<[Next; COLUMNS]>,
    lists: Vec<Vec<LinkId>>,
    list_numbers: HashMap<Vec<LinkId>, u32>,
}

/// Where a row is in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableRow {
    /// The place of its first entry.
    place: u32,
    /// The block of its first entry.
    block: u32,
    /// The entries of blocks. The usual entry follows them.
    blocks: u32,
}

impl TableRow {
    /// Of a node that has no row.
    pub(crate) const NONE: TableRow = TableRow { place: u32::MAX, block: 0, blocks: 0 };

    /// The place of the entry that knows `column`.
    #[inline]
    fn place(self, column: u32) -> usize {
        // No branch, since no processor can predict it.
        let block = (column / COLUMNS as u32).wrapping_sub(self.block);
        self.place as usize + block.min(self.blocks) as usize
    }
}

impl Table {
    /// The entry for `links`, which all lead nearer, in ascending order, repeated by their weights.
    pub(crate) fn next_of(&mut self, links: &[LinkId]) -> Next {
        match links {
            [] => Next::NOWHERE,
            [first, ..] => {
                let run = links.windows(2).all(|pair| pair[0].plus(1) == pair[1]);
                let first = u32::from(*first);
                if run && links.len() < 256 && first < 1 << RUN_FIRST_BITS {
                    return Next(RUN | (links.len() as u32) << RUN_FIRST_BITS | first);
                }
                let lists = &mut self.lists;
                let number = *self.list_numbers.entry(links.to_vec()).or_insert_with(|| {
                    lists.push(links.to_vec());
                    lists.len() as u32 - 1
                });
                Next(LIST | number)
            }
        }
    }

    /// Adds the row of a node, which is never asked for the column `own`; where it is.
    pub(crate) fn push_row(&mut self, row: &[Next], own: Option<usize>) -> TableRow {
        let own = own.unwrap_or(usize::MAX);
        let entries: Vec<Next> = (0..)
            .zip(row.chunks(COLUMNS))
            .map(|(block, columns)| {
                let others =
                    || (block * COLUMNS..).zip(columns).filter(|(column, _)| *column != own).map(|(_, next)| *next);
                // Of a block with no other column, nobody asks.
                let first = others().next().unwrap_or(row[0]);
                if others().all(|next| next == first) { first } else { self.push_block(columns) }
            })
            .collect();
        // The usual entry is the first or the last one: the one for which fewer blocks lie from the first to the last that differ.
        let unlike = |usual: Option<&Next>| {
            let differs = |entry: &Next| Some(entry) != usual;
            let first = entries.iter().position(differs).unwrap_or(entries.len());
            first..entries.iter().rposition(differs).map_or(first, |last| last + 1)
        };
        let usual = [entries.first(), entries.last()].into_iter().min_by_key(|usual| unlike(*usual).len()).flatten();
        let blocks = unlike(usual);
        let place = self.rows.len() as u32;
        self.rows.extend(entries[blocks.clone()].iter().chain(usual));
        TableRow { place, block: blocks.start as u32, blocks: blocks.len() as u32 }
    }

    /// Adds a block whose columns differ; the entry that leads to it.
    fn push_block(&mut self, columns: &[Next]) -> Next {
        let mut block = [Next::NOWHERE; COLUMNS];
        block[..columns.len()].copy_from_slice(columns);
        self.blocks.push(block);
        Next(BLOCK | (self.blocks.len() as u32 - 1))
    }

    /// Prefetches the entry that [`Table::next`] reads first.
    #[inline]
    pub(crate) fn prefetch(&self, row: TableRow, column: u32) {
        prefetch_place(&self.rows, row.place(column));
    }

    /// The next hop for `column` of the node whose row is `row`.
    #[inline]
    pub(crate) fn next(&self, row: TableRow, column: u32) -> Next {
        let next = self.rows[row.place(column)];
        match self.blocks.get(next.block()) {
            Some(block) => block[column as usize % COLUMNS],
            None => next,
        }
    }

    /// How many links `next` leaves to choose from.
    #[inline]
    pub(crate) fn choices(&self, next: Next) -> u32 {
        if next.0 & KIND == RUN { next.0 >> RUN_FIRST_BITS } else { self.list(next).len() as u32 }
    }

    /// One of the links of `next`: that of the number that `draw` makes of how many there are.
    #[inline(always)]
    pub(crate) fn choose(&self, next: Next, draw: impl FnOnce(u32) -> u32) -> LinkId {
        if next.0 & KIND == RUN {
            return next.first().plus(draw(next.0 >> RUN_FIRST_BITS));
        }
        let list = self.list(next);
        list[draw(list.len() as u32) as usize]
    }

    /// Link number `i` of the [`Table::choices`] of `next`.
    #[inline]
    pub(crate) fn choice(&self, next: Next, i: u32) -> LinkId {
        if next.0 & KIND == RUN { next.first().plus(i) } else { self.list(next)[i as usize] }
    }

    #[cold]
    #[inline(never)]
    fn list(&self, next: Next) -> &[LinkId] {
        assert!(next.0 & KIND == LIST, "packets go only where there is a way");
        &self.lists[(next.0 & !KIND) as usize]
    }

    /// Calls `found` for each link of the entries that leave a choice.
    pub(crate) fn choice_links(&self, mut found: impl FnMut(LinkId)) {
        for next in self.rows.iter().chain(self.blocks.iter().flatten()) {
            let links = self.links(*next);
            if links.len() > 1 {
                links.into_iter().for_each(&mut found);
            }
        }
    }

    /// All links that `next` leaves.
    pub(crate) fn links(&self, next: Next) -> Vec<LinkId> {
        match next.0 & KIND {
            RUN => (0..(next.0 & !KIND) >> RUN_FIRST_BITS).map(|i| next.first().plus(i)).collect(),
            LIST => self.lists[(next.0 & !KIND) as usize].clone(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keeps_what_it_is_given() {
        let mut table = Table::default();
        // Runs as long and as far on as an entry can say, and a little beyond.
        let run = |first: u32, n: u32| (first..first + n).map(LinkId::from).collect::<Vec<_>>();
        let long = [run(9, 255), run(9, 256), run(9, 257), run((1 << 22) - 1, 2), run(1 << 22, 2), run(1 << 25, 2)];
        let short = [&[7][..], &[3, 4, 5], &[3, 9], &[], &[3, 3], &[3, 3, 5]];
        let short = short.map(|links| links.iter().map(|link| LinkId::new(*link)).collect::<Vec<_>>());
        let ways: Vec<Vec<LinkId>> = short.into_iter().chain(long).collect();
        let rows: Vec<Vec<usize>> =
            vec![vec![1; 40], (0..40).map(|c| c % 12).collect(), (0..40).map(|c| c / 16).collect()];
        let mut starts = Vec::new();
        for row in &rows {
            let nexts: Vec<Next> = row.iter().map(|w| table.next_of(&ways[*w])).collect();
            starts.push(table.push_row(&nexts, None));
        }
        assert_eq!(table.lists.len(), 7, "the last two lengths, the last two places, and what is no run");
        let mut choices = Vec::new();
        table.choice_links(|link| choices.push(link));
        let of_several = ways.iter().filter(|links| links.len() > 1).flatten();
        assert_eq!(BTreeSet::from_iter(choices), BTreeSet::from_iter(of_several.copied()));
        assert_eq!(table.blocks.len(), 3, "only columns of the second row differ within their block");
        assert_eq!(table.rows.len(), 1 + 3 + 3, "the first row has the usual entry alone");
        for (start, row) in starts.iter().zip(&rows) {
            for (column, way) in row.iter().enumerate() {
                let next = table.next(*start, column as u32);
                assert_eq!(table.links(next), ways[*way]);
                if !ways[*way].is_empty() {
                    let links = (0..table.choices(next)).map(|i| table.choice(next, i));
                    assert!(links.eq(ways[*way].iter().copied()));
                }
            }
        }
    }

    /// Of five blocks, whose last one has one column: of an edge switch, whose own column is in the second or alone in the last; of an
    /// aggregation switch, whose pod is the first, the third or the last; and of a switch with two pods.
    #[test]
    fn a_row_has_entries_where_it_is_not_as_usual() {
        let mut table = Table::default();
        let [up, down] = [3, 8].map(|link| table.next_of(&[LinkId::new(link)]));
        let row =
            |pods: &[usize]| (0..65).map(|c| if pods.contains(&(c / 16)) { down } else { up }).collect::<Vec<_>>();
        for (pods, own, entries) in [
            (&[][..], Some(20), 1),
            (&[], Some(64), 1),
            (&[0], None, 2),
            (&[2], None, 2),
            (&[4], None, 2),
            (&[1, 3], None, 4),
        ] {
            let mut row = row(pods);
            own.into_iter().for_each(|own: usize| row[own] = Next::NOWHERE);
            let before = table.rows.len();
            let place = table.push_row(&row, own);
            assert_eq!((table.rows.len() - before, table.blocks.len()), (entries, 0), "{pods:?} {own:?}");
            let others = (0..65).filter(|column| Some(*column) != own);
            others.for_each(|column| assert_eq!(table.next(place, column as u32), row[column], "{pods:?} {column}"));
        }
    }
}
