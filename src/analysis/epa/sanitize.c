// SPDX-License-Identifier: Apache-2.0
/*
 * Turns records of the walk into canonical records.
 *
 * The following is left out, because differences in it do not come from the program:
 * - events about waiting, and which thread of a barrier was the last one;
 * - allocations and releases: those of the program appear as calls with arguments and results
 *   anyway, and those of libraries (such as a buffer of stdout) are made by whichever thread comes
 *   first;
 * - the old values of atomic read-modify-writes: only the difference to the new value is kept,
 *   because the sum of additions does not depend on their order;
 * - the bytes of copies, which may be padding; bytes that enter or leave the program are kept;
 * - undefined bytes in a partly defined word: padding that is loaded with the rest of a structure,
 *   and then passed on or stored;
 * - the values of an address's bytes when they are moved one by one: the address is compared when
 *   it is used as a whole.
 */
#include "epa/sanitize-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

/* Returns true if the call may wait for a condition. */
static bool is_wait(const char *callee)
{
	return strstr(callee, "cond_") || strstr(callee, "cnd_") || strstr(callee, "condition_variable");
}

static bool has_waits(const struct trace_sites *sites)
{
	for (size_t i = 0; i < sites->site_count; i++)
		if (sites->sites[i].kind == TRACE_SITE_CALL && is_wait(sites->sites[i].what))
			return true;
	return false;
}

static bool has_moves(const struct trace_layout *layout)
{
	for (size_t i = 0; layout && i < trace_layout_count(layout); i++) {
		const struct trace_piece *piece = trace_layout_at(layout, i);
		for (uint32_t k = 0; k < piece->record_count; k++)
			if (piece->plain[k].moved)
				return true;
	}
	return false;
}

struct epa_sanitizer *epa_sanitizer_new(struct epa_walk *walk, struct epa_names *names)
{
	struct epa_sanitizer *s = rd_xcalloc(1, sizeof *s);
	s->walk = walk;
	s->names = names;
	s->sites = epa_source_sites(epa_walk_source(walk));
	s->objects = epa_objects_new(walk, names);
	s->threads = rd_xcalloc(epa_walk_threads(walk) + 1, sizeof *s->threads);
	s->moves = has_moves(epa_source_layout(epa_walk_source(walk)));
	if (has_waits(s->sites))
		s->delay = epa_delay_new(s->objects, epa_walk_threads(walk));
	return s;
}

void epa_sanitizer_free(struct epa_sanitizer *s)
{
	if (!s)
		return;
	epa_delay_free(s->delay);
	epa_objects_free(s->objects);
	rd_umap_release(&s->numbered);
	free(s->threads);
	free(s);
}

struct epa_objects *epa_sanitizer_objects(struct epa_sanitizer *s)
{
	return s->objects;
}

/* --- adding slots to a record --- */

static void put(struct epa_record *r, struct epa_name name)
{
	RD_ASSERT(r->count <= EPA_SLOTS);
	if (r->count < EPA_SLOTS) {
		r->slots[r->count++] = name;
		return;
	}
	struct epa_name *last = &r->slots[EPA_SLOTS - 1];
	last->where = raddle_hash_word(raddle_hash_word(last->where ^ last->who, name.who), name.where);
	last->who = 0;
}

static void put_number(struct epa_record *r, uint64_t value)
{
	put(r, epa_plain(value));
}

static void put_address(struct epa_sanitizer *s, struct epa_record *r, uint64_t address)
{
	put(r, epa_objects_value(s->objects, r->site, address));
}

/* Turns a mask with one bit for each byte of a word into a mask of all bits of these bytes. */
static uint64_t widen(uint8_t bytes)
{
	uint64_t mask = 0;
	for (unsigned i = 0; i < 8; i++)
		mask |= bytes >> i & 1 ? 0xffull << 8 * i : 0;
	return mask;
}

/* Notes the padding of a loaded word.  Even a word that is already known is added again.
 * Otherwise, the contents of the padding would influence which entries are replaced. */
static void note_padding(struct sanitizer_thread *t, uint64_t word, uint8_t bytes)
{
	t->padded[t->next] = (struct padded_word){word, bytes};
	t->next = (t->next + 1) % PADDED;
	t->known += t->known < PADDED;
}

/* Returns true if a word is an address.  Most addresses can be recognised by their value.  If the
 * stack is unlimited, or if address randomisation is stronger than usual, some cannot.  Such a word
 * counts as an address if an object lies there. */
static bool is_pointer(struct epa_sanitizer *s, const struct epa_record *r, uint64_t word)
{
	return raddle_looks_like_pointer(word) ||
	       (word >> 40 && !(word >> 47) && epa_objects_has(s->objects, r->site, word));
}

static void put_number_or_address(struct epa_sanitizer *s, struct epa_record *r, uint64_t word)
{
	if (is_pointer(s, r, word))
		put_address(s, r, word);
	else
		put_number(r, word);
}

/* Adds a slot for a word that may be a pointer and may have padding. */
static void put_word(struct epa_sanitizer *s, struct epa_record *r, uint64_t word)
{
	const struct sanitizer_thread *t = &s->threads[r->place];
	if (t->known)
		word &= ~widen(epa_padding_of(t, word));
	put_number_or_address(s, r, word);
}

static void put_bytes(struct epa_sanitizer *s, struct epa_record *r, const uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size; i += 8)
		put_word(s, r, epa_word_at(p + i, size - i));
}

static void put_value(struct epa_sanitizer *s, struct epa_record *r, size_t i)
{
	RD_ASSERT(i < s->raw.value_count);
	const struct trace_value *v = &s->raw.values[i];
	if (s->numbered.count && v->type == TRACE_VALUE_INT && (v->size == 4 || v->size == 8) &&
	    epa_is_process_number(s, trace_record_value(&s->raw, i)))
		put(r, epa_name_of(EPA_PROCESS, 0, 0));
	else if (v->size > 8)
		put_bytes(s, r, s->raw.bytes + v->offset, v->size);
	else if (v->type == TRACE_VALUE_POINTER)
		put_address(s, r, trace_record_value(&s->raw, i));
	else if (v->size == 8 && v->type != TRACE_VALUE_FLOAT)
		put_word(s, r, trace_record_value(&s->raw, i));
	else if (v->size >= 2 && v->type == TRACE_VALUE_INT && s->threads[r->place].known)
		put_word(s, r, trace_record_value(&s->raw, i));
	else
		put_number(r, trace_record_value(&s->raw, i));
}

/* Handles a load of bytes of which some are undefined. */
static void look_for_padding(struct epa_sanitizer *s, struct epa_record *r)
{
	const struct trace_value *v = s->raw.values;
	for (size_t i = 0; i < v->size; i += 8) {
		size_t n = v->size - i < 8 ? v->size - i : 8;
		uint8_t bytes = epa_objects_undefined(s->objects, r->site, r->address + i, n);
		/* A completely undefined word is not treated as padding.  It was stored by a
		 * library, or reading it is an error that should be visible. */
		if (bytes && bytes != (uint8_t)(0xff >> (8 - n)))
			note_padding(&s->threads[r->place], epa_word_at(s->raw.bytes + v->offset + i, n),
				     bytes);
	}
}

/* Handles a store.  The padding in the stored value stays undefined. */
static void define_stored(struct epa_sanitizer *s, struct epa_record *r)
{
	const struct trace_value *v = s->raw.values;
	const struct sanitizer_thread *t = &s->threads[r->place];
	uint64_t except = 0;
	for (size_t i = 0; t->known && i < v->size && i < 64; i += 8)
		except |= (uint64_t)epa_padding_of(t, epa_word_at(s->raw.bytes + v->offset + i, v->size - i))
			  << i;
	epa_objects_define(s->objects, &s->raw, r->size, except);
}

static void put_values(struct epa_sanitizer *s, struct epa_record *r)
{
	for (size_t i = 0; i < s->raw.value_count; i++)
		put_value(s, r, i);
}

/* --- parts of addresses --- */

static struct carried_part *carried_by(struct sanitizer_thread *t, uint32_t site)
{
	for (unsigned i = 0; i < t->carried_count; i++)
		if (t->carried[i].site == site)
			return &t->carried[i];
	return NULL;
}

static void carry(struct sanitizer_thread *t, uint32_t site, uint8_t bytes)
{
	struct carried_part *c = carried_by(t, site);
	if (c && !bytes) {
		*c = t->carried[--t->carried_count];
		return;
	}
	if (!bytes)
		return;
	if (!c && t->carried_count < CARRIED)
		c = &t->carried[t->carried_count++];
	else if (!c)
		c = &t->carried[t->carried_next++ % CARRIED];
	*c = (struct carried_part){site, bytes};
}

static void put_part(struct epa_record *r, uint8_t bytes)
{
	put(r, epa_name_of(EPA_PART, 0, bytes));
}

/* Returns true if a name is that of an address. */
static bool is_address(struct epa_name name)
{
	return epa_name_kind(name) != EPA_NONE && epa_name_kind(name) != EPA_PROCESS;
}

/* If the loaded value is a part of an address, adds it to the record and returns true. */
static bool load_part(struct epa_sanitizer *s, struct epa_record *r)
{
	uint8_t bytes;
	if (!s->moves || s->raw.size >= 8)
		return false;
	bytes = epa_objects_parts(s->objects, r->site, s->raw.address, s->raw.size);
	carry(&s->threads[r->place], r->site, bytes);
	if (bytes)
		put_part(r, bytes);
	return bytes != 0;
}

/* Does the same as load_part() for a store of less than a word.  A store also changes which bytes
 * in memory are part of an address. */
static bool store_part(struct epa_sanitizer *s, struct epa_record *r)
{
	const struct carried_part *c;
	if (!s->moves || s->raw.size >= 8)
		return false;
	c = s->raw.op->moved ? carried_by(&s->threads[r->place], s->raw.op->moved) : NULL;
	epa_objects_set_parts(s->objects, &s->raw, c ? c->bytes : 0);
	if (c)
		put_part(r, c->bytes);
	return c != NULL;
}

/* Handles a store of words, which are the slots from `first` on. */
static void store_words(struct epa_sanitizer *s, const struct epa_record *r, unsigned first)
{
	struct trace_record word = s->raw;
	word.size = 8;
	for (unsigned i = first; s->moves && i < r->count && s->raw.size >= 8; i++) {
		epa_objects_set_parts(s->objects, &word, is_address(r->slots[i]) ? 0xff : 0);
		word.address += 8;
	}
}

/* --- special calls --- */

/* Returns true if the memory ranges that the function accesses contain only defined bytes.  This is
 * so for strings, input and output. */
static bool is_io(const char *callee)
{
	static const char *const names[] = {
#define LIBC_BYTES(name) name,
#include "raddle/libc.inc"
	};
	return rd_is_one_of(callee, names, sizeof names / sizeof *names);
}

/* Returns true if the function returns a process ID. */
static bool is_numbering(const char *callee)
{
	static const char *const names[] = {
#define LIBC_PROCESS(name) name,
#include "raddle/libc.inc"
	};
	return rd_is_one_of(callee, names, sizeof names / sizeof *names);
}

static size_t call_of(struct epa_sanitizer *s, uint32_t number)
{
	size_t i = (number ^ number >> 16) % IO_CACHE;
	if (s->calls[i].known && s->calls[i].site == number)
		return i;
	const struct trace_site *site = trace_sites_find(s->sites, number);
	s->calls[i].site = number;
	s->calls[i].known = true;
	s->calls[i].io = site && is_io(site->what);
	s->calls[i].numbers = site && is_numbering(site->what);
	s->calls[i].barrier = site && strcmp(site->what, "pthread_barrier_wait") == 0;
	return i;
}

/* Returns true if the call moves the bytes of the range into or out of the program, so that they
 * are compared. */
static bool counts_bytes(struct epa_sanitizer *s, const struct epa_record *r)
{
	const struct trace_site *site = trace_sites_find(s->sites, r->site);
	uint32_t call = 0;
	if (!site || (site->kind != TRACE_SITE_RANGE_READ && site->kind != TRACE_SITE_RANGE_WRITE))
		return false;
	epa_walk_stack(s->walk, r->place, &call, 1);
	return s->calls[call_of(s, call)].io;
}

/* --- filling a record, by kind --- */

static void copy_bytes(struct epa_sanitizer *s, uint64_t to, uint64_t from, uint64_t size)
{
	epa_objects_copy_defined(s->objects, to, from, size);
	if (s->moves)
		epa_objects_copy_parts(s->objects, to, from, size);
}

/* Marks bytes as defined and not part of an address. */
static void write_bytes(struct epa_sanitizer *s, uint64_t size)
{
	epa_objects_define(s->objects, &s->raw, size, 0);
	if (s->moves)
		epa_objects_copy_parts(s->objects, s->raw.address, 0, size);
}

/* Handles a range of memory that a library call reads or writes.  A written range becomes defined.
 * But if the thread has just read a range of the same size, the call is assumed to copy it, and the
 * state of each byte is copied, too. */
static void define_range(struct epa_sanitizer *s, const struct epa_record *r)
{
	const struct trace_site *site = trace_sites_find(s->sites, r->site);
	struct sanitizer_thread *t = &s->threads[r->place];
	if (!site || site->kind == TRACE_SITE_COPY)
		return;
	if (site->kind == TRACE_SITE_RANGE_READ) {
		t->read = r->address;
		t->read_size = r->size;
	} else if (t->read_size == r->size) {
		copy_bytes(s, r->address, t->read, r->size);
		t->read_size = 0;
	} else {
		write_bytes(s, r->size);
	}
}

static void fill_range(struct epa_sanitizer *s, struct epa_record *r)
{
	const struct trace_record *raw = &s->raw;
	define_range(s, r);
	put_address(s, r, raw->address);
	put_number(r, raw->size);
	if (!counts_bytes(s, r))
		return;
	put_number(r, raw->value);
	put_number(r, raw->pointer_count);
	for (uint32_t i = 0; i < raw->listed; i++)
		put_number_or_address(s, r, raw->pointers[i].value);
}

static void fill_atomic(struct epa_sanitizer *s, struct epa_record *r)
{
	const struct trace_record *raw = &s->raw;
	const struct trace_site *site = trace_sites_find(s->sites, r->site);
	uint64_t old = trace_record_value(raw, 0), now = trace_record_value(raw, 1);
	if (raw->flags & TRACE_RECORD_STORED)
		epa_objects_define(s->objects, raw, raw->size, 0);
	put_address(s, r, raw->address);
	put_number(r, raw->flags & TRACE_RECORD_STORED);
	if (raw->value_count < 2 || !site)
		return;
	switch (site->kind) {
	case TRACE_SITE_ATOMIC_STORE: put_value(s, r, 1); break;
	case TRACE_SITE_ATOMIC_RMW:
		if (raw->size <= 8 && !is_pointer(s, r, old) && !is_pointer(s, r, now)) {
			unsigned shift = raw->size < 8 ? 64 - 8 * (unsigned)raw->size : 0;
			put_number(r, (now - old) << shift >> shift);
			break;
		}
		/* fall through */
	default: put_values(s, r);
	}
}

/* Adds a slot for a thread, given by its number in this run. */
static void put_thread(struct epa_sanitizer *s, struct epa_record *r, uint64_t number)
{
	put(r, epa_name_of(EPA_THREAD, epa_objects_named(s->objects, (uint32_t)number), 0));
}

/* Adds all operands of an event, except q, t and numbers that the system assigns. */
static void put_operands(struct epa_sanitizer *s, struct epa_record *r)
{
	const struct trace_event *e = s->raw.event;
	const char *letters = trace_kind(e->kind)->operands;
	for (unsigned i = 0; letters[i]; i++) {
		if (letters[i] == 'a')
			put_address(s, r, e->values[i]);
		else if (letters[i] == 'u')
			put_number(r, e->values[i]);
		else if (letters[i] == 'b')
			put_bytes(s, r, (const uint8_t *)e->bytes, e->length);
	}
}

/* Returns true if the program itself requested the event.  The ends of waits, the choice of the
 * first thread at a once control, and notes of the runtime are not requested by the program, and
 * vary from run to run. */
static bool is_of_program(enum raddle_event kind)
{
	if (raddle_class(kind) == RADDLE_CLASS_PROCESS)
		return raddle_has_q(kind);
	return raddle_is_counted(kind) && raddle_class(kind) != RADDLE_CLASS_ONCE &&
	       !raddle_is_cond_wait(kind) && raddle_role(kind) != RADDLE_ROLE_WAKE;
}

static bool has_thread(enum raddle_event kind)
{
	return raddle_role(kind) == RADDLE_ROLE_JOIN || raddle_role(kind) == RADDLE_ROLE_DETACH;
}

static void note_process(struct epa_sanitizer *s, uint64_t value)
{
	if (value && value <= INT32_MAX)
		rd_umap_put(&s->numbered, value, NULL);
}

/* Returns true if a result can be a process ID.  The IDs of children and of the thread itself are
 * known from events, so any other number is the result of a fault. */
static bool is_number_of(const struct epa_sanitizer *s, const char *callee, size_t place, uint64_t value)
{
	static const char *const children[] = {"fork", "vfork", "wait", "waitpid", "wait4"};
	uint64_t own = strcmp(callee, "gettid") == 0   ? s->threads[place].number
		       : strcmp(callee, "getpid") == 0 ? s->threads[0].number
						       : 0;
	if (s->forked && rd_is_one_of(callee, children, sizeof children / sizeof *children))
		return false;
	return !own || own == value;
}

static void note_numbers(struct epa_sanitizer *s, size_t place, const struct trace_event *e)
{
	if (e->kind == RADDLE_THREAD_START)
		s->threads[place].number = e->values[6];
	if (e->kind != RADDLE_FORK)
		return;
	s->forked = true;
	note_process(s, e->values[3]);
}

static bool fill_event(struct epa_sanitizer *s, struct epa_record *r)
{
	const struct trace_event *e = s->raw.event;
	r->event = (uint8_t)e->kind;
	note_numbers(s, r->place, e);
	if (!is_of_program(e->kind))
		return false;
	if (e->kind == RADDLE_THREAD_CREATE) {
		put_number(r, e->values[3]);
		put_number(r, e->values[4]);
	} else if (has_thread(e->kind)) {
		put_thread(s, r, e->values[2]);
		put_number(r, e->values[3]);
	} else if (raddle_class(e->kind) != RADDLE_CLASS_THREAD && e->kind != RADDLE_FORK) {
		put_operands(s, r);
	}
	return true;
}

static void fill_result(struct epa_sanitizer *s, struct epa_record *r)
{
	uint64_t value = s->raw.value;
	if (s->calls[call_of(s, r->site)].numbers &&
	    is_number_of(s, trace_sites_find(s->sites, r->site)->what, r->place, value))
		note_process(s, value);
	/* One of the threads at a barrier receives a special result.  It may be any of them, so the
	 * result is always recorded as 0. */
	if (s->calls[call_of(s, r->site)].barrier && (value == 0 || (uint32_t)value == UINT32_MAX))
		put_number(r, 0);
	else
		put_values(s, r);
}

/* Returns true if the fault prevented a call.  The record before the fault announces the call
 * although it was not made, and the result may happen to be the right one.  So all other records
 * may equal the golden ones.  Faults of other kinds have effects that later records show. */
static bool prevents_call(const struct epa_sanitizer *s, uint32_t number)
{
	const struct trace_site *site = trace_sites_find(s->sites, number);
	return site && site->kind == TRACE_SITE_PREVENTABLE;
}

/* Adds the value of a load or a store. */
static void fill_value(struct epa_sanitizer *s, struct epa_record *r)
{
	unsigned first = r->count;
	if (r->kind == TRACE_FULL_LOAD ? load_part(s, r) : store_part(s, r))
		return;
	put_value(s, r, 0);
	if (r->kind == TRACE_FULL_STORE)
		store_words(s, r, first);
}

static void note_fault(struct epa_sanitizer *s, size_t place)
{
	if (s->delay)
		epa_delay_fault(s->delay, place);
	if (s->fault_count < EPA_FAULTS)
		s->faults[s->fault_count++] = (struct epa_fault){epa_objects_thread(s->objects, place),
								 s->raw.site, s->raw.before, s->raw.after};
}

/* Returns true if the fault changed a part of an address.  The record of the load does not show
 * that, because the value of such a part differs from run to run and is not compared. */
static bool changes_part(const struct epa_sanitizer *s, const struct epa_record *r)
{
	const struct carried_part *c = s->moves ? carried_by(&s->threads[r->place], r->site) : NULL;
	return c && c->bytes && s->raw.before != s->raw.after;
}

/* Returns true if the fault has an effect that no other record shows. */
static bool is_compared_fault(const struct epa_sanitizer *s, const struct epa_record *r)
{
	return prevents_call(s, r->site) || changes_part(s, r);
}

const struct epa_fault *epa_sanitizer_faults(const struct epa_sanitizer *s, size_t *count)
{
	*count = s->fault_count;
	return s->faults;
}

/* Fills in the record.  Returns false if the record is to be left out. */
static bool fill(struct epa_sanitizer *s, struct epa_record *r)
{
	const struct trace_record *raw = &s->raw;
	switch (r->kind) {
	case TRACE_FULL_LOAD:
	case TRACE_FULL_STORE:
		put_address(s, r, raw->address);
		if (r->unfinished || !raw->value_count)
			return true;
		if (r->kind == TRACE_FULL_STORE)
			define_stored(s, r);
		else if (raw->values->size > 1 && raw->values->type != TRACE_VALUE_FLOAT)
			look_for_padding(s, r);
		fill_value(s, r);
		return true;
	case TRACE_FULL_ALLOCA:
		put_address(s, r, raw->address);
		put_number(r, raw->size);
		return true;
	case TRACE_FULL_COPY:
		copy_bytes(s, raw->address, raw->value, raw->size);
		put_address(s, r, raw->address);
		put_values(s, r);
		return true;
	case TRACE_FULL_FILL:
		write_bytes(s, raw->size);
		put_address(s, r, raw->address);
		put_values(s, r);
		return true;
	case TRACE_FULL_RANGE: fill_range(s, r); return true;
	case TRACE_FULL_ATOMIC: fill_atomic(s, r); return true;
	case TRACE_FULL_EVENT: return fill_event(s, r);
	case TRACE_FULL_CALL:
	case TRACE_FULL_TAIL:
		if (raw->op->callee)
			put_address(s, r, raw->callee);
		put_values(s, r);
		return true;
	case TRACE_FULL_LANDING: put_number(r, r->depth); return true;
	case TRACE_FULL_RESULT: fill_result(s, r); return true;
	case TRACE_FULL_ENTRY:
	case TRACE_FULL_RETURN: put_values(s, r); return true;
	case TRACE_FULL_BRANCH:
	case TRACE_FULL_RESTORE:
	case TRACE_FULL_FENCE: return true;
	case TRACE_FULL_FAULT: note_fault(s, r->place); return is_compared_fault(s, r);
	default: return false;
	}
}

/* Reads the next record of the walk that is not left out. */
static int next_record(struct epa_sanitizer *s, struct epa_record *r)
{
	while (epa_walk_next(s->walk, &s->raw) > 0) {
		epa_objects_feed(s->objects, &s->raw);
		r->site = s->raw.site;
		r->kind = s->raw.kind;
		r->event = 0;
		r->count = 0;
		r->unfinished = s->raw.flags & TRACE_RECORD_UNFINISHED;
		r->place = epa_walk_place(s->walk);
		r->depth = (uint32_t)epa_objects_depth(s->objects, r->place);
		r->address = s->raw.address;
		r->size = s->raw.size;
		r->value = s->raw.value;
		r->op = s->raw.kind < TRACE_FULL_RANGE ? s->raw.op : NULL;
		if (s->delay && r->kind == TRACE_FULL_EVENT)
			epa_delay_event(s->delay, r->place, s->raw.event);
		if (fill(s, r))
			return 1;
	}
	return 0;
}

int epa_sanitizer_next(struct epa_sanitizer *s, struct epa_record *r)
{
	if (!s->delay)
		return next_record(s, r);
	for (;;) {
		if (epa_delay_next(s->delay, r))
			return 1;
		if (!next_record(s, r)) {
			if (epa_delay_end(s->delay))
				continue;
			return 0;
		}
		if (!epa_delay_take(s->delay, r))
			return 1;
	}
}
