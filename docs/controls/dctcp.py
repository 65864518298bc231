"""DCTCP (RFC 8257) in Python, on each subflow."""

import linkpool.control as lc


@lc.control("my-dctcp", about="DCTCP in Python", source="RFC 8257")
class Dctcp:
    alpha0 = lc.parameter(1.0, paper_2013=0.0, least=0, most=1, doc="Initial alpha.")
    g = lc.parameter(0.0625, above=0, most=1, doc="Gain of alpha.")
    cwnd_min = lc.parameter(2.0, least=1, doc="Floor of the window after a mark, packets.")
    grow_then_cut = lc.parameter(False, paper_2013=True, doc="Does a cut come after growth?")

    class Subflow:
        alpha = 0.0
        acked = 0
        marked = 0

    def init(self):
        for own in self.subflows:
            own.alpha = self.alpha0

    def in_ack_event(self, states, s, ack):
        own = self.subflows[s]
        packets = max(ack.acked, 1)  # a duplicate reports on one packet
        own.acked += packets
        own.marked += packets * ack.marked
        if ack.round_ended:  # section 3.3, steps 5 and 6
            own.alpha = own.alpha * (1.0 - self.g) + self.g * (own.marked / own.acked)
            own.acked = own.marked = 0
        return ack.marked and not self.grow_then_cut and respond_to_ecn(self, states[s], s)

    def cut_after_growth(self, states, s):
        return self.grow_then_cut and respond_to_ecn(self, states[s], s)

    def cong_avoid(self, states, s, acked):
        lc.reno_growth(states[s], acked)


def respond_to_ecn(self, state, s):
    cut = lc.first_mark_of_window(state)
    if cut:  # section 3.3, step 9
        alpha = self.subflows[s].alpha
        lc.cut_to(state, max(state.cwnd * (1.0 - alpha / 2.0), self.cwnd_min))
    return cut
