// SPDX-License-Identifier: GPL-2.0-only
/* MPTCP with LIA whose subflows cut their windows by 1/beta on marks: "MPTCP (beta = 4)" of the AMP paper, section 4.1. */
#include "constant_cut.h"
#include "linked.h"

static __always_inline bool in_ack_event(conn_t *c, u32 s, const ack_t *ack, params_t *params)
{
	return constant_cut_first(path_of(c, s), ack, params);
}

static __always_inline bool cut_after_growth(conn_t *c, u32 s, params_t *params)
{
	return constant_cut_last(path_of(c, s), params);
}

static __always_inline void cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)
{
	lia_growth(c, s, acked);
}

#define ssthresh(...) half_of_flight(__VA_ARGS__)

#include "controller.h"
CONTROLLER(mptcp_cut, NEEDS_ECN);
