// SPDX-License-Identifier: Apache-2.0
/* Turns instructions of the facts into statements of a sketch, and a slice into a document.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "facts/role.h"
#include "slice/slice.h"

#include <stdlib.h>
#include <string.h>

/* Returns the operation of a function, as raddle/event.inc names it.  For instance, the operation
 * of "pthread_mutex_lock" is "mutex-lock", and that of "thrd_join" is "thread-join". */
static char *operation_of(const char *function)
{
	static const char *const words[][2] = {{"mtx-", "mutex-"}, {"cnd-", "cond-"}, {"thrd-", "thread-"}};
	char *name = rd_xstrdup(strncmp(function, "pthread_", 8) == 0 ? function + 8 : function), *out = NULL;
	for (char *c = name; *c != '\0'; c++)
		*c = *c == '_' ? '-' : *c;
	for (size_t i = 0; i < sizeof words / sizeof *words && out == NULL; i++)
		if (strncmp(name, words[i][0], strlen(words[i][0])) == 0)
			out = rd_xasprintf("%s%s", words[i][1], name + strlen(words[i][0]));
	if (out == NULL)
		out = strchr(name, '-') != NULL ? rd_xstrdup(name) : rd_xasprintf("thread-%s", name);
	free(name);
	return out;
}

static enum slice_role role_of_call(uint32_t role)
{
	if (facts_role_takes(role))
		return SLICE_ACQUIRES;
	switch (role) {
	case FACTS_ROLE_UNLOCK: return SLICE_RELEASES;
	case FACTS_ROLE_FREE:
	case FACTS_ROLE_RESIZE:
	case FACTS_ROLE_LOCK_INIT:
	case FACTS_ROLE_LOCK_DESTROY:
	case FACTS_ROLE_COND_SIGNAL:
	case FACTS_ROLE_COND_BROADCAST:
	case FACTS_ROLE_SEM_POST: return SLICE_WRITES;
	case FACTS_ROLE_COND_WAIT:
	case FACTS_ROLE_SEM_WAIT:
	case FACTS_ROLE_SEM_TRY_WAIT:
	case FACTS_ROLE_BARRIER_WAIT: return SLICE_READS;
	default: return SLICE_NEUTRAL;
	}
}

/* Returns the source name of an operand of a call, or NULL if it has none. */
static const char *subject_of(const struct facts *f, uint32_t call, uint32_t number)
{
	struct facts_run run = facts_operands_of(f, call);
	if (number == FACTS_NONE || number >= run.end - run.first)
		return NULL;
	uint32_t operand = f->operands[run.first + number].operand;
	if (!(operand & FACTS_CONSTANT))
		return facts_string(f, f->values[operand].what);
	const struct facts_constant *c = &f->constants[operand & ~FACTS_CONSTANT];
	return c->kind == FACTS_CONSTANT_GLOBAL ? facts_string(f, f->globals[c->target].name) : NULL;
}

static char *text(const char *s)
{
	return s != NULL && *s != '\0' ? (char *)s : NULL;
}

static void describe_call(struct slice *s, uint32_t value, struct slice_statement *out)
{
	const struct facts *f = s->facts;
	const struct facts_function *library = slice_library(f, value);
	if (library == NULL)
		return;
	out->role = role_of_call(library->role);
	out->variable = text(subject_of(f, value, library->subject));
	if (out->kind != SLICE_SYNC && out->role == SLICE_NEUTRAL)
		return;
	const char *name = facts_string(f, library->linkage);
	char *operation = out->kind != SLICE_SYNC ? rd_xstrdup(name)
			  /* An operation of C++. */
			  : strncmp(name, "_Z", 2) == 0 ? rd_xstrdup(facts_role_name(library->role))
							: operation_of(name);
	uint32_t number = rd_names_put(&s->operations, operation, strlen(operation));
	out->operation = s->operations.items[number];
	free(operation);
}

struct slice_statement slice_statement_of(struct slice *s, uint32_t value, enum slice_kind kind)
{
	const struct facts *f = s->facts;
	const struct facts_value *v = &f->values[value];
	struct slice_statement out = {
		.file = (char *)facts_string(f, v->file),
		.function = (char *)facts_string(f, f->functions[facts_function_at(f, value)].name),
		.variable = text(facts_string(f, v->what)),
		.line = v->line,
		.column = v->column,
		.kind = kind,
		.role = kind == SLICE_READ    ? SLICE_READS
			: kind == SLICE_WRITE ? SLICE_WRITES
					      : SLICE_NEUTRAL,
	};
	if (v->kind == FACTS_CALL && !slice_is_access(kind))
		describe_call(s, value, &out);
	return out;
}

struct slice_statement slice_statement_at(struct slice *s, size_t item)
{
	RD_ASSERT(item < s->count);
	struct slice_statement out = slice_statement_of(s, s->items[item].value, s->items[item].kind);
	out.distance = s->items[item].statement;
	return out;
}

const char *slice_kind_name(enum slice_kind kind)
{
	static const char *const names[] = {"read", "write", "branch", "call", "sync"};

	RD_ASSERT(kind < sizeof names / sizeof *names);
	return names[kind];
}

void slice_statement_json(const struct slice_statement *s, struct rd_json *j)
{
	RD_JSON(j, RD_JS("file", s->file), RD_JU("line", s->line), RD_JU("column", s->column),
		RD_JS("function", s->function), RD_JS("kind", slice_kind_name(s->kind)),
		RD_JS("variable", s->variable), RD_JS("operation", s->operation));
}

void slice_json(struct slice *s, struct rd_json *j)
{
	RD_JSON(j, RD_JU("version", 1), RD_JS("program", facts_string(s->facts, s->facts->programs[0].name)));
	rd_json_object(j, "at");
	RD_JSON(j, RD_JS("file", facts_string(s->facts, s->file)), RD_JU("line", s->line),
		RD_JU("moved", s->moved));
	rd_json_end(j);
	RD_JSON_OBJECTS (j, "slice", i, s->count) {
		struct slice_statement it = slice_statement_at(s, i);
		RD_JSON(j, RD_JU("statement", it.distance), RD_JU("depth", s->items[i].depth));
		slice_statement_json(&it, j);
	}
	rd_json_object(j, "stats");
	RD_JSON(j, RD_JU("statements", s->statements), RD_JU("items", s->count));
	rd_json_end(j);
}
