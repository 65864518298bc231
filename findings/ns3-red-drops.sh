#!/bin/sh
# ns-3's RED drops packets that it could mark, unless told otherwise twice.
#
# Seen: ns-3.44, two DCTCP flows over RedQueueDisc with UseEcn, MinTh = MaxTh = 20, QW = 1 and
# 1,000 places: 29 packets are dropped at the start, though the queue is nearly empty, as
# UseHardDrop is true. With UseHardDrop false none is.
#
# Why it matters: DCTCP's threshold is modelled by RED. The dropped packets cost recoveries and
# timeouts of 1 s that DCTCP would not have, in the runs with many flows first: incast results
# blame the algorithm.
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
std::vector<uint64_t> red(bool hard) {
    again();
    large_buffers();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpDctcp")));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    if (!hard) Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(20));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(20));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", QueueSizeValue(QueueSize("1000p")));
    auto net = join({{0, 2}, {1, 2}, {2, 3}}, "1Gbps", "10us", "1p", "ns3::RedQueueDisc");
    for (int sender : {0, 1}) send(net, sender, 0, sender * 1e-6);
    gbps(net, 0.1);
    auto stats = net.discs[2].Get(0)->GetStats();
    return {stats.nTotalMarkedPackets, stats.nTotalDroppedPackets};
}
""")
run = ns.cppyy.gbl
hard, soft = list(run.red(True)), list(run.red(False))
print(f"marks and drops: default {hard}, UseHardDrop false {soft}")
assert hard[0] > 500 and hard[1] > 0
assert soft[0] > 500 and soft[1] == 0
END
echo 'ns3-red-drops: as described'
