//! A Parquet table written row by row, in row groups, so that its memory does not grow with its length.

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows in a group.
const GROUP: usize = 1 << 14;

/// What a column holds. All columns may hold nulls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    U32,
    I64,
    F64,
    Bool,
    Text,
}

#[derive(Debug)]
enum Values {
    U32(Vec<i32>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
}

#[derive(Debug)]
struct Column {
    values: Values,
    /// Per row: 1 if there is a value.
    present: Vec<i16>,
}

/// One cell.
#[derive(Clone, Debug)]
pub(crate) enum Cell<'a> {
    U32(u32),
    I64(i64),
    F64(f64),
    Bool(bool),
    Text(&'a str),
    Null,
}

pub(crate) struct Table {
    writer: SerializedFileWriter<File>,
    columns: Vec<Column>,
    rows: usize,
}

impl Table {
    pub(crate) fn create(path: &Path, columns: &[(&str, Kind)]) -> Result<Table> {
        let field = |(name, kind): &(&str, Kind)| match kind {
            Kind::U32 => format!("optional int32 {name} (INTEGER(32,false));"),
            Kind::I64 => format!("optional int64 {name};"),
            Kind::F64 => format!("optional double {name};"),
            Kind::Bool => format!("optional boolean {name};"),
            Kind::Text => format!("optional binary {name} (STRING);"),
        };
        let fields: String = columns.iter().map(field).collect();
        let schema = parse_message_type(&format!("message row {{ {fields} }}"))?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(File::create(path)?, Arc::new(schema), Arc::new(properties))?;
        let column = |(_, kind): &(&str, Kind)| Column {
            values: match kind {
                Kind::U32 => Values::U32(Vec::new()),
                Kind::I64 => Values::I64(Vec::new()),
                Kind::F64 => Values::F64(Vec::new()),
                Kind::Bool => Values::Bool(Vec::new()),
                Kind::Text => Values::Text(Vec::new()),
            },
            present: Vec::new(),
        };
        Ok(Table { writer, columns: columns.iter().map(column).collect(), rows: 0 })
    }

    /// Adds a row: a cell per column, of the column's kind or null.
    pub(crate) fn push<const N: usize>(&mut self, row: [Cell<'_>; N]) -> Result<()> {
        assert_eq!(N, self.columns.len());
        for (column, cell) in self.columns.iter_mut().zip(row) {
            column.present.push(!matches!(cell, Cell::Null) as i16);
            match (&mut column.values, cell) {
                (Values::U32(v), Cell::U32(x)) => v.push(x as i32),
                (Values::I64(v), Cell::I64(x)) => v.push(x),
                (Values::F64(v), Cell::F64(x)) => v.push(x),
                (Values::Bool(v), Cell::Bool(x)) => v.push(x),
                (Values::Text(v), Cell::Text(x)) => v.push(x.into()),
                (_, Cell::Null) => {}
                (values, cell) => panic!("{cell:?} does not belong into {values:?}"),
            }
        }
        self.rows += 1;
        if self.rows == GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            let mut writer = group.next_column()?.expect("as many as in the schema");
            let present = Some(column.present.as_slice());
            match &mut column.values {
                Values::U32(v) => {
                    writer.typed::<Int32Type>().write_batch(v, present, None)?;
                    v.clear();
                }
                Values::I64(v) => {
                    writer.typed::<Int64Type>().write_batch(v, present, None)?;
                    v.clear();
                }
                Values::F64(v) => {
                    writer.typed::<DoubleType>().write_batch(v, present, None)?;
                    v.clear();
                }
                Values::Bool(v) => {
                    writer.typed::<BoolType>().write_batch(v, present, None)?;
                    v.clear();
                }
                Values::Text(v) => {
                    writer.typed::<ByteArrayType>().write_batch(v, present, None)?;
                    v.clear();
                }
            }
            writer.close()?;
            column.present.clear();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes what is left and the end of the file.
    pub(crate) fn close(mut self) -> Result<()> {
        self.flush()?;
        self.writer.close()?;
        Ok(())
    }
}

impl From<u32> for Cell<'_> {
    fn from(x: u32) -> Self {
        Cell::U32(x)
    }
}
impl From<u64> for Cell<'_> {
    fn from(x: u64) -> Self {
        Cell::I64(x as i64)
    }
}
impl From<f64> for Cell<'_> {
    fn from(x: f64) -> Self {
        Cell::F64(x)
    }
}
impl From<bool> for Cell<'_> {
    fn from(x: bool) -> Self {
        Cell::Bool(x)
    }
}
impl<'a> From<&'a str> for Cell<'a> {
    fn from(x: &'a str) -> Self {
        Cell::Text(x)
    }
}
impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(x: Option<T>) -> Self {
        x.map_or(Cell::Null, Into::into)
    }
}
