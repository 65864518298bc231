//! Checks whether a table can be read, before others read it.

use linkpool_units::counted;
use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::fs::File;
use std::path::Path;

/// Values that are decoded at once.
const AT_ONCE: usize = 1 << 14;

/// Decodes all values of the Parquet file `path` that are compressed as this crate does it, and returns the number of its rows.
///
/// # Errors
/// The file is no Parquet file, or damaged where that shows.
pub fn check_table(path: &Path) -> Result<u64> {
    let reader = SerializedFileReader::new(File::open(path)?)?;
    let mut rows = 0;
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number)?;
        let expected =
            u64::try_from(group.metadata().num_rows()).map_err(|_| general("a group has less than no rows"))?;
        for column in 0..group.num_columns() {
            check_column(&*group, column, expected)?;
        }
        rows += expected;
    }
    let announced = reader.metadata().file_metadata().num_rows();
    if i64::try_from(rows) == Ok(announced) {
        Ok(rows)
    } else {
        Err(general(&format!("{} instead of {announced}", counted(rows, "row"))))
    }
}

fn check_column(group: &dyn RowGroupReader, column: usize, rows: u64) -> Result<()> {
    // Tables are compressed by Snappy; others may have written them again.
    if !matches!(group.metadata().column(column).compression(), Compression::SNAPPY | Compression::UNCOMPRESSED) {
        return Ok(());
    }
    let read = match group.get_column_reader(column)? {
        ColumnReader::BoolColumnReader(values) => decode(values, |_| true),
        ColumnReader::Int32ColumnReader(values) => decode(values, |_| true),
        ColumnReader::Int64ColumnReader(values) => decode(values, |_| true),
        ColumnReader::Int96ColumnReader(values) => decode(values, |_| true),
        ColumnReader::FloatColumnReader(values) => decode(values, |_| true),
        ColumnReader::DoubleColumnReader(values) => decode(values, |_| true),
        ColumnReader::ByteArrayColumnReader(values) => decode(values, |text: &ByteArray| text.as_utf8().is_ok()),
        ColumnReader::FixedLenByteArrayColumnReader(values) => decode(values, |_| true),
    }?;
    let name = || group.metadata().column(column).column_path().string();
    if read == rows { Ok(()) } else { Err(general(&format!("{read} of {} of {}", counted(rows, "value"), name()))) }
}

/// Decodes a column, whose values must be good, and returns how many there are, with nulls.
fn decode<T: DataType>(mut reader: ColumnReaderImpl<T>, is_good: impl Fn(&T::T) -> bool) -> Result<u64> {
    let (mut rows, mut present, mut values) = (0, Vec::new(), Vec::new());
    loop {
        present.clear();
        values.clear();
        let (read, _, _) = reader.read_records(AT_ONCE, Some(&mut present), None, &mut values)?;
        if !values.iter().all(&is_good) {
            return Err(general("a text is no UTF-8"));
        }
        if read == 0 {
            return Ok(rows);
        }
        rows += read as u64;
    }
}

fn general(what: &str) -> ParquetError {
    ParquetError::General(what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::column::{Row, table};
    use crate::results::table::Table;
    use std::panic::catch_unwind;

    struct Any(u64);

    table! {
        /// Of each kind one.
        "any" of Any, always, |row|
        /// Counts.
        count: u64, "" = Some(row.0).filter(|count| !count.is_multiple_of(3));
        /// Measures.
        measure: f64, "" = row.0 as f64;
        /// Says yes or no.
        flag: bool, "" = row.0.is_multiple_of(2);
        /// Names.
        name: str, "" = if row.0.is_multiple_of(2) { "one" } else { "another" };
    }

    /// A whole table is read. One that is cut off anywhere is not. One with another byte is, or is not; never
    /// with fewer rows.
    #[test]
    fn what_is_cut_off_does_not_pass() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("any.parquet");
        let mut table = Table::create::<Any>(directory.path()).unwrap();
        (0..20_000).for_each(|i| table.push(&Any(i)).unwrap());
        table.close().unwrap();
        assert_eq!((check_table(&path).unwrap(), Any::TABLE.name), (20_000, "any"));
        let whole = std::fs::read(&path).unwrap();
        let check = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            catch_unwind(|| check_table(&path)).unwrap_or_else(|_| Err(general("panicked")))
        };
        for part in (0..whole.len()).step_by(whole.len() / 40) {
            assert!(check(&whole[..part]).is_err(), "{part}");
        }
        let mut noticed = 0;
        for place in (0..whole.len()).step_by(whole.len() / 150) {
            let mut other = whole.clone();
            other[place] ^= 0xff;
            match check(&other) {
                Ok(rows) => assert_eq!(rows, 20_000, "{place}"),
                Err(_) => noticed += 1,
            }
        }
        assert!(noticed > 10, "{noticed}");
        assert!(check_table(directory.path()).is_err());
    }
}
