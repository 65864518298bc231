//! The forms of values that refer to a host, a link or a transport by name.

use linkpool_units::HostId;

use crate::bounds::Wrong;
use crate::names::{HostName, LinkEnds, LinkName, Names, TransportName};
use crate::visit::Written;

/// Without names, a host is written by its index.
impl Written<HostId> for HostName {
    fn of(value: &HostId) -> HostName {
        HostName::Index((*value).into())
    }
    fn value(self) -> HostId {
        match self {
            HostName::Index(index) => index.into(),
            HostName::Name(_) => HostId::NONE,
        }
    }
    fn with_names(value: &HostId, names: &dyn Names) -> HostName {
        HostName::Name(names.host_name(*value))
    }
    fn find(self, names: &dyn Names) -> Result<HostId, Vec<Wrong>> {
        names.host(&self).map_err(|why| vec![why.into()])
    }
}

impl Written<Vec<HostId>> for Vec<HostName> {
    fn of(value: &Vec<HostId>) -> Vec<HostName> {
        value.iter().map(HostName::of).collect()
    }
    fn value(self) -> Vec<HostId> {
        self.into_iter().map(HostName::value).collect()
    }
    fn with_names(value: &Vec<HostId>, names: &dyn Names) -> Vec<HostName> {
        value.iter().map(|host| HostName::with_names(host, names)).collect()
    }
    fn find(self, names: &dyn Names) -> Result<Vec<HostId>, Vec<Wrong>> {
        each(self, |host| names.host(&host))
    }
}

impl Written<Option<Vec<HostId>>> for Option<Vec<HostName>> {
    fn of(value: &Option<Vec<HostId>>) -> Option<Vec<HostName>> {
        value.as_ref().map(Written::of)
    }
    fn value(self) -> Option<Vec<HostId>> {
        self.map(Written::value)
    }
    fn with_names(value: &Option<Vec<HostId>>, names: &dyn Names) -> Option<Vec<HostName>> {
        value.as_ref().map(|hosts| Written::with_names(hosts, names))
    }
    fn find(self, names: &dyn Names) -> Result<Option<Vec<HostId>>, Vec<Wrong>> {
        self.map(|hosts| hosts.find(names)).transpose()
    }
}

/// In code, a transport is its place in the list of all transports.
impl Written<usize> for TransportName {
    fn of(value: &usize) -> TransportName {
        TransportName(value.to_string())
    }
    fn value(self) -> usize {
        usize::MAX
    }
    fn with_names(value: &usize, names: &dyn Names) -> TransportName {
        TransportName(names.transport_name(*value))
    }
    fn find(self, names: &dyn Names) -> Result<usize, Vec<Wrong>> {
        names.transport(&self.0).map_err(|why| vec![why.into()])
    }
}

impl Written<Vec<LinkEnds>> for Vec<LinkName> {
    fn of(value: &Vec<LinkEnds>) -> Vec<LinkName> {
        value.iter().map(|(from, to)| LinkName(format!("{from}->{to}"))).collect()
    }
    fn value(self) -> Vec<LinkEnds> {
        let ends = |LinkName(name): LinkName| {
            name.split_once("->").map(|(from, to)| (from.to_string(), to.to_string())).unwrap_or_default()
        };
        self.into_iter().map(ends).collect()
    }
    fn find(self, names: &dyn Names) -> Result<Vec<LinkEnds>, Vec<Wrong>> {
        each(self, |link| names.links(&link)).map(|links| links.into_iter().flatten().collect())
    }
}

impl Written<Option<Vec<LinkEnds>>> for Option<Vec<LinkName>> {
    fn of(value: &Option<Vec<LinkEnds>>) -> Option<Vec<LinkName>> {
        value.as_ref().map(Written::of)
    }
    fn value(self) -> Option<Vec<LinkEnds>> {
        self.map(Written::value)
    }
    fn find(self, names: &dyn Names) -> Result<Option<Vec<LinkEnds>>, Vec<Wrong>> {
        self.map(|links| links.find(names)).transpose()
    }
}

/// The value of each element, or the errors of all.
fn each<W, T>(written: Vec<W>, find: impl Fn(W) -> Result<T, String>) -> Result<Vec<T>, Vec<Wrong>> {
    let (mut values, mut wrong) = (Vec::new(), Vec::new());
    for (i, written) in written.into_iter().enumerate() {
        match find(written) {
            Ok(value) => values.push(value),
            Err(why) => wrong.push(Wrong::at(i, why)),
        }
    }
    if wrong.is_empty() { Ok(values) } else { Err(wrong) }
}
