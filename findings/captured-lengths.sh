#!/bin/sh
# A rate computed from a capture of headers is that of the headers.
#
# Seen: a packet of 1,514 B of which 54 B were captured: len() of scapy 2.8.0's packet is 54 (the
# length is in wirelen), and dpkt 1.9.8's reader gives 54 bytes and no way to the length on the
# wire.
#
# Why it matters: captures at 100 Gbps keep headers alone (tcpdump -s, a simulator without
# payload). len(packet) makes a throughput that is 28 times too low, of both arms alike, so it
# looks like a slow host.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    scapy==2.8.0 dpkt==1.9.8
cd "$dir"
venv/bin/python - <<'END'
import logging, struct
logging.getLogger("scapy").setLevel(logging.ERROR)
import dpkt
from scapy.all import IP, TCP, Ether, PcapReader
head = bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(len=1500) / TCP())
assert len(head) == 54
with open("h.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    file.write(struct.pack("<IIII", 0, 0, 54, 1514) + head)
packet = next(iter(PcapReader("h.pcap")))
with open("h.pcap", "rb") as file:
    record = next(iter(dpkt.pcap.Reader(file)))
print("scapy", len(packet), packet.wirelen, "dpkt", len(record), "fields,", len(record[1]), "bytes")
assert (len(packet), packet.wirelen) == (54, 1514)
assert len(record) == 2 and len(record[1]) == 54
END
echo 'captured-lengths: as described'
