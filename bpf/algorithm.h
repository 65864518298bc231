/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What algorithms are written with. An algorithm's file defines four hooks with the meaning of
 * crates/transport's trait `CongestionControl`:
 *
 *   bool in_ack_event(conn, s, ack, params)      an ACK has come on subflow s; was the window cut for a mark?
 *   bool cut_after_growth(conn, s, params)       the same ACK echoes a mark, and has grown the window
 *   void cong_avoid(conn, s, acked, params)      so many packets are acknowledged outside recovery: grow
 *   u64 ssthresh(conn, s, flight, params)        the threshold after a loss with so many packets in flight
 *
 * and ends with CONTROLLER(name, flags) of controller.h, which makes a struct_ops program of them or, compiled
 * natively, functions that tests call.
 */
#ifndef LINKPOOL_ALGORITHM_H
#define LINKPOOL_ALGORITHM_H

#include "fixed.h"

/* What an ACK says: crates/transport, `Ack`. */
struct lp_ack {
	u32 acked;		/* packets that it acknowledges */
	u8 marked;		/* it echoes a mark */
	u8 round_ended;		/* it is the first beyond what was the next byte to be sent when the round began */
};

typedef struct lp_conn conn_t;
typedef struct lp_path path_t;
typedef struct lp_ack ack_t;
typedef const struct lp_params params_t;

/* The verifier follows the index of an unrolled loop, and not a pointer that is compared with an end. */
#ifdef __bpf__
#define UNROLL _Pragma("clang loop unroll(full)")
/* A function that the verifier checks once and for itself; its pointers may be null, as far as it knows. */
#define APART __attribute__((noinline))
#else
#define UNROLL
#define APART static
#endif
#define for_each_path(c, p)                                \
	UNROLL                                             \
	for (u32 p##_at = 0; p##_at < LP_SUBFLOWS; p##_at++) \
		for (path_t *p = &(c)->paths[p##_at]; p; p = 0)

static __always_inline path_t *path_of(conn_t *c, u32 s)
{
	return &c->paths[s & (LP_SUBFLOWS - 1)];
}

/* Is sequence number a after b? They wrap. */
static __always_inline bool after(u32 a, u32 b)
{
	return (int)(b - a) < 0;
}

/* An ACK has moved snd_una: a window that was cut ends once all that was sent before the cut is acknowledged. */
static __always_inline void take_ack(path_t *p)
{
	if (p->reduced && after(p->snd_una, p->cut_until))
		p->reduced = 0;
}

/* Is this the first marked ACK of a window (RFC 8257, section 3.3)? If so, the next window begins. */
static __always_inline bool first_mark_of_window(path_t *p)
{
	if (p->reduced)
		return false;
	p->reduced = 1;
	p->cut_until = p->snd_nxt;
	return true;
}

/* Cut the window and leave slow start. */
static __always_inline void cut_to(path_t *p, u64 cwnd)
{
	p->cwnd = cwnd;
	p->ssthresh = cwnd;
	p->cuts++;
}

/* RFC 5681, section 3.1; at equality: congestion avoidance. */
static __always_inline bool in_slow_start(const path_t *p)
{
	return p->cwnd < p->ssthresh;
}

/* A packet for each that is acknowledged; false, and nothing done, if slow start is over. */
static __always_inline bool slow_start(path_t *p, u32 acked)
{
	if (!in_slow_start(p))
		return false;
	p->cwnd += fix(acked);
	return true;
}

/* The window that a coupled increase sees: ssthresh stands for it in recovery. */
static __always_inline u64 coupled_window(const path_t *p)
{
	return p->in_recovery ? p->ssthresh : p->cwnd;
}

/* w_total */
static __always_inline u64 total_window(conn_t *c)
{
	u64 total = 0;

	for_each_path(c, p)
		if (p->established)
			total += coupled_window(p);
	return total;
}

/* Can it be compared with others: established, and its RTT known? */
static __always_inline bool is_coupled(const path_t *p)
{
	return p->established && p->srtt;
}

/* Smallest RTT of the coupled subflows, or 0. */
static __always_inline u32 min_rtt(conn_t *c)
{
	u32 least = 0;

	for_each_path(c, p)
		if (is_coupled(p) && (!least || p->srtt < least))
			least = p->srtt;
	return least;
}

/*
 * x = w / rtt, in units of packets per smallest RTT of the connection: so it stays a fixed-point number of the
 * size of a window, and the ratios that LIA, OLIA and BALIA are made of are the same.
 */
static __always_inline u64 rate_of(const path_t *p, u32 least)
{
	return fix_mul(coupled_window(p), fix_div(least, p->srtt));
}

/* Hooks of algorithms that ignore marks, and of losses as TCP takes them. */
static __always_inline bool ignore_marks(conn_t *c, u32 s, const ack_t *ack, params_t *params)
{
	return false;
}

static __always_inline bool no_cut(conn_t *c, u32 s, params_t *params)
{
	return false;
}

/* RFC 5681, equation 4. */
static __always_inline u64 half_of_flight(conn_t *c, u32 s, u32 flight, params_t *params)
{
	return fix_max(fix(flight) / 2, fix(2));
}

/* 1/w for each packet acknowledged (RFC 5681, equation 3). */
static __always_inline void reno_growth(path_t *p, u32 acked)
{
	if (!slow_start(p, acked))
		p->cwnd += fix_div(fix(acked), p->cwnd);
}

#endif
