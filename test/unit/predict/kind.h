/* SPDX-License-Identifier: Apache-2.0 */
/* The names of operations, for the messages of failing tests. */
#ifndef TEST_PREDICT_KIND_H
#define TEST_PREDICT_KIND_H

#include "order/exec.h"

static const char *const kind_names[EXEC_KINDS] = {
	"read",	 "write", "update", "lock",	"rdlock",    "wrlock", "unlock",    "fork",
	"begin", "end",	  "join",   "wait",	"wake",	     "signal", "broadcast", "enter",
	"exit",	 "post",  "take",   "once-run", "once-pass", "busy",   "free",	    "once-begin",
};

static inline const char *exec_kind_name(enum exec_kind kind)
{
	return kind_names[kind];
}

#endif
