"""DCTCP as csg-htsim has it (dctcp.cpp): it cuts at the end of each round, marked or not."""

import linkpool.control as lc


@lc.control("htsim-dctcp", about="DCTCP of htsim", source="csg-htsim at d6bfbe6, dctcp.cpp")
class HtsimDctcp:
    g = lc.parameter(0.0625, above=0, most=1, doc="Gain of alpha.")
    each = lc.parameter(True, doc="Does a round without a mark have a cut, too?")

    class Subflow:
        alpha = 0.0
        acked = 0
        marked = 0
        window = 2.0  # packets of this round

    def in_ack_event(self, states, s, ack):
        own, state = self.subflows[s], states[s]
        own.acked += 1
        own.marked += ack.marked
        if ack.marked:  # slow start is over
            state.ssthresh = min(state.ssthresh, state.cwnd)
        if own.acked >= own.window:
            end_round(self, own, state)
        return False  # this ACK grows the window, too

    def cong_avoid(self, states, s, acked):
        lc.reno_growth(states[s], acked)


def end_round(self, own, state):
    cuts = self.each or own.marked > 0
    own.alpha = own.alpha * (1.0 - self.g) + self.g * (own.marked / own.acked)
    own.acked = own.marked = 0
    if cuts and own.alpha > 0.0:
        state.cwnd = max(state.cwnd * (1.0 - own.alpha / 2.0), 1.0)
        state.ssthresh = state.cwnd
    own.window = state.cwnd
