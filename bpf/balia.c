// SPDX-License-Identifier: GPL-2.0-only
/*
 * BALIA (draft-walid-mptcp-congestion-control-04), the balanced linked adaptation, without ECN: between LIA's
 * friendliness and OLIA's responsiveness. alpha_s = max_r(x_r) / x_s, with the rates x_r = w_r / rtt_r.
 */
#include "algorithm.h"

/* The rates: of subflow s, the largest, and their sum. All 1 before the first RTT sample, when there is nothing to link. */
static __always_inline void rates(conn_t *c, const path_t *own, u64 *x, u64 *max, u64 *sum)
{
	u32 least = min_rtt(c);

	*x = *max = *sum = ONE;
	if (!is_coupled(own))
		return;
	*x = rate_of(own, least);
	*max = *sum = 0;
	for_each_path(c, p) {
		if (!is_coupled(p))
			continue;
		*max = fix_max(*max, rate_of(p, least));
		*sum += rate_of(p, least);
	}
}

/*
 * For each packet acknowledged, (x_s / rtt_s) / (sum_r x_r)^2 (1 + alpha_s) / 2 (4 + alpha_s) / 5. With x_s alpha_s = max
 * it is (x_s + max) / sum (4 x_s + max) / sum / 10 / w_s, which has no large numbers in it.
 */
static __always_inline void cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)
{
	path_t *own = path_of(c, s);
	u64 x, max, sum;

	if (slow_start(own, acked))
		return;
	rates(c, own, &x, &max, &sum);
	own->cwnd += fix_div(acked * (fix_mul(fix_div(x + max, sum), fix_div(4 * x + max, sum)) / 10), own->cwnd);
}

/* On a loss the window goes down by w_s / 2 min(alpha_s, 1.5); w_s is what is in flight, as in RFC 5681, equation 4. */
static __always_inline u64 ssthresh(conn_t *c, u32 s, u32 flight, params_t *params)
{
	u64 x, max, sum, alpha;

	rates(c, path_of(c, s), &x, &max, &sum);
	alpha = 2 * max >= 3 * x ? ONE + ONE / 2 : fix_div(max, x);
	return fix_max(fix_mul(fix(flight), ONE - alpha / 2), fix(2));
}

#define in_ack_event(...) ignore_marks(__VA_ARGS__)
#define cut_after_growth(...) no_cut(__VA_ARGS__)

#define MARK_IS_LOSS
#include "controller.h"
CONTROLLER(balia, 0);
