/* SPDX-License-Identifier: GPL-2.0-only */
/* A mark cuts the window by 1/beta: AMP, and MPTCP with a constant cut. */
#ifndef LINKPOOL_CONSTANT_CUT_H
#define LINKPOOL_CONSTANT_CUT_H

#include "algorithm.h"

/* On the first marked ACK of a window, w = max(w (1 - 1/beta), cwnd_min) (AMP paper, Algorithm 1, line 29). */
static __always_inline bool constant_cut(path_t *p, params_t *params)
{
	if (!first_mark_of_window(p))
		return false;
	cut_to(p, fix_max(p->cwnd - fix_div(p->cwnd, params->beta), fix(params->cwnd_min)));
	return true;
}

static __always_inline bool constant_cut_first(path_t *p, const ack_t *ack, params_t *params)
{
	return ack->marked && params->ack_order == LP_CUT_INSTEAD_OF_GROWTH && constant_cut(p, params);
}

static __always_inline bool constant_cut_last(path_t *p, params_t *params)
{
	return params->ack_order == LP_GROW_THEN_CUT && constant_cut(p, params);
}

#endif
