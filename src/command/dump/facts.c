// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle dump` of facts.  The text is a listing of the code, with the points-to set at each use
 * of a pointer.  The JSON document contains all tables; its members are those of
 * doc/format/facts.md.
 */
#include "dump/dump-int.h"

#include "base/error.h"
#include "facts/layout.h"

#include <stdio.h>

/* ---------------------------------------------------------------- JSON --- */

static void write_member(struct rd_json *j, const struct facts *f, const struct facts_field *field, int64_t v)
{
	if (field->use == FACTS_USE_STRING)
		rd_json_string(j, field->name, facts_string(f, (uint32_t)v));
	else if (v == FACTS_NONE && !field->wide)
		rd_json_null(j, field->name);
	else
		rd_json_number(j, field->name, v);
}

static void write_json(const struct facts *f, FILE *out)
{
	struct rd_json j;

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", FACTS_VERSION);
	for (unsigned t = 0; t < FACTS_TABLE_COUNT; t++) {
		const struct facts_layout *layout = facts_layout(t);
		const char *rows = facts_rows(f, t);

		rd_json_array(&j, layout->name);
		for (size_t i = 0; i < facts_count(f, t); i++) {
			rd_json_object(&j, NULL);
			for (size_t k = 0; k < layout->field_count; k++)
				write_member(&j, f, &layout->fields[k],
					     facts_get(&layout->fields[k], rows + i * layout->row));
			rd_json_end(&j);
		}
		rd_json_end(&j);
	}
	rd_json_end(&j);
	putc('\n', out);
}

/* ---------------------------------------------------------------- text --- */

static void print_place(const struct facts *f, FILE *out, const struct facts_place *p)
{
	const struct facts_object *o = &f->objects[p->object];

	RD_ASSERT(p->object < f->object_count); /* facts_read() has checked this */
	fputs(facts_string(f, o->name), out);
	if (p->offset == FACTS_ANYWHERE)
		fputs("+?", out);
	else if (p->offset)
		fprintf(out, "+%lld", (long long)p->offset);
}

/* Prints a set.  If the set is large, prints only the first members and the number of all
 * members. */
static void print_set(const struct facts *f, FILE *out, uint32_t set)
{
	enum { SHOWN = 8 };
	struct facts_run run = facts_members_of(f, set);
	uint32_t end = run.end - run.first > SHOWN ? run.first + SHOWN : run.end;

	RD_ASSERT(run.first <= run.end && run.end <= f->member_count);
	putc('{', out);
	for (uint32_t i = run.first; i < end; i++) {
		if (i != run.first)
			fputs(", ", out);
		print_place(f, out, &f->places[f->members[i].place]);
	}
	if (end != run.end)
		fprintf(out, ", and %u more", run.end - end);
	putc('}', out);
}

static void print_constant(const struct facts *f, FILE *out, const struct facts_constant *c)
{
	switch (c->kind) {
	case FACTS_CONSTANT_INTEGER: fprintf(out, "%lld", (long long)c->number); return;
	case FACTS_CONSTANT_NULL: fputs("null", out); return;
	case FACTS_CONSTANT_GLOBAL:
		fprintf(out, "&%s", facts_string(f, f->globals[c->target].name));
		if (c->number)
			fprintf(out, "%+lld", (long long)c->number);
		return;
	case FACTS_CONSTANT_FUNCTION:
		fprintf(out, "&%s", facts_string(f, f->functions[c->target].name));
		return;
	default: putc('-', out);
	}
}

static void print_operands(const struct facts *f, FILE *out, uint32_t value)
{
	struct facts_run run = facts_operands_of(f, value);

	for (uint32_t i = run.first; i < run.end; i++) {
		uint32_t operand = f->operands[i].operand;

		fputs(i == run.first ? " " : ", ", out);
		RD_ASSERT(operand & FACTS_CONSTANT ? (operand & ~FACTS_CONSTANT) < f->constant_count
						   : operand < f->value_count);
		if (operand & FACTS_CONSTANT)
			print_constant(f, out, &f->constants[operand & ~FACTS_CONSTANT]);
		else
			fprintf(out, "%%%u", operand);
		if (f->values[value].kind == FACTS_ADDRESS && i != run.first)
			fprintf(out, "*%u", f->operands[i].with);
		if (f->values[value].kind == FACTS_PHI)
			fprintf(out, " from b%u", f->operands[i].with);
	}
}

static void print_calls(const struct facts *f, FILE *out, uint32_t value)
{
	struct facts_run run = facts_calls_of(f, value);

	for (uint32_t i = run.first; i < run.end; i++)
		fprintf(out, "  %s %s", facts_call_name(f->calls[i].kind),
			facts_string(f, f->functions[f->calls[i].function].name));
}

static void print_value(const struct facts *f, FILE *out, uint32_t value)
{
	const struct facts_value *v = &f->values[value];

	fprintf(out, "  %%%u = %s", value, facts_kind_name(v->kind));
	print_operands(f, out, value);
	if (v->kind == FACTS_ADDRESS || v->kind == FACTS_VARIABLE || v->kind == FACTS_LOAD ||
	    v->kind == FACTS_STORE)
		fprintf(out, " [%lld]", (long long)v->number);
	print_calls(f, out, value);
	if (v->set) {
		fputs(" -> ", out);
		print_set(f, out, v->set);
	}
	if (v->line)
		fprintf(out, "  ; %u:%u", v->line, v->column);
	if (*facts_string(f, v->what))
		fprintf(out, " %s", facts_string(f, v->what));
	putc('\n', out);
}

static void print_function(const struct facts *f, FILE *out, uint32_t function)
{
	const struct facts_function *row = &f->functions[function];
	struct facts_run blocks = facts_blocks_of(f, function), values = facts_values_of(f, function);

	fprintf(out, "\n%sfunction %s", row->flags & FACTS_FUNCTION_EXTERNAL ? "external " : "",
		facts_string(f, row->name));
	if (row->role)
		fprintf(out, " (%s)", facts_role_name(row->role));
	if (row->line)
		fprintf(out, " at %s:%u", facts_string(f, row->file), row->line);
	putc('\n', out);
	if (blocks.first == blocks.end)
		return;
	for (uint32_t v = values.first; v < values.first + row->arguments; v++)
		print_value(f, out, v);
	for (uint32_t b = blocks.first; b < blocks.end; b++) {
		struct facts_run inside = facts_block_values(f, function, b), to = facts_successors_of(f, b);

		fprintf(out, " b%u:\n", b);
		for (uint32_t v = inside.first; v < inside.end; v++)
			print_value(f, out, v);
		for (uint32_t s = to.first; s < to.end; s++)
			fprintf(out, "%s b%u%s", s == to.first ? "   to" : ",", f->successors[s].block,
				s + 1 == to.end ? "\n" : "");
	}
}

static void print_accesses(const struct facts *f, FILE *out)
{
	fputs("\naccesses\n", out);
	for (size_t i = 0; i < f->access_count; i++) {
		const struct facts_access *a = &f->accesses[i];
		const struct facts_value *v = &f->values[a->value];

		fprintf(out, "  %%%u %s %lld%s site %u at %s:%u:%u %s ", a->value, facts_access_name(a->kind),
			(long long)a->size, a->flags & FACTS_ACCESS_ATOMIC ? " atomic" : "", a->site,
			facts_string(f, v->file), v->line, v->column, facts_string(f, v->what));
		print_set(f, out, a->set);
		putc('\n', out);
	}
}

static void print_contents(const struct facts *f, FILE *out)
{
	fputs("\ncontents\n", out);
	for (size_t i = 0; i < f->place_count; i++) {
		if (!f->places[i].contents)
			continue;
		fputs("  ", out);
		print_place(f, out, &f->places[i]);
		fputs(" = ", out);
		print_set(f, out, f->places[i].contents);
		putc('\n', out);
	}
}

static void print_text(const struct facts *f, FILE *out)
{
	const struct facts_program *p = &f->programs[0];

	RD_ASSERT(f->program_count > 0);
	fprintf(out, "program %s: %u units, %zu functions, %zu blocks, %zu values, %zu accesses\n",
		facts_string(f, p->name), p->units, f->function_count, f->block_count, f->value_count,
		f->access_count);
	fprintf(out, "points-to: %s, %u variables, %u constraints; %zu objects, %zu places, %zu sets\n",
		facts_rung_name(p->rung), p->variables, p->constraints, f->object_count, f->place_count,
		f->set_count);
	for (size_t i = 0; i < f->note_count; i++)
		fprintf(out, "note: %s (%u)\n", facts_string(f, f->notes[i].text), f->notes[i].count);
	for (uint32_t i = 0; i < f->function_count; i++)
		print_function(f, out, i);
	print_accesses(f, out);
	print_contents(f, out);
}

int dump_facts(const char *path, bool json, FILE *out)
{
	struct facts *f;
	int err = facts_read(&f, path);

	if (err)
		return err;
	if (json)
		write_json(f, out);
	else
		print_text(f, out);
	facts_free(f);
	return RD_OK;
}
