// SPDX-License-Identifier: Apache-2.0
/* A third hold-out set, besides strangers.c and newcomers.c.  The
 * labels (`labels-visitors`) were written before any of these programs
 * was run.  The first argument selects a program from the table at the
 * end. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t inited, permits;

/* ---- values that make no difference ---- */

static volatile unsigned hash_of_name;
static volatile int threshold = 4, heartbeat, seq, left_half = 1, right_half = 1;
static volatile unsigned long members;
static volatile long memo[4];
static struct {
	int shown, hits;
} record_of = {5, 0};

/* The hash is computed when it is first needed, as in a string class. */
static void lazy_hash(int n)
{
	unsigned hash = hash_of_name;

	(void)n;
	if (!hash) {
		for (const char *c = "name"; *c; c++)
			hash = hash * 31 + (unsigned char)*c;
		hash_of_name = hash;
	}
	if (hash != 3373707)
		abort();
}

static int smaller(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The threshold selects one of two ways to sort, which have the same result. */
static void sort_choice(int n)
{
	int v[6] = {5, 2, 4, 1, 6, 3};

	if (n == 0) {
		threshold = 8;
		return;
	}
	if (6 > threshold)
		qsort(v, 6, sizeof *v, smaller);
	else
		for (int i = 1; i < 6; i++)
			for (int j = i; j && v[j - 1] > v[j]; j--) {
				int t = v[j];
				v[j] = v[j - 1];
				v[j - 1] = t;
			}
	printf("%d %d %d\n", v[0], v[2], v[5]);
}

static void watch_heart(int n)
{
	if (n == 0) {
		heartbeat++;
		return;
	}
	if (heartbeat < 0)
		puts("no heart");
}

static void bloom(int n)
{
	(void)n;
	members |= 1ul << 13;
}

static void say_member(void)
{
	printf("%d\n", (int)(members >> 13 & 1));
}

static void memo_entry(int n)
{
	long entry = memo[1];

	(void)n;
	if (entry == 0)
		memo[1] = entry = 9l << 32 | 81;
	printf("%ld\n", entry & 0xffffffff);
}

/* One thread copies the whole record, but does not use the field that the other one writes. */
static void copy_all(int n)
{
	if (n == 0) {
		record_of.hits = 1;
	} else {
		char copy[sizeof record_of];
		int shown;

		memcpy(copy, &record_of, sizeof copy);
		memcpy(&shown, copy, sizeof shown);
		printf("%d\n", shown);
	}
}

/* A sequence lock: a reader that finds a change in progress reads again. */
static void sequence_lock(int n)
{
	int before, l, r;

	if (n == 0) {
		seq = 1;
		left_half = 2;
		right_half = 2;
		seq = 2;
		return;
	}
	do {
		while ((before = seq) & 1)
			sched_yield();
		l = left_half;
		r = right_half;
	} while (before != seq);
	if (l != r)
		abort();
}

static int limit_of_cache;

/* The limit decides whether a cache is used; the answer is the same with and without it. */
static void cache_or_not(int n)
{
	if (n == 0) {
		limit_of_cache = 3;
		return;
	}
	int *found = limit_of_cache > 0 ? malloc(sizeof *found) : NULL;
	int v = 7 * 6;

	if (found)
		*found = v;
	printf("%d\n", found ? *found : v);
	free(found);
}

static volatile int references = 2;
static char *resource;

/* If both threads read 2, the count stays at 1 and the resource leaks, which is not visible. */
static void leaked(int n)
{
	(void)n;
	int r = references - 1;
	references = r;
	if (r == 0) {
		free(resource);
		resource = NULL;
	}
}

static void make_resource(void)
{
	resource = malloc(24);
}

/* ---- only one order is possible ---- */

static volatile int turn, total_turns;
static int published;
static atomic_int index_of, stage;
static int raw, cooked;
static struct box {
	int value, full;
} the_box, *box;

static void take_turns(int n)
{
	for (int i = 0; i < 2; i++) {
		while (turn != n)
			sched_yield();
		total_turns = total_turns * 3 + n + 1;
		turn = 1 - n;
	}
}

static void say_turns(void)
{
	printf("%d\n", total_turns);
}

static void publish_relaxed(int n)
{
	if (n == 0) {
		published = 5;
		atomic_store_explicit(&index_of, 1, memory_order_relaxed);
	} else if (atomic_load_explicit(&index_of, memory_order_relaxed)) {
		if (published != 5)
			abort();
	}
}

static void poll_box(int n)
{
	struct timespec t = {0, 200000};

	if (n == 0) {
		box->value = 4;
		*(volatile int *)&box->full = 1;
		return;
	}
	while (!*(volatile int *)&box->full)
		nanosleep(&t, NULL);
	if (box->value != 4)
		abort();
}

static void make_box(void)
{
	box = &the_box;
}

/* Three threads work one after the other; a relaxed counter shows whose stage it is. */
static void in_stages(int n)
{
	while (atomic_load_explicit(&stage, memory_order_relaxed) != n)
		sched_yield();
	if (n == 0)
		raw = 2;
	else if (n == 1)
		cooked = raw * 2;
	else
		printf("%d\n", cooked);
	atomic_store_explicit(&stage, n + 1, memory_order_relaxed);
}

/* ---- the output differs ---- */

static volatile int next_id = 1, taken[2], tokens = 1, backlog, front, quiet, ascending = 1, width = 1,
		    arrived, leave;
static atomic_int served;
static double sum = 0.5;
static char page[8] = "aaaaaaa", got[8];
static int frames[2] = {10, 20};

static void unique_id(int n)
{
	taken[n] = next_id++;
}

static void say_ids(void)
{
	printf("%d\n", taken[0] + taken[1]);
}

static void rate_limit(int n)
{
	(void)n;
	if (tokens > 0) {
		tokens--;
		atomic_fetch_add(&served, 1);
	}
}

static void say_served(void)
{
	printf("%d\n", atomic_load(&served));
}

static void say_backlog(int n)
{
	if (n == 0) {
		pthread_mutex_lock(&lock);
		backlog++;
		pthread_mutex_unlock(&lock);
		return;
	}
	char text[32];
	int size = snprintf(text, sizeof text, "backlog %d\n", backlog);

	if (write(1, text, (size_t)size) != size)
		abort();
}

static void flip(int n)
{
	if (n == 0)
		front = 1;
	else
		printf("%d\n", frames[front]);
}

static void complain(int n)
{
	if (n == 0)
		quiet = 1;
	else if (!quiet)
		fputs("something is odd\n", stderr);
}

static int by_order(const void *a, const void *b)
{
	int d = *(const int *)a - *(const int *)b;

	return ascending ? d : -d;
}

static void sort_order(int n)
{
	int v[2] = {1, 2};

	if (n == 0) {
		ascending = 0;
		return;
	}
	qsort(v, 2, sizeof *v, by_order);
	printf("%d %d\n", v[0], v[1]);
}

static void *a_letter(void *none)
{
	putchar('x');
	return none;
}

static void fan_out(int n)
{
	pthread_t more[3];
	int many;

	if (n == 0) {
		width = 3;
		return;
	}
	many = width;
	for (int i = 0; i < many; i++)
		pthread_create(&more[i], NULL, a_letter, NULL);
	for (int i = 0; i < many; i++)
		pthread_join(more[i], NULL);
	putchar('\n');
}

static void timed_out(int n)
{
	struct timespec until;
	int rc = 0;

	if (n == 0) {
		arrived = 1;
		pthread_cond_signal(&changed);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&lock);
	if (!arrived)
		rc = pthread_cond_timedwait(&changed, &lock, &until);
	pthread_mutex_unlock(&lock);
	puts(rc ? "late" : "in time");
}

static void leaves(int n)
{
	if (n == 0)
		leave = 1;
	else if (leave)
		exit(3);
}

static void add_floats(int n)
{
	sum += n ? 0.25 : 2.0;
}

static void say_sum(void)
{
	printf("%.2f\n", sum);
}

static void copy_page(int n)
{
	if (n == 0)
		memset(page, 'b', sizeof page - 1);
	else
		memcpy(got, page, sizeof got);
}

static void say_page(void)
{
	puts(got);
}

/* ---- crashes, failed assertions and hangs ---- */

static int *items;
static volatile int current = 1, most_depth = 10, block_size = 16, parties = 2, waiters,
		    links[4] = {1, 2, 3, -1}, fd = -1, length = 8, slots = 4;
static char *volatile text_of = "text";
static int *volatile registry, *volatile table;
static pthread_barrier_t barrier;
static pthread_key_t key;
static int storage[4];

static void grow(int n)
{
	if (n == 0) {
		int *more = malloc(4096 * sizeof *more);

		memcpy(more, items, 4 * sizeof *more);
		int *old = items;
		items = more;
		free(old);
	} else if (items[2] < 0) {
		puts("negative");
	}
}

static void make_items(void)
{
	items = calloc(4, sizeof *items);
}

static void nothing(void)
{
}

static void (*const handlers[4])(void) = {nothing, nothing, nothing, NULL};

static void no_handler(int n)
{
	if (n == 0)
		current = 3;
	else
		handlers[current]();
}

static int descend(int depth, int most)
{
	volatile char frame[2048];

	frame[0] = (char)depth;
	return depth < most ? descend(depth + 1, most) + frame[0] : 0;
}

static void too_deep(int n)
{
	if (n == 0)
		most_depth = 1 << 28;
	else
		descend(0, most_depth);
}

static void negative_block(int n)
{
	if (n == 0) {
		block_size = -1;
	} else {
		char *block = malloc((size_t)block_size);

		*(volatile char *)block = 1;
		free(block);
	}
}

static void length_of_null(int n)
{
	if (n == 0)
		text_of = NULL;
	else
		printf("%d\n", strlen(text_of) > 100);
}

/* If parties is changed first, the barrier waits for three threads, but only two come. */
static void one_missing(int n)
{
	if (n == 0) {
		pthread_barrier_init(&barrier, NULL, (unsigned)parties);
		sem_post(&inited);
	} else {
		parties = 3;
		sem_wait(&inited);
	}
	pthread_barrier_wait(&barrier);
}

static void make_semaphores(void)
{
	sem_init(&inited, 0, 0);
	sem_init(&permits, 0, 0);
}

static void nobody_waits(int n)
{
	if (n == 0) {
		if (waiters)
			sem_post(&permits);
	} else {
		waiters = 1;
		sem_wait(&permits);
	}
}

static void round_list(int n)
{
	if (n == 0) {
		links[2] = 0;
		return;
	}
	for (int i = 0; i >= 0;)
		i = links[i];
}

static void closed_file(int n)
{
	if (n == 0) {
		int old = fd;

		fd = -1;
		close(old);
	} else {
		int mine = fd;

		if (mine >= 0)
			assert(write(mine, "x", 1) == 1);
	}
}

static void open_file(void)
{
	int ends[2];

	if (pipe(ends))
		abort();
	fd = ends[1];
}

static void over_end(int n)
{
	if (n == 0) {
		length = 300;
	} else {
		char *small = malloc(16), *next = malloc(16);

		memset(small, 1, (size_t)length);
		free(next);
		free(small);
	}
}

static void at_the_end(void *value)
{
	if (*registry != *(int *)value)
		puts("changed");
}

static void key_destructor(int n)
{
	if (n == 0)
		registry = NULL;
	else
		pthread_setspecific(key, storage);
}

static void make_key(void)
{
	registry = storage;
	pthread_key_create(&key, at_the_end);
}

/* A thread sleeps in the hope that the other one has set the table by then. */
static void slept_for_it(int n)
{
	if (n == 0) {
		table = storage;
	} else {
		usleep(20000);
		table[1] = 5;
	}
}

/* slots is tested without the lock, and used with it; it may change in between. */
static void check_then_use(int n)
{
	static volatile int values[4];

	if (n == 0) {
		pthread_mutex_lock(&lock);
		slots = 0;
		pthread_mutex_unlock(&lock);
	} else if (slots > 0) {
		pthread_mutex_lock(&lock);
		values[0] = 12 / slots;
		pthread_mutex_unlock(&lock);
	}
}

static volatile int state, waiting;

/* The sleeper sets waiting without the lock but tests state with it, so it never sleeps forever. */
static void sleeper(int n)
{
	if (n == 0) {
		pthread_mutex_lock(&lock);
		state = 1;
		if (waiting)
			pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
		return;
	}
	waiting = 1;
	pthread_mutex_lock(&lock);
	while (!state && waiting)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static volatile int balance = 10;

/* Both threads may find enough to take, and then the balance becomes negative. */
static void overdrawn(int n)
{
	(void)n;
	if (balance >= 6)
		balance -= 6;
}

static void check_balance(void)
{
	assert(balance >= 0);
}

static const struct program {
	const char *name;
	void (*work)(int n);
	void (*before)(void), (*after)(void);
	int threads; /* 0: two */
} programs[] = {
	{"lazy-hash", lazy_hash, NULL, NULL, 0},
	{"sort-choice", sort_choice, NULL, NULL, 0},
	{"watch-heart", watch_heart, NULL, NULL, 0},
	{"bloom", bloom, NULL, say_member, 0},
	{"memo-entry", memo_entry, NULL, NULL, 0},
	{"copy-all", copy_all, NULL, NULL, 0},
	{"sequence-lock", sequence_lock, NULL, NULL, 0},
	{"cache-or-not", cache_or_not, NULL, NULL, 0},
	{"leaked", leaked, make_resource, NULL, 0},
	{"take-turns", take_turns, NULL, say_turns, 0},
	{"publish-relaxed", publish_relaxed, NULL, NULL, 0},
	{"poll-box", poll_box, make_box, NULL, 0},
	{"in-stages", in_stages, NULL, NULL, 3},
	{"unique-id", unique_id, NULL, say_ids, 0},
	{"rate-limit", rate_limit, NULL, say_served, 0},
	{"say-backlog", say_backlog, NULL, NULL, 0},
	{"flip", flip, NULL, NULL, 0},
	{"complain", complain, NULL, NULL, 0},
	{"sort-order", sort_order, NULL, NULL, 0},
	{"fan-out", fan_out, NULL, NULL, 0},
	{"timed-out", timed_out, NULL, NULL, 0},
	{"leaves", leaves, NULL, NULL, 0},
	{"add-floats", add_floats, NULL, say_sum, 0},
	{"copy-page", copy_page, NULL, say_page, 0},
	{"grow", grow, make_items, NULL, 0},
	{"no-handler", no_handler, NULL, NULL, 0},
	{"too-deep", too_deep, NULL, NULL, 0},
	{"negative-block", negative_block, NULL, NULL, 0},
	{"length-of-null", length_of_null, NULL, NULL, 0},
	{"one-missing", one_missing, make_semaphores, NULL, 0},
	{"nobody-waits", nobody_waits, make_semaphores, NULL, 0},
	{"round-list", round_list, NULL, NULL, 0},
	{"closed-file", closed_file, open_file, NULL, 0},
	{"over-end", over_end, NULL, NULL, 0},
	{"key-destructor", key_destructor, make_key, NULL, 0},
	{"slept-for-it", slept_for_it, NULL, NULL, 0},
	{"check-then-use", check_then_use, NULL, NULL, 0},
	{"sleeper", sleeper, NULL, NULL, 0},
	{"overdrawn", overdrawn, NULL, check_balance, 0},
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
	int many;

	for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
		if (!strcmp(programs[i].name, argv[1]))
			program = &programs[i];
	if (!program)
		return 2;
	many = program->threads ? program->threads : 2;
	if (program->before)
		program->before();
	for (long i = 0; i < many; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < many; i++)
		pthread_join(threads[i], NULL);
	if (program->after)
		program->after();
	return 0;
}
