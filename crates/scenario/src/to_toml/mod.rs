//! A scenario as the file that says all of it.

mod change;
mod routing;
mod workload;

use indexmap::IndexMap;

use crate::file::{
    ControlSource, ControlText, CounterSeriesTable, File, MeasureTable, QueueSeriesTable, QueueTable, RecordTable,
    RoleSize, SeriesTable, TopologyTable, TransportTable,
};
use crate::model::{ControlFile, CounterRecord, QueueRecord, Record, Role, Scenario, SeriesRecord, Transport};

impl Scenario {
    /// The scenario as run: a file with every default written out, which loads as this scenario.
    pub fn to_toml(&self) -> String {
        let file = File {
            name: Some(self.name.clone()),
            seed: Some(self.seed),
            duration: Some(self.duration),
            drain: Some(self.drain),
            controls: (!self.controls.is_empty()).then(|| self.controls.iter().map(control_file).collect()),
            until: self.until.as_ref().map(workload::until),
            measure: Some(MeasureTable { warm_up: Some(self.measure.warm_up), cut_off: Some(self.measure.cut_off) }),
            topology: Some(TopologyTable(Some(self.topology.clone()))),
            queue: Some(QueueTable(Some((self.queue.clone(), self.layer_queues.clone())))),
            routing: Some(routing::table(self)),
            change: change::tables(self),
            transport: Some(self.transports.iter().map(|t| (t.name.clone(), transport(t))).collect()),
            roles: (!self.roles.is_empty()).then(|| roles(&self.roles)),
            workload: Some(workload::table(self)),
            record: (self.record != Record::default()).then(|| record(&self.record)),
        };
        toml_edit::ser::to_string_pretty(&file).expect("a scenario has no value that TOML lacks")
    }
}

fn control_file(control: &ControlFile) -> ControlSource {
    ControlSource::Text(ControlText { file: control.file.clone(), source: control.source.clone() })
}

fn transport(t: &Transport) -> TransportTable {
    TransportTable(Some(Box::new(t.clone())))
}

fn roles(roles: &[Role]) -> IndexMap<String, RoleSize> {
    roles.iter().map(|role| (role.name.clone(), RoleSize::Hosts(role.hosts))).collect()
}

fn record(record: &Record) -> RecordTable {
    RecordTable {
        queue: record.queue.as_ref().map(queue_series),
        cwnd: record.cwnd.as_ref().map(series),
        rate: record.rate.as_ref().map(series),
        rtt: record.rtt.as_ref().map(series),
        counters: record.counters.as_ref().map(counter_series),
    }
}

fn queue_series(record: &QueueRecord) -> QueueSeriesTable {
    QueueSeriesTable {
        links: Some(link_names(&record.links)),
        every: Some(record.every),
        from: Some(record.from),
        until: Some(record.until),
    }
}

fn counter_series(record: &CounterRecord) -> CounterSeriesTable {
    CounterSeriesTable {
        links: record.links.as_deref().map(link_names),
        every: Some(record.every),
        from: Some(record.from),
        until: Some(record.until),
    }
}

fn link_names(links: &[(String, String)]) -> Vec<String> {
    links.iter().map(|(from, to)| format!("{from}->{to}")).collect()
}

fn series(record: &SeriesRecord) -> SeriesTable {
    SeriesTable {
        every: Some(record.every),
        from: Some(record.from),
        until: Some(record.until),
        labels: record.labels.clone(),
    }
}
