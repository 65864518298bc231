/* SPDX-License-Identifier: GPL-2.0-only */
/* The hooks as functions with the algorithm's name, for linux/control/tests/twins.rs. */
#ifndef LINKPOOL_NATIVE_H
#define LINKPOOL_NATIVE_H

#include "algorithm.h"

#define CONTROLLER(name, ecn)                                                                    \
	bool lp_##name##_in_ack_event(conn_t *c, u32 s, const ack_t *ack, params_t *params)      \
	{                                                                                        \
		take_ack(path_of(c, s));                                                         \
		return in_ack_event(c, s, ack, params);                                          \
	}                                                                                        \
	bool lp_##name##_cut_after_growth(conn_t *c, u32 s, params_t *params)                    \
	{                                                                                        \
		return cut_after_growth(c, s, params);                                           \
	}                                                                                        \
	void lp_##name##_cong_avoid(conn_t *c, u32 s, u32 acked, params_t *params)               \
	{                                                                                        \
		cong_avoid(c, s, acked, params);                                                 \
	}                                                                                        \
	u64 lp_##name##_ssthresh(conn_t *c, u32 s, u32 flight, params_t *params)                 \
	{                                                                                        \
		return ssthresh(c, s, flight, params);                                           \
	}                                                                                        \
	_Static_assert(1, "takes the semicolon")

#endif
