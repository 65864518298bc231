//! Reads columns of tables that a run has written, row by row.

use crate::results::column::Kind;
use linkpool_units::counted;
use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::path::Path;

/// Values that are decoded at once.
const AT_ONCE: usize = 1 << 12;

/// A table, open for reading.
pub(crate) struct TableFile {
    reader: SerializedFileReader<File>,
}

/// A type of values that columns hold.
pub(crate) trait Stored {
    /// Parquet's type.
    type Data: DataType;
    /// A value, as the caller gets it.
    type Of<'a>;
    /// The reader of a column, if that has this type.
    fn reader(of: ColumnReader) -> Option<ColumnReaderImpl<Self::Data>>;
    /// The value, from what is stored.
    fn get(stored: &<Self::Data as DataType>::T) -> Result<Self::Of<'_>>;
}

macro_rules! stored {
    ($type:ty, $of:ty, $data:ty, $reader:ident, $value:ident => $get:expr) => {
        impl Stored for $type {
            type Data = $data;
            type Of<'a> = $of;

            fn reader(of: ColumnReader) -> Option<ColumnReaderImpl<$data>> {
                match of {
                    ColumnReader::$reader(reader) => Some(reader),
                    _ => None,
                }
            }

            fn get($value: &<$data as DataType>::T) -> Result<Self::Of<'_>> {
                $get
            }
        }
    };
}
stored!(u32, u32, Int32Type, Int32ColumnReader, x => Ok(*x as u32)); // the same bits
stored!(i64, i64, Int64Type, Int64ColumnReader, x => Ok(*x));
stored!(f64, f64, DoubleType, DoubleColumnReader, x => Ok(*x));
stored!(bool, bool, BoolType, BoolColumnReader, x => Ok(*x));
stored!(str, &'a str, ByteArrayType, ByteArrayColumnReader, x => ByteArray::as_utf8(x));

impl TableFile {
    /// Opens a table.
    ///
    /// # Errors
    /// The file is no Parquet file.
    pub(crate) fn open(path: &Path) -> Result<TableFile> {
        Ok(TableFile { reader: SerializedFileReader::new(File::open(path)?)? })
    }

    /// The number of its rows.
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    fn columns(&self) -> impl Iterator<Item = &ColumnDescriptor> {
        self.reader.metadata().file_metadata().schema_descr().columns().iter().map(AsRef::as_ref)
    }

    /// Name and type of each column; no type: one that no column of ours has.
    pub(crate) fn kinds(&self) -> Vec<(String, Option<Kind>)> {
        self.columns().map(|column| (column.name().to_string(), kind(column))).collect()
    }

    /// Takes the number and the value of each row in a column.
    ///
    /// # Errors
    /// There is no such column, it has another type, or it is damaged.
    pub(crate) fn each<T: Stored + ?Sized>(
        &self,
        name: &str,
        mut take: impl FnMut(usize, Option<T::Of<'_>>),
    ) -> Result<()> {
        let place = self.columns().position(|column| column.name() == name);
        let place = place.ok_or_else(|| general(format!("there is no column {name}")))?;
        let mut row = 0;
        for number in 0..self.reader.num_row_groups() {
            let column = self.reader.get_row_group(number)?.get_column_reader(place)?;
            let mut reader = T::reader(column).ok_or_else(|| general(format!("{name} has another type")))?;
            let (mut present, mut values) = (Vec::new(), Vec::new());
            loop {
                present.clear();
                values.clear();
                let (read, _, _) = reader.read_records(AT_ONCE, Some(&mut present), None, &mut values)?;
                if read == 0 {
                    break;
                }
                let mut values = values.iter();
                for i in 0..read {
                    // A column that cannot be null has no levels.
                    let value = if present.get(i).is_none_or(|level| *level > 0) { values.next() } else { None };
                    take(row, value.map(T::get).transpose()?);
                    row += 1;
                }
            }
        }
        if row == self.rows() {
            Ok(())
        } else {
            Err(general(format!("{row} of {} of {name}", counted(self.rows(), "value"))))
        }
    }

    /// A whole column.
    ///
    /// # Errors
    /// See [`Self::each`].
    pub(crate) fn column<T: Stored + ?Sized, V>(
        &self,
        name: &str,
        mut of: impl FnMut(Option<T::Of<'_>>) -> V,
    ) -> Result<Vec<V>> {
        let mut column = Vec::new();
        self.each::<T>(name, |_, value| column.push(of(value)))?;
        Ok(column)
    }
}

/// The type of a column.
fn kind(column: &ColumnDescriptor) -> Option<Kind> {
    match (column.physical_type(), column.converted_type()) {
        (Type::INT32, ConvertedType::UINT_32) => Some(Kind::U32),
        (Type::INT64, ConvertedType::NONE | ConvertedType::INT_64) => Some(Kind::I64),
        (Type::DOUBLE, _) => Some(Kind::F64),
        (Type::BOOLEAN, _) => Some(Kind::Bool),
        (Type::BYTE_ARRAY, ConvertedType::UTF8) => Some(Kind::Text),
        _ => None,
    }
}

/// An error in words.
pub(crate) fn general(what: String) -> ParquetError {
    ParquetError::General(what)
}

/// Name and type of each column of a table; no type: one that no column of ours has.
///
/// # Errors
/// The file is no Parquet file.
pub fn table_columns(path: &Path) -> Result<Vec<(String, Option<&'static str>)>> {
    let kinds = TableFile::open(path)?.kinds();
    Ok(kinds.into_iter().map(|(name, kind)| (name, kind.map(Kind::name))).collect())
}

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum TableCells {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Other numbers.
    Numbers(Vec<Option<f64>>),
    /// Yes or no.
    Flags(Vec<Option<bool>>),
    /// Names.
    Texts(Vec<Option<String>>),
}

/// The columns of these names, whole: of a table that is not long.
///
/// # Errors
/// The file is no Parquet file, has no such column, or is damaged.
pub fn read_columns(path: &Path, names: &[String]) -> Result<Vec<TableCells>> {
    let table = TableFile::open(path)?;
    let kinds = table.kinds();
    let column = |name: &String| {
        let kind = kinds.iter().find(|(of, _)| of == name).and_then(|(_, kind)| *kind);
        Ok(match kind.ok_or_else(|| general(format!("there is no column {name} that can be read")))? {
            Kind::U32 => TableCells::Integers(table.column::<u32, _>(name, |x| x.map(i64::from))?),
            Kind::I64 => TableCells::Integers(table.column::<i64, _>(name, |x| x)?),
            Kind::F64 => TableCells::Numbers(table.column::<f64, _>(name, |x| x)?),
            Kind::Bool => TableCells::Flags(table.column::<bool, _>(name, |x| x)?),
            Kind::Text => TableCells::Texts(table.column::<str, _>(name, |x| x.map(str::to_string))?),
        })
    };
    names.iter().map(column).collect()
}

/// The columns of these names, whole, as 64-bit floating-point numbers: NaN where there is none, 1 for yes, 0 for no.
///
/// # Errors
/// The file is no Parquet file, has no such column of numbers or flags, or is damaged.
pub fn read_numbers(path: &Path, names: &[String]) -> Result<Vec<Vec<f64>>> {
    let table = TableFile::open(path)?;
    let kinds = table.kinds();
    let column = |name: &String| {
        let kind = kinds.iter().find(|(of, _)| of == name).and_then(|(_, kind)| *kind);
        match kind {
            Some(Kind::U32) => table.column::<u32, _>(name, |x| x.map_or(f64::NAN, f64::from)),
            // Counts are below 2^53.
            Some(Kind::I64) => table.column::<i64, _>(name, |x| x.map_or(f64::NAN, |x| x as f64)),
            Some(Kind::F64) => table.column::<f64, _>(name, |x| x.unwrap_or(f64::NAN)),
            Some(Kind::Bool) => table.column::<bool, _>(name, |x| x.map_or(f64::NAN, |x| f64::from(u8::from(x)))),
            Some(Kind::Text) | None => Err(general(format!("there is no column {name} of numbers"))),
        }
    };
    names.iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::column::{Row, table};
    use crate::results::table::Table;

    struct Any(u64);

    table! {
        /// Of each kind one.
        "any" of Any, always, |row|
        /// Counts.
        count: u64, "" = Some(row.0).filter(|count| !count.is_multiple_of(3));
        /// Numbers.
        number: crate::plan::FlowId, "" = crate::plan::FlowId::from(u32::MAX - row.0 as u32);
        /// Measures.
        measure: f64, "" = row.0 as f64 / 2.0;
        /// Says yes or no.
        flag: bool, "" = row.0.is_multiple_of(2);
        /// Names.
        name: str, "" = Some("one").filter(|_| row.0.is_multiple_of(2));
    }

    /// More rows than are decoded at once, and than a group of rows holds.
    #[test]
    fn columns_read_back_as_written() {
        let directory = tempfile::tempdir().unwrap();
        Table::write(directory.path(), (0..20_000).map(Any)).unwrap();
        let path = directory.path().join(format!("{}.parquet", Any::TABLE.name));
        let kinds: Vec<_> = table_columns(&path).unwrap();
        let expected: Vec<_> =
            Any::TABLE.columns.iter().map(|column| (column.name.to_string(), Some(column.kind.name()))).collect();
        assert_eq!(kinds, expected);
        let names = ["name", "flag", "measure", "number", "count"].map(str::to_string);
        let rows = 0..20_000i64;
        let even = |row: &i64| row % 2 == 0;
        assert!(
            read_columns(&path, &names).unwrap()
                == [
                    TableCells::Texts(rows.clone().map(|row| even(&row).then(|| "one".to_string())).collect()),
                    TableCells::Flags(rows.clone().map(|row| Some(even(&row))).collect()),
                    TableCells::Numbers(rows.clone().map(|row| Some(row as f64 / 2.0)).collect()),
                    TableCells::Integers(rows.clone().map(|row| Some(i64::from(u32::MAX) - row)).collect()),
                    TableCells::Integers(rows.map(|row| (row % 3 != 0).then_some(row)).collect()),
                ]
        );
        assert!(read_columns(&path, &["other".to_string()]).is_err());
        let numbers = read_numbers(&path, &["flag", "measure", "number", "count"].map(str::to_string)).unwrap();
        let of_row = |row: usize| -> Vec<f64> { numbers.iter().map(|column| column[row]).collect() };
        assert_eq!(of_row(19_999), [0.0, 9_999.5, f64::from(u32::MAX - 19_999), 19_999.0]);
        assert_eq!(of_row(2)[..2], [1.0, 1.0]);
        assert!(numbers[3][3].is_nan() && numbers.iter().all(|column| column.len() == 20_000));
        assert!(read_numbers(&path, &["name".to_string()]).is_err());
        let table = TableFile::open(&path).unwrap();
        assert!(table.each::<f64>("count", |_, _| ()).unwrap_err().to_string().contains("count has another type"));
        assert!(table_columns(directory.path()).is_err());
    }
}
