"""The names and looks of transport schemes: the same in every figure and claim."""

from typing import NamedTuple

NAMES = {
    "dctcp": "DCTCP",
    "dcm": "DCM",
    "xmp": "XMP",
    "amp": "AMP",
    "amp-nossr": "AMP without SSR",
    "mptcp-cut": "MPTCP (β = 4)",
    "tcp": "TCP",
    "ps": "PS",
    "ps-tcp": "PS, short flows by TCP",
    "mptcp": "MPTCP",
    "mptcp-faults": "MPTCP with the authors' faults",
    "mmptcp": "MMPTCP",
    "mmptcp-lt": "MMPTCP with limited transmit",
    "mmptcp-fc": "MMPTCP, fully coupled",
    "mmptcp-uc": "MMPTCP, uncoupled",
    "mmptcp-as": "MMPTCP, subflows by paths",
    "mptcp-tcp": "MPTCP, short flows by TCP",
    "ewtcp": "EWTCP (½ TCP)",
    "lia": "MPTCP (LIA)",
    "lia-2": "LIA-2",
    "lia-4": "LIA-4",
    "xmp-2": "XMP-2",
    "xmp-4": "XMP-4",
    "olia": "OLIA",
    "balia": "BALIA",
    "ndp": "NDP",
    "amp-beta": "AMP, β by rate",
    "ecmp": "ECMP",
    "plb": "PLB",
    "spray": "spraying, RACK",
    "reps": "REPS",
    "lia-8": "LIA-8",
    "lia-16": "LIA-16",
    "amp-8": "AMP-8",
    "reno+lia": "Reno, then LIA",
    "reno+lia+high": "Reno at high priority, then LIA",
    "reno+dcm": "Reno, then DCM",
    "reno+xmp": "Reno, then XMP",
    "reno+amp": "Reno, then AMP",
    "reno+amp+high": "Reno at high priority, then AMP",
    "dctcp+lia": "DCTCP, then LIA",
    "dctcp+amp": "DCTCP, then AMP",
}
"""How figures and claims name each scheme."""


class Look(NamedTuple):
    """How a scheme is drawn; the colours are told apart by colour-blind readers too."""

    colour: str
    marker: str
    dash: str = "-"
    hatch: str = ""


LOOKS = {
    "dctcp": Look("#7f7f7f", "s"),
    "dcm": Look("#e69f00", "^", "-."),
    "xmp": Look("#0072b2", "o", "--"),
    "amp": Look("#009e73", "D"),
    "amp-nossr": Look("#8fd6c0", "v", ":", "///"),
    "mptcp-cut": Look("#cc79a7", "P"),
    "tcp": Look("#7f7f7f", "s"),
    "ps": Look("#009e73", "D"),
    "ps-tcp": Look("#8fd6c0", "v", ":", "///"),
    "mptcp": Look("#d55e00", "X"),
    "mptcp-faults": Look("#f3b98a", "x", ":", "///"),
    "mmptcp": Look("#56b4e9", "p"),
    "mmptcp-lt": Look("#0072b2", "h", "--"),
    "mmptcp-fc": Look("#e69f00", "^", "-."),
    "mmptcp-uc": Look("#cc79a7", "P", ":"),
    "mmptcp-as": Look("#0072b2", "o", "--"),
    "mptcp-tcp": Look("#d55e00", "X", "--"),
    "ewtcp": Look("#e69f00", "^", "-."),
    "lia": Look("#d55e00", "X"),
    "lia-2": Look("#d55e00", "X"),
    "lia-4": Look("#f3b98a", "x", "--"),
    "xmp-2": Look("#0072b2", "o"),
    "xmp-4": Look("#56b4e9", "p", "--"),
    "olia": Look("#009e73", "D"),
    "balia": Look("#cc79a7", "P", "--"),
    "ndp": Look("#0072b2", "o"),
    "amp-beta": Look("#8fd6c0", "v", ":", "///"),
    "ecmp": Look("#7f7f7f", "s"),
    "plb": Look("#c4c4c4", "v", ":", "///"),
    "spray": Look("#e69f00", "^", "-."),
    "reps": Look("#cc79a7", "P"),
    "lia-8": Look("#d55e00", "X"),
    "lia-16": Look("#a04600", "*", ":", "..."),
    "amp-8": Look("#009e73", "D"),
    "reno+lia": Look("#d55e00", "X"),
    "reno+lia+high": Look("#f3b98a", "x", ":", "///"),
    "reno+dcm": Look("#e69f00", "^", "-."),
    "reno+xmp": Look("#0072b2", "o", "--"),
    "reno+amp": Look("#009e73", "D"),
    "reno+amp+high": Look("#8fd6c0", "v", ":", "///"),
    "dctcp+lia": Look("#cc79a7", "P"),
    "dctcp+amp": Look("#56b4e9", "p", "--"),
}
