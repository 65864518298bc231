// SPDX-License-Identifier: GPL-2.0-only
/*
 * EWTCP (Honda et al., PFLDNeT 2009; Wischik et al., NSDI 2011, section 2.1), without ECN: on every subflow a TCP of
 * its own, of less weight.
 */
#include "algorithm.h"

/* 1 / sqrt(n) for n = 1 to 8, with 20 fractional bits. */
static __always_inline u64 inverse_root(u32 n)
{
	switch (n) {
	case 2: return 741455;
	case 3: return 605396;
	case 4: return 524288;
	case 5: return 468937;
	case 6: return 428079;
	case 7: return 396324;
	case 8: return 370728;
	default: return ONE;
	}
}

/* a / w_s for each packet acknowledged, where a = 1/n^2 or 1/sqrt(n) on n subflows. */
static __always_inline void cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)
{
	path_t *own = path_of(c, s);
	u32 n = 0;
	u64 weight;

	if (slow_start(own, acked))
		return;
	for_each_path(c, p)
		n += p->established;
	n = n ? n : 1;
	weight = params->ewtcp_increase == LP_INVERSE_ROOT ? inverse_root(n) : ONE / (n * n);
	own->cwnd += fix_div(acked * weight, own->cwnd);
}

#define in_ack_event(...) ignore_marks(__VA_ARGS__)
#define cut_after_growth(...) no_cut(__VA_ARGS__)
#define ssthresh(...) half_of_flight(__VA_ARGS__)

#define MARK_IS_LOSS
#include "controller.h"
CONTROLLER(ewtcp, 0);
