"""AMP in Python: congestion control that suppresses subflows while all windows are minimal."""

from math import floor

import linkpool.control as lc


@lc.control("my-amp", about="AMP in Python", source="AMP, Algorithm 1")
class Amp:
    gamma = lc.parameter(2, least=1, doc="Rounds at the minimum before subflows are suppressed.")
    tau = lc.parameter(8, least=1, doc="Unmarked rounds before they are released.")
    beta = lc.parameter(4.0, least=1, doc="A mark cuts the window by 1/beta.")
    cwnd_min = lc.parameter(2, least=1, doc="Floor of the window after a mark, packets.")
    suppressed = marked = False  # marked: subflow 0 has seen a mark in this round
    rounds = 0
    suppressions = lc.counter()
    releases = lc.counter()

    def in_ack_event(self, paths, s, ack):
        cut = ack.marked and lc.first_mark_of_window(paths[s])
        if cut:  # line 29
            lc.cut_to(paths[s], max(paths[s].cwnd * (1.0 - 1.0 / self.beta), self.cwnd_min))
        if s == 0 and len(paths) > 1:
            self.marked |= ack.marked
            if ack.round_ended:
                end_round(self, paths)
        return cut

    def cong_avoid(self, paths, s, acked):
        if not lc.slow_start(paths[s], acked):  # line 25
            coupled = paths[:1] if self.suppressed else paths
            paths[s].cwnd += acked / lc.total_window(coupled)

    def on_failed(self, s):
        if s == 0 and self.suppressed:
            self.suppressed, self.rounds = False, 0
            self.releases += 1

    def is_active(self, s):
        return s == 0 or not self.suppressed


def end_round(self, paths):
    counts = not (self.suppressed and self.marked)
    for path in paths[:1] if self.suppressed else paths:
        above = floor(path.cwnd) - self.cwnd_min
        counts &= path.established and not path.in_recovery
        counts &= above > 0 if self.suppressed else above == 0
    self.rounds, self.marked = self.rounds + 1 if counts else 0, False
    if self.rounds >= (self.tau if self.suppressed else self.gamma):
        self.suppressions += not self.suppressed  # lines 2 to 13
        self.releases += self.suppressed  # lines 14 to 21
        self.suppressed, self.rounds = not self.suppressed, 0
