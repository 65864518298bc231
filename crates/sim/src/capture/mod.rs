//! Captures of packets, as Wireshark and tcpdump read them: pcapng files with the headers that real
//! packets would have.
//!
//! Taps on links show the packets ([`linkpool_network::Network::tap`]). [`order`] puts them in
//! order of time, [`connections`] finds out whose they are, and [`frame`] writes their headers, with
//! those of their transport: [`tcp`], [`roce`], [`uet`].

mod address;
mod connections;
mod file;
mod frame;
mod keys;
mod messages;
mod options;
pub(crate) mod order;
mod pause;
mod payload;
mod roce;
mod tcp;
mod uet;

use crate::plan::{FlowId, Plan, View};
use crate::results::passing::Passed;
use connections::Connections;
use file::File;
use frame::Framer;
use linkpool_network::{HostId, PauseFrame};
use std::collections::HashSet;
use std::path::Path;

pub(crate) use file::CaptureError;

/// A capture under way: a file, and all that is known of connections.
pub(crate) struct Capture<'p> {
    plan: &'p Plan,
    record: &'p linkpool_scenario::Capture,
    at_senders: bool,
    flows: Option<HashSet<FlowId>>,
    connections: Connections,
    framer: Framer<'p>,
    file: File,
    /// The first failure to write, which ends the run.
    failure: Option<CaptureError>,
}

impl<'p> Capture<'p> {
    /// Creates `capture.pcapng` in `directory`, if `plan` asks for it.
    pub(crate) fn create(directory: &Path, plan: &'p Plan) -> Result<Option<Capture<'p>>, CaptureError> {
        let (Some(ports), Some(record)) = (&plan.capture, &plan.record.capture) else { return Ok(None) };
        let flows = record.flows.as_ref().map(|flows| flows.iter().map(|flow| FlowId::from(*flow)).collect());
        Ok(Some(Capture {
            plan,
            record,
            at_senders: ports.at_senders,
            flows,
            connections: Connections::new(plan.transports.iter().map(|transport| transport.family.family())),
            framer: Framer::new(plan),
            file: File::create(&directory.join("capture.pcapng"), plan, ports)?,
            failure: None,
        }))
    }

    /// A packet passes a port.
    pub(crate) fn packet(&mut self, passed: &Passed) {
        if self.failure.is_none() {
            self.failure = self.take(passed).err();
        }
    }

    fn take(&mut self, passed: &Passed) -> Result<(), CaptureError> {
        let (packet, trailer) = (&passed.packet, passed.trailer.as_ref());
        if let Some(frame) = PauseFrame::of(packet) {
            return self.take_pause(passed, frame);
        }
        if !self.record.packets {
            return Ok(());
        }
        let known = self.connections.know(packet, trailer);
        let Some(View { port, inbound }) = passed.view else { return Ok(()) };
        if !(self.record.from..=self.record.until).contains(&passed.at) {
            return Ok(());
        }
        let Some(known) = known else {
            self.file.unknown(port);
            return Ok(());
        };
        let link = &self.plan.fabric.links()[passed.link.index()];
        let host = if inbound { link.to } else { link.from };
        let is_wanted = self.flows.as_ref().is_none_or(|flows| flows.contains(&known.connection.flow));
        if !is_wanted || self.at_senders && known.connection.src != HostId::from(host) {
            return Ok(());
        }
        let (bytes, length) = self.framer.frame(passed, &known, self.record.payload);
        self.file.packet(passed.at, (port, inbound), bytes, length)
    }

    /// A pause frame passes a port. It is of no flow, so it is written whatever flows are wanted.
    fn take_pause(&mut self, passed: &Passed, frame: PauseFrame) -> Result<(), CaptureError> {
        let Some(View { port, inbound }) = passed.view else { return Ok(()) };
        if !(self.record.from..=self.record.until).contains(&passed.at) {
            return Ok(());
        }
        let sender = self.plan.fabric.links()[passed.link.index()].from;
        let bytes = pause::frame(sender, frame);
        self.file.packet(passed.at, (port, inbound), &bytes, bytes.len() as u32)
    }

    /// Has writing failed?
    pub(crate) fn is_broken(&self) -> bool {
        self.failure.is_some()
    }

    /// Closes the file.
    ///
    /// # Errors
    /// The first failure of any write so far.
    pub(crate) fn close(self) -> Result<(), CaptureError> {
        self.failure.map_or(Ok(()), Err)?;
        self.file.close()
    }
}
