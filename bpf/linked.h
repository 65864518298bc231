/* SPDX-License-Identifier: GPL-2.0-only */
/* The increase of LIA (RFC 6356), which DCM and MPTCP with a constant cut have too. */
#ifndef LINKPOOL_LINKED_H
#define LINKPOOL_LINKED_H

#include "algorithm.h"

/*
 * For each packet acknowledged on subflow s, min(a / w_total, 1 / w_s) (RFC 6356, section 3) with
 * a = w_total max_r(w_r / rtt_r^2) / (sum_r w_r / rtt_r)^2 (equation 2); w_total cancels out.
 */
static __always_inline void lia_growth(conn_t *c, u32 s, u32 acked)
{
	path_t *own = path_of(c, s);
	u32 least = min_rtt(c);
	u64 best = 0, sum = 0, linked, alone;

	if (slow_start(own, acked))
		return;
	for_each_path(c, p) {
		if (!is_coupled(p))
			continue;
		u64 rate = rate_of(p, least);

		best = fix_max(best, fix_mul(rate, fix_div(least, p->srtt)));
		sum += rate;
	}
	alone = fix_div(fix(acked), own->cwnd);
	/* best / sum^2; before the first RTT sample there is nothing to link */
	linked = sum ? fix_div(fix_div(best, sum) * acked, sum) : alone;
	own->cwnd += fix_min(linked, alone);
}

#endif
