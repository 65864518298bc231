//! Captures of packets, read back by a reader of pcapng and a parser of headers: what they say is
//! worked out from the RFCs. (What tshark makes of them: `tests/test_capture.py`.)

use std::time::Duration;

use crate::common::{into_a_slow_link, scenario};
use etherparse::{LaxPacketHeaders, NetHeaders, TcpHeader, TransportHeader};
use linkpool_sim::run_to_directory;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::blocks::name_resolution::Record;
use pcap_file::pcapng::{Block, PcapNgReader};

/// A packet of a capture.
struct Frame {
    at: Duration,
    /// The number of its port, and whether it comes in there.
    port: (u32, bool),
    /// Bytes with those that are left out of the file, and bytes in the file.
    length: (u32, usize),
    /// The last byte of each address, and the code points of its kind of service and of congestion.
    ip: (u8, u8, u8, u8),
    tcp: TcpHeader,
    payload: usize,
}

/// The lines about interfaces and hosts, and the packets.
struct Captured {
    about: Vec<String>,
    frames: Vec<Frame>,
}

fn frame(data: &[u8]) -> ((u8, u8, u8, u8), TcpHeader) {
    // The file may end where the headers end.
    let headers = LaxPacketHeaders::from_ethernet(data).unwrap();
    let (Some(NetHeaders::Ipv4(ip, _)), Some(TransportHeader::Tcp(tcp))) = (headers.net, headers.transport) else {
        panic!("TCP over IPv4")
    };
    assert_eq!((&ip.source[..3], &ip.destination[..3]), (&[10, 0, 0][..], &[10, 0, 0][..]));
    ((ip.source[3], ip.destination[3], ip.dscp.value(), ip.ecn.value()), tcp)
}

fn captured(text: &str) -> Captured {
    let directory = tempfile::tempdir().unwrap();
    run_to_directory(&scenario(text), directory.path(), Some(1), &mut |_| true).unwrap();
    let file = std::fs::File::open(directory.path().join("capture.pcapng")).unwrap();
    let mut reader = PcapNgReader::new(file).unwrap();
    let (mut about, mut frames) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(port) => {
                let mut line = String::new();
                for option in &port.options {
                    match option {
                        InterfaceDescriptionOption::IfName(name) => line += name,
                        InterfaceDescriptionOption::IfSpeed(rate) => line += &format!(" {rate}"),
                        InterfaceDescriptionOption::IfTsResol(units) => line += &format!(" {units}"),
                        InterfaceDescriptionOption::IfMacAddr(mac) => line += &format!(" {mac:?}"),
                        other => panic!("{other:?}"),
                    }
                }
                about.push(line);
            }
            Block::NameResolution(names) => {
                for record in &names.records {
                    let Record::Ipv4(host) = record else { panic!("{record:?}") };
                    about.push(format!("{:?} {}", host.ip_addr, host.names.join(" ")));
                }
            }
            Block::EnhancedPacket(packet) => {
                let [EnhancedPacketOption::Flags(direction @ 1..=2)] = packet.options[..] else { panic!("{packet:?}") };
                let (ip, tcp) = frame(&packet.data);
                let headers = 14 + 20 + tcp.header_len();
                frames.push(Frame {
                    at: packet.timestamp,
                    port: (packet.interface_id, direction == 1),
                    length: (packet.original_len, packet.data.len()),
                    ip,
                    payload: packet.original_len as usize - headers,
                    tcp,
                });
            }
            other => panic!("{other:?}"),
        }
    }
    Captured { about, frames }
}

impl Frame {
    /// A line: nanoseconds, port, way, addresses and ports, flags, numbers, window, payload, options.
    fn line(&self) -> String {
        let (from, to, dscp, ecn) = self.ip;
        let t = &self.tcp;
        let flags = [(t.syn, 'S'), (t.fin, 'F'), (t.rst, 'R'), (t.psh, 'P'), (t.ack, 'A'), (t.ece, 'E'), (t.cwr, 'C')];
        let flags: String = flags.iter().filter(|(is, _)| *is).map(|(_, flag)| *flag).collect();
        let options: String = t.options.as_slice().iter().map(|byte| format!("{byte:02x}")).collect();
        format!(
            "{} {}{} {from}:{}>{to}:{} {flags} {}/{} w{} {}+{} ecn{ecn} dscp{dscp} {options}",
            self.at.as_nanos(),
            if self.port.1 { "in" } else { "out" },
            self.port.0,
            t.source_port,
            t.destination_port,
            t.sequence_number,
            t.acknowledgment_number,
            t.window_size,
            self.length.1,
            self.payload,
        )
    }
}

const LINE: &str =
    "duration = \"1ms\"\ndrain = \"1s\"\n[topology.many-to-one]\nsenders = 2\nrate = \"10Gbps\"\ndelay = \"2us\"\n";

fn flow(transport: &str, from: &str, capture: &str) -> Captured {
    captured(&format!(
        "{LINE}[transport.t]\n{transport}\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"{from}\"\nto = \"R\"\n\
         size = \"3000B\"\n[record]\ncapture = {{ {capture} }}\n"
    ))
}

fn lines(captured: &Captured) -> Vec<String> {
    captured.frames.iter().map(Frame::line).collect()
}

/// Data of priority 7 has expedited forwarding (46, RFC 3246), that of 1 to 6 the class selector of its number (RFC 2474,
/// section 4.2.2: 8 times the number), and other data none. Packets without data are as at ports with two priorities, where 4
/// to 7 are high.
#[test]
fn each_priority_has_its_code_point() {
    for (priority, data, others) in
        [(0, 0, 0), (1, 8, 0), (2, 16, 0), (3, 24, 0), (4, 32, 46), (5, 40, 46), (6, 48, 46), (7, 46, 46)]
    {
        let captured = captured(&format!(
            "{LINE}[[queue.class]]\npriorities = [3, 5]\n[transport.t]\ncontrol = \"dctcp\"\npriority = {priority}\n\
             [[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"30KB\"\n[record]\ncapture = {{}}\n"
        ));
        let carries: Vec<_> = captured.frames.iter().map(|frame| (frame.payload > 0, frame.ip.2)).collect();
        assert!(carries.contains(&(true, data)) && carries.contains(&(false, others)));
        let right = |(has_data, dscp): &(bool, u8)| *dscp == if *has_data { data } else { others };
        assert!(carries.iter().all(right), "{priority}: {carries:?}");
        // Bits of the priority are no flags of TCP.
        assert!(captured.frames.iter().all(|frame| frame.payload == 0 || frame.tcp.ack && !frame.tcp.fin));
    }
}

/// Two links of 10 Gbit/s and 2 us: 90 B take 72 ns, 1,538 B 1,230.4 ns. Options: largest segment
/// 1,448, SACK permitted, scale 14, and padding (RFC 9293, 2018, 7323).
#[test]
fn a_flow_of_three_segments() {
    let captured = flow("control = \"reno\"", "S1", "");
    let about = [
        "S1->W 10000000000 9 [2, 0, 0, 0, 0, 0]",
        "S2->W 10000000000 9 [2, 0, 0, 0, 0, 1]",
        "R->W 10000000000 9 [2, 0, 0, 0, 0, 2]",
        "[10, 0, 0, 1] S1",
        "[10, 0, 0, 2] S2",
        "[10, 0, 0, 3] R",
    ];
    assert_eq!(captured.about, about);
    let expected = [
        "72 out0 1:36000>3:49152 S 0/0 w65535 66+0 ecn0 dscp0 020405a8040203030e010101",
        "8288 in0 3:49152>1:36000 SA 0/1 w65535 66+0 ecn0 dscp0 020405a8040203030e010101",
        "8360 out0 1:36000>3:49152 A 1/1 w65535 54+0 ecn0 dscp0 ",
        "9590 out0 1:36000>3:49152 A 1/1 w65535 54+1448 ecn0 dscp0 ",
        "10820 out0 1:36000>3:49152 A 1449/1 w65535 54+1448 ecn0 dscp0 ",
        "10976 out0 1:36000>3:49152 PA 2897/1 w65535 54+104 ecn0 dscp0 ",
        "18964 in0 3:49152>1:36000 A 1/1449 w65535 54+0 ecn0 dscp0 ",
        "20195 in0 3:49152>1:36000 A 1/2897 w65535 54+0 ecn0 dscp0 ",
        "20350 in0 3:49152>1:36000 A 1/3001 w65535 54+0 ecn0 dscp0 ",
        "20422 out0 1:36000>3:49152 FA 3001/1 w65535 54+0 ecn0 dscp0 ",
    ];
    assert_eq!(lines(&captured), expected);
}

/// The keys are b18a02f46d8d86c3 and 6c5795e14b3b7e33. With Python's hashlib: the token of the
/// second is 7ed2f479, the data sequence begins at 457e1029 and, of the receiver, 301e974c, and the
/// code of the join is 09b458599c1e18ac (RFC 8684, sections 3.1 to 3.3). The join leaves with the first
/// ACK of data, at 18.9648 us. The last mapping counts a
/// DATA_FIN.
#[test]
fn a_flow_of_multipath_tcp() {
    let transport = "control = \"lia\"\nsubflows = 2\nbackup = [1]";
    let expected = [
        "4144 in0 2:36000>3:49152 S 0/0 w65535 70+0 ecn0 dscp0 020405bc040203030e1e040101010101",
        "4216 out0 3:49152>2:36000 SA 0/1 w65535 78+0 ecn0 dscp0 020405bc040203030e1e0c01016c5795e14b3b7e33010101",
        "12432 in0 2:36000>3:49152 A 1/1 w65535 74+0 ecn0 dscp0 1e140101b18a02f46d8d86c36c5795e14b3b7e33",
        "14820 in0 2:36000>3:49152 A 1/1 w65535 1526+1448 ecn0 dscp0 1e160101b18a02f46d8d86c36c5795e14b3b7e3305a80101",
        "14892 out0 3:49152>2:36000 A 1/1449 w65535 62+0 ecn0 dscp0 1e082001457e15d1",
        "16051 in0 2:36000>3:49152 A 1449/1 w65535 1522+1448 ecn0 dscp0 1e122005301e974c457e15d1000005a905a80101",
        "16123 out0 3:49152>2:36000 A 1/2897 w65535 62+0 ecn0 dscp0 1e082001457e1b79",
        "16206 in0 2:36000>3:49152 PA 2897/1 w65535 178+104 ecn0 dscp0 1e122015301e974c457e1b7900000b5100690101",
        "16278 out0 3:49152>2:36000 A 1/3001 w65535 62+0 ecn0 dscp0 1e082001457e1be2",
        "23108 in0 2:36001>3:49152 S 0/0 w65535 78+0 ecn0 dscp0 020405bc040203030e1e0c11007ed2f47957e024c1010101",
        "23180 out0 3:49152>2:36001 SA 0/1 w65535 82+0 ecn0 dscp0 020405bc040203030e1e10100009b458599c1e18ac67b76b2d010101",
        "24494 in0 2:36000>3:49152 FA 3001/1 w65535 62+0 ecn0 dscp0 1e082001301e974c",
    ];
    assert_eq!(lines(&flow(transport, "S2", "hosts = [\"R\"], payload = true")), expected);
}

/// Marks and priorities stand in the IP header (RFC 3168, 3246), windows are scaled by 2^4, and
/// each flow has ports of its own. The first data packet finds an empty queue.
#[test]
fn marks_priorities_and_windows() {
    let text = format!(
        "{LINE}[queue]\nlimit = 100\nmark = 1\ndiscipline = \"priority\"\n[transport.t]\ncontrol = \"dctcp\"\n\
         priority = \"high\"\nreceive_buffer = \"1MB\"\n[[workload.incast]]\ntransport = \"t\"\nsenders = 2\n\
         receiver = \"R\"\nsize = \"9000B\"\nevery = \"1s\"\n[record]\n"
    );
    let at_links = captured(&format!("{text}capture = {{ links = [\"W->R\", \"W->S1\"] }}\n"));
    let all = lines(&at_links);
    assert_eq!(&at_links.about[..2], ["W->R 10000000000 9", "W->S1 10000000000 9"]);
    for expected in [
        "2144 out0 1:36000>3:49152 SEC 0/0 w65535 66+0 ecn0 dscp46 020405a80402030304010101",
        "2216 out0 2:36032>3:49152 SEC 0/0 w65535 66+0 ecn0 dscp46 020405a80402030304010101",
        "6288 out1 3:49152>1:36000 SAE 0/1 w65535 66+0 ecn0 dscp46 020405a80402030304010101",
        "12820 out0 1:36000>3:49152 A 1/1 w65535 54+1448 ecn2 dscp46 ",
        "15281 out0 1:36000>3:49152 A 1449/1 w65535 54+1448 ecn3 dscp46 ",
        "16964 out1 3:49152>1:36000 A 1/1449 w62500 54+0 ecn0 dscp46 ",
        "19425 out1 3:49152>1:36000 AE 1/2897 w62500 54+0 ecn0 dscp46 ",
    ] {
        assert!(all.iter().any(|line| line == expected), "{expected} is none of {all:#?}");
    }
    // Of one flow, and of some time, the same packets.
    let of = |keys: &str| lines(&captured(&format!("{text}capture = {{ links = [\"W->R\", \"W->S1\"], {keys} }}\n")));
    let second: Vec<String> = all.iter().filter(|line| line.contains("36032")).cloned().collect();
    assert_eq!(of("flows = [1]"), second);
    let from_to = &all[2..all.len() - 2];
    assert_eq!(of("from = \"2.3us\", until = \"31us\""), from_to);
}

/// An option of MPTCP that maps data: the acknowledged data, the data, the subflow, the length, and
/// whether a DATA_FIN is counted.
fn mapping(tcp: &TcpHeader) -> Option<(u32, u32, u16, bool)> {
    let bytes = tcp.options.as_slice();
    let at = bytes.windows(3).position(|part| part[..2] == [30, 18] && part[2] >> 4 == 2)?;
    let word = |i: usize| u32::from_be_bytes(bytes[at + i..at + i + 4].try_into().unwrap());
    let length = u16::from_be_bytes(bytes[at + 16..at + 18].try_into().unwrap());
    Some((word(8), word(12), length, bytes[at + 3] & 0x10 != 0))
}

/// Two subflows over a queue that is too short: what is lost is sent again, so that the mappings
/// cover the data, and blocks of SACK cover nothing that was not sent.
#[test]
fn what_is_lost_is_mapped_again() {
    let text = format!(
        "{LINE}[queue]\nlimit = 6\n[queue.layer.host]\nlimit = 1000\n[transport.t]\ncontrol = \"lia\"\nsubflows = 2\ninitial_window = 2\n[[workload.incast]]\ntransport = \"t\"\n\
         senders = 2\nreceiver = \"R\"\nsize = \"100KB\"\nevery = \"1s\"\n[record]\ncapture = {{}}\n"
    );
    let captured = captured(&text);
    let (mut fins, mut blocks, mut joined) = (0, 0, 0);
    for host in [1, 2] {
        let sent: Vec<&Frame> = captured.frames.iter().filter(|f| f.ip.0 == host && !f.port.1).collect();
        let mut covered = vec![false; 100_001];
        let mut highest = [0; 2];
        let of_subflow = |frame: &Frame| usize::from((frame.tcp.source_port - 36_000) % 32);
        // The first data carries the keys in place of a mapping.
        let first = sent.iter().find(|f| f.payload > 0).unwrap();
        let start = first.payload;
        covered[..start].fill(true);
        let base = sent.iter().filter_map(|f| mapping(&f.tcp)).map(|(data, ..)| data).min().unwrap() - start as u32;
        for frame in &sent {
            highest[of_subflow(frame)] =
                highest[of_subflow(frame)].max(frame.tcp.sequence_number + frame.payload as u32);
            let Some((data, sequence, length, fin)) = mapping(&frame.tcp) else { continue };
            assert_eq!((sequence, usize::from(length)), (frame.tcp.sequence_number, frame.payload + usize::from(fin)));
            assert!(frame.tcp.psh || !fin);
            fins += u32::from(fin);
            let from = (data - base) as usize;
            covered[from..from + usize::from(length)].fill(true);
        }
        assert!(covered.iter().all(|byte| *byte), "all bytes and the DATA_FIN");
        // None of the two is a backup: the lowest bit of the subtype's byte is 0.
        for syn in sent.iter().filter(|f| f.tcp.syn && of_subflow(f) == 1) {
            let options = syn.tcp.options.as_slice();
            assert!(options.windows(3).any(|part| part == [30, 12, 0x10]), "{options:?}");
        }
        // The third segment of a join, with its code (RFC 8684, section 3.2).
        for ack in sent.iter().filter(|f| of_subflow(f) == 1 && !f.tcp.syn && f.payload == 0 && !f.tcp.fin) {
            assert_eq!(ack.tcp.options.as_slice()[..3], [30, 24, 0x10]);
            joined += 1;
        }
        for frame in captured.frames.iter().filter(|f| f.ip.1 == host && f.port.1) {
            let bytes = frame.tcp.options.as_slice();
            if bytes.first() == Some(&5) {
                let edges: Vec<u32> =
                    bytes[2..bytes[1].into()].chunks(4).map(|e| u32::from_be_bytes(e.try_into().unwrap())).collect();
                let subflow = usize::from((frame.tcp.destination_port - 36_000) % 32);
                assert!(
                    edges
                        .chunks(2)
                        .all(|e| e[0] < e[1] && e[0] > frame.tcp.acknowledgment_number && e[1] <= highest[subflow])
                );
                blocks += edges.len() / 2;
            }
        }
    }
    assert!(fins >= 2 && blocks > 10 && joined >= 2, "{fins} {blocks} {joined}");
}

/// Messages on a connection that stays open end nothing: no FIN, no DATA_FIN, and all after the
/// first data have mappings.
#[test]
fn messages_do_not_end_their_connection() {
    let text = format!(
        "{LINE}[transport.t]\ncontrol = \"lia\"\nsubflows = 2\n[[workload.collective]]\ntransport = \"t\"\n\
         algorithm = \"ring-all-reduce\"\nranks = 2\nsize = \"6000B\"\nchunks = 2\n[record]\ncapture = {{}}\n"
    );
    let captured = captured(&text);
    let data: Vec<&Frame> = captured.frames.iter().filter(|f| f.payload > 0 && !f.port.1).collect();
    // Two steps of halves in two chunks: four messages of 1,500 B in each direction.
    assert_eq!(data.iter().map(|f| f.payload).sum::<usize>(), 2 * 4 * 1_500);
    assert_eq!(data.iter().filter(|f| mapping(&f.tcp).is_none()).count(), 2, "the first data of each connection");
    assert!(data.iter().filter_map(|f| mapping(&f.tcp)).all(|(.., fin)| !fin));
    assert!(!captured.frames.iter().any(|f| f.tcp.fin));
    assert_eq!(data.iter().filter(|f| f.tcp.psh).count(), 8, "the end of each message is pushed");
}

/// Data that fits into a segment has MP_CAPABLE in place of a mapping, so that its DATA_FIN is mapped by
/// the FIN: a byte after the data, of no byte of the subflow (RFC 8684, sections 3.1 and 3.3.3).
#[test]
fn a_fin_has_the_data_fin_of_a_single_segment() {
    let captured = captured(&format!(
        "{LINE}[transport.t]\ncontrol = \"lia\"\nsubflows = 2\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S2\"\n\
         to = \"R\"\nsize = \"1000B\"\n[record]\ncapture = {{}}\n"
    ));
    let fin = captured.frames.iter().find(|f| f.tcp.fin).unwrap();
    assert_eq!((fin.tcp.sequence_number, fin.payload), (1_001, 0));
    assert_eq!(mapping(&fin.tcp), Some((0x457e_1029 + 1_000, 0, 1, true)));
    // The connection ends with the ACK of the data, so nobody acknowledges the DATA_FIN.
    let ack = captured.frames.iter().rfind(|f| f.port.1 && f.tcp.source_port == 49_152 && !f.tcp.syn).unwrap();
    assert_eq!(ack.tcp.options.as_slice()[4..8], (0x457e_1029_u32 + 1_000).to_be_bytes());
}

/// The frames of a run of `text` that are no packets: when they pass, at which port, in or out, and their bytes.
fn pause_frames(text: &str) -> Vec<(u128, u32, u32, Vec<u8>)> {
    let directory = tempfile::tempdir().unwrap();
    run_to_directory(&scenario(text), directory.path(), Some(1), &mut |_| true).unwrap();
    let file = std::fs::File::open(directory.path().join("capture.pcapng")).unwrap();
    let mut reader = PcapNgReader::new(file).unwrap();
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap()
            && packet.data[12..14] == [0x88, 0x08]
        {
            let [EnhancedPacketOption::Flags(direction)] = packet.options[..] else { panic!("{packet:?}") };
            assert_eq!(packet.original_len as usize, packet.data.len());
            frames.push((packet.timestamp.as_nanos(), packet.interface_id, direction, packet.data.to_vec()));
        }
    }
    frames
}

/// The 19th packet of 1,106 B has come to L at 18,811.2 ns. The frame of 84 B has left L after 67.2 ns, and comes to S1 2 us
/// later. It is written at both ends of its link, with the address of L, the third node; at hosts alone it comes in.
#[test]
fn pause_frames_are_written() {
    let of = |control: &str, capture: &str| {
        let stopped = into_a_slow_link("1600us", "", control);
        pause_frames(&format!("{stopped}[record]\ncapture = {{ {capture} }}\n"))
    };
    let frames = of("control = \"roce\"", "packets = false, hosts = [\"S1\"], links = [\"L->S1\"]");
    let seen: Vec<_> = frames.iter().map(|(at, port, way, _)| (*at, *port, *way)).collect();
    assert_eq!(seen, [(18_878, 1, 2), (20_878, 0, 1)]);
    let [(.., first), (.., second)] = &frames[..] else { panic!("{frames:?}") };
    assert_eq!((first, first.len()), (second, 60));
    let begin = [0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0x08, 0x01, 0x01, 0, 1, 0xff, 0xff, 0, 0];
    assert_eq!((&first[..22], &first[22..]), (&begin[..], &[0; 38][..]));
    assert!(of("control = \"roce\"", "packets = false, from = \"21us\"").is_empty());
    // Beside the packets of TCP, whatever flows are wanted.
    let reno = "control = \"reno\"\ninitial_window = 40";
    assert_eq!(of(reno, "flows = [0]").len(), 1);
}
