//! A trace file of Perfetto under way.

use super::message::{Annotation, Counter, Kind, Process, Trace, TracePacket, TrackDescriptor, TrackEvent};
use prost::Message;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// All packets are of one sequence.
const SEQUENCE: u32 = 1;

/// A file that is written packet by packet. The first failure to write is kept until
/// [`File::close`].
#[derive(Debug)]
pub(super) struct File {
    writer: BufWriter<std::fs::File>,
    failure: Option<std::io::Error>,
}

/// A track: a number of its own, its name, and the number of the track that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) uuid: u64,
    pub(super) name: String,
    pub(super) parent: Option<u64>,
}

impl File {
    pub(super) fn create(path: &Path) -> Result<File> {
        Ok(File { writer: BufWriter::new(std::fs::File::create(path)?), failure: None })
    }

    fn write(&mut self, packet: TracePacket) {
        if self.failure.is_none() {
            let bytes = Trace { packets: vec![packet] }.encode_to_vec();
            self.failure = self.writer.write_all(&bytes).err();
        }
    }

    fn describe(&mut self, track: TrackDescriptor) {
        self.write(TracePacket { sequence: Some(SEQUENCE), track: Some(track), ..TracePacket::default() });
    }

    /// A process with this number.
    pub(super) fn process(&mut self, uuid: u64, pid: i32, name: String) {
        let process = Process { pid: Some(pid), name: Some(name) };
        self.describe(TrackDescriptor { uuid: Some(uuid), process: Some(process), ..TrackDescriptor::default() });
    }

    /// A track of slices.
    pub(super) fn track(&mut self, Track { uuid, name, parent }: Track) {
        self.describe(TrackDescriptor { uuid: Some(uuid), name: Some(name), parent, ..TrackDescriptor::default() });
    }

    /// A track of a counter in this unit.
    pub(super) fn counter(&mut self, Track { uuid, name, parent }: Track, unit: &str) {
        let counter = Some(Counter { unit: Some(unit.to_string()) });
        self.describe(TrackDescriptor { uuid: Some(uuid), name: Some(name), parent, counter, process: None });
    }

    fn event(&mut self, at: u64, kind: Kind, track: u64, event: TrackEvent) {
        let event = Some(TrackEvent { kind: Some(kind.into()), track: Some(track), ..event });
        // Picoseconds.
        let timestamp = Some(at / 1000);
        self.write(TracePacket { timestamp, sequence: Some(SEQUENCE), event, track: None });
    }

    /// A slice begins at `at`, in ps, where `arrows` end.
    pub(super) fn begin(&mut self, at: u64, track: u64, name: &str, arrows: Vec<u64>) {
        let event = TrackEvent { name: Some(name.to_string()), ending_arrows: arrows, ..TrackEvent::default() };
        self.event(at, Kind::Begin, track, event);
    }

    /// The last slice that began ends.
    pub(super) fn end(&mut self, at: u64, track: u64) {
        self.event(at, Kind::End, track, TrackEvent::default());
    }

    /// Something happens in an instant, where `arrows` begin.
    pub(super) fn instant(&mut self, at: u64, track: u64, name: String, values: &[(&str, u64)], arrows: Vec<u64>) {
        let annotation =
            |(name, number): &(&str, u64)| Annotation { number: Some(*number), name: Some((*name).to_string()) };
        let annotations = values.iter().map(annotation).collect();
        self.event(
            at,
            Kind::Instant,
            track,
            TrackEvent { name: Some(name), annotations, arrows, ..TrackEvent::default() },
        );
    }

    /// The value of a counter from `at` on.
    pub(super) fn count(&mut self, at: u64, track: u64, value: f64) {
        self.event(at, Kind::Counter, track, TrackEvent { value: Some(value), ..TrackEvent::default() });
    }

    /// Has writing failed?
    pub(super) fn is_broken(&self) -> bool {
        self.failure.is_some()
    }

    /// Closes the file.
    ///
    /// # Errors
    /// The first failure of any write so far.
    pub(super) fn close(mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)?;
        self.writer.flush()
    }
}
