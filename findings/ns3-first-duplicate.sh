#!/bin/sh
# Without SACK ns-3 begins a fast recovery with fewer than three duplicate ACKs.
#
# Seen: ns-3.44, 40 flows of 64 KiB, TcpLinuxReno, through a port of 100 packets into 1 Gbps, with
# Sack false. Of 80 recoveries 12 begin with the first or second duplicate ACK: which segments
# have arrived is guessed from duplicate ACKs, and the guess is kept from one recovery to the
# next. 586 segments are sent again, and 6 flows have a timeout. With SACK all of the recoveries
# have three duplicate ACKs, and 34 flows have a timeout.
#
# Why it matters: RFC 5681, section 3.2, asks for three. A lost retransmission is sent again by the
# next recovery, where NewReno (RFC 6582) waits for its timeout, so ns-3 without SACK has fewer
# timeouts than with it: turning SACK off does not give the NewReno of the RFCs.
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
const int FLOWS = 40;
struct Told {
    int timeouts = 0, again = 0, early = 0, recoveries = 0;
    uint32_t acked = 0, duplicates = 0, sent = 0;
};
Told told[FLOWS];
void state(int i, TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now) {
    told[i].timeouts += now == TcpSocketState::CA_LOSS;
    if (now != TcpSocketState::CA_RECOVERY) return;
    told[i].recoveries += 1;
    told[i].early += told[i].duplicates < 3;
}
void ack(int i, Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
    uint32_t number = header.GetAckNumber().GetValue();
    told[i].duplicates = number == told[i].acked ? told[i].duplicates + 1 : 0;
    told[i].acked = number;
}
void data(int i, Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
    uint32_t number = header.GetSequenceNumber().GetValue();
    if (packet->GetSize() == 0) return;
    told[i].again += number < told[i].sent;
    told[i].sent = std::max(told[i].sent, number);
}
void begin(Ptr<Node> host, int i, Address to) {
    auto socket = Socket::CreateSocket(host, TcpSocketFactory::GetTypeId());
    socket->TraceConnectWithoutContext("CongState", MakeBoundCallback(&state, i));
    socket->TraceConnectWithoutContext("Rx", MakeBoundCallback(&ack, i));
    socket->TraceConnectWithoutContext("Tx", MakeBoundCallback(&data, i));
    socket->Connect(to);
    socket->Send(Create<Packet>(65536));
    socket->Close();
}
// 40 flows of 64 KiB, each from a host of its own, through one port of 100 packets to one host.
void incast(std::string control, bool sack) {
    Simulator::Destroy();
    Config::Reset();
    Ipv4AddressGenerator::Reset();
    for (auto &flow : told) flow = Told();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(control));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    NodeContainer hosts(FLOWS), others(2);
    InternetStackHelper stack;
    stack.Install(hosts);
    stack.Install(others);
    PointToPointHelper cable;
    cable.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    cable.SetChannelAttribute("Delay", StringValue("25us"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    TrafficControlHelper control_of_traffic;
    auto join = [&](Ptr<Node> from, Ptr<Node> to, std::string places) {
        cable.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(places));
        auto devices = cable.Install(from, to);
        auto given = addresses.Assign(devices);
        control_of_traffic.Uninstall(devices);
        addresses.NewNetwork();
        return given.GetAddress(1);
    };
    for (int i = 0; i < FLOWS; ++i) join(hosts.Get(i), others.Get(0), "10000p");
    InetSocketAddress to(join(others.Get(0), others.Get(1), "100p"), 9);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9)).Install(others.Get(1));
    for (int i = 0; i < FLOWS; ++i)
        Simulator::Schedule(MicroSeconds(1000 + i / 2), &begin, hosts.Get(i), i, to);
    Simulator::Stop(Seconds(20));
    Simulator::Run();
}
""")
run = ns.cppyy.gbl
def early(sack):
    run.incast("ns3::TcpLinuxReno", sack)
    sums = [sum(getattr(flow, name) for flow in run.told) for name in ("recoveries", "early", "again")]
    return *sums, sum(flow.timeouts > 0 for flow in run.told)


for sack in (False, True):
    recoveries, few, again, timeouts = early(sack)
    print(f"SACK {sack}: {recoveries} recoveries, {few} with fewer than three duplicate ACKs,")
    print(f"{again} segments sent again, {timeouts} flows with timeouts")
    assert (few == 0) if sack else (few > 5)
    assert timeouts >= 25 if sack else timeouts <= 15
END
echo 'ns3-first-duplicate: as described'
