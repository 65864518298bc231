/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fixed-point numbers with 20 fractional bits; the kernel has no floating point.
 *
 * Why 20: windows stay below 2^20 packets (LP_MAX_CWND), that is 2^40 as numbers here. A product with a
 * fraction, and a dividend shifted by 20 bits, then fit into 64 bits, for the sum of 8 subflows too.
 *
 * Rounding: each operation rounds to the nearest 2^-20 of a packet. 10,000 ACKs thus move a window by less
 * than 0.005 packets from what real numbers give.
 */
#ifndef LINKPOOL_FIXED_H
#define LINKPOOL_FIXED_H

#include "intf.h"

#define FIX_BITS 20
#define ONE (1ULL << FIX_BITS)
#define LP_MAX_CWND (1U << 20)

static __always_inline u64 fix(u64 packets)
{
	return packets << FIX_BITS;
}

/*
 * Whole packets of a window, rounded down. A window that is short of a whole packet by what roundings left
 * out (64 of them) counts as whole: three times 1/3 is one packet.
 */
static __always_inline u32 whole(u64 x)
{
	return (x + 64) >> FIX_BITS;
}

/* a * b, of which one is at most 1 or both are small: the product stays below 2^63. */
static __always_inline u64 fix_mul(u64 a, u64 b)
{
	return (a * b + ONE / 2) >> FIX_BITS;
}

/* a / b, for a below 2^43; 0 where b is 0. */
static __always_inline u64 fix_div(u64 a, u64 b)
{
	return b ? ((a << FIX_BITS) + b / 2) / b : 0;
}

static __always_inline u64 fix_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static __always_inline u64 fix_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

#endif
