#!/bin/sh
# In ns-3 the queue whose size you set never drops: a FqCoDel above it holds the packets.
#
# Seen: ns-3.44, two TCP flows into one 1 Gbps link, whose device has a DropTailQueue of 20
# packets. It drops none. Assigning an address has installed FqCoDelQueueDisc (10,240 packets, a
# queue for each flow), in which 421 packets wait in the first 100 ms.
#
# Why it matters: buffer size is the first parameter of a data-centre study. The sweep of MaxSize
# changes nothing, flows do not share a queue, and unfairness between algorithms disappears, since
# FqCoDel serves flows in turn.
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
uint32_t most = 0;
uint64_t drops = 0;
Ptr<QueueDisc> disc;
void look() {
    most = std::max(most, disc->GetNPackets());
    Simulator::Schedule(MicroSeconds(100), &look);
}
void dropped(Ptr<const Packet>) { drops++; }
std::string hidden() {
    again();
    large_buffers();
    auto net = join({{0, 2}, {1, 2}, {2, 3}}, "1Gbps", "10us", "20p");
    auto device = DynamicCast<PointToPointNetDevice>(net.devices[2].Get(0));
    disc = device->GetNode()->GetObject<TrafficControlLayer>()->GetRootQueueDiscOnDevice(device);
    device->GetQueue()->TraceConnectWithoutContext("Drop", MakeCallback(&dropped));
    Simulator::Schedule(MicroSeconds(1), &look);
    for (int sender : {0, 1}) send(net, sender, 0, sender * 1e-6);
    gbps(net, 0.1);
    auto name = disc->GetInstanceTypeId().GetName();
    disc = nullptr;
    return name;
}
""")
run = ns.cppyy.gbl
name = str(run.hidden())
print(f"{name}: {run.most} packets wait, the device's queue of 20 drops {run.drops}")
assert name == "ns3::FqCoDelQueueDisc"
assert run.most > 100 and run.drops == 0
END
echo 'ns3-hidden-queue: as described'
