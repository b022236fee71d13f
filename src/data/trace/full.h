/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading full traces (doc/format/full.md): the records of one thread, one by one.
 *
 *	struct trace *t;              trace_open(&t, "DIR", false)
 *	struct trace_layout *l;       trace_layout_new(&l, trace_get_sites(t))
 *	struct trace_full *f;         trace_full_open(&f, t, l, index, false)
 *	while (trace_full_next(f, &r) > 0) ...
 *	trace_full_close(f); trace_layout_free(l); trace_close(t);
 *
 * Bytes are checked before they are used, as in trace/stream.h.
 */
#ifndef TRACE_FULL_H
#define TRACE_FULL_H

#include "raddle/full.h" /* what looks like a pointer, and the hash of ranges */
#include "trace/reader.h"

enum trace_full_kind {
	TRACE_FULL_ENTRY,
	TRACE_FULL_LOAD,
	TRACE_FULL_STORE,
	TRACE_FULL_ALLOCA,
	TRACE_FULL_RESTORE,
	TRACE_FULL_CALL,
	TRACE_FULL_TAIL,
	TRACE_FULL_RESULT,
	TRACE_FULL_RETURN,
	TRACE_FULL_BRANCH,
	TRACE_FULL_LANDING,
	TRACE_FULL_COPY,
	TRACE_FULL_FILL,
	TRACE_FULL_VALUE, /* only on request */
	TRACE_FULL_RANGE,
	TRACE_FULL_ATOMIC,
	TRACE_FULL_FENCE,
	TRACE_FULL_EVENT,
	TRACE_FULL_FAULT,
	TRACE_FULL_KINDS,
};
const char *trace_full_kind_name(enum trace_full_kind kind);

/* The type of a value; the letters of full.md. */
enum trace_value_type { TRACE_VALUE_INT, TRACE_VALUE_POINTER, TRACE_VALUE_FLOAT, TRACE_VALUE_BYTES };

struct trace_value {
	uint8_t type; /* enum trace_value_type */
	uint8_t size;
	uint16_t offset; /* from the fields of its record */
	bool calculated; /* the code calculates with it: the `*` of full.md */
};

/* The part of a record that is known before the run. */
struct trace_op {
	uint8_t kind;	 /* enum trace_full_kind */
	uint8_t address; /* it has an address, before its values */
	uint8_t frame;	 /* the first field is the frame (entry, landing) */
	uint8_t callee;	 /* the first field is the callee (call, tail) */
	uint8_t value_count;
	uint8_t simple;	       /* it has only an address, a size and a value */
	uint8_t numbers;       /* of a VALUE: computed from an address, and used in a calculation */
	uint16_t offset;       /* of its fields in the raw piece */
	uint16_t value_at;     /* of its first value there */
	uint64_t value_mask;   /* of its first value, at most eight bytes; 0: it has no value */
	uint64_t address_mask; /* 0: it has no address */
	uint32_t site;	       /* the number in the trace */
	uint32_t size;	       /* bytes accessed or allocated, 0 if the record has it */
	uint32_t moved;	       /* of a store: the site of the load that the value comes from; 0: unknown */
	uint32_t first_value;  /* its index among all values of the layout */
	const struct trace_value *values;
};

struct trace_piece {
	uint32_t number, function; /* function: number of the piece with its entry */
	uint32_t size;		   /* raw bytes */
	uint32_t op_count;	   /* those of kind VALUE included */
	uint32_t record_count;	   /* without them */
	uint32_t field_count;
	size_t first_op, first_plain, first_field; /* indices in the arrays of the layout */
	const struct trace_op *ops;		   /* op_count */
	const struct trace_op *plain;		   /* record_count */
	const struct trace_field *fields;	   /* trace/layout-int.h */
};

struct trace_layout;
/* The sites must outlive the layout; any number of readers share it. */
int trace_layout_new(struct trace_layout **layout, const struct trace_sites *sites);
void trace_layout_free(struct trace_layout *layout);
size_t trace_layout_count(const struct trace_layout *layout);
const struct trace_piece *trace_layout_at(const struct trace_layout *layout, size_t index);

enum trace_record_flag {
	TRACE_RECORD_UNFINISHED = 1, /* the thread died in it: its values are unknown */
	TRACE_RECORD_STORED = 2,     /* atomics */
};

struct trace_pointer {
	uint64_t offset, value;
};

struct trace_record {
	uint8_t kind;  /* enum trace_full_kind */
	uint8_t flags; /* enum trace_record_flag */
	uint32_t thread;
	uint32_t site;		   /* of an event: that of the call that led to it; 0: unknown */
	uint32_t piece;		   /* the piece that it is part of; 0: no piece */
	const struct trace_op *op; /* of the piece; NULL for records of the runtime */
	uint64_t address;
	uint64_t size;	 /* bytes accessed, length of a range, copy or fill; size of an alloca */
	uint64_t value;	 /* the first value, its low 8 bytes; of a branch: the piece it led to, 0 if
			  * unknown; of a range: the hash */
	uint64_t frame;	 /* entry and landing: 0 if it cannot be unwound to */
	uint64_t callee; /* call and tail, if indirect */
	uint64_t q;	 /* atomic, fence, event; 0 if the kind has no q */
	size_t value_count;
	const struct trace_value *values; /* arguments, value loaded, ...; atomic: old, new */
	const uint8_t *bytes;		  /* of the values; until the next call */
	/* of a range */
	uint32_t pointer_count, listed; /* words that may be pointers; how many of them follow */
	const struct trace_pointer *pointers;
	/* of an event */
	const struct trace_event *event;
	/* of a fault */
	uint32_t fault;
	uint64_t before, after;
};

/* Value number i, its low 8 bytes. */
uint64_t trace_record_value(const struct trace_record *r, size_t i);

struct trace_full;
/* `values`: with the records of kind VALUE. */
int trace_full_open(struct trace_full **f, struct trace *trace, const struct trace_layout *layout,
		    size_t index, bool values);
/* Whether the file ended inside a chunk: later records are lost. */
bool trace_full_is_cut(const struct trace_full *f);

void trace_full_close(struct trace_full *f);

/* The same for raw bytes of a thread in memory, buffer by buffer.  trace_full_next() returns 0 at
 * the end of each buffer.  The bytes are used in place.  A branch at the end of a buffer is
 * returned with the next buffer, which shows its target.  Length 0 means that there is no next
 * buffer. */
void trace_full_open_raw(struct trace_full **f, const struct trace_layout *layout, uint32_t thread,
			 bool values);
void trace_full_feed(struct trace_full *f, const void *raw, size_t length);

/* The call sites of the scopes of the last record, innermost first.  Returns how many there are; at
 * most `max` are filled in. */
size_t trace_full_stack(const struct trace_full *f, uint32_t *sites, size_t max);

/* 1: *r is the next record.  0: there are no more.  Negative: as trace_stream_more(). */
int trace_full_next(struct trace_full *f, struct trace_record *r);

/* The rest of a piece that was executed to its end, for callers that need no records: its ops, and
 * where their fields are, relative to the bytes at `base`.  At least 8 readable bytes follow each
 * field. */
struct trace_rest {
	const struct trace_op *ops;
	const uint8_t *base;
	uint32_t count;
};
/* False: the next record is not part of such a piece, or not in the bytes so far. */
bool trace_full_rest(struct trace_full *f, struct trace_rest *rest);

/* Skips the first `count` of these ops.  None of them may change a scope. */
void trace_full_skip(struct trace_full *f, uint32_t count);

#endif
