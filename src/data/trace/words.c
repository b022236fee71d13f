// SPDX-License-Identifier: Apache-2.0
/* Words for operations.  In: the name of an operation and of its object.  Out: a few words, which the
 * table raddle/event.inc contains. */
#include "trace/words.h"

#include "base/name.h"
#include "raddle/event.h"

#include <string.h>

/* The words of raddle/event.inc for the operations that schedules name. */
static const struct trace_operation operations[] = {
#define RADDLE_EVENT(code, constant, name, class, role, manner, counts, operands, names, does, brief,        \
		     meaning)                                                                                \
	{name, does, brief, RADDLE_CLASS_##class, RADDLE_ROLE_##role},
#include "raddle/event.inc"
};

const struct trace_operation *trace_operation(const char *kind)
{
	for (size_t i = 0; kind && i < sizeof operations / sizeof *operations; i++)
		if (strcmp(operations[i].kind, kind) == 0)
			return *operations[i].does ? &operations[i] : NULL;
	return NULL;
}

void trace_words(struct rd_buf *out, const char *kind, const char *object)
{
	const struct trace_operation *o = trace_operation(kind);
	int verb = o ? (int)strcspn(o->does, "~") - 1 : 0;

	if (o)
		rd_buf_addf(out, "%.*s", verb, o->does);
	else
		rd_buf_addf(out, "does %s", kind ? kind : "something");
	if (object)
		rd_buf_addf(out, " %s", object);
	if (o)
		rd_buf_adds(out, o->does + verb + 2);
}

void trace_words_brief(struct rd_buf *out, const char *kind, const char *object)
{
	const struct trace_operation *o = trace_operation(kind);

	rd_buf_adds(out, o ? o->brief : kind ? kind : RD_UNKNOWN);
	if (object)
		rd_buf_addf(out, " %s", object);
}
