/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that tables of facts are consistent, so that facts_read() can guarantee it.  The tables
 * may have any content.  The result is 0, or an error with a message about the first fault.
 *
 * Each member is checked by its description (table.c).  Other rules concern several members or
 * rows.  The starts in a table ascend from row to row.  The arguments and blocks of a function lie
 * among its values.  A constant or an object refers to a row of the table that its kind
 * determines.  The operand of an access exists.  Places, members of a set and rows of the call
 * graph ascend.
 */
#include "base/error.h"
#include "facts/facts-int.h"

static bool is_operand(const struct facts *f, uint64_t v)
{
	return v & FACTS_CONSTANT ? (v & ~FACTS_CONSTANT) < f->constant_count : v < f->value_count;
}

static bool member_holds(const struct facts *f, const struct facts_field *field, int64_t v, int64_t above)
{
	switch (field->use) {
	case FACTS_USE_NUMBER: return true;
	case FACTS_USE_STRING: return (uint64_t)v < f->string_count;
	case FACTS_USE_START: return v >= above && (uint64_t)v <= facts_count(f, field->target);
	case FACTS_USE_ROW: return (uint64_t)v < facts_count(f, field->target);
	case FACTS_USE_OPTION: return v == FACTS_NONE || (uint64_t)v < facts_count(f, field->target);
	case FACTS_USE_BELOW: return (uint64_t)v < field->target;
	case FACTS_USE_OPERAND: return is_operand(f, (uint64_t)v);
	}
	return false;
}

static int check_column(const struct facts *f, enum facts_table table, const struct facts_field *field,
			const char *name)
{
	const struct facts_layout *layout = facts_layout(table);
	const char *rows = facts_rows(f, table);
	size_t count = facts_count(f, table);
	int64_t above = 0;
	for (size_t i = 0; i < count; i++) {
		int64_t v = facts_get(field, rows + i * layout->row);
		if (!member_holds(f, field, v, above))
			return rd_fail(RD_EFORMAT, "%s: damaged: %s: row %zu: %s is %lld", name, layout->name,
				       i, field->name, (long long)v);
		above = v;
	}
	/* The first range of rows must start at row 0.  Only the values of blocks may start later,
	 * because the arguments of a function precede the values of its blocks. */
	bool of_block = table == FACTS_TABLE_block && field->target == FACTS_TABLE_value;
	if (field->use == FACTS_USE_START && !of_block && count != 0 && facts_get(field, rows) != 0)
		return rd_fail(RD_EFORMAT, "%s: damaged: %s: %s starts at %lld", name, layout->name,
			       field->name, (long long)facts_get(field, rows));
	return 0;
}

static bool functions_hold(const struct facts *f)
{
	for (uint32_t i = 0; i < f->function_count; i++) {
		struct facts_run values = facts_values_of(f, i), blocks = facts_blocks_of(f, i);
		if (f->functions[i].arguments > values.end - values.first)
			return false;
		uint32_t at = values.first + f->functions[i].arguments;
		if (blocks.first == blocks.end ? at != values.end : f->blocks[blocks.first].values != at)
			return false;
		if (blocks.first != blocks.end && f->blocks[blocks.end - 1].values > values.end)
			return false;
		for (uint32_t b = blocks.first; b < blocks.end; b++) {
			struct facts_run to = facts_successors_of(f, b);
			for (uint32_t s = to.first; s < to.end; s++)
				if (f->successors[s].block < blocks.first ||
				    f->successors[s].block >= blocks.end)
					return false;
		}
	}
	return f->function_count != 0 || f->value_count == 0;
}

static bool constants_hold(const struct facts *f)
{
	for (size_t i = 0; i < f->constant_count; i++) {
		const struct facts_constant *c = &f->constants[i];
		if ((c->kind == FACTS_CONSTANT_GLOBAL && c->target >= f->global_count) ||
		    (c->kind == FACTS_CONSTANT_FUNCTION && c->target >= f->function_count))
			return false;
	}
	return true;
}

static bool objects_hold(const struct facts *f)
{
	for (size_t i = 0; i < f->object_count; i++) {
		const struct facts_object *o = &f->objects[i];
		size_t limit = o->kind == FACTS_OBJECT_GLOBAL	  ? f->global_count
			       : o->kind == FACTS_OBJECT_FUNCTION ? f->function_count
								  : f->value_count;
		if (o->kind != FACTS_OBJECT_LIBRARY && o->origin >= limit)
			return false;
	}
	return true;
}

static bool accesses_hold(const struct facts *f)
{
	for (size_t i = 0; i < f->access_count; i++) {
		struct facts_run operands = facts_operands_of(f, f->accesses[i].value);
		if (f->accesses[i].operand >= operands.end - operands.first)
			return false;
	}
	return true;
}

static bool orders_hold(const struct facts *f)
{
	for (uint32_t s = 0; s < f->set_count; s++) {
		struct facts_run run = facts_members_of(f, s);
		for (uint32_t i = run.first + 1; i < run.end; i++)
			if (f->members[i].place <= f->members[i - 1].place)
				return false;
	}
	for (size_t i = 1; i < f->place_count; i++) {
		const struct facts_place *a = &f->places[i - 1], *b = &f->places[i];
		if (b->object < a->object || (b->object == a->object && b->offset <= a->offset))
			return false;
	}
	for (size_t i = 1; i < f->call_count; i++) {
		const struct facts_call *a = &f->calls[i - 1], *b = &f->calls[i];
		if (b->value < a->value || (b->value == a->value && b->function < a->function))
			return false;
	}
	return true;
}

int facts_check(const struct facts *f, const char *name)
{
	int err = 0;
	for (unsigned t = 0; t < FACTS_TABLE_COUNT && !err; t++)
		for (size_t k = 0; k < facts_layout(t)->field_count && !err; k++)
			err = check_column(f, t, &facts_layout(t)->fields[k], name);
	if (err)
		return err;
	const char *wrong = NULL;
	if (f->program_count != 1 || f->set_count == 0)
		wrong = "there must be one program and an empty set";
	else if (facts_members_of(f, 0).end != 0)
		wrong = "set 0 is not empty";
	else if (!functions_hold(f))
		wrong = "a function, its blocks and its values do not match";
	else if (!constants_hold(f))
		wrong = "a constant refers to a missing row";
	else if (!objects_hold(f))
		wrong = "an object refers to a missing row";
	else if (!accesses_hold(f))
		wrong = "an access refers to a missing operand";
	else if (!orders_hold(f))
		wrong = "places, a set or the call graph are not in order";
	return wrong ? rd_fail(RD_EFORMAT, "%s: damaged: %s", name, wrong) : 0;
}
