// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the records of the runtime in the flavour `full`, in place of rt/record/event.c: events,
 * atomics, fences and ranges.  The records are raw (doc/format/full.md).  To write one, space is
 * reserved as for a piece, then the operands are stored, and the code is stored last.  There is no
 * encoder and no state, so signal handlers need no special case.
 *
 * The number q is drawn just after the space has been reserved.  So a signal handler that runs
 * later writes its record behind this one and gets a higher q.  Records are out of order only if
 * the caller drew q earlier, or if a handler runs between the two steps.
 */
#include "rt/full/full.h"

#include "rt/core/buffer/mark.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Links rt/full/full-compare.c even into programs that call memcmp() only in their libraries. */
static __typeof__(memcmp) *const compare __attribute__((used)) = memcmp;

/* Returns true if this thread is still recorded. */
static bool goes_on(struct rt_thread *t)
{
	if (RT_LIKELY(rt.session && t->recording && rt_guard.alive &&
		      atomic_load_explicit(&rt.session->state, memory_order_relaxed) == RADDLE_RECORDING))
		return true;
	if (t->recording && rt_guard.alive)
		rt_full_stop(t);
	t->recording = false;
	return false;
}

/* --- events -------------------------------------------------------------------------- */

static uint32_t event_size(const struct rt_record *r)
{
	uint32_t size = 1;

	for (const char *letter = rt_operands(r->code); *letter; letter++)
		size += *letter == 'b' ? 4 + r->length : 8;
	return size;
}

static uint64_t operand(const struct rt_record *r, char letter, uint32_t index)
{
	uint64_t v = r->operand[index];

	if (letter == 'q' && v == RT_Q)
		return rt_q();
	return letter == 't' && v == RT_T ? rt_now() : v;
}

/* Stores all of a record except its code. */
static void put_event(uint8_t *p, const struct rt_record *r)
{
	uint32_t index = 0;

	p++;
	for (const char *letter = rt_operands(r->code); *letter; letter++) {
		if (*letter != 'b') {
			p = rt_full_put(p, operand(r, *letter, index++), 8);
			continue;
		}
		p = rt_full_put(p, r->length, 4);
		__builtin_memcpy(p, r->bytes, r->length);
		p += r->length;
	}
}

static void emit_atomic(struct rt_thread *t, const struct rt_record *r)
{
	uint32_t bytes = (uint32_t)r->operand[2] >> 8 & 0xff;
	uint8_t *record = rt_full_room(t, 23 + 2 * bytes), *p = record + 1;
	uint64_t old[2] = {r->operand[3], r->operand[4]}, now[2] = {r->operand[5], r->operand[6]};

	p = rt_full_put(p, r->site, 4);
	p = rt_full_put(p, r->operand[0], 8);
	p = rt_full_put(p, r->operand[1], 8);
	p = rt_full_put(p, r->operand[2] & RADDLE_ATOMIC_STORED, 1);
	p = rt_full_put(p, bytes, 1);
	__builtin_memcpy(p, old, bytes);
	__builtin_memcpy(p + bytes, now, bytes);
	rt_full_finish(record, RADDLE_FULL_ATOMIC);
}

static void emit_fence(struct rt_thread *t, const struct rt_record *r)
{
	uint8_t *record = rt_full_room(t, 13), *p = rt_full_put(record + 1, r->site, 4);

	rt_full_put(p, operand(r, 'q', 0), 8);
	rt_full_finish(record, RADDLE_FULL_FENCE);
}

static void emit_event(struct rt_thread *t, const struct rt_record *r)
{
	uint8_t *record = rt_full_room(t, event_size(r));

	put_event(record, r);
	rt_full_finish(record, (uint8_t)r->code);
}

static int tls_event(struct dl_phdr_info *info, size_t size, void *context)
{
	struct rt_record r = {.code = RADDLE_TLS, .count = 2};

	if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof info->dlpi_tls_data ||
	    !info->dlpi_tls_data)
		return 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			r.operand[1] = info->dlpi_phdr[i].p_memsz;
	r.operand[0] = (uintptr_t)info->dlpi_tls_data;
	emit_event(context, &r);
	return 0;
}

/* Segments matter only while threads are led to an access.  They end at the same records as in
 * rt/record/event.c. */
static void begin_segment(struct rt_thread *t, uint32_t code, uint64_t operand)
{
	if (RT_UNLIKELY(t->recording == RT_LISTENED) && raddle_ends_segment(code, operand) &&
	    atomic_load_explicit(&rt.others, memory_order_relaxed) != 0)
		rt_new_segment(t);
}

/* Returns true if a record with this code must be written, that is, if the thread is recorded and
 * something reads its records.  `operand` is the third operand of the record. */
static bool begin_record(struct rt_thread *t, uint32_t code, uint64_t operand)
{
	if (!goes_on(t))
		return false;
	begin_segment(t, code, operand);
	return !rt_unread();
}

static void write_record(struct rt_thread *t, const struct rt_record *record)
{
	struct rt_record r = *record;

	r.code &= ~RT_TAKEN;
	if (r.code == RADDLE_ATOMIC)
		emit_atomic(t, &r);
	else if (r.code == RADDLE_FENCE)
		emit_fence(t, &r);
	else
		emit_event(t, &r);
	if (r.code == RADDLE_THREAD_START)
		dl_iterate_phdr(tls_event, t);
	else if (r.code == RADDLE_THREAD_END)
		rt_full_hand_over(t);
}

void rt_emit(struct rt_thread *t, const struct rt_record *record)
{
	if (begin_record(t, record->code & ~RT_TAKEN, record->operand[2]))
		write_record(t, record);
}

static __attribute__((noinline)) void write_event(struct rt_thread *t, uint32_t code, uint32_t count,
						  const uint64_t *operands)
{
	struct rt_record r = {.code = code, .count = count};

	for (uint32_t i = 0; i < count; i++)
		r.operand[i] = operands[i];
	write_record(t, &r);
}

void rt_event(struct rt_thread *t, uint32_t code, uint32_t count, const uint64_t *operands)
{
	if (begin_record(t, code, count > 2 ? operands[2] : 0))
		write_event(t, code, count, operands);
}

/* Records the handle by which the creator identifies the new thread. */
void rt_created(struct rt_thread *t, uint64_t handle)
{
	RT_EVENT(t, RADDLE_HANDLE, handle);
}

void rt_sync(struct rt_thread *t, uint32_t code, uintptr_t object, uint64_t last)
{
	rt_event(t, code, last == RT_NONE ? 3 : 4, (uint64_t[]){RT_Q, RT_T, object, last});
}

bool rt_atomic(struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t flags)
{
	(void)t, (void)address, (void)site, (void)flags;
	return false;
}

void rt_outside_event(struct rt_thread *t, uint32_t code)
{
	(void)t;
	(void)code;
}

void rt_heap(struct rt_thread *t, uint32_t code, uintptr_t address, uint64_t size, uint64_t kind)
{
	if (size == RT_NONE)
		RT_EVENT(t, code, RT_Q, address, kind);
	else
		RT_EVENT(t, code, RT_Q, address, size, kind);
}

/* The result is the last operand.  The record stays open until the result is known. */
struct rt_release rt_release_begin(struct rt_thread *t, uint32_t code, uintptr_t object)
{
	struct rt_record r;
	struct rt_release release = {0};
	uint8_t *record;

	if (!begin_record(t, code, object))
		return release;
	r = (struct rt_record){.code = code, .count = 4, .operand = {RT_Q, RT_T, object, 0}};
	record = rt_full_room(t, event_size(&r));
	put_event(record, &r);
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint8_t *)record = (uint8_t)code;
	release.byte = record + event_size(&r) - 8;
	return release;
}

void rt_release_end(struct rt_thread *t, const struct rt_release *release, uint64_t result)
{
	(void)t;
	if (!release->byte)
		return;
	*(volatile uint8_t *)release->byte = result & 0x7f;
	raddle_full_end(release->byte);
}

/* There is no encoder to take. */
uint32_t rt_encoder_take(struct rt_thread *t)
{
	(void)t;
	return 0;
}

void rt_encoder_leave(struct rt_thread *t)
{
	(void)t;
}

/* From now on, layers are notified of each access of the thread, including repeated ones
 * (rt/steer/goal.c). */
void rt_see_again(struct rt_thread *t)
{
	t->every = true;
}

/* Marks are used only in `led`, and only while a layer listens. */
void rt_forget(struct rt_thread *t, uintptr_t address, size_t size)
{
	if (t->recording == RT_LISTENED)
		rt_unmark(t, address, size);
}

/* Returns true if the block is a mapping of its own, which the kernel has just cleared.  In glibc,
 * such a block has a header of two words, and other blocks have a header of one word.  So only the
 * usable size of a mapping is a multiple of two words.  Large blocks of other allocators are
 * usually taken for mappings. */
static bool is_mapping(size_t usable)
{
	return usable % (2 * sizeof(size_t)) == 0;
}

/* Clears new blocks.  Their old content, such as addresses, differs from run to run, and programs
 * unintentionally copy it as padding of structures.  A large mapping is not cleared, because that
 * would touch pages that the program never uses. */
void *rt_fresh(void *p, size_t known)
{
	size_t size = p ? rt_usable_size(p) : 0;

	if (size > known && (size <= RT_FULL_FRESH_MAX || !is_mapping(size)))
		__builtin_memset((char *)p + known, 0, size - known);
	return p;
}

/* --- ranges ---------------------------------------------------------------------------- */

struct summary {
	uint64_t hash;
	uint32_t pointers, listed;
	struct {
		uint64_t offset, value;
	} pointer[RADDLE_FULL_POINTERS];
};

/* Returns what is hashed for a whole word of memory: the word itself, or 1 in place of a
 * pointer. */
static uint64_t take_word(struct summary *s, const uint8_t *p, uint64_t offset)
{
	uint64_t word;

	__builtin_memcpy(&word, p, 8);
	if (RT_LIKELY(!raddle_may_be_pointer(word)))
		return word;
	s->pointers++;
	if (s->listed < RADDLE_FULL_POINTERS) {
		s->pointer[s->listed].offset = offset;
		s->pointer[s->listed++].value = word;
		return 1;
	}
	return raddle_looks_like_pointer(word) ? 1 : word;
}

static uint64_t take_bytes(const uint8_t *p, uint64_t count)
{
	uint64_t word = 0;

	for (uint64_t i = 0; i < count; i++)
		word |= (uint64_t)p[i] << i * 8;
	return word;
}

/* Reads aligned words from memory, but hashes words that are counted from the start of the range.
 * `carry` holds the first bytes of the next word to hash. */
static void summarise(struct summary *s, const uint8_t *start, uint64_t size)
{
	uint64_t skew = -(uintptr_t)start & 7, n = skew < size ? skew : size, carry = take_bytes(start, n),
		 word;

	*s = (struct summary){.hash = size};
	for (; n + 8 <= size; n += 8) {
		word = take_word(s, start + n, n);
		s->hash = raddle_hash_word(s->hash, carry | word << skew * 8);
		carry = skew ? word >> (64 - skew * 8) : 0;
	}
	if (n < size) {
		word = take_bytes(start + n, size - n);
		if (skew + (size - n) >= 8) {
			s->hash = raddle_hash_word(s->hash, carry | word << skew * 8);
			carry = word >> (64 - skew * 8);
		} else {
			carry |= word << skew * 8;
		}
	}
	if (size & 7)
		s->hash = raddle_hash_word(s->hash, carry);
}

static void range(struct raddle_self *self, const void *address, uint32_t site, uint64_t size)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;
	struct summary s;
	uint8_t *record, *p;

	if (!size || !t || !goes_on(t))
		return;
	summarise(&s, address, size);
	record = rt_full_room(t, 34 + s.listed * 16);
	p = rt_full_put(record + 1, site, 4);
	p = rt_full_put(p, (uintptr_t)address, 8);
	p = rt_full_put(p, size, 8);
	p = rt_full_put(p, s.hash, 8);
	p = rt_full_put(p, s.pointers, 4);
	p = rt_full_put(p, s.listed, 1);
	__builtin_memcpy(p, s.pointer, s.listed * sizeof *s.pointer);
	rt_full_finish(record, RADDLE_FULL_RANGE);
}

EXPORT void __raddle_read_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size)
{
	range(self, p, site, size);
}

EXPORT void __raddle_write_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size)
{
	range(self, p, site, size);
}

const struct rt_layer rt_layer_full = {
	.number = RT_LAYER_FULL,
	.thread_size = sizeof(struct rt_full),
	.setup = rt_full_setup,
	.reset = rt_full_reset,
};
