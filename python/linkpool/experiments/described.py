"""The published figures and tables, and the open questions, in words, for the book of results."""

PAPERS = {
    "amp": "AMP",
    "xmp": "XMP",
    "mmptcp": "MMPTCP",
    "talk": "the MPTCP talk",
    "ndp": "NDP",
    "questions": "open questions",
}
"""The papers, by the name of their folder and of their page in `docs/experiments`."""

QUESTIONS = "questions"
"""The folder of the experiments that no paper has."""

AGAIN = ("A-faults", "X-recovery")
"""Experiments that were declared after a trial: published numbers once more, with settings of the
transports that other experiments do not have."""

FAULTS = "-faults"
"""In the names of claims: published numbers once more, with the faults of the authors."""

FIGURES = {
    "A-fig2": (
        "Bars of the mean flow completion time of DCTCP, DCM and XMP on a logarithmic axis, for "
        "10, 20, 30 and 40 synchronised flows, with whiskers of one standard deviation. DCTCP "
        "stays near 2 ms. DCM and XMP reach hundreds of milliseconds from 30 flows on."
    ),
    "A-fig3": (
        "A drawing of windows and of the queue over time: two and five single-path flows, and "
        "four single-path flows beside a multipath flow, on a bottleneck that holds few packets."
    ),
    "A-fig4a": (
        "Goodput of 8 DCTCP flows and of one XMP flow, against the number of XMP's subflows. XMP "
        "leaves its fair share at 3 subflows and takes 2.3 times as much at 4."
    ),
    "A-fig4b": (
        "The same against the number of DCTCP flows, with 4 subflows and a marking threshold of "
        "20 packets."
    ),
    "A-cwnd1": (
        "A remark in the text, without a figure: a minimum window of one packet instead of two."
    ),
    "A-fig6": (
        "The windows of the two subflows between 1.999 s and 2.010 s, while a background flow "
        "leaves one path and another joins the other path: one panel for MPTCP with beta = 4, one "
        "for DCM."
    ),
    "A-fig7": (
        "The number of suppression episodes and the median queue against tau, for 3, 4 and 5 AMP "
        "flows."
    ),
    "A-gamma": "A remark in the text, without a figure: the choice of gamma.",
    "A-fig8": (
        "Bars of the mean flow completion time of DCTCP, DCM, XMP and AMP on a logarithmic axis, "
        "for 10 to 40 synchronised flows of 128, 256 and 512 KB, with whiskers of one standard "
        "deviation."
    ),
    "A-faults": (
        "Not a figure of the paper: the distribution of the completion times of Figure 8's incast "
        "of 30 flows of 128 KB, with and without the faults of the authors' implementation."
    ),
    "A-fig9": (
        "Jain's index over all flows against the number of DCTCP flows, with 1, 2 and 4 multipath "
        "flows beside them: a line for DCM, XMP and AMP."
    ),
    "A-fig10": (
        "The distribution of the queue length of the bottleneck with 4 DCTCP flows beside (a) one "
        "and (b) four multipath flows, a line for each scheme."
    ),
    "A-ssr": "A remark in the text, without a figure: AMP without suppression and release.",
    "A-fig11": "As Figure 6: the windows of both subflows around 2 s, for AMP and for XMP.",
    "A-fig12": (
        "The distribution of job completion times beside long flows of DCTCP, DCM, XMP and AMP, "
        "with 4, 6 and 8 subflows."
    ),
    "A-fig13": (
        "Three panels for each scheme of the long flows: completion times of short flows, goodput "
        "of long flows, and the utilisation of each layer of the fat-tree."
    ),
    "A-fig14": (
        "The distribution of completion times of flows below 100 KB, for the data-mining "
        "workload. The text says that the goodput of long flows is almost identical (graph "
        "omitted there)."
    ),
    "X-fig1": (
        "The rates of four flows on one bottleneck of 1 Gbps over time, of which one starts or "
        "stops every 5 s: DCTCP with K = 10 and 20, and halving the window with K = 10 and 20."
    ),
    "X-fig4": (
        "The rates of all subflows over 40 s on two bottlenecks of 300 Mbps, while a background "
        "flow joins the first and then the second: a panel for beta = 4 and one for beta = 6."
    ),
    "X-fig6": (
        "The rates of all subflows of four flows with 3, 2, 1 and 1 subflows on one bottleneck, "
        "over 30 s: a panel for beta = 4 and one for beta = 6."
    ),
    "X-fig7": (
        "The rates of the ten subflows of five flows on a ring of five bottlenecks, over 80 s: "
        "panels for three pairs of beta and K."
    ),
    "X-tab1": (
        "A table of mean goodputs of large flows for five schemes (DCTCP, LIA and XMP with 2 and "
        "4 subflows) in three patterns."
    ),
    "X-tab2": (
        "A table of mean goodputs of XMP-2 and of LIA-2, TCP or DCTCP beside it, with queues of "
        "50 and of 100 packets."
    ),
    "X-tab3": (
        "A table of mean job completion times for five schemes, and of the share of jobs that "
        "take more than 300 ms."
    ),
    "X-fig8": (
        "Distributions of goodputs of large flows by scheme, and for flows between pods, between "
        "racks and in a rack: vertical bars with the 10th, 50th and 90th percentile."
    ),
    "X-fig9": "The distribution of job completion times, a line for each of five schemes.",
    "X-fig10": "Distributions of round-trip times of large flows by scheme, in each pattern.",
    "X-fig11": (
        "The utilisation of links of the core, the aggregation and the rack layer by scheme, a "
        "vertical line for each, in three patterns."
    ),
    "X-recovery": (
        "Not a figure of the paper: the cells of Tables 1 and 2 for LIA and TCP as bars, with "
        "losses repaired by timeouts alone and by Reno; lines are the paper's numbers."
    ),
    "M-fig1": (
        "Goodput of long flows and completion times of short flows (means, and bars of one "
        "standard deviation) against 1 to 8 subflows of MPTCP, in the 1:1 and the 4:1 fat-tree."
    ),
    "M-tab1": (
        "A table of MPTCP and MMPTCP at 100 Mbps and 1 Gbps: completion times of short flows, "
        "goodput of long flows, utilisation and loss of the core. Figure 2 shows each short "
        "flow's completion time and timeouts."
    ),
    "M-tab2": "The same table for packet scatter and TCP.",
    "M-tab3": "The same table for five schemes, with ten times the short flows.",
    "M-fig3": (
        "Four panels against the share of core switches with short queues: goodput of long flows, "
        "core utilisation, completion times of short flows and core loss, a line for each scheme."
    ),
    "M-tab4": (
        "A table of completion times of short flows against the duplicate-ACK threshold of phase "
        "1. Figure 4 shows how many flows met fast retransmissions and timeouts."
    ),
    "M-tab5": (
        "A table of MMPTCP with and without limited transmit. Figure 5 shows the timeouts and "
        "fast retransmissions of each short flow."
    ),
    "M-fig6": (
        "Completion times of flows of 1 KB to 1 MB against the switching threshold, with the tail "
        "of their distribution."
    ),
    "M-fig7": "The same for flow sizes measured in a production data centre.",
    "M-tab6": (
        "A table of goodput, core utilisation and core loss of MPTCP and MMPTCP after 1, 2, 5 and "
        "20 s, with long flows alone."
    ),
    "M-tab7": (
        "A table of mean, median and deviation of completion times under incast, for 20, 40 and "
        "100 senders."
    ),
    "M-tab8": (
        "A table of three congestion control algorithms in phase 2: fully coupled, uncoupled, "
        "linked increases. Figure 8 shows the distribution of completion times."
    ),
    "M-fig9": (
        "Four panels against the share of servers with long flows: completion times of short "
        "flows, goodput of long flows, core loss and core utilisation, a line for each of five "
        "schemes."
    ),
    "M-fig10": (
        "Distributions of completion times of short flows and of goodputs of long flows, for "
        "MMPTCP with 8 subflows and with as many subflows as a flow has paths."
    ),
    "T-fair": (
        "A slide with two wireless paths and what TCP, half-TCP (EWTCP) and MPTCP get over them."
    ),
    "T-eff": (
        "A slide with three flows round a triangle, each with a path of one hop and one of two "
        "hops."
    ),
    "T-paths": (
        "Throughput of a permutation in a fat-tree, in per cent of the optimum, against the "
        "number of paths."
    ),
    "T-ecmp": "The throughput of each flow of a permutation, ranked: TCP with ECMP, and MPTCP.",
    "T-scatter": (
        "Throughput with per-flow ECMP, packet scatter, a central scheduler by its period, and "
        "MPTCP."
    ),
    "T-oversub": (
        "The throughput of MPTCP over that of TCP against the load, in a fat-tree of 512 hosts "
        "whose core is oversubscribed 4:1, for a permutation and for random receivers."
    ),
    "T-bcube": (
        "A slide with two flows in a BCube, of which one can go round the other by a longer path."
    ),
    "T-dual": "A slide with a fat-tree whose hosts have two NICs on neighbouring switches.",
    "T-ec2": (
        "Throughput of MPTCP and TCP between ten virtual machines of a public cloud over 24 "
        "hours, ranked."
    ),
    "N-perm": (
        "Goodput of each flow of a permutation in a fat-tree, ranked, for NDP and other transports."
    ),
    "N-incast": (
        "Completion times of incasts of 450 KB against the number of senders, for NDP and others."
    ),
    "N-inout": (
        "Goodput of each flow of a host that sends to four hosts, the first of which has another "
        "sender."
    ),
    "Q-phase1": (
        "MMPTCP sends the first 100 KB with Reno, without ECN. Would DCTCP, which reacts to marks, "
        "serve short flows better: beside long flows, and in an incast?"
    ),
    "Q-phase2": (
        "MMPTCP's long flows fill queues by LIA, and its short flows wait in them. What do short "
        "flows gain, and long flows lose, if phase 2 is AMP, XMP or DCM instead?"
    ),
    "Q-priority": (
        "How much sooner do short flows of MMPTCP end if switches serve the packets of phase 1 "
        "first, and what does it cost long flows?"
    ),
    "Q-dual": (
        "Do MMPTCP's two phases use the second NIC of dual-homed hosts: do long flows get more "
        "than one NIC, and what does it mean for short flows?"
    ),
    "Q-delay": (
        "AMP needs switches that mark. Does it keep links full, queues short, shares fair and "
        "incasts short if it learns of congestion from round-trip times above a target instead?"
    ),
    "Q-rates": (
        "The AMP paper simulates 10 Gbps. Do AMP, XMP and DCM share a link with DCTCP at 25, 100 "
        "and 400 Gbps, and survive an incast, if K and the queue grow with the BDP?"
    ),
    "Q-spray": (
        "AMP uses many paths by subflows; packet spraying, REPS and NDP use them packet by packet. "
        "Which ends a permutation first when all is well, when cables fail, when cables are slow, "
        "and when a cable flaps?"
    ),
    "Q-reps": (
        "The REPS paper compares load balancing on two-tier trees at 400 Gbps; its MPTCP is a "
        "stand-in, eight fixed entropies under one window. Where does MPTCP with 4, 8 and 16 "
        "subflows stand?"
    ),
    "Q-reps1024": "The same with 1,024 hosts.",
    "Q-window": (
        "UET has one window over all paths, MPTCP one for each subflow. Which is better when all "
        "paths are alike, when some of eight spines are slow, and when some carry another job's "
        "elephants: NSCC, its relatives, MPTCP, or NSCC with a window for each subflow?"
    ),
    "Q-spray-rdma": (
        "RoCE's receivers keep no packet that is out of order, or some, or all. Where does "
        "spraying over eight paths break each of them: when a path is longer, when all hosts "
        "send, when a spine is slow, when queues drop?"
    ),
    "Q-trimming": (
        "Switches that trim tell of a full queue at once, and pay with headers and packets sent "
        "twice. What do NSCC, RCCC, FASTFLOW, NDP and DCTCP pay in incasts of 8 to 1,023 hosts, "
        "and what do the hosts beside the receiver?"
    ),
    "Q-stall": (
        "One study saw NSCC's quick adapt complete or stall by 0.002 us of its target. How do the "
        "target, the gate and the threshold change four large incasts, with queues that trim, and "
        "with deep ones that drop?"
    ),
    "Q-implementation": (
        "Public code of PLB, flowlets and RSS has faults, and published comparisons ran it. How "
        "much of what REPS and others gain over them is the faults?"
    ),
    "Q-laws": (
        "Public code of HPCC compares each answer with the first one and changes its reference "
        "with each, and NSCC was published before its correction. What does that do to a "
        "permutation, an incast, and flows that join?"
    ),
    "Q-planes": (
        "Hosts have eight ports, each in a plane of its own. A subflow a plane, or packets over "
        "all planes: which loses less when a plane, or a host's cable to it, fails, flaps or is "
        "slow for 10 us to 10 ms?"
    ),
    "Q-migration": (
        "A fabric changes its transport, and for some time two are on it, or five. What share do "
        "NSCC, DCQCN, DCTCP, LIA and AMP get of one link, in one queue with the thresholds of one "
        "of them, and in queues apart?"
    ),
}
"""By experiment: what the paper shows, in words; of an open question: the question."""
