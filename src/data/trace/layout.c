/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the layout of pieces (records of straight-line code) from the P records of a site
 * table.  The result consists of arrays in which readers find the ops of a piece and their fields
 * without a search.
 *
 * The table is not trusted.  Letters, sites and types are checked.  The sizes of the fields of a
 * piece must add up to the size of the piece, so that every offset is valid if a reader has all
 * bytes of the piece.
 */
#include "trace/layout-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "raddle/event.h"
#include "raddle/full.h"

#include <stdlib.h>
#include <string.h>

#define SLOT_COUNT ((RADDLE_SITE_MAX >> RADDLE_SITE_LOCAL_BITS) + 1)

struct layout_parser {
	struct trace_layout *layout;
	const struct trace_sites *sites;
	const struct trace_unit *unit;
	uint32_t number; /* number of the piece */
	const char *op;
	size_t op_capacity, plain_capacity, value_capacity, field_capacity;
	uint32_t offset; /* offset of the next field */
};

static const struct {
	char letter;
	uint8_t kind;
	bool address;
} letters[] = {
	{'e', TRACE_FULL_ENTRY, false},	 {'l', TRACE_FULL_LOAD, true},	   {'s', TRACE_FULL_STORE, true},
	{'a', TRACE_FULL_ALLOCA, true},	 {'r', TRACE_FULL_RESTORE, true},  {'c', TRACE_FULL_CALL, false},
	{'t', TRACE_FULL_TAIL, false},	 {'v', TRACE_FULL_RESULT, false},  {'x', TRACE_FULL_RETURN, false},
	{'b', TRACE_FULL_BRANCH, false}, {'g', TRACE_FULL_LANDING, false}, {'m', TRACE_FULL_COPY, true},
	{'n', TRACE_FULL_FILL, true},	 {'i', TRACE_FULL_VALUE, false},
};

static int bad(const struct layout_parser *p, const char *what)
{
	return rd_fail(RD_EFORMAT, "sites: piece %u of %s: %s \"%.40s\"", p->number, p->unit->name, what,
		       p->op);
}

static const char *number(const char *s, uint32_t *out)
{
	uint64_t v = 0;
	const char *start = s;
	while (*s >= '0' && *s <= '9' && v <= UINT32_MAX)
		v = v * 10 + (uint64_t)(*s++ - '0');
	*out = (uint32_t)v;
	return s == start || v > UINT32_MAX ? NULL : s;
}

static void add_field(struct layout_parser *p, uint32_t offset, uint32_t size, enum trace_field_role role)
{
	struct trace_layout *l = p->layout;
	uint32_t slot = (uint32_t)(l->field_count % (TRACE_PACK_SLOTS - TRACE_PACK_ROW_SLOTS));
	RD_GROW(l->fields, p->field_capacity, l->field_count + 1);
	l->fields[l->field_count++] = (struct trace_field){(uint16_t)offset, (uint8_t)size, (uint8_t)role,
							   slot + TRACE_PACK_ROW_SLOTS};
}

static enum trace_field_role role_of(const struct trace_op *op)
{
	if (op->kind == TRACE_FULL_LOAD)
		return TRACE_FIELD_LOADED;
	return op->kind == TRACE_FULL_STORE ? TRACE_FIELD_STORED : TRACE_FIELD_OTHER;
}

/* Adds the fields of an op that ends at p->offset, as words of eight bytes. */
static void add_fields(struct layout_parser *p, const struct trace_op *op)
{
	const struct trace_value *values = p->layout->values + op->first_value;
	if (op->address || op->frame || op->callee)
		add_field(p, op->offset, 8, op->address ? TRACE_FIELD_ADDRESS : TRACE_FIELD_OTHER);
	for (uint32_t i = 0; i < op->value_count; i++) {
		enum trace_field_role role = role_of(op);
		for (uint32_t at = 0; at < values[i].size; at += 8) {
			uint32_t left = values[i].size - at;
			add_field(p, op->offset + values[i].offset + at, left < 8 ? left : 8, role);
			role = TRACE_FIELD_OTHER;
		}
	}
}

static void add_value(struct layout_parser *p, struct trace_op *op, enum trace_value_type type, uint32_t size)
{
	struct trace_layout *l = p->layout;
	RD_GROW(l->values, p->value_capacity, l->value_count + 1);
	l->values[l->value_count++] =
		(struct trace_value){(uint8_t)type, (uint8_t)size, (uint16_t)(p->offset - op->offset), false};
	op->value_count++;
	p->offset += size;
}

/* Parses one of the types that follow the number of an op.  A type is a letter and a number of
 * bytes. */
static int parse_type(struct layout_parser *p, struct trace_op *op, const char **at)
{
	char letter = **at;
	uint32_t size;
	const char *end = number(*at + 1, &size);
	bool special = letter == 'F' || letter == 'C';
	if (!end || size == 0 || size > RADDLE_FULL_VALUE_MAX || p->offset + size > RADDLE_PIECE_MAX)
		return bad(p, "bad size of a value in");
	if (special && (size != 8 || op->value_count || op->frame || op->callee || op->address))
		return bad(p, "a frame or callee out of place in");
	if (op->value_count == UINT8_MAX)
		return bad(p, "too many values in");
	*at = end;
	switch (letter) {
	case 'F':
		op->frame = 1;
		p->offset += 8;
		return RD_OK;
	case 'C':
		op->callee = 1;
		p->offset += 8;
		return RD_OK;
	case 'i': add_value(p, op, TRACE_VALUE_INT, size); return RD_OK;
	case 'p': add_value(p, op, TRACE_VALUE_POINTER, size); return RD_OK;
	case 'f': add_value(p, op, TRACE_VALUE_FLOAT, size); return RD_OK;
	case 'v': add_value(p, op, TRACE_VALUE_BYTES, size); return RD_OK;
	default: return bad(p, "unknown type in");
	}
}

/* Parses the number of a site of the unit. */
static const char *parse_site(const struct layout_parser *p, const char *at, uint32_t *site)
{
	uint32_t n;
	at = number(at, &n);
	if (!at || n == 0 || (uint64_t)n >> RADDLE_SITE_LOCAL_BITS >= p->unit->slots)
		return NULL;
	*site = (p->unit->slot << RADDLE_SITE_LOCAL_BITS) + n;
	return at;
}

/* Parses a mark of the op or of its last value. */
static int parse_mark(struct layout_parser *p, struct trace_op *op, const char **at)
{
	if (**at == '<') {
		*at = op->kind == TRACE_FULL_STORE && op->value_count && !op->moved
			      ? parse_site(p, *at + 1, &op->moved)
			      : NULL;
		return *at ? RD_OK : bad(p, "bad origin in");
	}
	if (op->kind == TRACE_FULL_VALUE)
		op->numbers = 1;
	else if (op->value_count)
		p->layout->values[p->layout->value_count - 1].calculated = true;
	else
		return bad(p, "a mark without a value in");
	++*at;
	return RD_OK;
}

/* Returns true if an op of this kind may have these fields.  For example, only ops of some kinds
 * may have a frame or a callee. */
static bool fields_fit(const struct trace_op *op)
{
	if (op->frame && op->kind != TRACE_FULL_ENTRY && op->kind != TRACE_FULL_LANDING)
		return false;
	return !op->callee || op->kind == TRACE_FULL_CALL || op->kind == TRACE_FULL_TAIL;
}

static int check_op(const struct layout_parser *p, const struct trace_op *op,
		    const struct trace_value *values)
{
	bool fits = true;
	switch (op->kind) {
	case TRACE_FULL_LOAD:
	case TRACE_FULL_STORE: fits = op->value_count == 1; break;
	case TRACE_FULL_COPY:
		fits = op->value_count == 2 && values[0].size == 8 && values[1].size == 8;
		break;
	case TRACE_FULL_FILL:
		fits = op->value_count == 2 && values[0].size == 1 && values[1].size == 8;
		break;
	case TRACE_FULL_ALLOCA:
		fits = op->value_count == 0 || (op->value_count == 1 && values[0].size == 8);
		break;
	case TRACE_FULL_LANDING: fits = op->frame && op->value_count == 0; break;
	case TRACE_FULL_RESULT:
	case TRACE_FULL_RETURN: fits = op->value_count <= 1; break;
	case TRACE_FULL_RESTORE:
	case TRACE_FULL_BRANCH:
	case TRACE_FULL_VALUE: fits = op->value_count == 0; break;
	default: break;
	}
	return fits && fields_fit(op) ? RD_OK : bad(p, "wrong fields in");
}

/* Computes in advance what the reader needs for each record. */
static void prepare(struct trace_op *op, const struct trace_value *values)
{
	uint32_t size = op->value_count ? values[0].size : 0;
	op->address_mask = op->address ? ~0ull : 0;
	op->value_at = op->value_count ? (uint16_t)(op->offset + values[0].offset) : 0;
	op->value_mask = size >= 8 ? ~0ull : (1ull << 8 * size) - 1;
	op->simple = op->kind == TRACE_FULL_LOAD || op->kind == TRACE_FULL_STORE ||
		     op->kind == TRACE_FULL_VALUE || op->kind == TRACE_FULL_RESTORE ||
		     op->kind == TRACE_FULL_RESULT || (op->kind == TRACE_FULL_ALLOCA && !op->value_count);
}

static int parse_op(struct layout_parser *p)
{
	struct trace_layout *l = p->layout;
	struct trace_op op = {.kind = TRACE_FULL_KINDS, .offset = (uint16_t)p->offset};
	size_t first = l->value_count;
	const char *at = p->op + 1;
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
		if (letters[i].letter == p->op[0]) {
			op.kind = letters[i].kind;
			op.address = letters[i].address;
		}
	if (op.kind == TRACE_FULL_KINDS)
		return bad(p, "unknown op");
	at = parse_site(p, at, &op.site);
	if (!at)
		return bad(p, "no such site in");
	const struct trace_site *site = trace_sites_find(p->sites, op.site);
	op.size = site ? site->size : 0;
	p->offset += op.address ? 8 : 0;
	while (*at) {
		int err = *at == '<' || *at == '*' ? parse_mark(p, &op, &at) : parse_type(p, &op, &at);
		if (err)
			return err;
	}
	if (p->offset > RADDLE_PIECE_MAX)
		return bad(p, "the piece is too long at");
	op.first_value = (uint32_t)first;
	prepare(&op, l->values + first);
	RD_GROW(l->ops, p->op_capacity, l->op_count + 1);
	l->ops[l->op_count++] = op;
	if (op.kind != TRACE_FULL_VALUE) {
		RD_GROW(l->plain, p->plain_capacity, l->plain_count + 1);
		l->plain[l->plain_count++] = op;
	}
	add_fields(p, &op);
	return check_op(p, &op, l->values + first);
}

static int parse_piece(struct layout_parser *p, const struct trace_piece_text *text, struct trace_piece *out)
{
	uint32_t base = p->unit->slot << RADDLE_SITE_LOCAL_BITS;
	*out = (struct trace_piece){.number = base + p->number,
				    .function = base + text->function,
				    .size = text->size,
				    .op_count = text->op_count,
				    .first_op = p->layout->op_count,
				    .first_plain = p->layout->plain_count,
				    .first_field = p->layout->field_count};
	p->offset = RADDLE_PIECE_HEAD;
	p->op = text->ops;
	for (uint32_t i = 0; i < text->op_count; i++) {
		int err = parse_op(p);
		if (err)
			return err;
		p->op += strlen(p->op) + 1;
	}
	out->record_count = (uint32_t)(p->layout->plain_count - out->first_plain);
	out->field_count = (uint32_t)(p->layout->field_count - out->first_field);
	p->op = "";
	if (text->function == 0 || text->function > p->unit->piece_count)
		return bad(p, "it belongs to no function");
	if (text->size != p->offset + (p->offset > RADDLE_PIECE_HEAD))
		return bad(p, "its fields do not add up to its size");
	return RD_OK;
}

static int parse_unit(struct layout_parser *p, const struct trace_unit *unit)
{
	struct trace_layout *l = p->layout;
	p->unit = unit;
	for (uint32_t i = 0; i < unit->slots; i++)
		l->slots[unit->slot + i] =
			(struct trace_layout_slot){unit->piece + ((size_t)i << RADDLE_SITE_LOCAL_BITS),
						   unit->piece, unit->piece + unit->piece_count};
	for (size_t i = 0; i < unit->piece_count; i++) {
		p->number = (uint32_t)i + 1;
		int err = parse_piece(p, &p->sites->pieces[unit->piece + i], &l->pieces[unit->piece + i]);
		if (err)
			return err;
	}
	return RD_OK;
}

/* Turns indices into pointers once the arrays have their final addresses. */
static void link_up(struct trace_layout *l)
{
	for (size_t i = 0; i < l->op_count; i++)
		l->ops[i].values = l->values + l->ops[i].first_value;
	for (size_t i = 0; i < l->plain_count; i++)
		l->plain[i].values = l->values + l->plain[i].first_value;
	for (size_t i = 0; i < l->count; i++) {
		l->pieces[i].ops = l->ops + l->pieces[i].first_op;
		l->pieces[i].plain = l->plain + l->pieces[i].first_plain;
		l->pieces[i].fields = l->fields + l->pieces[i].first_field;
	}
}

void trace_layout_free(struct trace_layout *l)
{
	if (!l)
		return;
	RD_FREE(l->pieces, l->ops, l->plain, l->values, l->fields, l->slots, l);
}

int trace_layout_new(struct trace_layout **out, const struct trace_sites *sites)
{
	RD_ASSERT(out != NULL && sites != NULL);
	struct trace_layout *l = rd_xcalloc(1, sizeof *l);
	struct layout_parser p = {.layout = l, .sites = sites};
	int err = RD_OK;
	l->count = sites ? sites->piece_count : 0;
	l->pieces = rd_xcalloc(l->count + 1, sizeof *l->pieces);
	l->slots = rd_xcalloc(SLOT_COUNT, sizeof *l->slots);
	RD_GROW(l->ops, p.op_capacity, 1);
	RD_GROW(l->plain, p.plain_capacity, 1);
	RD_GROW(l->values, p.value_capacity, 1);
	RD_GROW(l->fields, p.field_capacity, 1);
	for (size_t i = 0; sites && i < sites->unit_count && !err; i++)
		err = parse_unit(&p, &sites->units[i]);
	link_up(l);
	if (err)
		trace_layout_free(l);
	else
		*out = l;
	return err;
}

size_t trace_layout_count(const struct trace_layout *l)
{
	return l->count;
}

const struct trace_piece *trace_layout_at(const struct trace_layout *l, size_t index)
{
	return &l->pieces[index];
}
