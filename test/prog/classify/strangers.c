// SPDX-License-Identifier: Apache-2.0
/*
 * Races whose labels (`labels-strangers`) were written before any of them was run: a hold-out set
 * for rules that were developed on races.c and kinds.c (bench/classify).  The first argument
 * selects a program from the table at the end.  No thread sleeps to get an interleaving.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

/* ---- values of which one half is old and the other new ---- */

static volatile int left_half, right_half;

static void halves(int n)
{
	int x, y;

	if (n == 0) {
		left_half = 1;
		right_half = 1;
		return;
	}
	x = left_half;
	y = right_half;
	if (x != y)
		abort();
}

static struct {
	volatile unsigned low : 4, high : 4;
} bits;

static void bit_fields(int n)
{
	if (n == 0)
		bits.low = 5;
	else
		bits.high = 6;
}

static void say_bits(void)
{
	printf("%u %u\n", bits.low, bits.high);
}

/* ---- values that make no difference ---- */

static int hint, size;
static int best, hits;
static const char *volatile title = "first!";
static char zeroed[64];
static int total, part[2];

static void size_hint(int n)
{
	int room;

	if (n == 0) {
		pthread_mutex_lock(&lock);
		size = 5;
		hint = 5;
		pthread_mutex_unlock(&lock);
		return;
	}
	room = hint > 8 ? hint : 8;
	pthread_mutex_lock(&lock);
	if (size > room)
		abort();
	pthread_mutex_unlock(&lock);
}

static void recheck(int n)
{
	int mine = 10 * (n + 1);

	if (mine > best) {
		pthread_mutex_lock(&lock);
		if (mine > best)
			best = mine;
		pthread_mutex_unlock(&lock);
	}
}

static void say_best(void)
{
	printf("best %d\n", best);
}

static void any_hits(int n)
{
	(void)n;
	hits++;
}

static void say_any_hits(void)
{
	puts(hits ? "some" : "none");
}

static void same_length(int n)
{
	if (n == 0)
		title = "second";
	else
		printf("%zu letters\n", strlen(title));
}

static void both_clear(int n)
{
	(void)n;
	memset(zeroed, 0, sizeof zeroed);
}

static void say_zeroed(void)
{
	printf("%d\n", zeroed[3]);
}

static void make_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
}

static void same_total(int n)
{
	int sum;

	part[n] = n + 1;
	pthread_barrier_wait(&barrier);
	sum = part[0] + part[1];
	total = sum;
}

static void say_total(void)
{
	printf("total %d\n", total);
}

/* ---- only one order is possible ---- */

static volatile int ping, pong, go_now, payload;
static atomic_int released;
static int message;

static void handshake(int n)
{
	if (n == 0) {
		ping = 1;
		while (!pong)
			;
	} else {
		while (!ping)
			;
		pong = 1;
	}
}

static void napping(int n)
{
	if (n == 0) {
		payload = 42;
		go_now = 1;
		return;
	}
	while (!go_now)
		usleep(100);
	printf("%d\n", payload);
}

static void relaxed_flag(int n)
{
	if (n == 0) {
		message = 7;
		atomic_store_explicit(&released, 1, memory_order_relaxed);
		return;
	}
	while (!atomic_load_explicit(&released, memory_order_relaxed))
		;
	printf("%d\n", message);
}

/* ---- the output differs ---- */

static const char *volatile current = "one";
static volatile int tries_over, chosen, verbose, offset;
static int table[4], entries;
static volatile int counter;
static int ring[2], tail, result, items;
static double sum_of_all;

static void stale_name(int n)
{
	if (n == 0)
		current = "another";
	else
		printf("%s\n", current);
}

static void three_tries(int n)
{
	int seen = 0;

	if (n == 0) {
		tries_over = 1;
		return;
	}
	for (int i = 0; i < 3 && !seen; i++)
		seen = tries_over;
	puts(seen ? "seen" : "not seen");
}

static void chosen_slot(int n)
{
	if (n == 0)
		table[chosen] = 7;
	else
		chosen = 1;
}

static void say_table(void)
{
	printf("%d %d\n", table[0], table[1]);
}

static void filled(int n)
{
	int sum = 0;

	if (n == 0) {
		for (int i = 0; i < 4; i++)
			table[i] = i + 1;
		entries = 4;
		return;
	}
	for (int i = 0, many = entries; i < many; i++)
		sum += table[i];
	printf("sum %d\n", sum);
}

static void up_to_limit(int n)
{
	(void)n;
	while (counter < 5)
		counter++;
}

static void say_counter(void)
{
	printf("counter %d\n", counter);
}

static void arena_reset(int n)
{
	if (n == 0)
		offset = 0;
	else
		offset += 8;
}

static void say_offset(void)
{
	printf("offset %d\n", offset);
}

static void into_ring(int n)
{
	int slot = tail;

	tail = (tail + 1) % 2;
	ring[slot] = n + 1;
}

static void say_ring(void)
{
	printf("%d\n", ring[0] + ring[1]);
}

static void add_halves(int n)
{
	sum_of_all += 0.5 * (n + 1);
}

static void say_sum(void)
{
	printf("%.1f\n", sum_of_all);
}

static void talks(int n)
{
	if (n == 0)
		verbose = 1;
	else if (verbose)
		puts("verbose");
}

static void first_wins(int n)
{
	if (!result)
		result = n + 1;
}

static void exit_with_result(void)
{
	exit(result);
}

static void try_or_not(int n)
{
	(void)n;
	if (pthread_mutex_trylock(&lock) == 0) {
		counter++;
		pthread_mutex_unlock(&lock);
	} else {
		counter++;
	}
}

static void look_first(int n)
{
	if (n == 0) {
		pthread_mutex_lock(&lock);
		items++;
		pthread_mutex_unlock(&lock);
	} else if (items) {
		pthread_mutex_lock(&lock);
		items--;
		pthread_mutex_unlock(&lock);
	} else {
		puts("none");
	}
}

/* ---- crashes, failed assertions and hangs ---- */

static volatile int next_ticket, divisor = 2, nested, step = 1, use_lock = 1, seen_by_all;
static int mine[2];
static char *cache;
static FILE *volatile log_file;
static volatile int closed, initialised, value;

static void ticket(int n)
{
	mine[n] = next_ticket++;
}

static void check_tickets(void)
{
	assert(mine[0] != mine[1]);
}

static void make_cache(void)
{
	cache = strdup("kept for later");
}

static void drop_cache(int n)
{
	char *c;

	if (n == 0) {
		free(cache);
		cache = NULL;
		return;
	}
	c = cache;
	if (c)
		size = (int)strlen(c);
}

static void open_log(void)
{
	log_file = fopen("/dev/null", "w");
}

static void close_log(int n)
{
	(void)n;
	if (!closed) {
		closed = 1;
		fclose(log_file);
	}
}

static void set_again(int n)
{
	if (n == 0) {
		divisor = 0;
		divisor = 4;
	} else {
		size = 100 / divisor;
	}
}

static void locks_twice(int n)
{
	if (n == 0) {
		nested = 1;
		return;
	}
	pthread_mutex_lock(&lock);
	if (nested)
		pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void no_step(int n)
{
	volatile int i = 0;
	int by;

	if (n == 0) {
		step = 0;
		return;
	}
	for (by = step; i < 3; i += by)
		;
}

static void without_unlock(int n)
{
	if (n == 0) {
		use_lock = 0;
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
		return;
	}
	if (use_lock)
		pthread_mutex_lock(&other);
	size++;
	if (use_lock)
		pthread_mutex_unlock(&other);
}

static void went_back(int n)
{
	int x, y;

	if (n == 0) {
		seen_by_all = 1;
	} else if (n == 1) {
		seen_by_all = 2;
	} else {
		x = seen_by_all;
		y = seen_by_all;
		if (x == 2 && y == 1)
			abort();
	}
}

static void by_hand(int n)
{
	(void)n;
	if (!initialised) {
		initialised = 1;
		value = 7;
	}
	assert(value == 7);
}

/* ---- the table ---- */

static const struct program {
	const char *name;
	void (*work)(int n);
	void (*before)(void), (*after)(void);
	int threads; /* 0: two */
} programs[] = {
	{"halves", halves, NULL, NULL, 0},
	{"bit-fields", bit_fields, NULL, say_bits, 0},
	{"size-hint", size_hint, NULL, NULL, 0},
	{"recheck", recheck, NULL, say_best, 0},
	{"any-hits", any_hits, NULL, say_any_hits, 0},
	{"same-length", same_length, NULL, NULL, 0},
	{"both-clear", both_clear, NULL, say_zeroed, 0},
	{"same-total", same_total, make_barrier, say_total, 0},
	{"handshake", handshake, NULL, NULL, 0},
	{"napping", napping, NULL, NULL, 0},
	{"relaxed-flag", relaxed_flag, NULL, NULL, 0},
	{"stale-name", stale_name, NULL, NULL, 0},
	{"three-tries", three_tries, NULL, NULL, 0},
	{"chosen-slot", chosen_slot, NULL, say_table, 0},
	{"filled", filled, NULL, NULL, 0},
	{"up-to-limit", up_to_limit, NULL, say_counter, 0},
	{"arena-reset", arena_reset, NULL, say_offset, 0},
	{"into-ring", into_ring, NULL, say_ring, 0},
	{"add-halves", add_halves, NULL, say_sum, 0},
	{"talks", talks, NULL, NULL, 0},
	{"first-wins", first_wins, NULL, exit_with_result, 0},
	{"try-or-not", try_or_not, NULL, say_counter, 0},
	{"look-first", look_first, NULL, NULL, 0},
	{"ticket", ticket, NULL, check_tickets, 0},
	{"drop-cache", drop_cache, make_cache, NULL, 0},
	{"close-log", close_log, open_log, NULL, 0},
	{"set-again", set_again, NULL, NULL, 0},
	{"locks-twice", locks_twice, NULL, NULL, 0},
	{"no-step", no_step, NULL, NULL, 0},
	{"without-unlock", without_unlock, NULL, NULL, 0},
	{"went-back", went_back, NULL, NULL, 3},
	{"by-hand", by_hand, NULL, NULL, 0},
};

static const struct program *program;

static void *thread(void *n)
{
	program->work((int)(long)n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	int count;

	for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
		if (!strcmp(programs[i].name, argv[1]))
			program = &programs[i];
	if (!program)
		return 2;
	count = program->threads ? program->threads : 2;
	if (program->before)
		program->before();
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (program->after)
		program->after();
	return 0;
}
