/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF programs share with user space: the state of connections, parameters, events.
 *
 * linux/control/src/intf.rs says the same in Rust; a test holds sizes and offsets against this file.
 * Windows are in packets of one MSS, as fixed-point numbers with 20 fractional bits (fixed.h).
 */
#ifndef LINKPOOL_INTF_H
#define LINKPOOL_INTF_H

#ifdef __bpf__
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
struct bpf_spin_lock {
	u32 val;
};
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* Subflows of one connection that are coupled; one beyond that runs alone, and is counted. */
#define LP_SUBFLOWS 8

/* Order of an ACK's growth and cut: crates/transport, `AckOrder`. */
enum lp_ack_order {
	LP_GROW_THEN_CUT = 0,
	LP_CUT_INSTEAD_OF_GROWTH = 1,
};

/* What AMP's release counts: crates/transport, `Release`. */
enum lp_release {
	LP_RELEASE_ROUNDS = 0,
	LP_RELEASE_ACKS = 1,
};

/* EWTCP's constant a: crates/transport, `EwtcpIncrease`. */
enum lp_ewtcp_increase {
	LP_INVERSE_SQUARE = 0,
	LP_INVERSE_ROOT = 1,
};

/* Parameters: map `params`, written by user space at any time. */
struct lp_params {
	u64 beta;		/* a mark cuts the window by 1/beta; fixed-point */
	u64 alpha0;		/* DCTCP: initial alpha; fixed-point */
	u64 g;			/* DCTCP: gain of alpha; fixed-point */
	u64 join_bytes;		/* tell the daemon when so many bytes were sent; 0: never */
	u32 cwnd_min;		/* floor of the window after a mark, packets */
	u32 gamma;		/* AMP: rounds with all windows at the floor before suppression */
	u32 tau;		/* AMP: unmarked rounds before release */
	u8 suppression;		/* AMP: suppress subflows? */
	u8 release;		/* AMP: enum lp_release */
	u8 ack_order;		/* enum lp_ack_order */
	u8 ssthresh_below;	/* XMP: is ssthresh one below the window after a cut? */
	u8 ewtcp_increase;	/* enum lp_ewtcp_increase */
	u8 observe;		/* report each round? */
	u8 unused[6];
};

/* One end of a subflow. IPv4 addresses are in the first four bytes. */
struct lp_endpoint {
	u8 address[16];		/* network byte order */
	u16 port;		/* host byte order */
	u8 id;			/* of the address, as MPTCP numbers them */
	u8 unused;
};

/* One subflow. The first part is what the algorithms know: crates/transport, `Path`. */
struct lp_path {
	u64 cwnd;		/* congestion window */
	u64 ssthresh;		/* slow start threshold */
	u32 srtt;		/* smoothed RTT, 1/8 us; 0 before the first sample */
	u32 snd_una;		/* first byte not acknowledged */
	u32 snd_nxt;		/* next byte to be sent */
	u32 cut_until;		/* while `reduced`: a mark cuts again once more than this is acknowledged */
	u8 established;		/* in use */
	u8 in_recovery;		/* in fast recovery */
	u8 reduced;		/* the window has been cut for a mark, and what was sent before is in flight */
	u8 family;		/* AF_INET or AF_INET6 */
	u8 backup;		/* the kernel's own flag: the scheduler sends no new data on it */
	u8 initiated;		/* this end has opened it */
	u8 unused[2];
	union {
		struct {
			u64 alpha;	/* fraction of marked packets */
			u32 acked, marked;	/* packets of this round */
		} fraction;		/* DCTCP, DCM */
		struct {
			u64 rate;	/* of the last finished round */
			u64 delta;	/* increase per round */
			u64 adder;	/* what increases have left of a packet */
		} trash;		/* XMP */
		struct {
			u64 between;	/* packets between the last two losses */
			u64 since;	/* packets since the last loss */
		} distance;		/* OLIA */
	};
	/* What has happened, for people. */
	u64 delivered, marked, lost;	/* packets */
	u64 rounds, cuts, losses;	/* losses: windows reduced for a loss or a timeout */
	struct lp_endpoint local, remote;
};

/* One connection. */
struct lp_conn {
	u32 token;		/* MPTCP's name of it; 0 for plain TCP */
	u32 netns;		/* inode number of its network namespace */
	u8 subflows;		/* established ones */
	u8 first;		/* the one that stands for "subflow 0" of the papers */
	u8 join_told;		/* `join_bytes` has been reported */
	u8 unused1[5];
	u64 opened;		/* nanoseconds of CLOCK_MONOTONIC */
	/* AMP's, written by subflow `first` only */
	u32 suppressed;
	u32 rounds;		/* nRound of the pseudocode */
	u32 marked;		/* the first subflow has seen a mark in this round */
	u32 suppressions, releases;
	u32 unused;
	struct lp_path paths[LP_SUBFLOWS];
};

/* An entry of map `connections`, by the address of the connection's socket in the kernel. */
struct lp_entry {
	struct bpf_spin_lock lock;	/* of who comes and goes: `dead`; established, subflows, first */
	u32 dead;			/* the last subflow has gone */
	struct lp_conn conn;
};

enum lp_event_kind {
	LP_UP = 1,		/* a subflow is established */
	LP_DOWN = 2,		/* a subflow has gone */
	LP_SUPPRESS = 3,	/* all subflows but the first are to carry no new data */
	LP_RELEASE = 4,		/* they may again */
	LP_JOIN_BYTES = 5,	/* `join_bytes` were sent */
	LP_ROUND = 6,		/* a round of a subflow has ended */
};

/* Ring buffers `events` (kinds 1 to 5) and `rounds` (kind 6). */
struct lp_event {
	u64 time;		/* nanoseconds of CLOCK_MONOTONIC */
	u64 conn;		/* key of the connection in map `connections` */
	u64 cwnd, ssthresh;	/* fixed-point */
	u64 delivered, marked, lost;	/* packets since the subflow began */
	u32 token, netns;
	u32 srtt;		/* 1/8 us */
	u8 kind;		/* enum lp_event_kind */
	u8 slot;		/* of the subflow in `paths` */
	u8 suppressed;		/* is the connection? */
	u8 in_recovery;
	u8 ca_state;		/* of the kernel: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss */
	u8 slow_start;
	u8 backup;
	u8 first;
	u32 flight;		/* packets in flight */
};

/* Map `counters`, by processor. */
enum lp_counter {
	LP_EVENTS_LOST = 0,	/* no room in ring buffer `events` */
	LP_ROUNDS_LOST = 1,	/* no room in ring buffer `rounds` */
	LP_OUT_OF_BOUNDS = 2,	/* a window below one packet or above the maximum, and set right */
	LP_ALONE = 3,		/* a subflow beyond LP_SUBFLOWS, or of a connection without room in the map */
	LP_ACKS = 4,		/* ACKs that delivered something */
	LP_UNTOLD = 5,		/* changes of the kernel's state that set_state was not run for */
	LP_COUNTERS = 6,
};

#endif
