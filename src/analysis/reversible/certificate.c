// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a verdict as a certificate in JSON, and reads a certificate from untrusted bytes.  All
 * numbers in a certificate that was read are valid indices of its tables.
 */
#include "reversible/certificate.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json-read.h"
#include "base/json-text.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 65536 /* largest number of threads in a certificate, as in order/exec.h */

/* ---- writing ---- */

static void put_step(struct rd_json *j, const struct rev_run *run, const struct rev_need *need)
{
	RD_ASSERT(need->rule < REV_RULES);
	const struct rev_op *op = &run->ops[need->op];

	rd_json_array(j, NULL);
	rd_json_unsigned(j, NULL, op->thread);
	rd_json_unsigned(j, NULL, op->n);
	rd_json_string(j, NULL, rev_rule_name((enum rev_rule)need->rule));
	rd_json_unsigned(j, NULL, need->thread);
	rd_json_unsigned(j, NULL, need->n);
	rd_json_end(j);
}

static void put_pair(struct rd_json *j, const struct rev_pair *p)
{
	rd_json_array(j, NULL);
	rd_json_unsigned(j, NULL, p->t);
	rd_json_unsigned(j, NULL, p->s);
	rd_json_unsigned(j, NULL, p->u);
	rd_json_unsigned(j, NULL, p->r);
	rd_json_end(j);
}

static void put_all(struct rd_json *j, const struct rev_result *x, const char *trace)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JN("version", 1), RD_JS("certificate", "reversible"), RD_JS("trace", trace),
		RD_JU("records", x->records), RD_JU("operations", x->operations),
		RD_JU("conflicts", x->counts.conflicts));
	rd_json_strings(j, "threads", (const char *const *)x->names, x->threads);
	rd_json_array(j, "steps");
	for (size_t i = 0; i < x->run.order->need_count; i++)
		put_step(j, &x->run, &x->run.order->needs[i]);
	rd_json_end(j);
	rd_json_array(j, "proved");
	for (size_t i = 0; i < x->counts.solver_never; i++)
		put_pair(j, &x->proved[i]);
	rd_json_end(j);
	RD_JSON_OBJECTS (j, "shared", i, x->shared_count) {
		rd_json_string(j, "object", x->shared[i].name);
		rd_json_unsigned(j, "conflicts", x->shared[i].conflicts);
	}
	rd_json_end(j);
}

void rev_certificate_write(const struct rev_result *x, const char *trace, struct rd_buf *out)
{
	struct rd_json_text text;
	struct rd_json *j = rd_json_text_begin(&text);

	j->indent = true;
	put_all(j, x, trace);
	rd_json_text_end(&text, out);
}

/* ---- reading ---- */

void rev_certificate_release(struct rev_certificate *c)
{
	RD_FREE_EACH(c->threads, c->thread_count);
	RD_FREE(c->threads, c->steps, c->proved);
	*c = (struct rev_certificate){0};
}

static bool get_small(const json_t *from, uint64_t max, uint32_t *to)
{
	uint64_t n;

	if (!rd_json_is_count(from, max, &n))
		return false;
	*to = (uint32_t)n;
	return true;
}

static bool get_rule(const json_t *from, uint8_t *rule)
{
	const char *name = json_string_value(from);

	for (unsigned i = 0; name && i < REV_RULES; i++)
		if (!strcmp(rev_rule_name((enum rev_rule)i), name)) {
			*rule = (uint8_t)i;
			return true;
		}
	return false;
}

static bool get_threads(struct rev_certificate *c, const json_t *from)
{
	size_t count = json_array_size(from);

	if (!json_is_array(from) || count > THREADS_MAX)
		return false;
	c->threads = rd_xcalloc(count + 1, sizeof *c->threads);
	for (; c->thread_count < count; c->thread_count++) {
		const char *name = json_string_value(json_array_get(from, c->thread_count));

		if (!name)
			return false;
		c->threads[c->thread_count] = rd_xstrdup(name);
	}
	return true;
}

typedef bool get_fn(const struct rev_certificate *c, const json_t *from, void *to);

static bool get_step(const struct rev_certificate *c, const json_t *from, void *to)
{
	struct rev_step *s = to;

	return json_array_size(from) == 5 && c->thread_count &&
	       get_small(json_array_get(from, 0), c->thread_count - 1, &s->thread) &&
	       get_small(json_array_get(from, 1), UINT32_MAX - 1, &s->n) &&
	       get_rule(json_array_get(from, 2), &s->rule) &&
	       get_small(json_array_get(from, 3), c->thread_count - 1, &s->of) &&
	       get_small(json_array_get(from, 4), UINT32_MAX - 1, &s->m) && s->n && s->m;
}

static bool get_pair(const struct rev_certificate *c, const json_t *from, void *to)
{
	struct rev_pair *p = to;

	return json_array_size(from) == 4 && c->thread_count &&
	       get_small(json_array_get(from, 0), c->thread_count - 1, &p->t) &&
	       get_small(json_array_get(from, 1), UINT32_MAX - 1, &p->s) &&
	       get_small(json_array_get(from, 2), c->thread_count - 1, &p->u) &&
	       get_small(json_array_get(from, 3), UINT32_MAX - 1, &p->r);
}

/* Reads a list whose elements have `size` bytes.  Returns NULL if an element is invalid. */
static void *get_list(const struct rev_certificate *c, const json_t *from, size_t size, size_t *count,
		      get_fn *get)
{
	char *list = rd_xcalloc(json_array_size(from) + 1, size);
	bool ok = json_is_array(from);

	for (*count = 0; ok && *count < json_array_size(from); ++*count)
		ok = get(c, json_array_get(from, *count), list + *count * size);
	if (ok)
		return list;
	free(list);
	*count = 0;
	return NULL;
}

static const char *get_all(struct rev_certificate *c, const json_t *from)
{
	const char *what = json_string_value(json_object_get(from, "certificate"));

	if (!what || strcmp(what, "reversible") != 0)
		return "it is not a certificate of raddle reversible";
	if (json_integer_value(json_object_get(from, "version")) != 1)
		return "it has a version that this Raddle does not know";
	if (!rd_json_is_count(json_object_get(from, "records"), INT64_MAX, &c->records) ||
	    !rd_json_is_count(json_object_get(from, "operations"), INT64_MAX, &c->operations))
		return "the size of the trace is missing";
	if (!get_threads(c, json_object_get(from, "threads")))
		return "its threads are invalid";
	c->steps = get_list(c, json_object_get(from, "steps"), sizeof *c->steps, &c->step_count, get_step);
	if (!c->steps)
		return "its steps are invalid";
	c->proved =
		get_list(c, json_object_get(from, "proved"), sizeof *c->proved, &c->proved_count, get_pair);
	return c->proved ? NULL : "its proved pairs are invalid";
}

int rev_certificate_parse(struct rev_certificate *c, const void *data, size_t length, const char *name)
{
	RD_ASSERT(c != NULL && name != NULL);
	struct rd_json_read read = {.subject = "certificate", .name = name};
	json_t *root = rd_json_load(&read, data, length);
	const char *wrong;

	*c = (struct rev_certificate){0};
	if (!root)
		return read.err;
	wrong = get_all(c, root);
	json_decref(root);
	if (!wrong)
		return 0;
	rev_certificate_release(c);
	return rd_fail(RD_EFORMAT, "%s: %s", name, wrong);
}

int rev_certificate_check_file(struct rev_certificate *c, const char *path, const char *trace,
			       unsigned solver_ms, char **why)
{
	struct rd_buf text = RD_BUF_INIT;
	struct epa_source *source = NULL;
	int err = rd_file_read(path, &text);

	if (!err)
		err = rev_certificate_parse(c, text.data, text.length, path);
	if (!err)
		err = epa_source_open(&source, trace);
	if (!err)
		err = rev_certificate_check(c, source, solver_ms, why);
	rd_buf_release(&text);
	epa_source_close(source);
	return err;
}
