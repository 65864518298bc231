//! Traces in Parquet, with the columns of a trace.

use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row as Record};

use super::columns::{Cells, check, ids};
use super::{At, Row, Wrong};
use crate::{one_line, quoted};

pub(super) fn read(bytes: Vec<u8>) -> Result<Vec<Row>, Wrong> {
    let damaged = |why: parquet::errors::ParquetError| (At::File, one_line(&format!("is not Parquet: {why}")));
    let file = SerializedFileReader::new(Bytes::from(bytes)).map_err(damaged)?;
    let schema = file.metadata().file_metadata().schema();
    let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
    check(&names, At::File)?;
    let mut rows = Vec::new();
    for (i, record) in file.get_row_iter(None).map_err(damaged)?.enumerate() {
        let record = record.map_err(damaged)?;
        rows.push(row(i, &record)?);
    }
    if rows.is_empty() {
        return Err((At::File, "has no row".to_string()));
    }
    Ok(rows)
}

fn row(i: usize, record: &Record) -> Result<Row, Wrong> {
    let at = At::Row(i);
    let (mut after, mut texts) = (Vec::new(), Vec::with_capacity(7));
    for (name, field) in record.get_column_iter() {
        let of = |why: String| (at, format!("column {name}: {why}"));
        match (name.as_str(), field) {
            (_, Field::Null) => {}
            ("after", Field::ListInternal(list)) => {
                let each = list.elements().iter().map(text);
                after = each.collect::<Result<_, _>>().map_err(of)?;
            }
            ("after", field) => after = ids(&text(field).map_err(of)?),
            (_, field) => texts.push((name.as_str(), text(field).map_err(of)?)),
        }
    }
    let cell = |column: &str| texts.iter().find(|(name, _)| *name == column).map(|(_, text)| text.as_str());
    let [src, dst, size_bytes, start_s, id, priority, tag] =
        ["src", "dst", "size_bytes", "start_s", "id", "priority", "tag"].map(cell);
    Cells { src, dst, size_bytes, start_s, id, after, priority, tag }.row(i, at)
}

/// A number or a string, as text.
fn text(field: &Field) -> Result<String, String> {
    Ok(match field {
        Field::Byte(n) => n.to_string(),
        Field::Short(n) => n.to_string(),
        Field::Int(n) => n.to_string(),
        Field::Long(n) => n.to_string(),
        Field::UByte(n) => n.to_string(),
        Field::UShort(n) => n.to_string(),
        Field::UInt(n) => n.to_string(),
        Field::ULong(n) => n.to_string(),
        // Libraries for tables write whole numbers as 1000.0, of which 1000 remains.
        Field::Float(n) => n.to_string(),
        Field::Double(n) => n.to_string(),
        Field::Str(text) => text.clone(),
        // A string of a writer that does not say so.
        Field::Bytes(bytes) => {
            String::from_utf8(bytes.data().to_vec()).map_err(|_| "is no text (UTF-8)".to_string())?
        }
        other => return Err(format!("{} is neither a number nor a string", quoted(&other.to_string()))),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use linkpool_units::Time;

    /// Two flows; with `compression`, a number as the name of the first host, and no id.
    fn file(columns: &str, compression: parquet::basic::Compression) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(&format!("message trace {{ {columns} }}")).unwrap());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema.clone(), Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for field in schema.get_fields() {
            let mut column = group.next_column().unwrap().unwrap();
            match field.name() {
                "src" => column.typed::<Int64Type>().write_batch(&[4, 1], None, None).map(drop),
                "dst" => {
                    let names = ["h1", "h2"].map(ByteArray::from);
                    column.typed::<ByteArrayType>().write_batch(&names, None, None).map(drop)
                }
                "size_bytes" => column.typed::<DoubleType>().write_batch(&[1000.0, 7.5], None, None).map(drop),
                "start_s" => column.typed::<DoubleType>().write_batch(&[0.5], Some(&[1, 0]), None).map(drop),
                "after" => column
                    .typed::<ByteArrayType>()
                    .write_batch(&[ByteArray::from("0 x")], Some(&[0, 1]), None)
                    .map(drop),
                name => panic!("{name}"),
            }
            .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        bytes
    }

    const COLUMNS: &str = "required int64 src; required binary dst (utf8); required double size_bytes; \
                           optional double start_s; optional binary after (utf8);";

    #[test]
    fn a_row_says_who_sends_how_much_when_and_after_what() {
        use parquet::basic::{Compression, ZstdLevel};
        // polars writes zstd, others snappy.
        for compression in [Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())] {
            let (at, why) = read(file(COLUMNS, compression)).unwrap_err();
            assert_eq!(
                (at.to_string().as_str(), why.as_str()),
                (", row 1", "column size_bytes: \"7.5\" is no size: a whole number of bytes above zero")
            );
        }
        let reader = SerializedFileReader::new(Bytes::from(file(COLUMNS, Compression::UNCOMPRESSED))).unwrap();
        let records: Vec<Record> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let first = row(0, &records[0]).unwrap();
        assert_eq!((first.from.as_str(), first.to.as_str(), first.size), ("4", "h1", 1000));
        assert_eq!((first.start, first.after.len(), first.id.as_str()), (Time::from_ms(500), 0, "0"));
    }

    #[test]
    fn other_files_are_refused() {
        let good = file(COLUMNS, parquet::basic::Compression::SNAPPY);
        for bytes in [b"src,dst\n".to_vec(), good[..good.len() / 2].to_vec(), Vec::new()] {
            let (at, why) = read(bytes).unwrap_err();
            assert!(at == At::File && why.starts_with("is not Parquet: "), "{why}");
        }
        let named = file("required int64 src; required binary dst;", parquet::basic::Compression::SNAPPY);
        assert_eq!(read(named).unwrap_err().1, "names no column size_bytes");
    }
}
