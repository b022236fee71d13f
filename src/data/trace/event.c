/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of events as data.  It contains the rows of raddle/event.inc, indexed by code.
 */
#include "trace/event.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

static const struct trace_kind kinds[RADDLE_ACCESS + 1] = {
#define RADDLE_EVENT(code, constant, name, class, role, manner, counts, operands, names, does, brief,        \
		     meaning)                                                                                \
	[code] = {name, operands, names, meaning},
#define RADDLE_RECORD RADDLE_EVENT
#include "raddle/event.inc"
};

const struct trace_kind *trace_kind(unsigned code)
{
	return &kinds[code < RADDLE_ACCESS ? code : RADDLE_ACCESS];
}

int trace_kind_find(const char *name)
{
	RD_ASSERT(name != NULL);
	for (int code = 0; code <= RADDLE_ACCESS; code++) {
		if (kinds[code].name && strcmp(kinds[code].name, name) == 0)
			return code;
	}
	return -1;
}

void trace_operand_name(const struct trace_kind *kind, unsigned index, char out[TRACE_OPERAND_NAME])
{
	RD_ASSERT(kind != NULL);
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

const char *trace_class_name(enum raddle_class class)
{
	static const char *const names[] = {
#define RADDLE_CLASS(constant, name, size) name,
#include "raddle/event.inc"
	};
	return names[class];
}

int trace_lock_effect(enum raddle_event kind, uint64_t result)
{
	if (!raddle_is_lock(kind))
		return 0;
	/* EOWNERDEAD means that the previous owner died, but the lock is acquired. */
	if (raddle_takes(kind))
		return result == 0 || result == EOWNERDEAD;
	return raddle_role(kind) == RADDLE_ROLE_RELEASE && result == 0 ? -1 : 0;
}
