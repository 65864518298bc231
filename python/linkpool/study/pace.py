"""How long runs still take, by those that ended."""

from collections.abc import Hashable, Mapping


class Pace:
    """The time of runs for their work: of those that ended, and so of the others.

    What a run costs is known only roughly before it is made: one whose packets are lost and sent
    again takes ten times as long as its data lets expect. Another seed of it takes about as long.
    """

    def __init__(self, runs: Mapping[int, tuple[Hashable, float]], at_once: int) -> None:
        """Begin with no run made.

        Args:
            runs: by number what a run has alike with its other seeds, and what it costs.
            at_once: how many are made at the same time.

        """
        self._runs = runs
        self._at_once = at_once
        self._began: dict[int, float] = {}
        self._ended: dict[int, float] = {}

    def begin(self, run: int, now: float) -> None:
        """Tell that a run begins."""
        self._began[run] = now

    def end(self, run: int, now: float) -> None:
        """Tell that a run has ended; one that did not begin was made before."""
        if run in self._began:
            self._ended[run] = now - self._began.pop(run)

    def left(self, now: float) -> float | None:
        """Return the seconds until all runs have ended; None: none has.

        >>> pace = Pace({0: ("lia", 1.0), 1: ("lia", 1.0), 2: ("amp", 2.0)}, 1)
        >>> pace.begin(0, 100.0)
        >>> pace.left(103.0)
        >>> pace.end(0, 105.0)
        >>> pace.begin(1, 105.0)
        >>> pace.left(107.0)  # 3 s of the second, and twice 5 s
        13.0
        """
        if not self._ended:
            return None
        whole = self._rate(self._ended)
        rates = {
            alike: self._rate([run for run in self._ended if self._runs[run][0] == alike])
            for alike in {self._runs[run][0] for run in self._ended}
        }
        rests = [
            max(rates.get(alike, whole) * cost - (now - self._began.get(run, now)), 0.0)
            for run, (alike, cost) in self._runs.items()
            if run not in self._ended
        ]
        if not rests:
            return 0.0
        return max(sum(rests) / min(self._at_once, len(rests)), *rests)

    def _rate(self, runs: "list[int] | Mapping[int, float]") -> float:
        """Return the seconds for a unit of work."""
        work = sum(self._runs[run][1] for run in runs)
        return sum(self._ended[run] for run in runs) / work if work else 0.0
