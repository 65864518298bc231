//! The rows of a trace that have not been taken yet.

use super::row::Row;
use linkpool_units::Time;

/// Rows in the order in which they were noted. The place of a row is its number, from the first of
/// the trace on.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    kept: Vec<Row>,
    taken: usize,
}

/// Rows are taken when there are this many.
const MANY: usize = 1 << 16;

impl Rows {
    pub(crate) fn push(&mut self, row: Row) {
        self.kept.push(row);
    }

    pub(crate) fn pop(&mut self) {
        self.kept.pop();
    }

    /// The number of rows so far.
    pub(crate) fn len(&self) -> usize {
        self.taken + self.kept.len()
    }

    /// Row `number`, if it has not been taken.
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Row> {
        self.kept.get_mut(number.checked_sub(self.taken)?)
    }

    /// Must they be taken now?
    pub(crate) fn are_many(&self) -> bool {
        self.kept.len() >= MANY
    }

    /// Takes rows from before the last `window`, in order of time. Losses are noted a window late
    /// at most, so those of later calls may precede by as much.
    pub(crate) fn take(&mut self, window: Time) -> Vec<Row> {
        let last = self.kept.iter().map(|row| row.at).max().unwrap_or(0);
        let recent = self.kept.iter().position(|row| row.at + window.0 >= last);
        self.drain(recent.unwrap_or(0))
    }

    /// Takes all rows, in order of time.
    pub(crate) fn take_all(&mut self) -> Vec<Row> {
        self.drain(self.kept.len())
    }

    fn drain(&mut self, count: usize) -> Vec<Row> {
        self.taken += count;
        let mut rows: Vec<Row> = self.kept.drain(..count).collect();
        rows.sort_by_key(|row| row.at);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::FlowId;
    use crate::trace::What;

    fn row(at: u64) -> Row {
        Row { at, flow: FlowId::new(0), what: What::Turn }
    }

    fn times(rows: Vec<Row>) -> Vec<u64> {
        rows.into_iter().map(|row| row.at).collect()
    }

    /// Rows that are less than a window older than the last stay, and all rows keep their numbers.
    #[test]
    fn numbers_stay_when_rows_are_taken() {
        let mut rows = Rows::default();
        [3, 1, 10, 12, 9, 20].into_iter().for_each(|at| rows.push(row(at)));
        assert_eq!(times(rows.take(Time(10))), [1, 3]);
        assert_eq!(rows.len(), 6);
        assert!(rows.get_mut(1).is_none(), "it has been taken");
        assert_eq!(rows.get_mut(2).unwrap().at, 10);
        assert!(rows.take(Time(10)).is_empty());
        rows.push(row(40));
        assert_eq!(times(rows.take(Time(10))), [9, 10, 12, 20]);
        assert_eq!((rows.len(), rows.get_mut(6).unwrap().at), (7, 40));
        rows.push(row(41));
        rows.pop();
        assert_eq!(times(rows.take_all()), [40]);
        assert_eq!(rows.len(), 7);
    }

    #[test]
    fn many_are_65536() {
        let mut rows = Rows::default();
        (1..65_536).for_each(|at| rows.push(row(at)));
        assert!(!rows.are_many());
        rows.push(row(65_536));
        assert!(rows.are_many());
        assert_eq!(rows.take(Time(0)).len(), 65_535);
        assert!(!rows.are_many());
    }
}
