//! A Parquet table, written row by row in row groups: memory does not grow with its length.

use crate::results::column::{Buffered, Cells, Column, Kind, Row, TableInfo, Values};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows in a group.
const GROUP: usize = 1 << 14;

/// A table that is being written.
pub(crate) struct Table {
    name: &'static str,
    writer: SerializedFileWriter<File>,
    columns: Vec<Buffered>,
    /// The number of rows that have not been written yet.
    rows: usize,
}

impl Table {
    /// Creates the file of the table with rows `R` in `directory`. Its metadata has the unit and
    /// the meaning of each column.
    pub(crate) fn create<R: Row>(directory: &Path) -> Result<Table> {
        let TableInfo { name, columns, .. } = R::TABLE;
        let fields: String = columns.iter().map(field).collect();
        let schema = parse_message_type(&format!("message row {{ {fields} }}"))?;
        let explained = columns.iter().flat_map(|column| {
            let entry = |what, text: &str| KeyValue::new(format!("{}.{what}", column.name), text.to_string());
            [entry("unit", column.unit), entry("meaning", column.meaning)]
        });
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(explained.collect()))
            .build();
        let file = File::create(directory.join(format!("{name}.parquet")))?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        let column =
            |column: &Column| Buffered { values: Values::new(column.kind), present: Vec::new(), unknown: false };
        Ok(Table { name, writer, columns: columns.iter().map(column).collect(), rows: 0 })
    }

    /// The columns of rows `R` with these names are null in all rows.
    ///
    /// # Panics
    /// If the table has no such column.
    pub(crate) fn without<R: Row>(mut self, names: &[&str]) -> Table {
        for name in names {
            let place = R::TABLE.columns.iter().position(|column| column.name == *name);
            let place = place.unwrap_or_else(|| panic!("the table {} has no column {name}", self.name));
            self.columns[place].unknown = true;
        }
        self
    }

    /// Writes a whole table.
    pub(crate) fn write<R: Row>(directory: &Path, rows: impl IntoIterator<Item = R>) -> Result<()> {
        let mut table = Table::create::<R>(directory)?;
        rows.into_iter().try_for_each(|row| table.push(&row))?;
        table.close()
    }

    /// Adds a row.
    pub(crate) fn push<R: Row>(&mut self, row: &R) -> Result<()> {
        assert_eq!(self.name, R::TABLE.name, "the table of another row type");
        row.write(&mut Cells { columns: self.columns.iter_mut() });
        self.rows += 1;
        if self.rows == GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for Buffered { values, present, .. } in &mut self.columns {
            let writer = group.next_column()?.expect("as many as in the schema");
            match values {
                Values::U32(values) => write_values::<Int32Type>(writer, values, present),
                Values::I64(values) => write_values::<Int64Type>(writer, values, present),
                Values::F64(values) => write_values::<DoubleType>(writer, values, present),
                Values::Bool(values) => write_values::<BoolType>(writer, values, present),
                Values::Text(values) => write_values::<ByteArrayType>(writer, values, present),
            }?;
            present.clear();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes the remaining rows and the end of the file.
    pub(crate) fn close(mut self) -> Result<()> {
        self.flush()?;
        self.writer.close()?;
        Ok(())
    }
}

/// The column in Parquet's schema language.
fn field(Column { name, kind, .. }: &Column) -> String {
    match kind {
        Kind::U32 => format!("optional int32 {name} (INTEGER(32,false));"),
        Kind::I64 => format!("optional int64 {name};"),
        Kind::F64 => format!("optional double {name};"),
        Kind::Bool => format!("optional boolean {name};"),
        Kind::Text => format!("optional binary {name} (STRING);"),
    }
}

/// Writes the values of a column in a row group, and clears them.
fn write_values<T: DataType>(
    mut writer: SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    present: &[i16],
) -> Result<()> {
    writer.typed::<T>().write_batch(values, Some(present), None)?;
    values.clear();
    writer.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::FlowId;
    use crate::results::column::table;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    /// A value of each kind, any of which may be missing.
    struct Any<'a>(Option<FlowId>, Option<u64>, Option<f64>, Option<bool>, Option<&'a str>);

    table! {
        /// Of each
        /// kind one.
        "any" of Any<'_>, unless "it is not wanted", |row|
        /// Is called.
        id: FlowId, "" = row.0;
        /// Adds
        /// up.
        sum: u64, "B" = row.1;
        /// Measures.
        measure: f64, "s" = row.2;
        /// Says yes or no.
        flag: bool, "" = row.3;
        /// Names.
        name: str, "" = row.4;
    }

    struct Other;

    table! {
        /// Another table.
        "other" of Other, always, |_row|
        /// Counts.
        count: u32, "" = 1;
    }

    #[test]
    fn a_declaration_gives_name_rows_and_columns() {
        let TableInfo { name, rows, lacking, columns } = Any::TABLE;
        assert_eq!((name, rows, lacking), ("any", "Of each kind one.", Some("it is not wanted")));
        assert_eq!((Other::TABLE.lacking, Other::TABLE.columns[0].kind), (None, Kind::I64));
        let sum = Column { name: "sum", kind: Kind::I64, unit: "B", meaning: "Adds up." };
        assert_eq!((columns.len(), columns[1]), (5, sum));
        assert_eq!(columns.iter().map(|c| c.kind.name()).collect::<Vec<_>>(), ["u32", "i64", "f64", "bool", "string"]);
    }

    /// More rows than a group holds; every seventh is empty.
    #[test]
    fn a_table_reads_back_as_written() {
        let directory = tempfile::tempdir().unwrap();
        let rows = GROUP as u32 + 5;
        let mut table = Table::create::<Any<'_>>(directory.path()).unwrap();
        for i in 0..rows {
            let name = format!("row {i}");
            let row = Any(Some(FlowId::from(u32::MAX - i)), Some(1 << 40), Some(0.5), Some(i % 2 == 0), Some(&name));
            table.push(&if i % 7 == 0 { Any(None, None, None, None, None) } else { row }).unwrap();
        }
        table.close().unwrap();
        let file = SerializedFileReader::new(File::open(directory.path().join("any.parquet")).unwrap()).unwrap();
        let metadata = file.metadata().file_metadata().key_value_metadata().unwrap();
        let meaning = metadata.iter().find(|entry| entry.key == "sum.meaning").unwrap();
        assert_eq!(meaning.value.as_deref(), Some("Adds up."));
        assert_eq!(file.metadata().num_row_groups(), 2);
        let mut read = 0;
        for (i, row) in (0u32..).zip(file.get_row_iter(None).unwrap()) {
            let row = row.unwrap();
            read += 1;
            if i % 7 == 0 {
                assert!((0..5).all(|column| row.get_uint(column).is_err() && row.get_string(column).is_err()));
                continue;
            }
            assert_eq!((row.get_uint(0).unwrap(), row.get_long(1).unwrap()), (u32::MAX - i, 1 << 40));
            assert_eq!((row.get_double(2).unwrap(), row.get_bool(3).unwrap()), (0.5, i % 2 == 0));
            assert_eq!(row.get_string(4).unwrap(), &format!("row {i}"));
        }
        assert_eq!(read, rows);
    }

    #[test]
    fn unknown_columns_are_null() {
        let directory = tempfile::tempdir().unwrap();
        let mut table = Table::create::<Any<'_>>(directory.path()).unwrap().without::<Any<'_>>(&["sum", "name"]);
        table.push(&Any(Some(FlowId::new(1)), Some(2), Some(3.0), Some(true), Some("four"))).unwrap();
        table.close().unwrap();
        let file = SerializedFileReader::new(File::open(directory.path().join("any.parquet")).unwrap()).unwrap();
        let row = file.get_row_iter(None).unwrap().next().unwrap().unwrap();
        assert_eq!((row.get_uint(0).unwrap(), row.get_double(2).unwrap(), row.get_bool(3).unwrap()), (1, 3.0, true));
        assert!(row.get_long(1).is_err() && row.get_string(4).is_err());
    }

    #[test]
    #[should_panic(expected = "the table of another row type")]
    fn a_table_takes_rows_of_one_type() {
        let directory = tempfile::tempdir().unwrap();
        let _ = Table::create::<Any<'_>>(directory.path()).unwrap().push(&Other);
    }
}
