/* SPDX-License-Identifier: Apache-2.0 */
/* Writes candidates as text (`raddle candidates`) and as the document of
 * doc/format/candidates.md. */
#include "base/json.h"
#include "candidates/candidates.h"

#include <inttypes.h>
#include <string.h>

/* The largest number of pairs of a group in the text.  Set by hand, to keep the text short. */
enum { SHOWN_PAIRS = 4 };

static void write_access(struct rd_json *j, const struct facts *f, const struct candidate_access *a)
{
	const struct facts_value *v = &f->values[a->value];
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("file", facts_string(f, v->file)), RD_JU("line", v->line),
		RD_JU("column", v->column),
		RD_JS("function", facts_string(f, f->functions[facts_function_at(f, a->value)].name)),
		RD_JS("op", a->op), RD_JS("what", a->what), RD_JB("atomic", a->atomic),
		RD_JB("locked", a->locked), RD_JU("site", a->site));
	rd_json_end(j);
}

int candidates_json(const struct candidates *c, FILE *out)
{
	struct rd_json j;
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JU("version", 1), RD_JS("points_to", facts_rung_name(c->facts->programs[0].rung)));
	RD_JSON_OBJECTS (&j, "candidates", i, c->count) {
		const struct candidate *it = &c->items[i];
		RD_JSON(&j, RD_JS("id", it->id), RD_JS("object", it->name), RD_JB("wide", it->wide),
			RD_JU("rank", it->rank), RD_JU("group", it->group + 1), RD_JN("score", it->score),
			RD_JS("reason", it->reason));
		rd_json_array(&j, "accesses");
		write_access(&j, c->facts, &it->accesses[0]);
		write_access(&j, c->facts, &it->accesses[1]);
		rd_json_end(&j);
		const char *unguarded = candidate_unguarded(c, it);
		if (unguarded != NULL)
			rd_json_string(&j, "unguarded", unguarded);
	}
	rd_json_strings(&j, "unsound", (const char *const *)c->unsound, c->unsound_count);
	rd_json_object(&j, "stats");
	RD_JSON(&j, RD_JU("groups", c->groups), RD_JU("left_out", c->left_out), RD_JU("threads", c->threads),
		RD_JU("accesses", c->accesses), RD_JU("contexts", c->contexts));
	rd_json_end(&j);
	rd_json_end(&j);
	return 0;
}

static void print_access(const struct candidates *c, const struct candidate_access *a, FILE *out)
{
	const struct facts *f = c->facts;
	const struct facts_value *v = &f->values[a->value];
	fprintf(out, "    %-5s %s:%" PRIu32 " %s()", a->op, facts_string(f, v->file), v->line,
		facts_string(f, f->functions[facts_function_at(f, a->value)].name));
	if (*a->what != '\0')
		fprintf(out, "  %s", a->what);
	fputs(a->atomic ? "  (atomic)\n" : a->locked ? "  (locked)\n" : "\n", out);
}

static bool is_shown(const struct candidates *c, const size_t *shown, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(c->items[shown[i]].name, name) == 0)
			return true;
	return false;
}

/* Prints the group of candidate `first`.  For each of at most SHOWN_PAIRS members, prints only the
 * best pair. */
static void print_group(const struct candidates *c, size_t first, FILE *out)
{
	const struct candidate *it = &c->items[first];
	size_t shown[SHOWN_PAIRS], count = 0, more = 0;
	for (size_t i = first; i < c->count; i++) {
		const struct candidate *other = &c->items[i];
		if (other->group != it->group)
			continue;
		if (count == SHOWN_PAIRS || is_shown(c, shown, count, other->name)) {
			more++;
			continue;
		}
		shown[count++] = i;
		if (count == 1)
			fprintf(out, "%" PRIu32 ". %s: %s\n", it->group + 1, other->name, other->reason);
		else
			fprintf(out, "   %s: %s\n", other->name, other->reason);
		print_access(c, &other->accesses[0], out);
		print_access(c, &other->accesses[1], out);
		const char *unguarded = candidate_unguarded(c, other);
		if (unguarded != NULL)
			fprintf(out, "    unguarded: %s\n", unguarded);
	}
	if (more != 0)
		fprintf(out, "   and %zu more pairs\n", more);
}

int candidates_text(const struct candidates *c, FILE *out, size_t limit)
{
	size_t groups = 0;
	for (size_t i = 0; i < c->count && (limit == 0 || groups < limit); i++)
		if (c->items[i].group == groups) {
			print_group(c, i, out);
			groups++;
		}
	if (groups < c->groups)
		fprintf(out, "%zu more groups: --limit 0 shows all\n", c->groups - groups);
	fprintf(out,
		"%zu candidates in %zu groups; %" PRIu32 " kinds of threads, %" PRIu32
		" accesses, points-to by %s\n",
		c->count, c->groups, c->threads, c->accesses, facts_rung_name(c->facts->programs[0].rung));
	if (c->left_out != 0)
		fprintf(out, "%zu further pairs of these groups are not listed\n", c->left_out);
	if (c->unsound_count != 0)
		fputs("Not covered, so races may be missing:\n", out);
	for (size_t i = 0; i < c->unsound_count; i++)
		fprintf(out, "  %s\n", c->unsound[i]);
	return 0;
}
