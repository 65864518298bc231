// SPDX-License-Identifier: GPL-2.0-only
/* LIA (RFC 6356), MPTCP's Linked Increases Algorithm, without ECN. */
#include "linked.h"

static __always_inline void cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)
{
	lia_growth(c, s, acked);
}

#define in_ack_event(...) ignore_marks(__VA_ARGS__)
#define cut_after_growth(...) no_cut(__VA_ARGS__)
#define ssthresh(...) half_of_flight(__VA_ARGS__)

#define MARK_IS_LOSS
#include "controller.h"
CONTROLLER(lia, 0);
