// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMP (Kheirkhah and Lee, Algorithm 1): one packet a round over all subflows, a constant cut on marks, and one
 * subflow only while every window sits at its minimum. The paper's subflow 1 is the first here.
 */
#include "constant_cut.h"

static __always_inline bool at_minimum(const path_t *p, params_t *params)
{
	return whole(p->cwnd) == params->cwnd_min;
}

/* Algorithm 1, lines 2 to 13, when a round of the first subflow ends. */
static __always_inline void suppress_subflows(conn_t *c, params_t *params)
{
	bool stuck = true;

	for_each_path(c, p)
		if (p->established && (p->in_recovery || !at_minimum(p, params)))
			stuck = false;
	c->rounds = stuck ? c->rounds + 1 : 0;
	if (c->rounds >= params->gamma) {
		c->suppressed = 1;
		c->rounds = 0;
		c->suppressions++;
	}
}

/* Algorithm 1, lines 14 to 21, when a round of the first subflow ends. */
static __always_inline void release_subflows(conn_t *c, const path_t *first, params_t *params)
{
	bool calm = !c->marked;

	if (params->release == LP_RELEASE_ROUNDS)
		calm = calm && !first->in_recovery && whole(first->cwnd) > params->cwnd_min;
	c->rounds = calm ? c->rounds + 1 : 0;
	if (c->rounds >= params->tau) {
		c->suppressed = 0;
		c->rounds = 0;
		c->releases++;
	}
}

static __always_inline bool in_ack_event(conn_t *c, u32 s, const ack_t *ack, params_t *params)
{
	path_t *p = path_of(c, s);
	bool cut = constant_cut_first(p, ack, params);

	if (s == c->first && (c->subflows > 1 || c->suppressed) && params->suppression) {
		c->marked |= ack->marked;
		if (ack->round_ended) {
			if (c->suppressed)
				release_subflows(c, p, params);
			else
				suppress_subflows(c, params);
			c->marked = 0;
		}
	}
	return cut;
}

static __always_inline bool cut_after_growth(conn_t *c, u32 s, params_t *params)
{
	return constant_cut_last(path_of(c, s), params);
}

/* 1 / w_total for each packet acknowledged (Algorithm 1, line 25); of the first subflow only while suppressed. */
static __always_inline void cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)
{
	path_t *p = path_of(c, s);

	if (!slow_start(p, acked))
		p->cwnd += fix_div(fix(acked), c->suppressed ? coupled_window(path_of(c, c->first)) : total_window(c));
}

#define ssthresh(...) half_of_flight(__VA_ARGS__)

#include "controller.h"
CONTROLLER(amp, NEEDS_ECN);
