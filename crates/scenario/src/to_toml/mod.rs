//! A scenario as the file that says all of it.

mod change;
mod queue;
mod routing;
mod topology;
mod workload;

use indexmap::IndexMap;
use linkpool_units::Bytes;
use toml_edit::DocumentMut;

use crate::file::{
    CounterSeriesTable, File, MeasureTable, Packets, QueueSeriesTable, RecordTable, RoleSize, SeriesTable, Size, Speed,
    Timeouts, TransportTable,
};
use crate::model::{CounterRecord, QueueRecord, Record, Role, Scenario, SeriesRecord, Transport};
use crate::resolve::applies;

impl Scenario {
    /// The scenario as run: a file with every default written out, which loads as this scenario.
    pub fn to_toml(&self) -> String {
        let file = File {
            name: Some(self.name.clone()),
            seed: Some(self.seed),
            duration: Some(self.duration),
            drain: Some(self.drain),
            until: self.until.as_ref().map(workload::until),
            measure: Some(MeasureTable { warm_up: Some(self.measure.warm_up), cut_off: Some(self.measure.cut_off) }),
            topology: Some(topology::table(&self.topology)),
            queue: Some(queue::table(self)),
            routing: Some(routing::table(self)),
            change: change::tables(self),
            transport: Some(self.transports.iter().map(|t| (t.name.clone(), transport(t))).collect()),
            roles: (!self.roles.is_empty()).then(|| roles(&self.roles)),
            workload: Some(workload::table(self)),
            record: (self.record != Record::default()).then(|| record(&self.record)),
        };
        let text = toml_edit::ser::to_string_pretty(&file).expect("a scenario has no value that TOML lacks");
        let mut document: DocumentMut = text.parse().expect("what is written as TOML is TOML");
        for t in &self.transports {
            keep_what_applies(t, &mut document);
        }
        document.to_string()
    }
}

/// A key that does not apply to the transport would be an error in a file.
fn keep_what_applies(transport: &Transport, document: &mut DocumentMut) {
    if let Some(table) = document["transport"][&transport.name].as_table_like_mut() {
        let keys: Vec<String> = table.iter().map(|(key, _)| key.to_string()).collect();
        for key in keys.iter().filter(|key| !applies(key, transport)) {
            table.remove(key);
        }
    }
}

fn transport(t: &Transport) -> TransportTable {
    let bytes = |n: u32| Some(Bytes(n.into()));
    TransportTable {
        preset: Some(t.preset),
        control: Some(t.control),
        subflows: Some(t.subflows),
        paths: Some(t.paths),
        mss: bytes(t.mss),
        header: bytes(t.header),
        ack_size: bytes(t.ack_size),
        initial_window: Some(t.initial_window),
        initial_ssthresh: size(t.initial_ssthresh),
        cwnd_min: Some(t.cwnd_min),
        alpha0: Some(t.alpha0),
        g: Some(t.g),
        beta: Some(t.beta),
        gamma: Some(t.gamma),
        tau: Some(t.tau),
        suppression: Some(t.suppression),
        release: Some(t.release),
        ssthresh_after_cut: Some(t.ssthresh_after_cut),
        ewtcp_increase: Some(t.ewtcp_increase),
        aggressiveness: Some(t.aggressiveness),
        loss_floor: Some(t.loss_floor),
        cubic_c: Some(t.cubic_c),
        cubic_beta: Some(t.cubic_beta),
        fast_convergence: Some(t.fast_convergence),
        min_rto: Some(t.min_rto),
        initial_rto: Some(t.initial_rto),
        max_rto: Some(t.max_rto),
        max_backoff: Some(t.max_backoff),
        srtt_gain: Some(t.srtt_gain),
        rttvar_gain: Some(t.rttvar_gain),
        handshake_sample: Some(t.handshake_sample),
        syn_timeout: Some(t.syn_timeout),
        syn_retries: Some(t.syn_retries),
        recovery: Some(t.recovery),
        undo: Some(t.undo),
        cut_in_recovery: Some(t.cut_in_recovery),
        dupack_threshold: Some(t.dupack_threshold),
        limited_transmit: Some(t.limited_transmit),
        scatter_bytes: Some(Bytes(t.scatter_bytes)),
        scatter_window: Some(t.scatter_window),
        scatter_until_congestion: Some(t.scatter_until_congestion),
        scatter_control: Some(t.scatter_control),
        plb_rounds: Some(t.plb_rounds),
        plb_idle_rounds: Some(t.plb_idle_rounds),
        plb_congested: Some(t.plb_congested),
        plb_suspend: Some(t.plb_suspend),
        reps_buffer: Some(t.reps_buffer),
        reps_freezing: Some(t.reps_freezing),
        byte_counting: Some(t.byte_counting),
        byte_counting_limit: Some(Packets(t.byte_counting_limit)),
        ack_every: Some(t.ack_every),
        ack_delay: Some(t.ack_delay),
        quickack: Some(t.quickack),
        join_jitter: Some(t.join_jitter),
        join_after: Some(Bytes(t.join_after)),
        join_at: Some(t.join_at.clone()),
        backup: Some(t.backup.clone()),
        scheduler: Some(t.scheduler),
        stale_after: Some(Timeouts(t.stale_after)),
        fail_after: Some(Timeouts(t.fail_after)),
        send_buffer: size(t.send_buffer),
        receive_buffer: size(t.receive_buffer),
        read_rate: Some(Speed(t.read_rate)),
        faults: Some(t.faults.clone()),
        accept_ecn: Some(t.accept_ecn),
        priority: Some(t.priority),
        trimming: Some(t.trimming),
        pull_priority: Some(t.pull_priority),
        path_penalties: Some(t.path_penalties),
    }
}

fn roles(roles: &[Role]) -> IndexMap<String, RoleSize> {
    roles.iter().map(|role| (role.name.clone(), RoleSize::Hosts(role.hosts))).collect()
}

fn size(bytes: Option<u64>) -> Option<Size> {
    Some(Size(bytes.map(Bytes)))
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
