"""The published experiments and open questions, grouped by paper and registered by id."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from linkpool.study.registry import Registry

if TYPE_CHECKING:
    from linkpool.study.experiment import Experiment


class Declared(NamedTuple):
    """An experiment as lists show it, without loading it: tests compare it with the experiment.

    Attributes:
        home: where it is, as MODULE:NAME.
        title: what it shows.
        paper: where it stands.
        runs: how many runs it makes.

    """

    home: str
    title: str
    paper: str
    runs: int


EXPERIMENTS = {
    "A-fig2": Declared(
        "linkpool.experiments.amp.fig2:EXPERIMENT",
        "incast with existing schemes",
        "AMP, section 3.1",
        88,
    ),
    "A-fig3": Declared(
        "linkpool.experiments.amp.fig3:EXPERIMENT",
        "the minimum window syndrome, illustrated",
        "AMP, section 3.2, Figure 3",
        15,
    ),
    "A-fig4a": Declared(
        "linkpool.experiments.amp.fig4a:EXPERIMENT",
        "minimum window syndrome against the number of subflows",
        "AMP, section 3.2, Figure 4(a)",
        142,
    ),
    "A-fig4b": Declared(
        "linkpool.experiments.amp.fig4b:EXPERIMENT",
        "minimum window syndrome with K = 20",
        "AMP, section 3.2, Figure 4(b)",
        70,
    ),
    "A-cwnd1": Declared(
        "linkpool.experiments.amp.cwnd1:EXPERIMENT",
        "minimum window syndrome with cwnd_min = 1",
        "AMP, section 3.2 (graph omitted there)",
        80,
    ),
    "A-fig6": Declared(
        "linkpool.experiments.amp.fig6:EXPERIMENT",
        "traffic shifting of MPTCP and DCM",
        "AMP, section 4.1, Figure 6",
        40,
    ),
    "A-fig7": Declared(
        "linkpool.experiments.amp.fig7:EXPERIMENT",
        "suppression episodes against tau",
        "AMP, section 5.1, Figure 7",
        360,
    ),
    "A-gamma": Declared(
        "linkpool.experiments.amp.gamma:EXPERIMENT",
        "choice of gamma",
        "AMP, section 5.1",
        508,
    ),
    "A-fig8": Declared(
        "linkpool.experiments.amp.fig8:EXPERIMENT",
        "incast with AMP and the other schemes",
        "AMP, section 5.2",
        640,
    ),
    "A-faults": Declared(
        "linkpool.experiments.amp.faults:EXPERIMENT",
        "incast with the faults of the authors' implementation",
        "AMP, sections 3 and 5.2",
        90,
    ),
    "A-fig9": Declared(
        "linkpool.experiments.amp.fig9:EXPERIMENT",
        "fairness beside DCTCP flows",
        "AMP, section 5.2, Figure 9",
        540,
    ),
    "A-fig10": Declared(
        "linkpool.experiments.amp.fig10:EXPERIMENT",
        "queue length beside 4 DCTCP flows",
        "AMP, section 5.2, Figure 10",
        60,
    ),
    "A-ssr": Declared(
        "linkpool.experiments.amp.ssr:EXPERIMENT",
        "AMP without suppression",
        "AMP, section 5.2 (Figures 8 to 10 with SSR disabled; graphs omitted there)",
        448,
    ),
    "A-fig11": Declared(
        "linkpool.experiments.amp.fig11:EXPERIMENT",
        "traffic shifting of AMP and XMP",
        "AMP, section 5.2, Figure 11",
        60,
    ),
    "A-fig12": Declared(
        "linkpool.experiments.amp.fig12:EXPERIMENT",
        "jobs beside long flows in a fat-tree",
        "AMP, section 5.3",
        100,
    ),
    "A-fig13": Declared(
        "linkpool.experiments.amp.fig13:EXPERIMENT",
        "long and short flows over a permutation",
        "AMP, section 5.3",
        20,
    ),
    "A-fig14": Declared(
        "linkpool.experiments.amp.fig14:EXPERIMENT",
        "data-mining workload in a fat-tree",
        "AMP, section 5.3",
        40,
    ),
    "X-fig1": Declared(
        "linkpool.experiments.xmp.fig1:EXPERIMENT",
        "halving the window against DCTCP",
        "XMP, section 2.1, Figure 1",
        20,
    ),
    "X-fig4": Declared(
        "linkpool.experiments.xmp.fig4:EXPERIMENT",
        "traffic shifting",
        "XMP, section 4, Figure 4",
        20,
    ),
    "X-fig6": Declared(
        "linkpool.experiments.xmp.fig6:EXPERIMENT",
        "fairness whatever the subflows",
        "XMP, section 4, Figure 6",
        10,
    ),
    "X-fig7": Declared(
        "linkpool.experiments.xmp.fig7:EXPERIMENT",
        "rate compensation",
        "XMP, section 5.1, Figure 7",
        15,
    ),
    "X-tab1": Declared(
        "linkpool.experiments.xmp.goodputs:TAB1",
        "goodput in a fat-tree",
        "XMP, section 5.2, Table 1",
        75,
    ),
    "X-tab2": Declared(
        "linkpool.experiments.xmp.tab2:EXPERIMENT",
        "XMP beside other schemes",
        "XMP, section 5.2, Table 2",
        30,
    ),
    "X-tab3": Declared(
        "linkpool.experiments.xmp.jobs:TAB3",
        "job completion times",
        "XMP, section 5.2, Table 3",
        25,
    ),
    "X-fig8": Declared(
        "linkpool.experiments.xmp.goodputs:FIG8",
        "distributions of goodputs in a fat-tree",
        "XMP, section 5.2, Figure 8",
        50,
    ),
    "X-fig9": Declared(
        "linkpool.experiments.xmp.jobs:FIG9",
        "distributions of job completion times",
        "XMP, section 5.2, Figure 9",
        25,
    ),
    "X-fig10": Declared(
        "linkpool.experiments.xmp.fig10:EXPERIMENT",
        "round-trip times of large flows",
        "XMP, section 5.2, Figure 10",
        75,
    ),
    "X-fig11": Declared(
        "linkpool.experiments.xmp.fig11:EXPERIMENT",
        "utilisation of links by layer",
        "XMP, section 5.2, Figure 11",
        75,
    ),
    "X-recovery": Declared(
        "linkpool.experiments.xmp.recovery:EXPERIMENT",
        "LIA and TCP with weaker loss recovery",
        "XMP, section 5.2, Tables 1 to 3",
        100,
    ),
    "M-fig1": Declared(
        "linkpool.experiments.mmptcp.fig1:EXPERIMENT",
        "MPTCP against its number of subflows",
        "MMPTCP, section 1, Figure 1",
        150,
    ),
    "M-tab1": Declared(
        "linkpool.experiments.mmptcp.tab1:EXPERIMENT",
        "MMPTCP beside MPTCP with eight subflows",
        "MMPTCP, section 3.2, Table 1 and Figure 2",
        45,
    ),
    "M-tab2": Declared(
        "linkpool.experiments.mmptcp.tab2:EXPERIMENT",
        "MMPTCP beside TCP and packet scatter",
        "MMPTCP, section 3.3, Table 2",
        25,
    ),
    "M-tab3": Declared(
        "linkpool.experiments.mmptcp.tab3:EXPERIMENT",
        "the same with ten times the short flows",
        "MMPTCP, section 3.3, Table 3",
        30,
    ),
    "M-fig3": Declared(
        "linkpool.experiments.mmptcp.fig3:EXPERIMENT",
        "hotspots in the core",
        "MMPTCP, section 3.4, Figure 3",
        175,
    ),
    "M-tab4": Declared(
        "linkpool.experiments.mmptcp.tab4:EXPERIMENT",
        "the duplicate-ACK threshold of phase 1",
        "MMPTCP, section 3.5, Table 4 and Figure 4",
        120,
    ),
    "M-tab5": Declared(
        "linkpool.experiments.mmptcp.tab5:EXPERIMENT",
        "limited transmit in phase 1",
        "MMPTCP, section 3.6, Table 5 and Figure 5",
        10,
    ),
    "M-fig6": Declared(
        "linkpool.experiments.mmptcp.thresholds:FIG6",
        "the switching threshold, sizes of 1 KB to 1 MB",
        "MMPTCP, section 3.7, Figure 6",
        60,
    ),
    "M-fig7": Declared(
        "linkpool.experiments.mmptcp.thresholds:FIG7",
        "the switching threshold, measured sizes",
        "MMPTCP, section 3.7, Figure 7",
        60,
    ),
    "M-tab6": Declared(
        "linkpool.experiments.mmptcp.tab6:EXPERIMENT",
        "long flows alone",
        "MMPTCP, section 3.7, Table 6",
        20,
    ),
    "M-tab7": Declared(
        "linkpool.experiments.mmptcp.tab7:EXPERIMENT",
        "incast in a fat-tree",
        "MMPTCP, section 3.8, Table 7",
        300,
    ),
    "M-tab8": Declared(
        "linkpool.experiments.mmptcp.tab8:EXPERIMENT",
        "the congestion control of phase 2",
        "MMPTCP, section 3.9, Table 8 and Figure 8",
        30,
    ),
    "M-fig9": Declared(
        "linkpool.experiments.mmptcp.fig9:EXPERIMENT",
        "network load",
        "MMPTCP, section 3.10, Figure 9",
        175,
    ),
    "M-fig10": Declared(
        "linkpool.experiments.mmptcp.fig10:EXPERIMENT",
        "as many subflows as a flow has paths",
        "MMPTCP, section 3.11, Figure 10",
        40,
    ),
    "T-fair": Declared(
        "linkpool.experiments.talk.fair:EXPERIMENT",
        "users of Wi-Fi and 3G",
        "MPTCP talk, design goal 3",
        30,
    ),
    "T-eff": Declared(
        "linkpool.experiments.talk.eff:EXPERIMENT",
        "efficient paths round a triangle",
        "MPTCP talk, design goal 2",
        20,
    ),
    "T-paths": Declared(
        "linkpool.experiments.talk.paths:EXPERIMENT",
        "how many paths a flow needs",
        "MPTCP talk: MPTCP discovers available capacity",
        55,
    ),
    "T-ecmp": Declared(
        "linkpool.experiments.talk.ecmp:EXPERIMENT",
        "MPTCP against ECMP",
        "MPTCP talk: it shares capacity out more fairly than TCP+ECMP",
        10,
    ),
    "T-scatter": Declared(
        "linkpool.experiments.talk.scatter:EXPERIMENT",
        "packet scatter and a central scheduler",
        "MPTCP talk: MPTCP can make good path choices",
        30,
    ),
    "T-oversub": Declared(
        "linkpool.experiments.talk.oversub:EXPERIMENT",
        "a right-provisioned core",
        "MPTCP talk: what if we want a cheaper right-provisioned core?",
        160,
    ),
    "T-bcube": Declared(
        "linkpool.experiments.talk.bcube:EXPERIMENT",
        "BCube",
        "MPTCP talk: MPTCP chooses efficient paths in a BCube data center",
        40,
    ),
    "T-dual": Declared(
        "linkpool.experiments.talk.dual:EXPERIMENT",
        "dual-homed hosts",
        "MPTCP talk: what if we give them multiple NICs to allow bursts?",
        60,
    ),
    "T-ec2": Declared(
        "linkpool.experiments.talk.ec2:EXPERIMENT",
        "many paths of varying background load",
        "MPTCP talk: Amazon EC2, 24 hours",
        10,
    ),
    "N-perm": Declared(
        "linkpool.experiments.ndp.perm:EXPERIMENT",
        "permutation",
        "NDP paper: throughput of a permutation",
        30,
    ),
    "N-incast": Declared(
        "linkpool.experiments.ndp.incast:EXPERIMENT",
        "incast",
        "NDP paper: completion times of an incast",
        110,
    ),
    "N-inout": Declared(
        "linkpool.experiments.ndp.inout:EXPERIMENT",
        "one sender to four receivers",
        "NDP paper: sender-limited traffic",
        15,
    ),
    "Q-phase1": Declared(
        "linkpool.experiments.questions.phase1:EXPERIMENT",
        "DCTCP in phase 1 of MMPTCP",
        "MMPTCP, open question: a DCTCP-like control in phase 1",
        40,
    ),
    "Q-phase2": Declared(
        "linkpool.experiments.questions.phase2:EXPERIMENT",
        "AMP in phase 2 of MMPTCP",
        "MMPTCP, open question: AMP as the algorithm of phase 2",
        40,
    ),
    "Q-priority": Declared(
        "linkpool.experiments.questions.priority:EXPERIMENT",
        "phase 1 of MMPTCP at high priority",
        "MMPTCP, open question: packets of phase 1 at high priority",
        40,
    ),
    "Q-dual": Declared(
        "linkpool.experiments.questions.dual:EXPERIMENT",
        "MMPTCP in dual-homed fat-trees",
        "MMPTCP, open question: hosts with two NICs",
        60,
    ),
    "Q-delay": Declared(
        "linkpool.experiments.questions.delay:EXPERIMENT",
        "AMP with a target delay",
        "AMP, open question: a delay signal instead of marks",
        160,
    ),
    "Q-rates": Declared(
        "linkpool.experiments.questions.rates:EXPERIMENT",
        "AMP, XMP and DCM from 10 to 400 Gbps",
        "Open question: the schemes of the AMP paper at the rates of today",
        200,
    ),
    "Q-spray": Declared(
        "linkpool.experiments.questions.spray:EXPERIMENT",
        "AMP against packet spraying",
        "Open question: AMP against per-packet load balancing, with and without failures",
        560,
    ),
    "Q-reps": Declared(
        "linkpool.experiments.questions.reps:EXPERIMENT",
        "MPTCP in the comparison of load balancing, 128 hosts",
        "Open question: a real MPTCP in the comparison of the REPS paper",
        960,
    ),
    "Q-reps1024": Declared(
        "linkpool.experiments.questions.reps:LARGE",
        "MPTCP in the comparison of load balancing, 1,024 hosts",
        "Open question: a real MPTCP in the comparison of the REPS paper",
        240,
    ),
    "Q-window": Declared(
        "linkpool.experiments.questions.window:EXPERIMENT",
        "one window, or one for each subflow",
        "Open question: a window for all paths, or one for each, where paths differ",
        350,
    ),
    "Q-spray-rdma": Declared(
        "linkpool.experiments.questions.spray_rdma:EXPERIMENT",
        "spraying under RDMA",
        "Open question: where does spraying break go-back-N and reordering windows",
        245,
    ),
    "Q-trimming": Declared(
        "linkpool.experiments.questions.trimming:EXPERIMENT",
        "what trimming costs in incasts",
        "Open question: what trimming costs in incasts of 8 to 1,023 senders",
        200,
    ),
    "Q-stall": Declared(
        "linkpool.experiments.questions.trimming:STALL",
        "where quick adapt stalls",
        "Open question: is NSCC bistable in its target, gate and threshold",
        360,
    ),
    "Q-implementation": Declared(
        "linkpool.experiments.questions.implementation:EXPERIMENT",
        "faults of public code",
        "Open question: how much of a balancer's gain is the faults of its rivals' code",
        200,
    ),
    "Q-laws": Declared(
        "linkpool.experiments.questions.laws:EXPERIMENT",
        "faults of public code in laws",
        "Open question: what faults of public code do to HPCC and NSCC",
        90,
    ),
    "Q-planes": Declared(
        "linkpool.experiments.questions.planes:EXPERIMENT",
        "planes that fail, flap or are slow",
        "Open question: a subflow a plane, or packets over all planes, when one fails",
        875,
    ),
    "Q-migration": Declared(
        "linkpool.experiments.questions.migration:EXPERIMENT",
        "shares during a migration",
        "Open question: shares of NSCC, DCQCN, DCTCP, LIA and AMP on one fabric",
        825,
    ),
}
"""The experiments by id. Each is loaded when it is asked for."""


def registry(folder: Path | None = None) -> Registry:
    """Return the registry of these, of what installed packages offer, and of a folder's files."""
    found = published()
    found.add_installed()
    if folder is not None:
        found.add_folder(folder)
    return found


def published() -> Registry:
    """Return the registry of the published experiments, in the papers' order."""
    found = Registry()
    found.add({name: declared.home for name, declared in EXPERIMENTS.items()})
    return found


def all_experiments() -> list[Experiment]:
    """Return every published experiment, in the papers' order."""
    return published().load_all()
