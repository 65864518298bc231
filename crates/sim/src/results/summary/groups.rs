//! Rows that agree in some columns of names.

use crate::results::read::TableFile;
use parquet::errors::Result;
use std::collections::HashMap;

/// A name; null: none.
pub(super) type Name = Option<String>;

/// Groups of the rows of a table that agree in `N` columns, numbered in order of their first rows.
#[derive(Debug)]
pub(super) struct Groups<const N: usize> {
    /// The number of the group of each row.
    pub(super) of: Vec<u32>,
    /// The names of each group.
    pub(super) names: Vec<[Name; N]>,
}

impl<const N: usize> Groups<N> {
    /// Reads the columns of these names.
    pub(super) fn read(table: &TableFile, columns: [&str; N]) -> Result<Groups<N>> {
        let mut names = Numbered::default();
        let mut keys = vec![[0; N]; table.rows()];
        for (i, column) in columns.into_iter().enumerate() {
            table.each::<str>(column, |row, name| keys[row][i] = names.number(name))?;
        }
        let mut groups: Vec<[u32; N]> = Vec::new();
        let mut numbers = HashMap::new();
        let of = keys.into_iter().map(|key| {
            *numbers.entry(key).or_insert_with(|| {
                groups.push(key);
                groups.len() as u32 - 1
            })
        });
        let of = of.collect();
        let names = groups.into_iter().map(|key| key.map(|name| names.names[name as usize].clone())).collect();
        Ok(Groups { of, names })
    }
}

/// Names in order of their first use.
#[derive(Default)]
struct Numbered {
    names: Vec<Name>,
    numbers: HashMap<Name, u32>,
    /// Rows side by side often have one name.
    last: u32,
}

impl Numbered {
    fn number(&mut self, name: Option<&str>) -> u32 {
        if self.names.get(self.last as usize).is_none_or(|last| last.as_deref() != name) {
            let name = name.map(str::to_string);
            let next = self.names.len() as u32;
            self.last = *self.numbers.entry(name.clone()).or_insert(next);
            if self.last == next {
                self.names.push(name);
            }
        }
        self.last
    }
}
