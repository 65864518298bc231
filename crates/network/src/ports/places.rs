//! At which ports of a switch the bytes are that have come to it by a link.

use super::counted::Counted;
use crate::class::CLASSES;

/// The bytes at each port of a switch, by the link and class by which they have come. That is a number for each pair of ports, so it
/// is kept only where somebody asks ([`super::account::Group::know_places`]), and a row is there once packets have come.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By account and class: the bytes by the place of the port.
    rows: Vec<Box<[u64]>>,
}

impl Places {
    /// `size` bytes more are at the port with this place, of so many.
    pub(super) fn add(&mut self, counted: Counted, size: u64, place: u32, ports: usize) {
        let row = row(counted);
        if self.rows.get(row).is_none_or(|row| row.is_empty()) {
            self.begin(row, ports);
        }
        self.rows[row][place as usize] += size;
    }

    #[cold]
    fn begin(&mut self, row: usize, ports: usize) {
        self.rows.resize_with(self.rows.len().max(row + 1), Box::default);
        self.rows[row] = vec![0; ports].into();
    }

    /// `size` bytes have left the port with this place.
    pub(super) fn remove(&mut self, counted: Counted, size: u64, place: u32) {
        self.rows[row(counted)][place as usize] -= size;
    }

    /// By place: the bytes there; empty: none have come.
    pub(super) fn of(&self, counted: Counted) -> &[u64] {
        self.rows.get(row(counted)).map_or(&[], |row| row)
    }
}

fn row(Counted { account, class }: Counted) -> usize {
    account as usize * CLASSES + usize::from(class)
}
