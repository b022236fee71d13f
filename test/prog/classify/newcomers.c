// SPDX-License-Identifier: Apache-2.0
/* A second hold-out set (strangers.c is the first): the labels
 * (`labels-newcomers`) were written before any of these programs was run.  The
 * first argument selects a program from the table at the end.  No thread sleeps to
 * get an interleaving; the threads that sleep do so as real programs of this kind
 * do. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* ---- values that make no difference ---- */

static volatile int mode, peak, word = 2, last_seen, samples = 1000, refs = 2, is_full;
static volatile int squares[4];
static char copied[16] = "same text";

static void set_same(int n)
{
	(void)n;
	mode = 3;
}

static void peak_unseen(int n)
{
	int seen = peak;
	if (n + 5 > seen)
		peak = n + 5;
}

/* Bit 0 is written under the lock; the reader, which has no lock, tests only bit 1. */
static void other_bit(int n)
{
	if (n == 0) {
		pthread_mutex_lock(&lock);
		word |= 1;
		pthread_mutex_unlock(&lock);
		return;
	}
	if (word & 2)
		puts("two");
}

static void timestamp(int n)
{
	if (n == 0)
		last_seen = 17;
	else
		last_seen = 18;
}

static void approximate(int n)
{
	(void)n;
	samples++;
}

static void say_hundreds(void)
{
	printf("%d\n", samples / 100);
}

static void fill_twice(int n)
{
	(void)n;
	if (is_full)
		return;
	for (int i = 0; i < 4; i++)
		squares[i] = i * i;
	is_full = 1;
}

static void say_squares(void)
{
	printf("%d %d\n", squares[2], squares[3]);
}

static struct {
	int v;
} one = {4}, two = {4}, *volatile current = &one;

static void same_inside(int n)
{
	if (n == 0)
		current = &two;
	else
		printf("%d\n", current->v);
}

static void copy_same(int n)
{
	static const char text[16] = "same text";

	if (n == 0)
		memcpy(copied, text, sizeof text);
	else
		puts(copied);
}

/* No code tests whether the count has reached 0. */
static void count_down(int n)
{
	int r = refs - 1;

	(void)n;
	refs = r;
	if (r < 0)
		abort();
}

/* ---- only one order is possible ---- */

static volatile int go, done, ready;
static int data, result, value;

static void yield_loop(int n)
{
	if (n == 0) {
		data = 9;
		go = 1;
		return;
	}
	for (;;) {
		if (go)
			break;
		sched_yield();
	}
	printf("%d\n", data);
}

static void sleep_loop(int n)
{
	if (n == 1) {
		result = 6;
		done = 1;
		return;
	}
	while (!done)
		usleep(500);
	printf("%d\n", result);
}

static void checked_twice(int n)
{
	(void)n;
	if (!ready) {
		pthread_mutex_lock(&lock);
		if (!ready) {
			value = 12;
			ready = 1;
		}
		pthread_mutex_unlock(&lock);
	}
	printf("%d\n", value);
}

/* ---- the output differs ---- */

static volatile int top, flags, balance = 100, final, status, failed, closed;
static char name[16] = "short";

static void peak_shown(int n)
{
	int seen = top;
	if (n + 5 > seen)
		top = n + 5;
}

static void say_top(void)
{
	printf("%d\n", top);
}

static void set_bit(int n)
{
	flags |= 1 << n;
}

static void say_flags(void)
{
	printf("%d\n", flags);
}

static void deposit(int n)
{
	int now = balance;

	now += n + 10;
	balance = now;
}

static void say_balance(void)
{
	printf("%d\n", balance);
}

static void last_word(int n)
{
	if (n == 0)
		final = 1;
	else
		final = 2;
}

static void say_final(void)
{
	printf("%d\n", final);
}

static void set_status(int n)
{
	if (n == 0)
		status = 3;
	else
		status = 4;
}

static void exit_with_status(void)
{
	exit(status);
}

static void change_name(int n)
{
	if (n == 0)
		strcpy(name, "longer");
	else
		puts(name);
}

static void tell_error(int n)
{
	if (n == 0)
		failed = 5;
	else if (failed)
		fputs("error\n", stderr);
}

static void until_closed(int n)
{
	if (n == 0)
		closed = 1;
	else if (!closed && write(1, "x\n", 2) != 2)
		abort();
}

/* ---- crashes, failed assertions, deadlocks and hangs ---- */

static struct node {
	int v;
} *volatile head;
static char *volatile buffer;
static int *volatile conf;
static volatile int stage, armed, forwards, count = 4, place, low, high = 1, stop = 1, available, amount = 8;
static int table[16], the_conf = 3;
static char memory[64];

static void make_head(void)
{
	head = calloc(1, sizeof *head);
}

static void remove_head(int n)
{
	struct node *h = head;

	if (n == 0) {
		head = NULL;
		free(h);
	} else if (h) {
		h->v++;
	}
}

static void make_buffer(void)
{
	buffer = malloc(10);
}

static void free_buffer(int n)
{
	(void)n;
	if (buffer) {
		free(buffer);
		buffer = NULL;
	}
}

static void too_early(int n)
{
	if (n == 0)
		conf = &the_conf;
	else
		printf("%d\n", *conf);
}

static void third_thread(int n)
{
	if (n == 0)
		stage = 1;
	else if (n == 1 && stage)
		armed = 1;
	else if (n == 2 && armed)
		abort();
}

static void both_locks(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(b);
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
}

static void which_lock(int n)
{
	if (n == 0) {
		forwards = 1;
		both_locks(&lock, &other);
	} else if (forwards) {
		both_locks(&lock, &other);
	} else {
		both_locks(&other, &lock);
	}
}

static void divide(int n)
{
	if (n == 0)
		count = 0;
	else
		printf("%d\n", 100 / count);
}

static void far_away(int n)
{
	if (n == 0)
		place = 1 << 28;
	else
		table[place] = 1;
}

static void between(int n)
{
	if (n == 0) {
		low = 5;
		high = 10;
	} else {
		int l = low;
		int h = high;
		assert(l <= h);
	}
}

static void late_reset(int n)
{
	if (n == 0)
		stop = 0;
	else
		while (!stop)
			sched_yield();
}

static void missed(int n)
{
	if (n == 0) {
		available = 1;
		pthread_mutex_lock(&lock);
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	} else if (!available) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
}

static void too_much(int n)
{
	if (n == 0)
		amount = -1;
	else
		memset(memory, 0, (size_t)amount);
}

static const struct program {
	const char *name;
	void (*work)(int n);
	void (*before)(void), (*after)(void);
	int threads; /* 0: two */
} programs[] = {
	{"set-same", set_same, NULL, NULL, 0},
	{"peak-unseen", peak_unseen, NULL, NULL, 0},
	{"other-bit", other_bit, NULL, NULL, 0},
	{"timestamp", timestamp, NULL, NULL, 0},
	{"approximate", approximate, NULL, say_hundreds, 0},
	{"fill-twice", fill_twice, NULL, say_squares, 0},
	{"same-inside", same_inside, NULL, NULL, 0},
	{"copy-same", copy_same, NULL, NULL, 0},
	{"count-down", count_down, NULL, NULL, 0},
	{"yield-loop", yield_loop, NULL, NULL, 0},
	{"sleep-loop", sleep_loop, NULL, NULL, 0},
	{"checked-twice", checked_twice, NULL, NULL, 0},
	{"peak-shown", peak_shown, NULL, say_top, 0},
	{"set-bit", set_bit, NULL, say_flags, 0},
	{"deposit", deposit, NULL, say_balance, 0},
	{"last-word", last_word, NULL, say_final, 0},
	{"set-status", set_status, NULL, exit_with_status, 0},
	{"change-name", change_name, NULL, NULL, 0},
	{"tell-error", tell_error, NULL, NULL, 0},
	{"until-closed", until_closed, NULL, NULL, 0},
	{"remove-head", remove_head, make_head, NULL, 0},
	{"free-buffer", free_buffer, make_buffer, NULL, 0},
	{"too-early", too_early, NULL, NULL, 0},
	{"third-thread", third_thread, NULL, NULL, 3},
	{"which-lock", which_lock, NULL, NULL, 0},
	{"divide", divide, NULL, NULL, 0},
	{"far-away", far_away, NULL, NULL, 0},
	{"between", between, NULL, NULL, 0},
	{"late-reset", late_reset, NULL, NULL, 0},
	{"missed", missed, NULL, NULL, 0},
	{"too-much", too_much, NULL, NULL, 0},
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
