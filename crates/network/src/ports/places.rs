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

#[cfg(test)]
mod tests {
    use super::*;

    /// Links and classes have a row each, which is there once packets have come.
    #[test]
    fn links_and_classes_have_their_own_bytes() {
        let mut places = Places::default();
        let of = |account, class| Counted { account, class };
        let came = [(of(0, 0), 0), (of(0, 1), 1), (of(1, 0), 2), (of(7, 8), 0)];
        for ((counted, place), size) in came.into_iter().zip(1..) {
            assert_eq!(places.of(counted), [0; 0]);
            places.add(counted, size, place, 3);
            places.add(counted, 10, place, 3);
        }
        places.remove(of(0, 1), 10, 1);
        let rows: Vec<&[u64]> = came.iter().map(|(counted, _)| places.of(*counted)).collect();
        assert_eq!(rows, [[11, 0, 0], [0, 2, 0], [0, 0, 13], [14, 0, 0]]);
        assert!([of(3, 3), of(9, 0)].iter().all(|counted| places.of(*counted).is_empty()));
    }
}
