/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads full traces (doc/format/full.md): the records of one thread, one by one.
 *
 *	struct trace *t;              trace_open(&t, "DIR", false)
 *	struct trace_layout *l;       trace_layout_new(&l, trace_get_sites(t))
 *	struct trace_full *f;         trace_full_open(&f, t, l, index, false)
 *	while (trace_full_next(f, &r) > 0) ...
 *	trace_full_close(f); trace_layout_free(l); trace_close(t);
 *
 * The reader checks all bytes before it uses them, as trace/stream.h does.
 */
#ifndef TRACE_FULL_H
#define TRACE_FULL_H

#include "raddle/full.h" /* which words look like pointers, and the hash of ranges */
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
	TRACE_FULL_VALUE, /* returned only on request */
	TRACE_FULL_RANGE,
	TRACE_FULL_ATOMIC,
	TRACE_FULL_FENCE,
	TRACE_FULL_EVENT,
	TRACE_FULL_FAULT,
	TRACE_FULL_KINDS,
};
const char *trace_full_kind_name(enum trace_full_kind kind);

/* The type of a value, with the letters of doc/format/full.md. */
enum trace_value_type { TRACE_VALUE_INT, TRACE_VALUE_POINTER, TRACE_VALUE_FLOAT, TRACE_VALUE_BYTES };

struct trace_value {
	uint8_t type; /* enum trace_value_type */
	uint8_t size;
	uint16_t offset; /* offset from the first field of its record */
	bool calculated; /* the code calculates with it (`*` in doc/format/full.md) */
};

/* A record of a piece.  Its members are known before the run. */
struct trace_op {
	uint8_t kind;	 /* enum trace_full_kind */
	uint8_t address; /* 1 if the op has an address, which comes before its values */
	uint8_t frame;	 /* 1 if the first field is the frame (entry, landing) */
	uint8_t callee;	 /* 1 if the first field is the callee (call, tail) */
	uint8_t value_count;
	uint8_t simple; /* 1 if it has only an address, a size and a value */
	/* For a VALUE, 1 if it was computed from an address and is used in a calculation. */
	uint8_t numbers;
	uint16_t offset;   /* offset of its fields in the raw piece */
	uint16_t value_at; /* offset of its first value in the raw piece */
	/* The mask for its first value, which has at most eight bytes, or 0 if it has no value. */
	uint64_t value_mask;
	uint64_t address_mask; /* mask for its address; 0 if it has no address */
	uint32_t site;	       /* number of the site in the trace */
	/* The number of bytes accessed or allocated, or 0 if the record contains it. */
	uint32_t size;
	/* For a store, the site of the load from which its value comes, or 0 if unknown. */
	uint32_t moved;
	uint32_t first_value; /* index of its first value among all values of the layout */
	const struct trace_value *values;
};

struct trace_piece {
	/* `function` is the number of the piece that contains the function's entry. */
	uint32_t number, function;
	uint32_t size;	       /* number of raw bytes */
	uint32_t op_count;     /* number of ops, including those of kind VALUE */
	uint32_t record_count; /* number of ops without those of kind VALUE */
	uint32_t field_count;
	/* The indices of its first op, first plain op and first field in the arrays of the
	 * layout. */
	size_t first_op, first_plain, first_field;
	const struct trace_op *ops; /* op_count ops */
	/* These are record_count ops, without those of kind VALUE. */
	const struct trace_op *plain;
	const struct trace_field *fields; /* struct trace_field is in trace/layout-int.h */
};

struct trace_layout;
/* Makes the layout of a site table.  The table must outlive the layout.  Any number of readers may
 * share a layout. */
int trace_layout_new(struct trace_layout **layout, const struct trace_sites *sites);
void trace_layout_free(struct trace_layout *layout);
size_t trace_layout_count(const struct trace_layout *layout);
const struct trace_piece *trace_layout_at(const struct trace_layout *layout, size_t index);

enum trace_record_flag {
	TRACE_RECORD_UNFINISHED = 1, /* the thread died in this access, so its values are unknown */
	TRACE_RECORD_STORED = 2,     /* for atomics: it stored a value */
};

struct trace_pointer {
	uint64_t offset, value;
};

struct trace_record {
	uint8_t kind;  /* enum trace_full_kind */
	uint8_t flags; /* enum trace_record_flag */
	uint32_t thread;
	/* For an event, this is the site of the call that led to it, or 0 if unknown. */
	uint32_t site;
	uint32_t piece; /* number of the piece that it is part of; 0 if it is not part of a piece */
	const struct trace_op *op; /* its op in the piece; NULL for records of the runtime */
	uint64_t address;
	/* The number of bytes accessed or allocated, or the length of a range, copy or fill. */
	uint64_t size;
	/* The low 8 bytes of the first value.  For a branch, the piece to which it led, or 0 if
	 * unknown.  For a range, the hash. */
	uint64_t value;
	/* Set for entry and landing.  0 if no exception or longjmp() can return to the frame. */
	uint64_t frame;
	uint64_t callee; /* for an indirect call or tail call */
	uint64_t q;	 /* for atomic, fence and event; 0 if the kind has no q */
	size_t value_count;
	/* The arguments, the loaded value and so on.  For an atomic, the old and the new value. */
	const struct trace_value *values;
	const uint8_t *bytes; /* bytes of the values; valid until the next call */
	/* The next three members are set for a range. */
	/* The number of words that may be pointers, and how many of them are listed. */
	uint32_t pointer_count, listed;
	const struct trace_pointer *pointers;
	/* Set for an event. */
	const struct trace_event *event;
	/* The next three members are set for a fault: its number, and the value before and after
	 * it. */
	uint32_t fault;
	uint64_t before, after;
};

/* Returns the low 8 bytes of value number i. */
uint64_t trace_record_value(const struct trace_record *r, size_t i);

struct trace_full;
/* Opens the stream of a thread.  With `values`, the records of kind VALUE are returned, too. */
int trace_full_open(struct trace_full **f, struct trace *trace, const struct trace_layout *layout,
		    size_t index, bool values);
/* Returns true if the file ended inside a chunk, so that later records are lost. */
bool trace_full_is_cut(const struct trace_full *f);

void trace_full_close(struct trace_full *f);

/* trace_full_open_raw() opens a reader for raw bytes of one thread in memory. trace_full_feed()
 * gives the reader the next buffer, which must stay valid while it is read.  A length of 0 means
 * that there are no more buffers. trace_full_next() returns 0 at the end of each buffer.  It
 * returns a branch at the end of a buffer only after the next call of trace_full_feed(), because
 * the next buffer shows the target of the branch. */
void trace_full_open_raw(struct trace_full **f, const struct trace_layout *layout, uint32_t thread,
			 bool values);
void trace_full_feed(struct trace_full *f, const void *raw, size_t length);

/* Stores the call stack at the last record: the call sites of its scopes, innermost first, but at
 * most `max` of them.  Returns the number of scopes. */
size_t trace_full_stack(const struct trace_full *f, uint32_t *sites, size_t max);

/* Stores the next record in *r and returns 1.  Returns 0 if there are no more records.  After an
 * error, returns the same negative numbers as trace_stream_more(). */
int trace_full_next(struct trace_full *f, struct trace_record *r);

/* The rest of a piece that was executed to its end, for callers that do not need records.  It
 * contains the ops, and the offsets of their fields from `base`.  At least 8 readable bytes follow
 * each field. */
struct trace_rest {
	const struct trace_op *ops;
	const uint8_t *base;
	uint32_t count;
};
/* Finds the rest of the current piece.  Returns false if the next record is not part of a piece
 * that was executed to its end, or if the bytes so far do not contain the record. */
bool trace_full_rest(struct trace_full *f, struct trace_rest *rest);

/* Skips the first `count` ops of the rest of a piece.  None of them may change a scope. */
void trace_full_skip(struct trace_full *f, uint32_t count);

#endif
