/* SPDX-License-Identifier: GPL-2.0-only */
/* The cut in proportion to the fraction of marked packets: DCTCP, and each subflow of DCM (RFC 8257). */
#ifndef LINKPOOL_PROPORTIONAL_CUT_H
#define LINKPOOL_PROPORTIONAL_CUT_H

#include "algorithm.h"

/* M = marked / acked, alpha = alpha (1 - g) + g M, once a round (RFC 8257, section 3.3, steps 5 and 6). */
static __always_inline void count_marks(path_t *p, const ack_t *ack, params_t *params)
{
	u32 packets = ack->acked ? ack->acked : 1;
	u64 alpha = p->fraction.alpha;

	p->fraction.acked += packets;
	if (ack->marked)
		p->fraction.marked += packets;
	if (ack->round_ended) {
		u64 fraction = fix_div(p->fraction.marked, p->fraction.acked);

		p->fraction.alpha = alpha - fix_mul(alpha, params->g) + fix_mul(fraction, params->g);
		p->fraction.acked = 0;
		p->fraction.marked = 0;
	}
}

/* cwnd = cwnd (1 - alpha / 2), once a window (RFC 8257, section 3.3, step 9; AMP paper, section 2.1). */
static __always_inline bool proportional_cut(path_t *p, params_t *params)
{
	if (!first_mark_of_window(p))
		return false;
	cut_to(p, fix_max(p->cwnd - fix_mul(p->cwnd, p->fraction.alpha) / 2, fix(params->cwnd_min)));
	return true;
}

static __always_inline bool proportional_cut_first(path_t *p, const ack_t *ack, params_t *params)
{
	count_marks(p, ack, params);
	return ack->marked && params->ack_order == LP_CUT_INSTEAD_OF_GROWTH && proportional_cut(p, params);
}

static __always_inline bool proportional_cut_last(path_t *p, params_t *params)
{
	return params->ack_order == LP_GROW_THEN_CUT && proportional_cut(p, params);
}

#endif
