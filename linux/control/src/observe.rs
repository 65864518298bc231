//! Observing: the rounds of all subflows of a controller, into the simulator's table `cwnd` with
//! further columns.

use crate::instance::Instance;
use crate::intf::{Event, real};
use crate::settings::Settings;
use anyhow::{Context, Result};
use libbpf_rs::RingBufferBuilder;
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zerocopy::FromBytes;

/// Rows in a group: memory does not grow with the length of the table.
const GROUP: usize = 1 << 14;

/// The columns of the simulator's `cwnd.parquet`, then those that only the kernel has.
const SCHEMA: &str = "message row {
    required double time_s; required int32 flow (INTEGER(32,false)); required int32 subflow (INTEGER(32,false));
    required double cwnd_pkts; optional double ssthresh_pkts; optional double srtt_s; required boolean suppressed;
    required int64 delivered_pkts; required int64 marked_pkts; required int64 lost_pkts;
    required int32 in_flight_pkts (INTEGER(32,false)); required binary phase (STRING); required boolean backup;
    required int64 token; }";

/// What an observation has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Rounds written.
    pub rounds: u64,
    /// Rounds for which the ring buffer had no room.
    pub lost: u64,
    /// Connections.
    pub flows: usize,
}

/// Writes `cwnd.parquet` into `directory` until `stop` is set or `most` has passed. A row is the
/// end of a round of a subflow; flows are numbered as they are first seen, times count from the
/// beginning of the observation.
pub fn observe(controller: &Instance, directory: &Path, most: Duration, stop: &Arc<AtomicBool>) -> Result<Seen> {
    fs::create_dir_all(directory).with_context(|| format!("{}", directory.display()))?;
    let rows = RefCell::new(Rows::create(&directory.join("cwnd.parquet"))?);
    let map = controller.rounds()?;
    let mut builder = RingBufferBuilder::new();
    builder.add(map, |bytes| {
        if let Ok((event, _)) = Event::read_from_prefix(bytes) {
            rows.borrow_mut().push(&event);
        }
        0
    })?;
    let ring = builder.build()?;
    // What others have left there is not of this observation.
    ring.consume()?;
    rows.borrow_mut().clear();
    let lost_before = controller.counters()?[1];
    controller.set(&Settings { observe: Some(true), ..Settings::default() })?;
    let end = Instant::now() + most;
    while !stop.load(Ordering::Relaxed) && Instant::now() < end {
        ring.poll_raw(Duration::from_millis(100));
        rows.borrow_mut().flush_full()?;
    }
    controller.set(&Settings { observe: Some(false), ..Settings::default() })?;
    ring.consume()?;
    drop(ring);
    let lost = controller.counters()?[1] - lost_before;
    rows.into_inner().close(lost)
}

struct Rows {
    writer: SerializedFileWriter<File>,
    events: Vec<Event>,
    flows: HashMap<u64, u32>,
    begin: Option<u64>,
    written: u64,
}

impl Rows {
    fn create(path: &Path) -> Result<Rows> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = File::create(path).with_context(|| format!("{}", path.display()))?;
        let writer = SerializedFileWriter::new(file, Arc::new(parse_message_type(SCHEMA)?), Arc::new(properties))?;
        Ok(Rows { writer, events: Vec::new(), flows: HashMap::new(), begin: None, written: 0 })
    }

    fn push(&mut self, event: &Event) {
        self.begin.get_or_insert(event.time);
        let next = self.flows.len() as u32;
        self.flows.entry(event.conn).or_insert(next);
        self.events.push(*event);
    }

    fn clear(&mut self) {
        self.events.clear();
        self.flows.clear();
        self.begin = None;
    }

    fn flush_full(&mut self) -> Result<()> {
        if self.events.len() >= GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        // Processors write at once: what is nearly simultaneous may come in another order.
        self.events.sort_by_key(|event| event.time);
        let (events, begin) = (&self.events, self.begin.unwrap_or(0));
        let mut group = self.writer.next_row_group()?;
        let each = |value: &dyn Fn(&Event) -> f64| events.iter().map(value).collect::<Vec<_>>();
        let count = |value: &dyn Fn(&Event) -> u64| events.iter().map(|e| value(e) as i64).collect::<Vec<_>>();
        let small = |value: &dyn Fn(&Event) -> u32| events.iter().map(|e| value(e) as i32).collect::<Vec<_>>();
        let flag = |value: &dyn Fn(&Event) -> u8| events.iter().map(|e| value(e) != 0).collect::<Vec<_>>();
        column::<DoubleType>(&mut group, &each(&|e| e.time.saturating_sub(begin) as f64 / 1e9))?;
        column::<Int32Type>(&mut group, &small(&|e| self.flows[&e.conn]))?;
        column::<Int32Type>(&mut group, &small(&|e| e.slot.into()))?;
        column::<DoubleType>(&mut group, &each(&|e| real(e.cwnd)))?;
        // The kernel's "unlimited" is 2^31 - 1 packets.
        let limited = |e: &Event| (real(e.ssthresh) < 2e9).then(|| real(e.ssthresh));
        optional(&mut group, events.iter().map(limited))?;
        optional(&mut group, events.iter().map(|e| (e.srtt > 0).then(|| f64::from(e.srtt) / 8e6)))?;
        column::<BoolType>(&mut group, &flag(&|e| e.suppressed))?;
        column::<Int64Type>(&mut group, &count(&|e| e.delivered))?;
        column::<Int64Type>(&mut group, &count(&|e| e.marked))?;
        column::<Int64Type>(&mut group, &count(&|e| e.lost))?;
        column::<Int32Type>(&mut group, &small(&|e| e.flight))?;
        column::<ByteArrayType>(&mut group, &events.iter().map(|e| ByteArray::from(phase(e))).collect::<Vec<_>>())?;
        column::<BoolType>(&mut group, &flag(&|e| e.backup))?;
        column::<Int64Type>(&mut group, &count(&|e| e.token.into()))?;
        group.close()?;
        self.written += self.events.len() as u64;
        self.events.clear();
        Ok(())
    }

    fn close(mut self, lost: u64) -> Result<Seen> {
        self.flush()?;
        self.writer.close()?;
        Ok(Seen { rounds: self.written, lost, flows: self.flows.len() })
    }
}

/// What the window follows.
fn phase(event: &Event) -> &'static str {
    match event.ca_state {
        4 => "loss",
        3 => "recovery",
        _ if event.slow_start != 0 => "slow start",
        _ => "avoidance",
    }
}

fn column<T: DataType>(group: &mut SerializedRowGroupWriter<'_, File>, values: &[T::T]) -> Result<()> {
    let mut writer = group.next_column()?.context("fewer columns in the schema")?;
    writer.typed::<T>().write_batch(values, None, None)?;
    Ok(writer.close()?)
}

fn optional(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = Option<f64>> + Clone,
) -> Result<()> {
    let levels: Vec<i16> = values.clone().map(|v| v.is_some().into()).collect();
    let present: Vec<f64> = values.flatten().collect();
    let mut writer = group.next_column()?.context("fewer columns in the schema")?;
    writer.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
    Ok(writer.close()?)
}
