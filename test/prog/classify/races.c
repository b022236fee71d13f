// SPDX-License-Identifier: Apache-2.0
/*
 * Races with a known class (test/cli/classify.sh).  The first argument selects a program from the
 * table at the end; `labels` lists what each of its races does.
 *
 * The recorded run of each program ends well; a few threads sleep so that it nearly always does.
 * So only running both orders can show that a race does harm.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- harmless ---- */

static int ready;

/* Redundant writes: both threads write the same value. */
static void redundant(int n)
{
	(void)n;
	ready = 1;
}

/* Redundant writes; each thread also prints a line, but the race does not decide their order. */
static void redundant_prints(int n)
{
	ready = 1;
	printf("thread %d\n", n);
}

/* Redundant writes; the order in which the threads get the lock decides what is printed. */
static void redundant_locked(int n)
{
	static int place;

	ready = 1;
	pthread_mutex_lock(&lock);
	printf("place %d: thread %d\n", ++place, n);
	pthread_mutex_unlock(&lock);
}

static unsigned char bits;

/* Disjoint bits: each thread reads only its own bit, and main reads none. */
static void disjoint_bits(int n)
{
	bits |= (unsigned char)(1u << n);
	if (!(bits & 1u << n))
		bits |= (unsigned char)(1u << n);
}

static int hint;

/* All values are valid: the sum is the same wherever the loop begins. */
static void all_valid(int n)
{
	int from = hint, sum = 0;

	for (int i = 0; i < 8; i++)
		sum += (from + i) % 8;
	hint = n;
	pthread_mutex_lock(&lock);
	ready += sum;
	pthread_mutex_unlock(&lock);
}

static int *table, made;

/* Double-checked locking; both threads would store the same value. */
static void double_checked(int n)
{
	static int values[2] = {7, 9};

	(void)n;
	if (!table) {
		pthread_mutex_lock(&lock);
		if (!table) {
			made++;
			table = values;
		}
		pthread_mutex_unlock(&lock);
	}
}

static int statistics;

/* A counter that is written and never read. */
static void unread_counter(int n)
{
	statistics += n + 1;
}

static int minimum = 100;

/* Both values are larger than the minimum, so each thread stores the old minimum again. */
static void no_update(int n)
{
	if (minimum > 200 + n)
		minimum = 200 + n;
	else
		minimum = 100;
}

/* ---- only one order is possible ---- */

static volatile int flag, back;
static _Atomic int relaxed_flag;
static int data, answer;

/* In this and the next three programs, the reader waits for a flag in a loop. */
static void flag_spin(int n)
{
	if (n == 0) {
		data = 42;
		flag = 1;
	} else {
		while (!flag)
			;
		printf("data %d\n", data);
	}
}

static void flag_sleep(int n)
{
	if (n == 0) {
		data = 42;
		flag = 1;
	} else {
		while (!flag)
			usleep(20000);
		printf("data %d\n", data);
	}
}

static void flag_yield(int n)
{
	if (n == 0) {
		data = 42;
		flag = 1;
	} else {
		while (!flag)
			sched_yield();
		printf("data %d\n", data);
	}
}

static void flag_atomic(int n)
{
	if (n == 0) {
		data = 42;
		atomic_store_explicit(&relaxed_flag, 1, memory_order_relaxed);
	} else {
		while (!atomic_load_explicit(&relaxed_flag, memory_order_relaxed))
			;
		printf("data %d\n", data);
	}
}

/* Each thread waits in a loop for the other. */
static void flag_back(int n)
{
	if (n == 0) {
		data = 42;
		flag = 1;
		while (!back)
			;
		printf("answer %d\n", answer);
	} else {
		while (!flag)
			;
		answer = data + 1;
		back = 1;
	}
}

/* Not a race: the test names these accesses, as a detector might that did not see the lock. */
static void locked(int n)
{
	pthread_mutex_lock(&lock);
	data += n; /* locked */
	pthread_mutex_unlock(&lock);
}

/* ---- the output differs ---- */

static int counter;

static void lost_update(int n)
{
	(void)n;
	counter++;
}

static void lost_update_steps(int n)
{
	int old = counter;

	(void)n;
	counter = old + 1;
}

static int last;

static void last_writer(int n)
{
	last = n + 1;
}

static int money = 100;

/* Both threads may find enough money before one of them has taken it. */
static void withdraw(int n)
{
	(void)n;
	if (money >= 70) {
		int left = money - 70;
		money = left;
	}
}

static int level;

/* One thread prints a value that the other may have set. */
static void late_setting(int n)
{
	if (n == 0)
		level = 3;
	else
		printf("level %d\n", level);
}

static int failures;

/* The exit status of the program depends on a counter of both threads. */
static void exit_counts(int n)
{
	(void)n;
	failures = failures + 1;
}

static char message[16] = "----";

/* Two strings are written into one buffer. */
static void mixed_message(int n)
{
	for (int i = 0; i < 4; i++)
		message[i] = (char)('a' + n);
}

static char title[16] = "before";

/* One thread copies a string to title while the other prints title, both by library functions. */
static void copied_string(int n)
{
	if (n == 0)
		strcpy(title, "after");
	else
		printf("title %s\n", title);
}

static struct {
	int x, y;
} point = {1, 1};

/* A structure is copied while it changes. */
static void copied_struct(int n)
{
	if (n == 0) {
		point.x = 2;
		point.y = 2;
	} else {
		int copy[2];

		memcpy(copy, &point, sizeof copy);
		printf("%d %d\n", copy[0], copy[1]);
	}
}

/* As lost_update, but a line that differs in every run is printed first. */
static void lost_update_noisy(int n)
{
	counter++;
	ready = 1;
	(void)n;
}

static int lines[2];

/* One thread may print the sum before the other has stored both numbers. */
static void early_reader(int n)
{
	if (n == 0) {
		lines[0] = 5;
		lines[1] = 6;
	} else {
		int sum = lines[0] + lines[1];
		fprintf(stderr, "sum %d\n", sum);
	}
}

/* ---- crashes, failed assertions, deadlocks and hangs ---- */

static int value = 5, *pointer;

/* The pointer is used before it is set. */
static void order_violation(int n)
{
	if (n == 0)
		pointer = &value;
	else
		printf("value %d\n", *pointer);
}

struct node {
	int length;
	char text[24];
};
static struct node *shared;

/* One thread may clear a pointer after the other has tested it and before it uses it. */
static void test_and_use(int n)
{
	if (n == 0) {
		shared = NULL;
	} else if (shared) {
		printf("length %d\n", shared->length);
	}
}

static int total = 10;

/* Both threads may find enough to take, and then the total becomes negative. */
static void assertion(int n)
{
	(void)n;
	if (total >= 10)
		total -= 10;
	assert(total >= 0);
}

static int size, limit = 4;

/* The sum is 4 before and after both changes, but not between them. */
static void broken_invariant(int n)
{
	if (n == 0) {
		size = 1;
		limit = 3;
	} else {
		int a = size, b = limit;
		assert(a + b == 4);
	}
}

static int chosen;

/* A thread that reads chosen before it is set takes the locks in the opposite order. */
static void chosen_locks(int n)
{
	if (n == 0) {
		chosen = 1;
		pthread_mutex_lock(&lock);
		pthread_mutex_lock(&other_lock);
		pthread_mutex_unlock(&other_lock);
		pthread_mutex_unlock(&lock);
		return;
	}
	if (chosen) {
		pthread_mutex_lock(&lock);
		pthread_mutex_lock(&other_lock);
		pthread_mutex_unlock(&other_lock);
		pthread_mutex_unlock(&lock);
	} else {
		pthread_mutex_lock(&other_lock);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		pthread_mutex_unlock(&other_lock);
	}
}

static volatile int divisor = 1;

/* The divisor is zero for a moment. */
static void division(int n)
{
	if (n == 0) {
		divisor = 0;
		divisor = 2;
	} else {
		printf("%d\n", 100 / divisor > 0);
	}
}

static int index_of, numbers[4] = {1, 2, 3, 4};
static int *far[4] = {&numbers[0], NULL, NULL, &numbers[3]};

/* A third thread crashes if only one of the other two updates has taken effect. */
static void third_thread(int n)
{
	if (n == 0)
		index_of = index_of + 1;
	else if (n == 1)
		index_of = index_of + 2;
	if (n < 2) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		return;
	}
	pthread_mutex_lock(&lock);
	made = *far[index_of & 3];
	pthread_mutex_unlock(&lock);
}

static int abort_wanted;

/* A thread aborts if the other has not yet set a variable. */
static void gives_up(int n)
{
	if (n == 0) {
		abort_wanted = 1;
	} else {
		usleep(20000); /* so that an ordinary run nearly always ends well */
		if (!abort_wanted)
			abort();
	}
}

static struct node *block;

/* A thread that finds the block frees it, and both may find it. */
static void double_free(int n)
{
	struct node *b = block;

	(void)n;
	if (b) {
		block = NULL;
		free(b);
	}
}

/* One thread frees a block that the other may still read. */
static void used_freed(int n)
{
	struct node *b = block;

	if (n == 0)
		printf("length %d\n", b->length);
	else
		free(b);
}

/* As used_freed, but a library function reads the block. */
static void copied_freed(int n)
{
	struct node *b = block, copy;

	if (n == 0) {
		memcpy(&copy, b, sizeof copy);
		statistics = copy.length;
	} else {
		free(b);
	}
}

/* One thread may read the block after realloc() has moved it. */
static void grown(int n)
{
	struct node *b = block;

	if (n == 0) {
		statistics = b->length;
	} else {
		usleep(20000); /* so that in an ordinary run the other thread reads first */
		block = realloc(b, 100 * sizeof *b);
	}
}

static volatile int closed, opened;

/* If closed is set before the other thread reads it, opened is never set: the loop never ends. */
static void hang(int n)
{
	if (n == 0) {
		if (!closed)
			opened = 1;
	} else {
		/* So that an ordinary run nearly always ends. */
		usleep(20000);
		closed = 1;
		while (!opened)
			;
	}
}

/* ---- the table ---- */

static void say_counter(void)
{
	printf("%d\n", counter);
}

static void say_noise(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("process %d at %ld, %p\n", (int)getpid(), now.tv_nsec, (void *)&now);
	printf("%d\n", counter);
}

static void say_last(void)
{
	printf("%d %d %s\n", last, money, message);
}

static void say_table(void)
{
	printf("%d\n", table[0] + ready);
}

static void make_shared(void)
{
	shared = calloc(1, sizeof *shared);
	shared->length = 3;
}

static void make_block(void)
{
	block = calloc(1, sizeof *block);
}

static int end_status(void)
{
	return failures == 2 ? 0 : 3;
}

static const struct program {
	const char *name;
	void (*work)(int n);
	int threads;
	void (*before)(void), (*after)(void);
	int (*status)(void);
} programs[] = {
	{"redundant", redundant, 2, NULL, NULL, NULL},
	{"redundant-prints", redundant_prints, 2, NULL, NULL, NULL},
	{"redundant-locked", redundant_locked, 2, NULL, NULL, NULL},
	{"disjoint-bits", disjoint_bits, 2, NULL, NULL, NULL},
	{"all-valid", all_valid, 2, NULL, NULL, NULL},
	{"double-checked", double_checked, 2, NULL, say_table, NULL},
	{"unread-counter", unread_counter, 2, NULL, NULL, NULL},
	{"no-update", no_update, 2, NULL, NULL, NULL},
	{"flag-spin", flag_spin, 2, NULL, NULL, NULL},
	{"flag-sleep", flag_sleep, 2, NULL, NULL, NULL},
	{"flag-yield", flag_yield, 2, NULL, NULL, NULL},
	{"flag-atomic", flag_atomic, 2, NULL, NULL, NULL},
	{"flag-back", flag_back, 2, NULL, NULL, NULL},
	{"locked", locked, 2, NULL, NULL, NULL},
	{"lost-update", lost_update, 2, NULL, say_counter, NULL},
	{"lost-update-steps", lost_update_steps, 2, NULL, say_counter, NULL},
	{"last-writer", last_writer, 2, NULL, say_last, NULL},
	{"withdraw", withdraw, 2, NULL, say_last, NULL},
	{"late-setting", late_setting, 2, NULL, NULL, NULL},
	{"exit-counts", exit_counts, 2, NULL, NULL, end_status},
	{"mixed-message", mixed_message, 2, NULL, say_last, NULL},
	{"copied-string", copied_string, 2, NULL, NULL, NULL},
	{"copied-struct", copied_struct, 2, NULL, NULL, NULL},
	{"lost-update-noisy", lost_update_noisy, 2, NULL, say_noise, NULL},
	{"early-reader", early_reader, 2, NULL, NULL, NULL},
	{"order-violation", order_violation, 2, NULL, NULL, NULL},
	{"test-and-use", test_and_use, 2, make_shared, NULL, NULL},
	{"assertion", assertion, 2, NULL, NULL, NULL},
	{"broken-invariant", broken_invariant, 2, NULL, NULL, NULL},
	{"chosen-locks", chosen_locks, 2, NULL, NULL, NULL},
	{"division", division, 2, NULL, NULL, NULL},
	{"third-thread", third_thread, 3, NULL, NULL, NULL},
	{"gives-up", gives_up, 2, NULL, NULL, NULL},
	{"used-freed", used_freed, 2, make_block, NULL, NULL},
	{"copied-freed", copied_freed, 2, make_block, NULL, NULL},
	{"grown", grown, 2, make_block, NULL, NULL},
	{"hang", hang, 2, NULL, NULL, NULL},
	{"double-free", double_free, 2, make_block, NULL, NULL},
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

	for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
		if (!strcmp(programs[i].name, argv[1]))
			program = &programs[i];
	if (!program)
		return 2;
	if (program->before)
		program->before();
	for (long i = 0; i < program->threads; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < program->threads; i++)
		pthread_join(threads[i], NULL);
	if (program->after)
		program->after();
	return program->status ? program->status() : 0;
}
