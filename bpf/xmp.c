// SPDX-License-Identifier: GPL-2.0-only
/*
 * XMP (Cao, Xu, Fu, Dong, CoNEXT 2013, Algorithm 1): BOS on each subflow, its increase coupled by TraSh.
 * Windows are whole packets. A subflow is REDUCED, in the paper's words, while `reduced` is set.
 */
#include "algorithm.h"

static __always_inline bool is_slow(const path_t *p, params_t *params)
{
	return params->ssthresh_below ? p->cwnd <= p->ssthresh : p->cwnd < p->ssthresh;
}

/* "At receiving ECE or CWR on subflow r" */
static __always_inline bool bos_cut(path_t *p, params_t *params)
{
	bool cut;

	if (!first_mark_of_window(p))
		return false;
	cut = !is_slow(p, params);
	if (cut) {
		u64 part = fix_max(fix(whole(fix_div(p->cwnd, params->beta))), ONE);

		p->cwnd = p->cwnd > part ? fix_max(p->cwnd - part, fix(params->cwnd_min)) : fix(params->cwnd_min);
		p->cuts++;
	}
	p->ssthresh = p->cwnd - fix(params->ssthresh_below ? 1 : 0);
	return cut;
}

/* "Per-round operations": delta by equation (9), then the increase of BOS. */
static __always_inline void end_round(conn_t *c, path_t *own, params_t *params)
{
	u64 total = 0, product;
	u32 least;

	if (!own->srtt)
		return;
	/* Packets per 1/8 us; 16 more fractional bits, since rates are small. */
	own->trash.rate = (own->cwnd << 16) / own->srtt;
	for_each_path(c, p)
		if (is_coupled(p))
			total += p->trash.rate;
	least = min_rtt(c);
	/* delta = w / (total_rate min_rtt); rates of earlier rounds may be of much smaller RTTs */
	product = least && total > (~0ULL >> 1) / least ? ~0ULL >> 1 : total * least;
	own->trash.delta = fix_div(own->cwnd, product >> 16);
	if (!own->reduced && !is_slow(own, params) && !own->in_recovery) {
		own->trash.adder += own->trash.delta;
		own->cwnd += fix(whole(own->trash.adder));
		/* whole() may count up to 64 units more than there are */
		own->trash.adder = own->trash.adder > fix(whole(own->trash.adder)) ?
					   own->trash.adder - fix(whole(own->trash.adder)) : 0;
	}
}

static __always_inline bool in_ack_event(conn_t *c, u32 s, const ack_t *ack, params_t *params)
{
	path_t *p = path_of(c, s);
	/* The cut comes before anything else that this ACK does. */
	bool cut = ack->marked && bos_cut(p, params);

	if (ack->round_ended)
		end_round(c, p, params);
	return cut;
}

/* "Per-ACK operations": slow start, in state NORMAL only. */
static __always_inline void cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)
{
	path_t *p = path_of(c, s);

	if (!p->reduced && is_slow(p, params))
		p->cwnd += fix(acked);
}

/* Half, in whole packets. */
static __always_inline u64 ssthresh(conn_t *c, u32 s, u32 flight, params_t *params)
{
	return fix_max(fix(flight / 2), fix(2));
}

#define cut_after_growth(...) no_cut(__VA_ARGS__)

#include "controller.h"
CONTROLLER(xmp, NEEDS_ECN);
