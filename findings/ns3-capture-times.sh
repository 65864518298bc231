#!/bin/sh
# Captures of ns-3 have microseconds: ten packets at 100 Gbps have one time.
#
# Seen: ns-3.44, 1 MB over a link of 100 Gbps, EnablePcap: 1,042 records have 111 different times.
# The classic format with microseconds is the default; with the attribute NanosecMode of
# PcapFileWrapper there are 718 (packets of both directions share some).
#
# Why it matters: gaps between packets, bursts, queueing delays and rates over short times are
# artefacts of rounding, with any tool that reads the file.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    ns3==3.44.post0
cd "$dir"
venv/bin/python - <<'END'
from ns import ns
ns.cppyy.cppdef(r"""
using namespace ns3;
struct Dumbbell {
    NodeContainer nodes;
    std::vector<NetDeviceContainer> devices;
    std::vector<QueueDiscContainer> discs;
    Ipv4InterfaceContainer last;
    Ptr<PacketSink> sink;
};
// Nodes joined by links of one rate and delay, with TCP, global routes, and a sink at the last one.
Dumbbell join(std::vector<std::pair<int, int>> links, const char *rate, const char *delay,
              const char *queue, const char *disc = nullptr) {
    Dumbbell net;
    int count = 0;
    for (auto link : links) count = std::max({count, link.first + 1, link.second + 1});
    net.nodes.Create(count);
    InternetStackHelper().Install(net.nodes);
    PointToPointHelper cable;
    cable.SetDeviceAttribute("DataRate", StringValue(rate));
    cable.SetChannelAttribute("Delay", StringValue(delay));
    cable.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    for (auto link : links) {
        auto pair = cable.Install(net.nodes.Get(link.first), net.nodes.Get(link.second));
        if (disc) {
            TrafficControlHelper control;
            control.SetRootQueueDisc(disc, "LinkBandwidth", StringValue(rate), "LinkDelay", StringValue(delay));
            net.discs.push_back(control.Install(pair));
        }
        net.devices.push_back(pair);
        net.last = addresses.Assign(pair);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    net.sink = DynamicCast<PacketSink>(sink.Install(net.nodes.Get(count - 1)).Get(0));
    return net;
}
void send(Dumbbell &net, int from, uint64_t bytes, double at) {
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(net.last.GetAddress(1), 9));
    bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
    bulk.Install(net.nodes.Get(from)).Start(Seconds(at));
}
void large_buffers() {
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 22));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 22));
}
double gbps(Dumbbell &net, double duration) {
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    return net.sink->GetTotalRx() * 8 / duration / 1e9;
}
void again() {
    Simulator::Destroy();
    Config::Reset();
    Ipv4AddressGenerator::Reset();
}
void capture(const char *file, bool nanoseconds) {
    again();
    large_buffers();
    if (nanoseconds) Config::SetDefault("ns3::PcapFileWrapper::NanosecMode", BooleanValue(true));
    auto net = join({{0, 1}}, "100Gbps", "5us", "100p");
    PointToPointHelper().EnablePcap(file, net.devices[0].Get(0), true, true);
    send(net, 0, 1000000, 0);
    gbps(net, 1);
    again();
}
""")
run = ns.cppyy.gbl
import struct
def times(file):
    data, at, seen = open(file, "rb").read(), 24, []
    while at < len(data):
        seconds, part, length, _ = struct.unpack_from("<IIII", data, at)
        seen.append((seconds, part))
        at += 16 + length
    return len(seen), len(set(seen))
run.capture("micro.pcap", False)
run.capture("nano.pcap", True)
micro, nano = times("micro.pcap"), times("nano.pcap")
print(f"records and times: default {micro}, NanosecMode {nano}")
assert micro[0] == nano[0] > 1000
assert micro[1] < micro[0] / 5 and nano[1] > 5 * micro[1]
END
echo 'ns3-capture-times: as described'
