// SPDX-License-Identifier: GPL-2.0-only
/* Sizes and offsets of intf.h, for the test that holds linux/control/src/intf.rs against them. */
#include <stddef.h>
#include "algorithm.h"

const size_t lp_layout[] = {
	sizeof(struct lp_params), offsetof(struct lp_params, join_bytes), offsetof(struct lp_params, cwnd_min),
	offsetof(struct lp_params, suppression), offsetof(struct lp_params, observe),
	sizeof(struct lp_endpoint), offsetof(struct lp_endpoint, port), offsetof(struct lp_endpoint, id),
	sizeof(struct lp_path), offsetof(struct lp_path, srtt), offsetof(struct lp_path, cut_until),
	offsetof(struct lp_path, established), offsetof(struct lp_path, backup), offsetof(struct lp_path, fraction),
	offsetof(struct lp_path, delivered), offsetof(struct lp_path, losses), offsetof(struct lp_path, local),
	offsetof(struct lp_path, remote),
	sizeof(struct lp_conn), offsetof(struct lp_conn, first), offsetof(struct lp_conn, opened),
	offsetof(struct lp_conn, suppressed), offsetof(struct lp_conn, releases), offsetof(struct lp_conn, paths),
	sizeof(struct lp_entry), offsetof(struct lp_entry, conn),
	sizeof(struct lp_ack), offsetof(struct lp_ack, marked), offsetof(struct lp_ack, round_ended),
	sizeof(struct lp_event), offsetof(struct lp_event, token), offsetof(struct lp_event, kind),
	offsetof(struct lp_event, first), offsetof(struct lp_event, flight),
	LP_SUBFLOWS, FIX_BITS, LP_COUNTERS,
};
const size_t lp_layout_length = sizeof(lp_layout) / sizeof(lp_layout[0]);
