//! The messages of Chakra's execution traces that are read, with the numbers of their fields
//! (`schema/protobuf/et_def.proto` of MLCommons Chakra). Fields that stand here not are skipped.

use prost::{Message, Oneof};

/// The first message of a file.
#[derive(Clone, PartialEq, Message)]
pub struct GlobalMetadata {
    /// Of the schema.
    #[prost(string, tag = "1")]
    pub version: String,
}

/// A node.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    /// Names it in its file.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// For people.
    #[prost(string, tag = "2")]
    pub name: String,
    /// A `NodeType`.
    #[prost(int32, tag = "3")]
    pub kind: i32,
    /// Nodes that must have ended.
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    /// Nodes that must have ended.
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    /// In microseconds.
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    /// Further properties.
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<Attribute>,
}

/// A property of a node.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its value, if it is of one of these types.
    #[prost(oneof = "Value", tags = "3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 28, 29")]
    pub value: Option<Value>,
}

/// The value of a property.
#[derive(Clone, PartialEq, Oneof)]
#[allow(missing_docs)]
pub enum Value {
    #[prost(double, tag = "3")]
    Double(f64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    Bools(Bools),
    #[prost(string, tag = "29")]
    Text(String),
}

/// A list of truth values.
#[derive(Clone, PartialEq, Message)]
pub struct Bools {
    /// The values.
    #[prost(bool, repeated, tag = "1")]
    pub values: Vec<bool>,
}

impl Attribute {
    /// A whole number of any type.
    pub fn whole(&self) -> Option<i128> {
        Some(match *self.value.as_ref()? {
            Value::Int32(n) | Value::Sint32(n) | Value::Sfixed32(n) => n.into(),
            Value::Int64(n) | Value::Sint64(n) | Value::Sfixed64(n) => n.into(),
            Value::Uint32(n) | Value::Fixed32(n) => n.into(),
            Value::Uint64(n) | Value::Fixed64(n) => n.into(),
            _ => return None,
        })
    }
}
