//! Columns of result tables. Each is declared once, with [`table!`]: name, type, unit, meaning, and
//! the expression for its value.

use crate::plan::FlowId;
use linkpool_transport::SubflowId;
use parquet::data_type::ByteArray;

/// A table of a result directory.
#[derive(Clone, Copy, Debug)]
pub struct TableInfo {
    /// Its file is `NAME.parquet`.
    pub name: &'static str,
    /// The meaning of a row, and the order of rows.
    pub rows: &'static str,
    /// The condition under which a result lacks the table, as a clause; `None`: every result has
    /// it.
    pub lacking: Option<&'static str>,
    /// The columns, in the order of the file.
    pub columns: &'static [Column],
}

/// A column of a table. Any column may hold nulls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// The name in the file.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// The unit; empty for numbers without one.
    pub unit: &'static str,
    /// The meaning of a value, and of null; code stands between backticks.
    pub meaning: &'static str,
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Unsigned integer, 32 bits.
    U32,
    /// Signed integer, 64 bits.
    I64,
    /// Floating-point number, 64 bits.
    F64,
    /// True or false.
    Bool,
    /// UTF-8.
    Text,
}

impl Kind {
    /// The name of the type in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Kind::U32 => "u32",
            Kind::I64 => "i64",
            Kind::F64 => "f64",
            Kind::Bool => "bool",
            Kind::Text => "string",
        }
    }
}

/// The values of a column that have not been written yet.
#[derive(Debug)]
pub(crate) enum Values {
    U32(Vec<i32>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
}

impl Values {
    pub(crate) fn new(kind: Kind) -> Values {
        match kind {
            Kind::U32 => Values::U32(Vec::new()),
            Kind::I64 => Values::I64(Vec::new()),
            Kind::F64 => Values::F64(Vec::new()),
            Kind::Bool => Values::Bool(Vec::new()),
            Kind::Text => Values::Text(Vec::new()),
        }
    }
}

/// A Rust type that declares the type of a column.
pub(crate) trait Value {
    const KIND: Kind;
    /// One value.
    type Cell<'a>;
    /// Adds a value to a column of this kind.
    fn push(cell: Self::Cell<'_>, values: &mut Values);
}

macro_rules! value {
    ($type:ty, $cell:ty, $kind:ident, $cell_name:ident => $stored:expr) => {
        impl Value for $type {
            const KIND: Kind = Kind::$kind;
            type Cell<'a> = $cell;
            fn push($cell_name: Self::Cell<'_>, values: &mut Values) {
                match values {
                    Values::$kind(values) => values.push($stored),
                    other => unreachable!("a column that was made as {:?} holds {other:?}", Kind::$kind),
                }
            }
        }
    };
}
// Differences of counts may be negative, so counts are signed. Names need not be.
value!(u32, u32, I64, x => x.into());
value!(FlowId, FlowId, U32, x => u32::from(x) as i32); // the same bits; the schema says that they are unsigned
value!(SubflowId, SubflowId, U32, x => u32::from(x) as i32);
value!(u64, u64, I64, x => x as i64);
value!(f64, f64, F64, x => x);
value!(bool, bool, Bool, x => x);
value!(str, &'a str, Text, x => x.into());

/// A row of a table that is declared with [`table!`].
pub(crate) trait Row {
    const TABLE: TableInfo;
    /// Gives the value of each column, in order.
    fn write(&self, cells: &mut Cells<'_>);
}

/// Takes the values of a row, column by column.
#[derive(Debug)]
pub(crate) struct Cells<'t> {
    pub(super) columns: std::slice::IterMut<'t, Buffered>,
}

/// The part of a column that has not been written yet.
#[derive(Debug)]
pub(crate) struct Buffered {
    pub(super) values: Values,
    /// By row: 1 if there is a value.
    pub(super) present: Vec<i16>,
    /// The run cannot know the values, so all are null.
    pub(super) unknown: bool,
}

impl Cells<'_> {
    /// Adds the value of the next column; `None`: null.
    pub(crate) fn next<T: Value + ?Sized>(&mut self, cell: Option<T::Cell<'_>>) {
        let column = self.columns.next().expect("a column for each value: both come from one declaration");
        let cell = cell.filter(|_| !column.unknown);
        column.present.push(cell.is_some().into());
        if let Some(cell) = cell {
            T::push(cell, &mut column.values);
        }
    }
}

/// Declares the table of a row type. The doc comment of the table describes its rows; the doc
/// comment of a column describes its values. A column has a name, a Rust type, a unit and an
/// expression, which gives a value or an option. Either every result has the table (`always`), or
/// the clause behind `unless` is the condition under which a result lacks it.
macro_rules! table {
    (
        $(#[doc = $rows:literal])+
        $name:literal of $type:ty, $(always)? $(unless $lacking:literal)?, |$row:ident|
        $($(#[doc = $meaning:literal])+ $column:ident: $kind:ty, $unit:literal = $value:expr;)+
    ) => {
        impl $crate::results::column::Row for $type {
            const TABLE: $crate::results::column::TableInfo = $crate::results::column::TableInfo {
                name: $name,
                rows: concat!($($rows),+).trim_ascii(),
                lacking: { let mut _lacking = None; $(_lacking = Some($lacking);)? _lacking },
                columns: &[$($crate::results::column::Column {
                    name: stringify!($column),
                    kind: <$kind as $crate::results::column::Value>::KIND,
                    unit: $unit,
                    meaning: concat!($($meaning),+).trim_ascii(),
                }),+],
            };

            fn write(&self, cells: &mut $crate::results::column::Cells<'_>) {
                let $row = self;
                $(cells.next::<$kind>(($value).into());)+
            }
        }
    };
}
pub(crate) use table;
