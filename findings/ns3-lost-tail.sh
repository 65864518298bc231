#!/bin/sh
# A lost last segment costs an ns-3 flow 1 s, where the flow takes 27 us.
#
# Seen: ns-3.44, ten segments over one link of 10 Gbps: the last byte arrives after 27 us, and
# after 35 us if a segment in the middle is lost once. If the last one is lost, it arrives after
# 1.00004 s: TcpSocketBase::MinRto is 1 s, and there is no tail loss probe.
#
# Why it matters: Linux has 200 ms and probes the tail after two RTTs. In an incast most flows
# lose their tail once, so completion times of ns-3 are made of whole seconds, 5 times those of
# Linux, and p99 is the number of timeouts.
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
double done = 0;
void received(Ptr<const Packet>, const Address &) { done = Simulator::Now().GetSeconds(); }
double tail(uint32_t lost) {
    again();
    large_buffers();
    auto net = join({{0, 1}}, "10Gbps", "5us", "100p");
    auto errors = CreateObject<ReceiveListErrorModel>();
    if (lost) errors->SetList({lost});
    net.devices[0].Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    net.sink->TraceConnectWithoutContext("Rx", MakeCallback(&received));
    send(net, 0, 14480, 0);
    gbps(net, 5);
    return net.sink->GetTotalRx() == 14480 ? done : -1;
}
""")
run = ns.cppyy.gbl
# Packets that arrive: 0 SYN, 1 ACK, 2 to 11 data.
none, middle, last = run.tail(0), run.tail(5), run.tail(11)
print(f"no loss {none * 1e6:.0f} us, in the middle {middle * 1e6:.0f} us, the last {last:.5f} s")
assert 0 < none < 40e-6 and none < middle < 60e-6
assert 1 < last < 1.001
END
echo 'ns3-lost-tail: as described'
