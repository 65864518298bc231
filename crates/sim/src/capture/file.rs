//! The file of a capture, in the format pcapng.

use super::address::{address, hardware_address};
use crate::plan::{CapturePlan, Plan};
use linkpool_network::{HostId, NodeId};
use linkpool_units::Time;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::interface_statistics::{InterfaceStatisticsBlock, InterfaceStatisticsOption};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness};
use std::borrow::Cow;
use std::io::BufWriter;
use std::path::Path;
use std::time::Duration;

/// Why a capture could not be written.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct CaptureError(#[from] pcap_file::PcapError);

impl From<std::io::Error> for CaptureError {
    fn from(error: std::io::Error) -> CaptureError {
        CaptureError(pcap_file::PcapError::IoError(error))
    }
}

/// A file that is written packet by packet. It is the same on every machine.
pub(super) struct File {
    writer: PcapNgWriter<BufWriter<std::fs::File>>,
    /// By port: the packets whose connection was not known any more.
    unknown: Vec<u64>,
    last: Time,
}

/// Packets that come in, and packets that go out, in the flags of a packet.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
/// Time stamps are in nanoseconds: units of 10^-9 s.
const NANOSECONDS: u8 = 9;

impl File {
    /// Creates it with the names of all hosts, and an interface for each port.
    pub(super) fn create(path: &Path, plan: &Plan, ports: &CapturePlan) -> Result<File, CaptureError> {
        let application = concat!("linkpool ", env!("CARGO_PKG_VERSION"));
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(application.into())],
            ..SectionHeaderBlock::default()
        };
        let file = BufWriter::new(std::fs::File::create(path)?);
        let mut writer = PcapNgWriter::with_section_header(file, section)?;
        for link in &ports.ports {
            let spec = &plan.fabric.links()[link.index()];
            let mut options = vec![
                InterfaceDescriptionOption::IfName(plan.fabric.link_name(*link).into()),
                InterfaceDescriptionOption::IfSpeed(spec.rate.0),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            if spec.from.index() < plan.fabric.hosts() {
                let mac = hardware_address(spec.from);
                options.push(InterfaceDescriptionOption::IfMacAddr(Cow::Owned(mac.to_vec())));
            }
            writer.write_pcapng_block(InterfaceDescriptionBlock {
                linktype: DataLink::ETHERNET,
                snaplen: 0,
                options,
            })?;
        }
        let name = |host: HostId| Ipv4Record {
            ip_addr: Cow::Owned(address(host).to_vec()),
            names: vec![plan.fabric.name(NodeId::from(host)).into()],
        };
        let records = HostId::first(plan.fabric.hosts()).map(|host| Record::Ipv4(name(host))).collect();
        writer.write_pcapng_block(NameResolutionBlock { records, options: vec![] })?;
        Ok(File { writer, unknown: vec![0; ports.ports.len()], last: Time::ZERO })
    }

    /// Writes the packet of `length` bytes whose first ones are `bytes`.
    pub(super) fn packet(
        &mut self,
        at: Time,
        (port, inbound): (u32, bool),
        bytes: &[u8],
        length: u32,
    ) -> Result<(), CaptureError> {
        self.last = at;
        let direction = if inbound { INBOUND } else { OUTBOUND };
        self.writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: port,
            timestamp: Duration::from_nanos(at.0 / 1000),
            original_len: length,
            data: bytes.into(),
            options: vec![EnhancedPacketOption::Flags(direction)],
        })?;
        Ok(())
    }

    /// A packet has passed `port` whose connection is not known any more.
    pub(super) fn unknown(&mut self, port: u32) {
        self.unknown[port as usize] += 1;
    }

    /// Writes how many packets are missing at ports, and closes the file.
    pub(super) fn close(mut self) -> Result<(), CaptureError> {
        for (port, missing) in (0..).zip(&self.unknown).filter(|(_, missing)| **missing > 0) {
            self.writer.write_pcapng_block(InterfaceStatisticsBlock {
                interface_id: port,
                timestamp: self.last.0 / 1000,
                options: vec![InterfaceStatisticsOption::IsbIfDrop(*missing)],
            })?;
        }
        std::io::Write::flush(self.writer.get_mut())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::{Block, PcapNgReader};

    /// The file says who wrote it, and at its end, as of the last packet, how many packets of each port
    /// are missing.
    #[test]
    fn missing_packets_are_counted() {
        let text = "duration = \"1ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
                    [transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\n\
                    [record]\ncapture = { links = [\"S1->W\", \"S2->W\", \"W->R\"] }\n";
        let plan = Plan::new(&crate::scenario(text));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("capture.pcapng");
        let mut file = File::create(&path, &plan, plan.capture.as_ref().unwrap()).unwrap();
        file.packet(Time::from_us(3), (0, true), &[0; 14], 14).unwrap();
        [1, 2, 2].into_iter().for_each(|port| file.unknown(port));
        file.close().unwrap();
        let mut reader = PcapNgReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let options = reader.section().options.clone();
        let [SectionHeaderOption::UserApplication(name)] = &options[..] else { panic!("{options:?}") };
        assert!(name.starts_with("linkpool "), "{name}");
        let mut missing = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::InterfaceStatistics(block) = block.unwrap() {
                let [InterfaceStatisticsOption::IsbIfDrop(packets)] = block.options[..] else { panic!("{block:?}") };
                missing.push((block.interface_id, block.timestamp, packets));
            }
        }
        assert_eq!(missing, [(1, 3_000, 1), (2, 3_000, 2)]);
    }
}
