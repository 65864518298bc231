"""The published experiments and open questions, grouped by paper and registered by id."""

from pathlib import Path

from linkpool.study.experiment import Experiment
from linkpool.study.registry import Registry

EXPERIMENTS = {
    "A-fig2": "linkpool.experiments.amp.fig2:EXPERIMENT",
    "A-fig3": "linkpool.experiments.amp.fig3:EXPERIMENT",
    "A-fig4a": "linkpool.experiments.amp.fig4a:EXPERIMENT",
    "A-fig4b": "linkpool.experiments.amp.fig4b:EXPERIMENT",
    "A-cwnd1": "linkpool.experiments.amp.cwnd1:EXPERIMENT",
    "A-fig6": "linkpool.experiments.amp.fig6:EXPERIMENT",
    "A-fig7": "linkpool.experiments.amp.fig7:EXPERIMENT",
    "A-gamma": "linkpool.experiments.amp.gamma:EXPERIMENT",
    "A-fig8": "linkpool.experiments.amp.fig8:EXPERIMENT",
    "A-faults": "linkpool.experiments.amp.faults:EXPERIMENT",
    "A-fig9": "linkpool.experiments.amp.fig9:EXPERIMENT",
    "A-fig10": "linkpool.experiments.amp.fig10:EXPERIMENT",
    "A-ssr": "linkpool.experiments.amp.ssr:EXPERIMENT",
    "A-fig11": "linkpool.experiments.amp.fig11:EXPERIMENT",
    "A-fig12": "linkpool.experiments.amp.fig12:EXPERIMENT",
    "A-fig13": "linkpool.experiments.amp.fig13:EXPERIMENT",
    "A-fig14": "linkpool.experiments.amp.fig14:EXPERIMENT",
    "X-fig1": "linkpool.experiments.xmp.fig1:EXPERIMENT",
    "X-fig4": "linkpool.experiments.xmp.fig4:EXPERIMENT",
    "X-fig6": "linkpool.experiments.xmp.fig6:EXPERIMENT",
    "X-fig7": "linkpool.experiments.xmp.fig7:EXPERIMENT",
    "X-tab1": "linkpool.experiments.xmp.goodputs:TAB1",
    "X-tab2": "linkpool.experiments.xmp.tab2:EXPERIMENT",
    "X-tab3": "linkpool.experiments.xmp.jobs:TAB3",
    "X-fig8": "linkpool.experiments.xmp.goodputs:FIG8",
    "X-fig9": "linkpool.experiments.xmp.jobs:FIG9",
    "X-fig10": "linkpool.experiments.xmp.fig10:EXPERIMENT",
    "X-fig11": "linkpool.experiments.xmp.fig11:EXPERIMENT",
    "X-recovery": "linkpool.experiments.xmp.recovery:EXPERIMENT",
    "M-fig1": "linkpool.experiments.mmptcp.fig1:EXPERIMENT",
    "M-tab1": "linkpool.experiments.mmptcp.tab1:EXPERIMENT",
    "M-tab2": "linkpool.experiments.mmptcp.tab2:EXPERIMENT",
    "M-tab3": "linkpool.experiments.mmptcp.tab3:EXPERIMENT",
    "M-fig3": "linkpool.experiments.mmptcp.fig3:EXPERIMENT",
    "M-tab4": "linkpool.experiments.mmptcp.tab4:EXPERIMENT",
    "M-tab5": "linkpool.experiments.mmptcp.tab5:EXPERIMENT",
    "M-fig6": "linkpool.experiments.mmptcp.thresholds:FIG6",
    "M-fig7": "linkpool.experiments.mmptcp.thresholds:FIG7",
    "M-tab6": "linkpool.experiments.mmptcp.tab6:EXPERIMENT",
    "M-tab7": "linkpool.experiments.mmptcp.tab7:EXPERIMENT",
    "M-tab8": "linkpool.experiments.mmptcp.tab8:EXPERIMENT",
    "M-fig9": "linkpool.experiments.mmptcp.fig9:EXPERIMENT",
    "M-fig10": "linkpool.experiments.mmptcp.fig10:EXPERIMENT",
    "T-fair": "linkpool.experiments.talk.fair:EXPERIMENT",
    "T-eff": "linkpool.experiments.talk.eff:EXPERIMENT",
    "T-paths": "linkpool.experiments.talk.paths:EXPERIMENT",
    "T-ecmp": "linkpool.experiments.talk.ecmp:EXPERIMENT",
    "T-scatter": "linkpool.experiments.talk.scatter:EXPERIMENT",
    "T-oversub": "linkpool.experiments.talk.oversub:EXPERIMENT",
    "T-bcube": "linkpool.experiments.talk.bcube:EXPERIMENT",
    "T-dual": "linkpool.experiments.talk.dual:EXPERIMENT",
    "T-ec2": "linkpool.experiments.talk.ec2:EXPERIMENT",
    "N-perm": "linkpool.experiments.ndp.perm:EXPERIMENT",
    "N-incast": "linkpool.experiments.ndp.incast:EXPERIMENT",
    "N-inout": "linkpool.experiments.ndp.inout:EXPERIMENT",
    "Q-phase1": "linkpool.experiments.questions.phase1:EXPERIMENT",
    "Q-phase2": "linkpool.experiments.questions.phase2:EXPERIMENT",
    "Q-priority": "linkpool.experiments.questions.priority:EXPERIMENT",
    "Q-dual": "linkpool.experiments.questions.dual:EXPERIMENT",
    "Q-delay": "linkpool.experiments.questions.delay:EXPERIMENT",
    "Q-rates": "linkpool.experiments.questions.rates:EXPERIMENT",
    "Q-spray": "linkpool.experiments.questions.spray:EXPERIMENT",
    "Q-reps": "linkpool.experiments.questions.reps:EXPERIMENT",
    "Q-reps1024": "linkpool.experiments.questions.reps:LARGE",
    "Q-window": "linkpool.experiments.questions.window:EXPERIMENT",
}
"""Each experiment's id, and the module and name that it is loaded from when it is asked for."""


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
    found.add(EXPERIMENTS)
    return found


def all_experiments() -> list[Experiment]:
    """Return every published experiment, in the papers' order."""
    return published().load_all()
