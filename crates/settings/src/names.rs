//! References from values to other parts of the scenario: hosts, links, transports, files.

use std::fmt;

use linkpool_units::HostId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::mixed::{Form, Mixed, mixed};

/// Looks up parts of a scenario by name. An error is a message with its remedy.
pub trait Names {
    /// The host of this name or index.
    fn host(&self, name: &HostName) -> Result<HostId, String>;
    /// The name of a host.
    fn host_name(&self, host: HostId) -> String;
    /// The transport of this name, by its place in the list of transports.
    fn transport(&self, name: &str) -> Result<usize, String>;
    /// The name of a transport.
    fn transport_name(&self, transport: usize) -> String;
    /// The directed links of this name: one, or two of a name such as `A<->B`.
    fn links(&self, name: &LinkName) -> Result<Vec<LinkEnds>, String>;
    /// The content of the file of this name beside the scenario.
    fn content(&self, file: &str) -> Result<String, String>;
}

/// For use before the scenario is known: no part has a name.
#[derive(Clone, Copy, Debug)]
pub struct NoNames;

impl Names for NoNames {
    fn host(&self, name: &HostName) -> Result<HostId, String> {
        Err(format!("there is no host {name}"))
    }
    fn host_name(&self, host: HostId) -> String {
        format!("{host:?}")
    }
    fn transport(&self, name: &str) -> Result<usize, String> {
        Err(format!("no transport is named {name:?}"))
    }
    fn transport_name(&self, _: usize) -> String {
        "amp".to_string()
    }
    fn links(&self, LinkName(name): &LinkName) -> Result<Vec<LinkEnds>, String> {
        Err(format!("there is no link {name:?}"))
    }
    fn content(&self, file: &str) -> Result<String, String> {
        Err(format!("there is no file {file:?}"))
    }
}

/// A host, by its name or its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostName {
    /// By its name.
    Name(String),
    /// By its index: its place in the list of all hosts.
    Index(u32),
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostName::Name(name) => write!(f, "{name:?}"),
            HostName::Index(index) => write!(f, "{index}"),
        }
    }
}

impl Mixed for HostName {
    const NAME: &'static str = "Host";
    const FORMS: &'static str = "the name of a host, such as \"S1\", or its index, such as 0";
    const NUMBERS: Option<(u32, u32)> = Some((0, u32::MAX));

    fn of_number(number: u32) -> Option<HostName> {
        Some(HostName::Index(number))
    }

    fn of_text(text: &str) -> Option<Result<HostName, String>> {
        Some(Ok(HostName::Name(text.to_string())))
    }

    fn written(&self) -> Option<Form> {
        Some(match self {
            HostName::Name(name) => Form::text(name),
            HostName::Index(index) => Form::Number(*index),
        })
    }

    fn text_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<String>())
    }
}

mixed!(HostName);

/// A transport, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct TransportName(pub String);

/// A directed link, `FROM->TO`, or both directions, `A<->B`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct LinkName(#[schemars(regex(pattern = "^.+->.+$"))] pub String);

/// The names of the two ends of a directed link: from, to.
pub type LinkEnds = (String, String);
