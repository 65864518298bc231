#!/bin/sh
# Packet captures written by scapy and dpkt round times to microseconds unless asked.
#
# Seen: scapy 2.8.0 (wrpcap) and dpkt 1.9.8 (pcap.Writer) write the classic format with
# microseconds: three packets 120 ns apart have one time. With nano=True both keep them.
#
# Why it matters: a packet of 1,500 B takes 120 ns at 100 Gbps. Gaps, rates and the order of
# packets of two files are lost, and 'bursts' appear that the network did not have.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    scapy==2.8.0 dpkt==1.9.8
cd "$dir"
venv/bin/python - <<'END'
import io, logging
from decimal import Decimal
logging.getLogger("scapy").setLevel(logging.ERROR)
import dpkt
from scapy.all import IP, TCP, Ether, PcapReader, wrpcap
times = [Decimal(1) + i * Decimal("0.000000120") for i in range(3)]
packets = [Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP() / TCP() for _ in times]
for packet, at in zip(packets, times):
    packet.time = at
def by_scapy(**how):
    wrpcap("s.pcap", packets, **how)
    return len({str(packet.time) for packet in PcapReader("s.pcap")})
def by_dpkt(**how):
    file = io.BytesIO()
    writer = dpkt.pcap.Writer(file, **how)
    for packet, at in zip(packets, times):
        writer.writepkt(bytes(packet), ts=at)
    file.seek(0)
    return len({at for at, _ in dpkt.pcap.Reader(file)})
seen = by_scapy(), by_dpkt(), by_scapy(nano=True), by_dpkt(nano=True)
print("distinct times of three packets: scapy %d, dpkt %d; nano: scapy %d, dpkt %d" % seen)
assert seen == (1, 1, 3, 3)
END
echo 'capture-times: as described'
