/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of events as data: rows of include/raddle/event.inc by code, and
 * rows for the kinds whose encoding is their own.
 */
#include "trace/event.h"

#include <errno.h>
#include <string.h>

static const struct trace_kind kinds[RADDLE_ACCESS + 1] = {
	[RADDLE_RESET] = {"reset", "", "", "the decoder starts anew"},
	[RADDLE_STACK] = {"stack", "", "", "a change of the call stack"},
	[RADDLE_RANGE] = {"range", "sxu", "site address size", "access of a range of memory"},
	[RADDLE_ATOMIC] = {"atomic", "qsxu", "q site address stored", "atomic operation"},
	[RADDLE_FENCE] = {"fence", "qs", "q site", "memory fence"},
	[RADDLE_ACCESS] = {"access", "sx", "site address", "plain memory access"},
#define RADDLE_EVENT(code, constant, name, operands, operand_names, meaning)                                 \
	[code] = {name, operands, operand_names, meaning},
#include "raddle/event.inc"
#undef RADDLE_EVENT
};

const struct trace_kind *trace_kind(unsigned code)
{
	return &kinds[code < RADDLE_ACCESS ? code : RADDLE_ACCESS];
}

int trace_kind_find(const char *name)
{
	for (int code = 0; code <= RADDLE_ACCESS; code++) {
		if (kinds[code].name && strcmp(kinds[code].name, name) == 0)
			return code;
	}
	return -1;
}

void trace_operand_name(const struct trace_kind *kind, unsigned index, char out[TRACE_OPERAND_NAME])
{
	const char *p = kind->operand_names;
	while (index > 0 && *p) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
		index--;
	}
	size_t n = strcspn(p, " ");
	if (n >= TRACE_OPERAND_NAME)
		n = TRACE_OPERAND_NAME - 1;
	memcpy(out, p, n);
	out[n] = '\0';
}

int trace_lock_change(const struct trace_event *e)
{
	switch (e->kind) {
	case RADDLE_MUTEX_LOCK:
	case RADDLE_MUTEX_TRYLOCK:
	case RADDLE_MUTEX_TIMEDLOCK:
	case RADDLE_RWLOCK_RDLOCK:
	case RADDLE_RWLOCK_WRLOCK:
	case RADDLE_RWLOCK_TRYRDLOCK:
	case RADDLE_RWLOCK_TRYWRLOCK:
	case RADDLE_RWLOCK_TIMEDRDLOCK:
	case RADDLE_RWLOCK_TIMEDWRLOCK:
	case RADDLE_SPIN_LOCK:
	case RADDLE_SPIN_TRYLOCK:
		/* The lock of a dead owner is acquired all the same. */
		return e->values[3] == 0 || e->values[3] == EOWNERDEAD;
	case RADDLE_MUTEX_UNLOCK:
	case RADDLE_RWLOCK_UNLOCK:
	case RADDLE_SPIN_UNLOCK:
		return e->values[3] == 0 ? -1 : 0;
	default:
		return 0;
	}
}
