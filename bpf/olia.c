// SPDX-License-Identifier: GPL-2.0-only
/*
 * OLIA (draft-khalili-mptcp-congestion-control-05; Khalili et al., CoNEXT 2012), without ECN: LIA's first term, which
 * balances congestion, and a second one that moves windows from the largest to the best paths.
 */
#include "algorithm.h"

/*
 * What a TCP would get on this path, squared and but for a factor: l_r / rtt_r^2, where l_r is the larger of the
 * packets between the last two losses and those since the last. 31 fractional bits, since ties decide.
 */
static __always_inline u64 quality(const path_t *p, u32 least)
{
	u64 l = fix_min(fix_max(p->distance.between, p->distance.since), 0xffffffff);
	u64 q = ((u64)least << 31) / p->srtt;

	return l * ((q * q) >> 31);
}

enum kind { USABLE, LARGEST, COLLECTED };

/* How many subflows are usable, have the largest window, or are the best without having it ("collected"). */
APART u32 how_many(conn_t *c, enum kind kind, u64 max_w, u64 best)
{
	u32 least, n = 0;

	if (!c)
		return 0;
	least = min_rtt(c);
	for_each_path(c, p) {
		if (!is_coupled(p))
			continue;
		if (kind == USABLE)
			n++;
		else if (kind == LARGEST)
			n += coupled_window(p) == max_w;
		else
			n += coupled_window(p) != max_w && quality(p, least) == best;
	}
	return n;
}

/*
 * alpha_s: positive on the best paths that do not have the largest windows, negative on those with the largest
 * windows as long as there is a collected one. Returns the size, and in `less` the sign.
 */
static __always_inline u64 alpha(conn_t *c, const path_t *own, u32 least, bool *less)
{
	u64 max_w = 0, best = 0;
	u32 all, collected, largest;

	*less = false;
	for_each_path(c, p) {
		if (!is_coupled(p))
			continue;
		max_w = fix_max(max_w, coupled_window(p));
		best = fix_max(best, quality(p, least));
	}
	all = how_many(c, USABLE, max_w, best);
	collected = how_many(c, COLLECTED, max_w, best);
	largest = how_many(c, LARGEST, max_w, best);
	if (!collected || !is_coupled(own))
		return 0;
	if (coupled_window(own) == max_w) {
		*less = true;
		return ONE / (all * largest);
	}
	return quality(own, least) == best ? ONE / (all * collected) : 0;
}

static __always_inline bool in_ack_event(conn_t *c, u32 s, const ack_t *ack, params_t *params)
{
	path_of(c, s)->distance.since += ack->acked;
	return false;
}

/* For each packet acknowledged, (w_s / rtt_s^2) / (sum_r w_r / rtt_r)^2 + alpha_s / w_s. */
static __always_inline void cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)
{
	path_t *own = path_of(c, s);
	u32 least = min_rtt(c);
	u64 sum = 0, share = ONE, grows, shifts;
	bool less;

	if (slow_start(own, acked))
		return;
	for_each_path(c, p)
		if (is_coupled(p))
			sum += rate_of(p, least);
	if (is_coupled(own))
		share = fix_div(rate_of(own, least), sum);
	grows = fix_mul(share, share);
	shifts = alpha(c, own, least, &less);
	if (!less) {
		own->cwnd += fix_div(acked * (grows + shifts), own->cwnd);
	} else if (grows >= shifts) {
		own->cwnd += fix_div(acked * (grows - shifts), own->cwnd);
	} else {
		u64 by = fix_div(acked * (shifts - grows), own->cwnd);

		own->cwnd = own->cwnd > by + ONE ? own->cwnd - by : ONE;
	}
}

/* Half, as TCP; a new distance between losses begins. Losses with nothing acknowledged between them are one. */
static __always_inline u64 ssthresh(conn_t *c, u32 s, u32 flight, params_t *params)
{
	path_t *p = path_of(c, s);

	if (p->distance.since) {
		p->distance.between = p->distance.since;
		p->distance.since = 0;
	}
	return half_of_flight(c, s, flight, params);
}

#define cut_after_growth(...) no_cut(__VA_ARGS__)

#define MARK_IS_LOSS
#include "controller.h"
CONTROLLER(olia, 0);
