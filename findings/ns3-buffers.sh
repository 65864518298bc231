#!/bin/sh
# An ns-3 TCP flow with the default buffers gets 1 of 10 Gbps at a round-trip time of 1 ms.
#
# Seen: ns-3.44, one BulkSend flow, 10 Gbps, 500 us each way: 0.97 Gbps over half a second with
# all defaults, as TcpSocket's SndBufSize and RcvBufSize are 131,072 B. With large buffers and 10
# us, segments of 536 B (the default SegmentSize) carry 9.07 Gbps of payload, and segments of
# 1,448 B 9.63.
#
# Why it matters: the buffer limits every congestion control alike, so algorithms that differ look
# equal, and 'our protocol is not limited by the window' is an artefact. A segment of 536 B has
# headers of 11% beside it.
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
double one(const char *delay, double duration, int segment, uint64_t buffer) {
    again();
    if (segment) Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    if (buffer) {
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    }
    auto net = join({{0, 1}}, "10Gbps", delay, "100p");
    send(net, 0, 0, 0);
    return gbps(net, duration);
}
""")
run = ns.cppyy.gbl
default = run.one("500us", 0.5, 0, 0)
small, full = run.one("5us", 0.02, 0, 1 << 23), run.one("5us", 0.02, 1448, 1 << 23)
print(f"all defaults, RTT 1 ms: {default:.2f}; RTT 10 us, large buffers: {small:.2f}, with 1,448 B {full:.2f}")
assert 0.9 < default < 1.06
assert 8.9 < small < 9.2 and 9.55 < full < 9.7
END
echo 'ns3-buffers: as described'
