// SPDX-License-Identifier: Apache-2.0
/*
 * From packets of Intel PT to places.  In: packets, code, addresses.  Out: which addresses were reached.
 *
 * The packets come from outside and may be anything.  Where they cannot be followed, the decoder continues at
 * the next point of synchronisation, and that is a gap; each such step moves forward, so it ends.  Code
 * that jumps to itself would be followed for ever without a packet: the number of instructions is limited.
 */
#include "sketch/pt-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/library.h"

#include <stdlib.h>
#include <string.h>

#if defined __has_include && __has_include(<intel-pt.h>)
#include <intel-pt.h>

#define LIBRARY "libipt.so.2"
#define FUNCTIONS(X)                                                                                         \
	X(insn_alloc_decoder)                                                                                \
	X(insn_free_decoder)                                                                                 \
	X(insn_get_image)                                                                                    \
	X(insn_sync_forward)                                                                                 \
	X(insn_next)                                                                                         \
	X(insn_event)                                                                                        \
	X(image_set_callback)

struct library {
	void *handle;
#define X(name) __typeof__(pt_##name) *name;
	FUNCTIONS(X)
#undef X
};

static bool load(struct library *l)
{
	const struct rd_library_function functions[] = {
#define X(name) {"pt_" #name, &l->name},
		FUNCTIONS(X)
#undef X
	};

	l->handle = rd_library_open(LIBRARY, functions, sizeof functions / sizeof *functions);
	return l->handle != NULL;
}

static void unload(struct library *l)
{
	rd_library_close(l->handle);
}

bool pt_has_library(void)
{
	struct library l = {0};
	bool has = load(&l);

	unload(&l);
	return has;
}

/* libipt asks for code. */
static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip, void *context)
{
	const struct pt_trace *t = context;

	(void)asid;
	for (size_t i = 0; i < t->code_count; i++) {
		const struct pt_code *c = &t->code[i];

		if (ip < c->address || ip - c->address >= c->size)
			continue;
		if (size > c->size - (ip - c->address))
			size = c->size - (ip - c->address);
		memcpy(buffer, c->bytes + (ip - c->address), size);
		return (int)size;
	}
	return -pte_nomap;
}

static int by_address(const void *key, const void *item)
{
	uint64_t address = *(const uint64_t *)key;
	const struct pt_place *p = item;

	return (address > p->address) - (address < p->address);
}

static void reach(const struct pt_trace *t, uint64_t address, struct pt_left *left)
{
	const struct pt_place *p =
		t->place_count ? bsearch(&address, t->places, t->place_count, sizeof *p, by_address) : NULL;

	if (!p)
		return;
	RD_GROW(left->numbers, left->capacity, left->count + 1);
	left->numbers[left->count++] = p->number;
}

/* Skips the events between instructions. */
static int pass_events(const struct library *l, struct pt_insn_decoder *d, int status)
{
	while (status >= 0 && status & pts_event_pending) {
		struct pt_event event;

		status = l->insn_event(d, &event, sizeof event);
	}
	return status;
}

/* Follows the instructions from a point of synchronisation on; the error that ended it. */
static int follow(const struct library *l, struct pt_insn_decoder *d, const struct pt_trace *t,
		  struct pt_left *left, int status)
{
	uint64_t most = t->most ? t->most : PT_MOST;

	for (;;) {
		struct pt_insn insn = {0};

		status = pass_events(l, d, status);
		if (status < 0 || status & pts_eos)
			return status < 0 ? status : -pte_eos;
		status = l->insn_next(d, &insn, sizeof insn);
		if (insn.iclass != ptic_error) /* also of one that ends in an error */
			reach(t, insn.ip, left);
		if (status < 0)
			return status;
		if (++left->instructions >= most) {
			left->cut = true;
			return -pte_eos;
		}
	}
}

static void follow_all(const struct library *l, struct pt_insn_decoder *d, const struct pt_trace *t,
		       struct pt_left *left)
{
	for (;;) {
		int status = l->insn_sync_forward(d);

		if (status >= 0)
			status = follow(l, d, t, left, status);
		if (status == -pte_eos || left->cut)
			return;
		left->gaps++;
		if (left->gaps > t->size)
			return; /* each one is behind the one before */
	}
}

int pt_decode(const struct pt_trace *t, struct pt_left *left)
{
	struct pt_config config;
	struct library l = {0};
	struct pt_insn_decoder *d = NULL;

	*left = (struct pt_left){0};
	if (!load(&l)) {
		unload(&l);
		return rd_fail(RD_EUSAGE, "Intel PT: " LIBRARY " cannot be loaded: install libipt2");
	}
	pt_config_init(&config);
	config.begin = (uint8_t *)(uintptr_t)t->packets; /* it is only read */
	config.end = config.begin + t->size;
	if (t->size)
		d = l.insn_alloc_decoder(&config);
	if (d) {
		l.image_set_callback(l.insn_get_image(d), read_code, (void *)(uintptr_t)t);
		follow_all(&l, d, t, left);
		l.insn_free_decoder(d);
	}
	unload(&l);
	return RD_OK;
}

#else /* built where there is no header */

bool pt_has_library(void)
{
	return false;
}

int pt_decode(const struct pt_trace *t, struct pt_left *left)
{
	(void)t;
	*left = (struct pt_left){0};
	return rd_fail(RD_EUSAGE, "Intel PT: Raddle was built without libipt-dev");
}

#endif
