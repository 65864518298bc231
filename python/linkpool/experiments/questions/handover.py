"""Questions about MMPTCP: short flows beside long flows, or an incast of short flows."""

from dataclasses import dataclass

from linkpool.experiments.questions.question import Quantities, Question, Words
from linkpool.result import Result


@dataclass(frozen=True)
class Handover(Question):
    """A question about what short flows meet, and what long flows get."""

    def words(self, setting: str, scheme: str, seed: int) -> Words | None:
        """Return nothing more; an incast never sees phase 2, so it runs with one of them."""
        return None if setting.startswith("incast") and scheme.endswith("+lia") else {}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion times and timeouts of short flows, and the goodput of long flows."""
        flows = result.flows.filter("measured")
        short, long = (flows.filter(label=label) for label in ("short", "long"))
        fct = short["fct_established_s"].drop_nulls()
        goodput = (8.0 * long["measured_bytes"] / long["measured_s"]).mean()
        return {
            "fct_s": None if fct.is_empty() else float(fct.mean()),  # type: ignore[arg-type]
            "p99_s": fct.quantile(0.99, "linear"),
            "timeouts": float(short["timeouts"].sum()) / max(short.height, 1),
            "unfinished": float(short["fct_s"].null_count()),
            "goodput_bps": None if goodput is None else float(goodput),  # type: ignore[arg-type]
        }
