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
        self._waiting = dict(runs)
        self._at_once = at_once
        self._began: dict[int, float] = {}
        self._whole = _Spent()
        self._alike: dict[Hashable, _Spent] = {}

    def begin(self, run: int, now: float) -> None:
        """Tell that a run begins; one that seemed to be made, and is damaged, does not count."""
        if run in self._waiting:
            self._began[run] = now

    def end(self, run: int, now: float) -> None:
        """Tell that a run has ended; one that did not begin was made before."""
        of, began = self._waiting.pop(run, None), self._began.pop(run, None)
        if of is not None and began is not None:
            alike, cost = of
            for spent in (self._whole, self._alike.setdefault(alike, _Spent())):
                spent.add(now - began, cost)

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
        if not self._alike:
            return None
        rests = []
        for run, (alike, cost) in self._waiting.items():
            gone = now - self._began.get(run, now)
            rests.append(max(self._alike.get(alike, self._whole).rate * cost - gone, 0.0))
        if not rests:
            return 0.0
        return max(sum(rests) / min(self._at_once, len(rests)), *rests)


class _Spent:
    """The seconds that runs took, and their work."""

    def __init__(self) -> None:
        self._seconds = self._work = 0.0

    def add(self, seconds: float, work: float) -> None:
        self._seconds += seconds
        self._work += work

    @property
    def rate(self) -> float:
        """The seconds for a unit of work."""
        return self._seconds / self._work if self._work else 0.0
