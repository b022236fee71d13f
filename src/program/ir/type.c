/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads types from nodes of debug information: their names as in C, the path from an object to the
 * member at a byte offset, and the members of structs.  Each node's operands are read once and
 * kept in struct ir_type.
 */
#include "ir/debug-int.h"

#include "base/compare.h"
#include "base/file.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

/* DWARF tags of the nodes that occur. */
enum {
	TAG_ARRAY = 0x01,
	TAG_CLASS = 0x02,
	TAG_ENUM = 0x04,
	TAG_MEMBER = 0x0d,
	TAG_POINTER = 0x0f,
	TAG_REFERENCE = 0x10,
	TAG_STRUCT = 0x13,
	TAG_SUBROUTINE = 0x15,
	TAG_TYPEDEF = 0x16,
	TAG_UNION = 0x17,
	TAG_INHERITANCE = 0x1c,
	TAG_CONST = 0x26,
	TAG_VOLATILE = 0x35,
	TAG_RESTRICT = 0x37,
	TAG_RVALUE_REFERENCE = 0x42,
	TAG_ATOMIC = 0x47,
};

/* Operand numbers of type nodes. */
enum { OPERAND_BASE = 3, OPERAND_ELEMENTS = 4, OPERAND_IDENTIFIER = 7, OPERAND_COUNT = 0 };

struct type_field {
	LLVMMetadataRef node;
	const char *name; /* "" for a base class or an anonymous member */
	LLVMMetadataRef type;
	/* In bytes; for a bit-field, the offset and size of the bytes that contain it. */
	uint64_t offset, size;
	bool bits;
};

struct ir_type {
	LLVMMetadataRef node;
	unsigned tag;
	const char *name;
	LLVMMetadataRef base;
	LLVMMetadataRef elements;
	uint64_t size;
	uint64_t *counts; /* the length of each array dimension; UINT64_MAX if unknown */
	unsigned dimensions;
	struct type_field *fields;
	size_t field_count;
	bool complete; /* true if fields or counts have been read */
	/* True if the type has a linkage identifier (C++), so that no keyword precedes its name. */
	bool cxx;
};

static struct ir_type *type_of(struct ir_debug *d, LLVMMetadataRef node)
{
	bool is_new;
	size_t n;
	if (node == NULL)
		return NULL;
	uint64_t *slot = rd_umap_put(&d->types, (uintptr_t)node, &is_new);
	if (!is_new)
		return (struct ir_type *)(uintptr_t)*slot;
	struct ir_type *t = rd_arena_alloc(d->arena, sizeof *t);
	*slot = (uintptr_t)t;
	LLVMMetadataKind kind = LLVMGetMetadataKind(node);
	t->node = node;
	t->name = "";
	if (kind != LLVMDIBasicTypeMetadataKind && kind != LLVMDIDerivedTypeMetadataKind &&
	    kind != LLVMDICompositeTypeMetadataKind && kind != LLVMDISubroutineTypeMetadataKind)
		return t;
	const char *name = LLVMDITypeGetName(node, &n);
	t->name = rd_arena_strndup(d->arena, name, name != NULL ? n : 0);
	t->tag = LLVMGetDINodeTag(node);
	t->size = (LLVMDITypeGetSizeInBits(node) + 7) / 8;
	if (kind == LLVMDIDerivedTypeMetadataKind || kind == LLVMDICompositeTypeMetadataKind)
		t->base = ir_debug_operand(d, node, OPERAND_BASE);
	if (kind == LLVMDICompositeTypeMetadataKind) {
		t->elements = ir_debug_operand(d, node, OPERAND_ELEMENTS);
		t->cxx = ir_debug_operand(d, node, OPERAND_IDENTIFIER) != NULL;
	}
	return t;
}

/* Skips typedefs and qualifiers. */
static struct ir_type *plain(struct ir_debug *d, LLVMMetadataRef node)
{
	struct ir_type *t = type_of(d, node);
	while (t != NULL && (t->tag == TAG_TYPEDEF || t->tag == TAG_CONST || t->tag == TAG_VOLATILE ||
			     t->tag == TAG_RESTRICT || t->tag == TAG_ATOMIC))
		t = type_of(d, t->base);
	return t;
}

static bool is_record(const struct ir_type *t)
{
	return t != NULL && (t->tag == TAG_STRUCT || t->tag == TAG_CLASS || t->tag == TAG_UNION);
}

static bool points(const struct ir_type *t)
{
	return t != NULL &&
	       (t->tag == TAG_POINTER || t->tag == TAG_REFERENCE || t->tag == TAG_RVALUE_REFERENCE);
}

uint64_t ir_type_size(struct ir_debug *d, LLVMMetadataRef type)
{
	const struct ir_type *t = plain(d, type);
	return t != NULL ? t->size : 0;
}

bool ir_type_is_pointer(struct ir_debug *d, LLVMMetadataRef type)
{
	return points(plain(d, type));
}

LLVMMetadataRef ir_type_pointee(struct ir_debug *d, LLVMMetadataRef type)
{
	const struct ir_type *t = plain(d, type);
	return points(t) ? t->base : NULL;
}

LLVMMetadataRef ir_type_result(struct ir_debug *d, LLVMMetadataRef subprogram)
{
	enum { SUBPROGRAM_TYPE = 4, SUBROUTINE_TYPES = 3 };
	LLVMMetadataRef type = ir_debug_operand(d, subprogram, SUBPROGRAM_TYPE);
	return ir_debug_operand(d, ir_debug_operand(d, type, SUBROUTINE_TYPES), 0);
}

static uint64_t subrange_count(struct ir_debug *d, LLVMMetadataRef range)
{
	LLVMValueRef *list;
	if (ir_debug_operands(d, range, &list) == 0 || list[OPERAND_COUNT] == NULL)
		return UINT64_MAX;
	LLVMValueRef count = LLVMIsAConstantInt(list[OPERAND_COUNT]);
	return count != NULL && LLVMConstIntGetSExtValue(count) >= 0 ? LLVMConstIntGetZExtValue(count)
								     : UINT64_MAX;
}

static int by_offset(const void *a, const void *b)
{
	const struct type_field *x = a, *y = b;
	RD_BY(x->offset, y->offset);
	return 0;
}

static void add_field(struct ir_debug *d, struct ir_type *t, LLVMMetadataRef node)
{
	if (node == NULL || LLVMGetMetadataKind(node) != LLVMDIDerivedTypeMetadataKind)
		return;
	const struct ir_type *m = type_of(d, node);
	LLVMDIFlags flags = LLVMDITypeGetFlags(node);
	if ((m->tag != TAG_MEMBER && m->tag != TAG_INHERITANCE) || (flags & LLVMDIFlagStaticMember))
		return;
	struct type_field *f = &t->fields[t->field_count++];
	f->node = node;
	f->name = m->name;
	f->type = m->base;
	f->offset = LLVMDITypeGetOffsetInBits(node) / 8;
	f->bits = (flags & LLVMDIFlagBitField) != 0;
	f->size = f->bits ? (LLVMDITypeGetOffsetInBits(node) % 8 + LLVMDITypeGetSizeInBits(node) + 7) / 8
			  : ir_type_size(d, m->base);
}

/* Reads the members of a struct or the dimensions of an array. */
static void complete(struct ir_debug *d, struct ir_type *t)
{
	LLVMValueRef *list;
	if (t->complete || t->elements == NULL)
		return;
	t->complete = true;
	unsigned n = ir_debug_operands(d, t->elements, &list);
	if (t->tag == TAG_ARRAY) {
		t->counts = rd_arena_alloc(d->arena, (n + 1) * sizeof *t->counts);
		for (unsigned i = 0; i < n; i++)
			if (list[i] != NULL)
				t->counts[t->dimensions++] = subrange_count(d, LLVMValueAsMetadata(list[i]));
		return;
	}
	t->fields = rd_arena_alloc(d->arena, (n + 1) * sizeof *t->fields);
	for (unsigned i = 0; i < n; i++)
		if (list[i] != NULL)
			add_field(d, t, LLVMValueAsMetadata(list[i]));
	/* An insertion sort keeps the order of members with equal offsets, as in unions or empty
	 * bases. */
	for (size_t i = 1; i < t->field_count; i++)
		for (size_t k = i; k > 0 && by_offset(&t->fields[k - 1], &t->fields[k]) > 0; k--) {
			struct type_field swap = t->fields[k];
			t->fields[k] = t->fields[k - 1];
			t->fields[k - 1] = swap;
		}
}

static void add_pointer(struct rd_buf *out, const char *mark)
{
	char last = out->length != 0 ? out->data[out->length - 1] : ' ';
	rd_buf_addf(out, "%s%s", last == '*' || last == '&' ? "" : " ", mark);
}

static void record_name(struct ir_debug *d, const struct ir_type *t, struct rd_buf *out)
{
	const char *word = t->tag == TAG_UNION ? "union" : t->tag == TAG_ENUM ? "enum" : "struct";
	if (t->name[0] == '\0') {
		const char *file = ir_debug_file(d, t->node);
		rd_buf_addf(out, "%s (anonymous at %s:%u)", word,
			    file != NULL ? rd_base_name(file) : RD_UNKNOWN, LLVMDITypeGetLine(t->node));
		return;
	}
	if (t->cxx || t->tag == TAG_CLASS)
		ir_debug_qualify(d, ir_debug_operand(d, t->node, 1), out);
	else
		rd_buf_addf(out, "%s ", word);
	rd_buf_adds(out, t->name);
}

static void array_name(struct ir_debug *d, struct ir_type *t, struct rd_buf *out)
{
	complete(d, t);
	ir_type_name(d, t->base, out);
	for (unsigned i = 0; i < t->dimensions; i++)
		if (t->counts[i] == UINT64_MAX)
			rd_buf_adds(out, "[]");
		else
			rd_buf_addf(out, "[%llu]", (unsigned long long)t->counts[i]);
}

/* Stores a struct under the name that was returned for it, so that its members can be listed. */
static void use(struct ir_debug *d, struct ir_type *t, const char *name, size_t n)
{
	size_t before = d->used_names.count;
	if (!is_record(t) || rd_names_put(&d->used_names, name, n) != before)
		return;
	RD_GROW(d->used, d->used_capacity, before + 1);
	d->used[before] = (struct ir_used_type){d->used_names.items[before], t};
}

void ir_type_name(struct ir_debug *d, LLVMMetadataRef type, struct rd_buf *out)
{
	struct ir_type *t = type_of(d, type);
	size_t start = out->length;
	switch (t != NULL ? t->tag : 0) {
	case TAG_POINTER:
		ir_type_name(d, t->base, out);
		add_pointer(out, "*");
		break;
	case TAG_REFERENCE:
		ir_type_name(d, t->base, out);
		add_pointer(out, "&");
		break;
	case TAG_RVALUE_REFERENCE:
		ir_type_name(d, t->base, out);
		add_pointer(out, "&&");
		break;
	case TAG_CONST:
		rd_buf_adds(out, "const ");
		ir_type_name(d, t->base, out);
		break;
	case TAG_VOLATILE:
		rd_buf_adds(out, "volatile ");
		ir_type_name(d, t->base, out);
		break;
	case TAG_ATOMIC:
		rd_buf_adds(out, "_Atomic ");
		ir_type_name(d, t->base, out);
		break;
	case TAG_RESTRICT: ir_type_name(d, t->base, out); break;
	case TAG_STRUCT:
	case TAG_CLASS:
	case TAG_UNION:
	case TAG_ENUM:
		record_name(d, t, out);
		use(d, t, out->data + start, out->length - start);
		break;
	case TAG_ARRAY: array_name(d, t, out); break;
	case TAG_SUBROUTINE: rd_buf_adds(out, "function"); break;
	case TAG_TYPEDEF:
		rd_buf_adds(out, t->name);
		use(d, plain(d, type), out->data + start, out->length - start);
		break;
	default: rd_buf_adds(out, t != NULL && t->name[0] != '\0' ? t->name : "void");
	}
}

bool ir_type_record_name(struct ir_debug *d, LLVMMetadataRef type, struct rd_buf *out)
{
	const struct ir_type *record = plain(d, type);
	if (!is_record(record))
		return false;
	for (struct ir_type *t = type_of(d, type); t != record; t = type_of(d, t->base))
		if (record->name[0] == '\0' && t->tag == TAG_TYPEDEF) {
			ir_type_name(d, t->node, out);
			return true;
		}
	ir_type_name(d, record->node, out);
	return true;
}

bool ir_type_is_open(struct ir_debug *d, LLVMMetadataRef type)
{
	struct ir_type *t = plain(d, type);
	if (!is_record(t))
		return false;
	complete(d, t);
	const struct type_field *last = t->field_count != 0 ? &t->fields[t->field_count - 1] : NULL;
	const struct ir_type *member = last != NULL ? plain(d, last->type) : NULL;
	return member != NULL && member->tag == TAG_ARRAY && last->size == 0;
}

/* Returns the member that contains the bytes.  In a union, a member with exactly this size is
 * preferred. */
static const struct type_field *field_at(const struct ir_type *t, uint64_t offset, uint64_t size)
{
	const struct type_field *best = NULL;
	for (size_t i = 0; i < t->field_count; i++) {
		const struct type_field *f = &t->fields[i];
		if (offset < f->offset || offset >= f->offset + (f->size != 0 ? f->size : 1))
			continue;
		bool fits = f->bits || offset + size <= f->offset + f->size;
		if (!fits && offset == f->offset)
			continue;
		if (best == NULL || (f->size == size && best->size != size && f->offset == offset))
			best = f;
	}
	return best;
}

LLVMMetadataRef ir_type_path(struct ir_debug *d, LLVMMetadataRef type, uint64_t offset, uint64_t size,
			     struct rd_buf *out)
{
	enum { DEPTH = 16 };
	for (int depth = 0; depth < DEPTH; depth++) {
		struct ir_type *t = plain(d, type);
		if (t == NULL || (size == 0 && offset == 0))
			break;
		complete(d, t);
		if (is_record(t)) {
			const struct type_field *f = field_at(t, offset, size);
			if (f == NULL)
				break;
			if (f->name[0] != '\0')
				rd_buf_addf(out, ".%s", f->name);
			offset -= f->offset;
			type = f->type;
			if (f->bits)
				break;
		} else if (t->tag == TAG_ARRAY) {
			uint64_t element = ir_type_size(d, t->base);
			if (element == 0 || (offset == 0 && (size > element || size == 0)))
				break;
			for (unsigned i = 0; i < (t->dimensions != 0 ? t->dimensions : 1); i++)
				rd_buf_adds(out, "[]");
			offset %= element;
			type = t->base;
		} else {
			break;
		}
	}
	return type;
}

void ir_debug_members(struct ir_debug *d, ir_member_fn *fn, void *context)
{
	/* The loop may add the types of members to the list. */
	for (size_t i = 0; i < d->used_names.count; i++) {
		struct ir_used_type used = d->used[i];
		complete(d, used.type);
		for (size_t k = 0; k < used.type->field_count; k++) {
			const struct type_field *f = &used.type->fields[k];
			struct rd_buf type = RD_BUF_INIT;
			ir_type_name(d, f->type, &type);
			struct ir_member member = {
				.type = used.name,
				.name = f->name,
				.member_type = type.data,
				.size = used.type->size,
				.offset = f->offset,
				.member_size = f->size,
			};
			fn(context, &member);
			rd_buf_release(&type);
		}
	}
}

/* --- types as expressions need them (ir_type_view()) --- */

/* Returns true if the text of a debug node contains a word.  Text is compared because LLVM's C API
 * has no function that returns the encoding of a type. */
static bool has_word(struct ir_debug *d, LLVMMetadataRef node, const char *word)
{
	char *text = LLVMPrintValueToString(LLVMMetadataAsValue(d->context, node));
	bool found = strstr(text, word) != NULL;
	LLVMDisposeMessage(text);
	return found;
}

static void view_basic(struct ir_debug *d, const struct ir_type *t, struct ir_view *out)
{
	static const char *const integers[] = {"DW_ATE_signed", "DW_ATE_unsigned", "DW_ATE_boolean",
					       "DW_ATE_UTF"};
	out->bits = (unsigned)t->size * 8;
	if (has_word(d, t->node, "DW_ATE_float") && (out->bits == 32 || out->bits == 64))
		out->shape = IR_SHAPE_REAL;
	for (size_t i = 0; i < sizeof integers / sizeof *integers && out->shape == IR_SHAPE_NONE; i++)
		if (out->bits <= 64 && has_word(d, t->node, integers[i]))
			out->shape = IR_SHAPE_INTEGER;
	out->is_signed = out->shape == IR_SHAPE_INTEGER && has_word(d, t->node, "DW_ATE_signed");
}

void ir_type_view(struct ir_debug *d, LLVMMetadataRef type, struct ir_view *out)
{
	struct ir_type *t = plain(d, type);
	*out = (struct ir_view){.shape = IR_SHAPE_NONE};
	if (t == NULL)
		return;
	if (LLVMGetMetadataKind(t->node) == LLVMDIBasicTypeMetadataKind) {
		view_basic(d, t, out);
	} else if (t->tag == TAG_ENUM) {
		*out = (struct ir_view){.shape = IR_SHAPE_INTEGER, .bits = (unsigned)t->size * 8};
		if (t->base != NULL)
			ir_type_view(d, t->base, out);
	} else if (t->tag == TAG_POINTER) {
		*out = (struct ir_view){.shape = IR_SHAPE_POINTER, .bits = 64, .to = t->base};
	} else if (is_record(t)) {
		out->shape = IR_SHAPE_RECORD;
	} else if (t->tag == TAG_ARRAY) {
		complete(d, t);
		*out = (struct ir_view){.shape = IR_SHAPE_ARRAY,
					.to = t->base,
					.dimensions = t->dimensions != 0 ? t->dimensions : 1};
	}
}

uint64_t ir_type_bytes(struct ir_debug *d, LLVMMetadataRef type)
{
	return ir_type_size(d, type);
}

uint64_t ir_type_step(struct ir_debug *d, LLVMMetadataRef array, unsigned dimension)
{
	struct ir_type *t = plain(d, array);
	uint64_t step = 1;
	complete(d, t);
	for (unsigned i = dimension + 1; i < t->dimensions; i++)
		step *= t->counts[i] != UINT64_MAX ? t->counts[i] : 1;
	return step;
}

bool ir_type_member(struct ir_debug *d, LLVMMetadataRef record, const char *name, struct ir_found_member *out)
{
	struct ir_type *t = plain(d, record);
	if (!is_record(t))
		return false;
	complete(d, t);
	for (size_t i = 0; i < t->field_count; i++) {
		const struct type_field *f = &t->fields[i];
		uint64_t offset = LLVMDITypeGetOffsetInBits(f->node);
		if (strcmp(f->name, name) == 0) {
			*out = (struct ir_found_member){
				f->type, offset, f->bits ? (unsigned)LLVMDITypeGetSizeInBits(f->node) : 0};
			return true;
		}
		if (f->name[0] == '\0' && ir_type_member(d, f->type, name, out)) {
			out->offset += offset;
			return true;
		}
	}
	return false;
}
