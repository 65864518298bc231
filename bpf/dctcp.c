// SPDX-License-Identifier: GPL-2.0-only
/* DCTCP (RFC 8257): grows as standard TCP, cuts in proportion to the fraction of marked packets. */
#include "proportional_cut.h"

static __always_inline bool in_ack_event(conn_t *c, u32 s, const ack_t *ack, params_t *params)
{
	return proportional_cut_first(path_of(c, s), ack, params);
}

static __always_inline bool cut_after_growth(conn_t *c, u32 s, params_t *params)
{
	return proportional_cut_last(path_of(c, s), params);
}

static __always_inline void cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)
{
	reno_growth(path_of(c, s), acked);
}

#define ssthresh(...) half_of_flight(__VA_ARGS__)
#define STARTS_WITH_ALPHA

#include "controller.h"
CONTROLLER(dctcp, NEEDS_ECN);
