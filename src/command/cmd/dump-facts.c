// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle dump` of facts: the code as text that reads like a listing, with what pointers point to at their
 * uses; or all tables as one JSON document, whose members are those of the format page.
 */
#include "cmd/cmd.h"
#include "cmd/dump.h"

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

static void write_json(const struct facts *f)
{
	struct rd_json j;

	rd_json_begin(&j, stdout);
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
	putchar('\n');
}

/* ---------------------------------------------------------------- text --- */

static void print_place(const struct facts *f, const struct facts_place *p)
{
	const struct facts_object *o = &f->objects[p->object];

	fputs(facts_string(f, o->name), stdout);
	if (p->offset == FACTS_ANYWHERE)
		fputs("+?", stdout);
	else if (p->offset)
		printf("+%lld", (long long)p->offset);
}

/* A listing is for people: of a large set the first members and their number will do. */
static void print_set(const struct facts *f, uint32_t set)
{
	enum { SHOWN = 8 };
	struct facts_run run = facts_members_of(f, set);
	uint32_t end = run.end - run.first > SHOWN ? run.first + SHOWN : run.end;

	putchar('{');
	for (uint32_t i = run.first; i < end; i++) {
		if (i != run.first)
			fputs(", ", stdout);
		print_place(f, &f->places[f->members[i].place]);
	}
	if (end != run.end)
		printf(", and %u more", run.end - end);
	putchar('}');
}

static void print_constant(const struct facts *f, const struct facts_constant *c)
{
	switch (c->kind) {
	case FACTS_CONSTANT_INTEGER: printf("%lld", (long long)c->number); return;
	case FACTS_CONSTANT_NULL: fputs("null", stdout); return;
	case FACTS_CONSTANT_GLOBAL:
		printf("&%s", facts_string(f, f->globals[c->target].name));
		if (c->number)
			printf("%+lld", (long long)c->number);
		return;
	case FACTS_CONSTANT_FUNCTION: printf("&%s", facts_string(f, f->functions[c->target].name)); return;
	default: putchar('-');
	}
}

static void print_operands(const struct facts *f, uint32_t value)
{
	struct facts_run run = facts_operands_of(f, value);

	for (uint32_t i = run.first; i < run.end; i++) {
		uint32_t operand = f->operands[i].operand;

		fputs(i == run.first ? " " : ", ", stdout);
		if (operand & FACTS_CONSTANT)
			print_constant(f, &f->constants[operand & ~FACTS_CONSTANT]);
		else
			printf("%%%u", operand);
		if (f->values[value].kind == FACTS_ADDRESS && i != run.first)
			printf("*%u", f->operands[i].with);
		if (f->values[value].kind == FACTS_PHI)
			printf(" from b%u", f->operands[i].with);
	}
}

static void print_calls(const struct facts *f, uint32_t value)
{
	struct facts_run run = facts_calls_of(f, value);

	for (uint32_t i = run.first; i < run.end; i++)
		printf("  %s %s", facts_call_name(f->calls[i].kind),
		       facts_string(f, f->functions[f->calls[i].function].name));
}

static void print_value(const struct facts *f, uint32_t value)
{
	const struct facts_value *v = &f->values[value];

	printf("  %%%u = %s", value, facts_kind_name(v->kind));
	print_operands(f, value);
	if (v->kind == FACTS_ADDRESS || v->kind == FACTS_VARIABLE || v->kind == FACTS_LOAD ||
	    v->kind == FACTS_STORE)
		printf(" [%lld]", (long long)v->number);
	print_calls(f, value);
	if (v->set) {
		fputs(" -> ", stdout);
		print_set(f, v->set);
	}
	if (v->line)
		printf("  ; %u:%u", v->line, v->column);
	if (*facts_string(f, v->what))
		printf(" %s", facts_string(f, v->what));
	putchar('\n');
}

static void print_function(const struct facts *f, uint32_t function)
{
	const struct facts_function *row = &f->functions[function];
	struct facts_run blocks = facts_blocks_of(f, function), values = facts_values_of(f, function);

	printf("\n%sfunction %s", row->flags & FACTS_FUNCTION_EXTERNAL ? "external " : "",
	       facts_string(f, row->name));
	if (row->role)
		printf(" (%s)", facts_role_name(row->role));
	if (row->line)
		printf(" at %s:%u", facts_string(f, row->file), row->line);
	putchar('\n');
	if (blocks.first == blocks.end)
		return;
	for (uint32_t v = values.first; v < values.first + row->arguments; v++)
		print_value(f, v);
	for (uint32_t b = blocks.first; b < blocks.end; b++) {
		struct facts_run inside = facts_block_values(f, function, b), to = facts_successors_of(f, b);

		printf(" b%u:\n", b);
		for (uint32_t v = inside.first; v < inside.end; v++)
			print_value(f, v);
		for (uint32_t s = to.first; s < to.end; s++)
			printf("%s b%u%s", s == to.first ? "   to" : ",", f->successors[s].block,
			       s + 1 == to.end ? "\n" : "");
	}
}

static void print_accesses(const struct facts *f)
{
	puts("\naccesses");
	for (size_t i = 0; i < f->access_count; i++) {
		const struct facts_access *a = &f->accesses[i];
		const struct facts_value *v = &f->values[a->value];

		printf("  %%%u %s %lld%s site %u at %s:%u:%u %s ", a->value, facts_access_name(a->kind),
		       (long long)a->size, a->flags & FACTS_ACCESS_ATOMIC ? " atomic" : "", a->site,
		       facts_string(f, v->file), v->line, v->column, facts_string(f, v->what));
		print_set(f, a->set);
		putchar('\n');
	}
}

static void print_contents(const struct facts *f)
{
	puts("\ncontents");
	for (size_t i = 0; i < f->place_count; i++) {
		if (!f->places[i].contents)
			continue;
		fputs("  ", stdout);
		print_place(f, &f->places[i]);
		fputs(" = ", stdout);
		print_set(f, f->places[i].contents);
		putchar('\n');
	}
}

static void print_text(const struct facts *f)
{
	const struct facts_program *p = &f->programs[0];

	printf("program %s: %u units, %zu functions, %zu blocks, %zu values, %zu accesses\n",
	       facts_string(f, p->name), p->units, f->function_count, f->block_count, f->value_count,
	       f->access_count);
	printf("points-to: %s, %u variables, %u constraints; %zu objects, %zu places, %zu sets\n",
	       facts_rung_name(p->rung), p->variables, p->constraints, f->object_count, f->place_count,
	       f->set_count);
	for (size_t i = 0; i < f->note_count; i++)
		printf("note: %s (%u)\n", facts_string(f, f->notes[i].text), f->notes[i].count);
	for (uint32_t i = 0; i < f->function_count; i++)
		print_function(f, i);
	print_accesses(f);
	print_contents(f);
}

int dump_facts(const char *path, bool json)
{
	struct facts *f;

	if (facts_read(&f, path))
		return CMD_FAILED;
	if (json)
		write_json(f);
	else
		print_text(f);
	facts_free(f);
	return CMD_OK;
}
