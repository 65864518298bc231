#!/bin/sh
# ns-3's global routing sends all flows over one of several equal paths, or each packet over any.
#
# Seen: ns-3.44, two paths of equal cost, eight TCP flows of 1 MB. With the default
# (RandomEcmpRouting false) one path carries all packets. With true each packet is sent at random:
# both paths carry half, and every flow is on both.
#
# Why it matters: an ns-3 baseline called 'ECMP' is either a fabric with one path or packet
# spraying under a TCP that takes reordering for loss. Neither is what switches do, a hash per
# flow.
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
uint64_t packets[2];
std::set<uint16_t> flows[2];
void note(int path, Ptr<const Packet> packet) {
    auto copy = packet->Copy();
    PppHeader ppp;
    Ipv4Header ip;
    TcpHeader tcp;
    copy->RemoveHeader(ppp);
    copy->RemoveHeader(ip);
    copy->RemoveHeader(tcp);
    if (copy->GetSize() == 0) return;
    packets[path]++;
    flows[path].insert(tcp.GetSourcePort());
}
void upper(Ptr<const Packet> packet) { note(0, packet); }
void lower(Ptr<const Packet> packet) { note(1, packet); }
std::vector<uint64_t> ecmp(bool random) {
    again();
    large_buffers();
    Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting", BooleanValue(random));
    auto net = join({{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5}}, "1Gbps", "10us", "100p");
    for (int path : {0, 1}) packets[path] = 0, flows[path].clear();
    net.devices[1].Get(1)->TraceConnectWithoutContext("MacRx", MakeCallback(&upper));
    net.devices[2].Get(1)->TraceConnectWithoutContext("MacRx", MakeCallback(&lower));
    for (int flow = 0; flow < 8; flow++) send(net, 0, 1000000, flow * 1e-6);
    gbps(net, 2);
    uint64_t both = 0;
    for (auto port : flows[0]) both += flows[1].count(port);
    return {packets[0], packets[1], flows[0].size(), flows[1].size(), both, net.sink->GetTotalRx()};
}
""")
run = ns.cppyy.gbl
default, random = list(run.ecmp(False)), list(run.ecmp(True))
print("packets on each path, flows on each path, flows on both, bytes received")
print("default", default, "random", random)
assert default[5] == random[5] == 8_000_000
assert sorted(default[:2])[0] == 0 and sorted(default[2:4]) == [0, 8] and default[4] == 0
assert random[4] == 8 and 0.9 < random[0] / random[1] < 1.1
END
echo 'ns3-one-path: as described'
