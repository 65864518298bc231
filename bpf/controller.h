/* SPDX-License-Identifier: GPL-2.0-only */
/* What makes a controller of an algorithm's four hooks: a struct_ops program, or functions for tests. */
#ifndef LINKPOOL_CONTROLLER_H
#define LINKPOOL_CONTROLLER_H

#ifdef __bpf__
#include "struct_ops.h"
#else
#include "native.h"
#endif

#endif
