// SPDX-License-Identifier: Apache-2.0
/*
 * Passes any sequence of events of four threads, sensible or not, to the reversibility check.  If
 * the answer is yes, the certificate must be valid; if it is no, the reported order must be
 * possible.  Each event is four bytes: thread, kind, object, value.
 */
#include "base/error.h"
#include "reversible/certificate.h"
#include "raddle/full.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { THREADS = 4, EVENTS = 200, ROOM = EVENTS * 80 };

static const char table[] = "U\t1\t1\tu.c\n"
			    "S\t1\trr\t4\t-\t-1\t2\t0\tf\tx\tint\n"
			    "S\t2\trw\t4\t-\t-1\t3\t0\tf\tx\tint\n";
static const uint8_t kinds[] = {
	RADDLE_FULL_RANGE,    RADDLE_FULL_RANGE,    RADDLE_FULL_ATOMIC,	  RADDLE_THREAD_CREATE,
	RADDLE_THREAD_JOIN,   RADDLE_THREAD_END,    RADDLE_MUTEX_LOCK,	  RADDLE_MUTEX_UNLOCK,
	RADDLE_MUTEX_TRYLOCK, RADDLE_RWLOCK_RDLOCK, RADDLE_RWLOCK_WRLOCK, RADDLE_RWLOCK_UNLOCK,
	RADDLE_COND_WAIT,     RADDLE_COND_WAKE,	    RADDLE_COND_SIGNAL,	  RADDLE_COND_BROADCAST,
	RADDLE_BARRIER_INIT,  RADDLE_BARRIER_ENTER, RADDLE_BARRIER_EXIT,  RADDLE_SEM_INIT,
	RADDLE_SEM_WAIT,      RADDLE_SEM_TRYWAIT,   RADDLE_SEM_POST,	  RADDLE_ONCE_RUN,
	RADDLE_ONCE_DONE,     RADDLE_ONCE_PASS,	    RADDLE_ALLOC,	  RADDLE_FREE,
	RADDLE_UNMAP,	      RADDLE_THREAD_DETACH, RADDLE_TLS,		  RADDLE_MUTEX_DESTROY};

struct stream {
	uint8_t raw[ROOM];
	size_t length;
};

static void put(struct stream *s, uint64_t value, size_t size)
{
	memcpy(s->raw + s->length, &value, size);
	s->length += size;
}

/* Makes a small number, or rarely a huge one. */
static uint64_t wild(uint8_t value)
{
	return value < 250 ? value % 8 : UINT64_MAX >> (value - 250);
}

static void put_access(struct stream *s, uint8_t kind, uint64_t q, uint64_t address, uint8_t value)
{
	put(s, kind, 1);
	put(s, (1u << 16 | 1) + (value & 1), 4);
	if (kind == RADDLE_FULL_ATOMIC) {
		put(s, q, 8);
		put(s, address, 8);
		put(s, value & 1, 1);
		put(s, 4, 1);
		put(s, value, 4);
		put(s, value, 4);
		return;
	}
	put(s, address, 8);
	put(s, value < 255 ? 1 + value / 2 % 8 : 20000, 8);
	put(s, 0, 8);
	put(s, 0, 4);
	put(s, 0, 1);
}

static void put_event(struct stream *s, uint8_t kind, uint64_t q, uint64_t address, uint8_t value)
{
	const char *operands = trace_kind(kind)->operands;

	put(s, kind, 1);
	for (size_t i = 0; operands[i]; i++)
		put(s,
		    operands[i] == 'q'	 ? q
		    : operands[i] == 'a' ? (i && operands[i - 1] == 'a' ? 0x1000 : address)
					 : wild(value),
		    8);
}

static void make(struct stream *streams, const uint8_t *data, size_t size)
{
	uint64_t q = 0;

	for (unsigned t = 0; t < THREADS; t++) {
		put(&streams[t], RADDLE_FULL_RESET, 1);
		put_event(&streams[t], RADDLE_THREAD_START, q++, 0x100000 * (t + 1), 0);
	}
	for (size_t i = 0; i + 4 <= size && i / 4 < EVENTS; i += 4) {
		struct stream *s = &streams[data[i] % THREADS];
		uint8_t kind = kinds[data[i + 1] % sizeof kinds];
		uint64_t address = 0x1000 + data[i + 2] % 8 * 4;

		if (kind < RADDLE_THREAD_START)
			put_access(s, kind, q++, address, data[i + 3]);
		else
			put_event(s, kind, q++, address, data[i + 3]);
	}
}

static struct trace_sites *parse(void)
{
	struct trace_sites *sites = NULL;
	char text[1024];
	size_t n = (size_t)sprintf(text, "raddle-sites\t1\n%s", table);

	n += (size_t)sprintf(text + n, "end\t3\t%016llx\n", (unsigned long long)XXH64(text, n, 0));
	RD_ASSERT(trace_sites_parse(&sites, text, n, "fuzz") == 0);
	return sites;
}

static void check_certificate(const struct rev_result *x, struct epa_source *source)
{
	struct rd_buf text = RD_BUF_INIT;
	struct rev_certificate c;
	char *why = NULL;

	rev_certificate_write(x, "trace", &text);
	RD_ASSERT(rev_certificate_parse(&c, text.data, text.length, "certificate") == 0);
	RD_ASSERT(rev_certificate_check(&c, source, 0, &why) == 0);
	if (why)
		fprintf(stderr, "%s\n%s\n", why, text.data);
	RD_ASSERT(why == NULL);
	rev_certificate_release(&c);
	rd_buf_release(&text);
}

static void check_orders(const struct rev_result *x)
{
	struct machine m;

	machine_init(&m, &x->run.x);
	for (size_t i = 0; i < x->reversal_count; i++)
		RD_ASSERT(rev_accepts(&x->run, &m, x->reversals[i].order.order, x->reversals[i].order.count));
	machine_release(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stream streams[THREADS];
	struct trace_sites *sites = parse();
	struct trace_layout *layout;
	struct epa_source *source;
	struct rev_result *x;

	rd_log_set(rd_log_discard, NULL);
	for (unsigned t = 0; t < THREADS; t++)
		streams[t].length = 0;
	make(streams, data, size);
	RD_ASSERT(trace_layout_new(&layout, sites) == 0);
	epa_source_of_memory(&source, layout, sites);
	for (uint32_t t = 0; t < THREADS; t++)
		epa_source_add(source, t, streams[t].raw, streams[t].length);
	if (rev_check(&x, source, &(struct rev_options){.limit = 3, .objects = true, .log = true}) == 0) {
		check_orders(x);
		if (x->verdict == REV_YES)
			check_certificate(x, source);
		rev_result_free(x);
	}
	epa_source_close(source);
	trace_layout_free(layout);
	trace_sites_free(sites);
	return 0;
}
