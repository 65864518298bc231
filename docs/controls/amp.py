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

    def in_ack_event(self, states, s, ack):
        cut = ack.marked and lc.first_mark_of_window(states[s])
        if cut:  # line 29
            lc.cut_to(states[s], max(states[s].cwnd * (1.0 - 1.0 / self.beta), self.cwnd_min))
        if s == 0 and len(states) > 1:
            self.marked |= ack.marked
            if ack.round_ended:
                end_round(self, states)
        return cut

    def cong_avoid(self, states, s, acked):
        if not lc.slow_start(states[s], acked):  # line 25
            coupled = states[:1] if self.suppressed else states
            states[s].cwnd += acked / lc.total_window(coupled)

    def on_failed(self, s):
        if s == 0 and self.suppressed:
            self.suppressed, self.rounds = False, 0
            self.releases += 1

    def is_active(self, s):
        return s == 0 or not self.suppressed


def end_round(self, states):
    counts = not (self.suppressed and self.marked)
    for state in states[:1] if self.suppressed else states:
        above = floor(state.cwnd) - self.cwnd_min
        counts &= state.established and not state.in_recovery
        counts &= above > 0 if self.suppressed else above == 0
    self.rounds, self.marked = self.rounds + 1 if counts else 0, False
    if self.rounds >= (self.tau if self.suppressed else self.gamma):
        self.suppressions += not self.suppressed  # lines 2 to 13
        self.releases += self.suppressed  # lines 14 to 21
        self.suppressed, self.rounds = not self.suppressed, 0
