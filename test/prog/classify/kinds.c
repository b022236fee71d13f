// SPDX-License-Identifier: Apache-2.0
/*
 * More races with a known class, as they occur in real programs: reference counts, lists, caches,
 * hand-made locks, locks of the wrong kind (bench/classify).  The first argument selects a program
 * from the table at the end; `labels-kinds` lists what its races do.  As in races.c, no thread
 * sleeps to get an interleaving.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* ---- harmless ---- */

static int error_of_any, level;
static int *instance;

/* Each thread reports a failure; only whether there was one matters, not whose it was. */
static void any_error(int n)
{
	error_of_any = n + 1;
}

static void say_any_error(void)
{
	puts(error_of_any ? "failed" : "fine");
}

/* Both threads raise the level to the same value. */
static void raise_level(int n)
{
	(void)n;
	if (level < 10)
		level = 10;
}

static void say_level(void)
{
	printf("level %d\n", level);
}

/* Both threads may make the object; each uses the one that it sees, and both objects are alike. */
static void made_twice(int n)
{
	int *mine;

	(void)n;
	if (!instance) {
		mine = malloc(sizeof *mine);
		*mine = 5;
		instance = mine;
	}
	mine = instance;
	pthread_mutex_lock(&lock);
	level += *mine;
	pthread_mutex_unlock(&lock);
}

static int stop;

/* Whether the loop ends a few rounds earlier or later makes no difference. */
static void stop_flag(int n)
{
	if (n == 0)
		stop = 1;
	for (int i = 0; n == 1 && i < 3; i++)
		if (stop)
			break;
}

/* ---- the output differs ---- */

static int progress, counter, smallest = 100, from, to, letters;
static char text[64];
static unsigned seed = 1;
static pthread_rwlock_t shared_lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t two;

static void show_progress(int n)
{
	if (n == 0)
		progress = 50;
	else
		printf("%d %%\n", progress);
}

static void say_counter(void)
{
	printf("%d\n", counter);
}

/* A lock that readers share does not keep writers apart. */
static void read_locked(int n)
{
	(void)n;
	pthread_rwlock_rdlock(&shared_lock);
	counter++;
	pthread_rwlock_unlock(&shared_lock);
}

static void make_two(void)
{
	sem_init(&two, 0, 2);
}

/* A semaphore that admits two threads does not keep them apart. */
static void two_let_in(int n)
{
	(void)n;
	sem_wait(&two);
	counter++;
	sem_post(&two);
}

/* A thread that does not get the lock continues without it. */
static void without_lock(int n)
{
	int got = !pthread_mutex_trylock(&lock);

	(void)n;
	counter++;
	if (got)
		pthread_mutex_unlock(&lock);
}

static void minimum(int n)
{
	if (20 - n < smallest)
		smallest = 20 - n;
}

static void say_smallest(void)
{
	printf("%d\n", smallest);
}

/* Both threads append to the same text. */
static void append(int n)
{
	text[letters] = (char)('a' + n);
	letters = letters + 1;
}

static void say_text(void)
{
	printf("%s\n", text);
}

/* Both threads draw from one random number generator. */
static void draw(int n)
{
	(void)n;
	seed = seed * 1103515245u + 12345u;
}

static void say_seed(void)
{
	printf("%u\n", seed);
}

static void have_money(void)
{
	from = 100;
}

/* The second thread may print the sum between the withdrawal and the deposit. */
static void transfer(int n)
{
	if (n == 0) {
		from -= 10;
		to += 10;
	} else {
		printf("%d in all\n", from + to);
	}
}

static void *take_number(void *at)
{
	int number = *(int *)at;

	pthread_mutex_lock(&lock);
	counter += 10 * number;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* The creator changes a variable while the new thread reads it, as happens with loop variables. */
static void loop_variable(int n)
{
	pthread_t t;
	int i = 1;

	if (n)
		return;
	pthread_create(&t, NULL, take_number, &i);
	i++;
	pthread_join(t, NULL);
}

/* Two threads push entries onto a list, and one of the entries may be lost. */
struct entry {
	struct entry *next;
	int value;
};
static struct entry *list;

static void push(int n)
{
	struct entry *e = malloc(sizeof *e);

	e->value = n;
	e->next = list;
	list = e;
}

static void say_list(void)
{
	int count = 0;

	for (const struct entry *e = list; e; e = e->next)
		count++;
	printf("%d entries\n", count);
}

/* ---- crashes, failed assertions and hangs ---- */

static struct object {
	int uses, value;
} * object;
static int is_there, used, limit = 2000, waiting;
static void (*handler)(void);

static void make_object(void)
{
	object = malloc(sizeof *object);
	object->uses = 2;
	object->value = 1;
}

/* A reference count without a lock: both threads may find that they were the last user. */
static void count_of_uses(int n)
{
	(void)n;
	object->uses--;
	if (object->uses == 0)
		free(object);
}

static void make_list(void)
{
	push(0);
}

/* Both threads may take and free the only entry. */
static void pop(int n)
{
	struct entry *e = list;

	(void)n;
	if (e) {
		list = e->next;
		free(e);
	}
}

/* The object is published before its value is set. */
static void too_early(int n)
{
	if (n == 0) {
		struct object *o = calloc(1, sizeof *o);

		object = o;
		o->value = 3;
	} else if (object) {
		assert(object->value == 3);
	}
}

/* Both threads may take the last place. */
static void last_place(int n)
{
	(void)n;
	if (used < 1) {
		used++;
		assert(used <= 1);
	}
}

/* The signal may come between the test and the wait, and is then lost. */
static void lost_signal(int n)
{
	if (n == 0) {
		pthread_mutex_lock(&lock);
		if (!is_there)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	} else {
		is_there = 1;
		pthread_cond_signal(&changed);
	}
}

static void do_nothing(void)
{
}

/* The handler may be called before it is set. */
static void early_call(int n)
{
	if (n == 0)
		handler = do_nothing;
	else
		handler();
}

/* The limit may change during the loop, which ends at 2000 in any case. */
static void moved_end(int n)
{
	if (n == 0)
		limit = 1;
	for (volatile int at = 0; n == 1 && at != limit && at != 2000; at = at + 2)
		;
}

/* If one of the two increments is lost, both threads wait forever. */
static void own_barrier(int n)
{
	(void)n;
	waiting++;
	while (*(volatile int *)&waiting < 2)
		;
}

/* The lock, which is on the heap, may be freed while the other thread uses it. */
static pthread_mutex_t *own;

static void make_own(void)
{
	own = malloc(sizeof *own);
	pthread_mutex_init(own, NULL);
}

static void freed_lock(int n)
{
	if (n == 0) {
		pthread_mutex_lock(own);
		pthread_mutex_unlock(own);
	} else {
		free(own);
	}
}

static const struct program {
	const char *name;
	void (*work)(int n);
	void (*before)(void), (*after)(void);
} programs[] = {
	{"any-error", any_error, NULL, say_any_error},
	{"raise-level", raise_level, NULL, say_level},
	{"made-twice", made_twice, NULL, say_level},
	{"stop-flag", stop_flag, NULL, NULL},
	{"show-progress", show_progress, NULL, NULL},
	{"read-locked", read_locked, NULL, say_counter},
	{"two-let-in", two_let_in, make_two, say_counter},
	{"without-lock", without_lock, NULL, say_counter},
	{"minimum", minimum, NULL, say_smallest},
	{"append", append, NULL, say_text},
	{"draw", draw, NULL, say_seed},
	{"transfer", transfer, have_money, NULL},
	{"loop-variable", loop_variable, NULL, say_counter},
	{"push", push, NULL, say_list},
	{"count-of-uses", count_of_uses, make_object, NULL},
	{"pop", pop, make_list, NULL},
	{"too-early", too_early, NULL, NULL},
	{"last-place", last_place, NULL, NULL},
	{"lost-signal", lost_signal, NULL, NULL},
	{"early-call", early_call, NULL, NULL},
	{"moved-end", moved_end, NULL, NULL},
	{"own-barrier", own_barrier, NULL, NULL},
	{"freed-lock", freed_lock, make_own, NULL},
};

static const struct program *program;

static void *thread(void *n)
{
	program->work((int)(long)n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
		if (!strcmp(programs[i].name, argv[1]))
			program = &programs[i];
	if (!program)
		return 2;
	if (program->before)
		program->before();
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (program->after)
		program->after();
	return 0;
}
