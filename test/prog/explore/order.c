// SPDX-License-Identifier: Apache-2.0
/*
 * Programs in which every access is locked or atomic, but whose order is wrong in a few schedules.
 * The first argument selects one.  Those that end in -fine are correct in all schedules.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int balance, deposits, items;
static atomic_int flag;
static int *shared;
static int fine;

static int get(const int *at)
{
	int value;

	pthread_mutex_lock(&lock);
	value = *at;
	pthread_mutex_unlock(&lock);
	return value;
}

static void put(int *at, int value)
{
	pthread_mutex_lock(&lock);
	*at = value;
	pthread_mutex_unlock(&lock);
}

/* ---- a lost update although every access is locked ---- */

static void *deposit(void *argument)
{
	(void)argument;
	if (fine)
		pthread_mutex_lock(&other);
	put(&balance, get(&balance) + 1);
	if (fine)
		pthread_mutex_unlock(&other);
	return NULL;
}

static void check_balance(void)
{
	assert(get(&balance) == 2);
}

/* ---- a pointer is used before it is set, because no thread waits for its maker ---- */

static void *make(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&lock);
	shared = malloc(sizeof *shared);
	*shared = 7;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *use(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&lock);
	while (fine && !shared)
		pthread_cond_wait(&changed, &lock);
	deposits += *shared;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void nothing(void)
{
}

/* ---- two threads take two locks in opposite orders, but one of them only if a flag is set ---- */

static void *one(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&lock);
	atomic_store(&flag, 1);
	pthread_mutex_lock(&other);
	items++;
	pthread_mutex_unlock(&other);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *two(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&other);
	if (atomic_load(&flag) && !fine) {
		pthread_mutex_lock(&lock);
		items++;
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_unlock(&other);
	return NULL;
}

/* ---- a thread waits in a loop, and a wait times out; neither is a failure ---- */

static void *raise_flag(void *argument)
{
	(void)argument;
	sched_yield();
	atomic_store(&flag, 1);
	return NULL;
}

static void *wait_for_flag(void *argument)
{
	struct timespec soon;

	(void)argument;
	while (!atomic_load(&flag))
		sched_yield();
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 3600;
	pthread_mutex_lock(&lock);
	if (!items) {
		int result = pthread_cond_timedwait(&changed, &lock, &soon);

		assert(result == 0 || result == ETIMEDOUT);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ---- an endless loop that accesses nothing must not keep other threads from running ---- */

static void *do_nothing(void *argument)
{
	for (;;)
		;
	return argument;
}

/* ---- a thread waits in a loop for long, but the other thread comes: that is not a hang ---- */

volatile int noise;
static atomic_int ready;

/* C needs another definition of an inline function; the program links because calls are inlined. */
inline void make_noise(void)
{
	noise = noise + 1;
}

static void *come_late(void *argument)
{
	(void)argument;
	for (int i = 0; i < 8; i++)
		make_noise();
	atomic_store(&ready, 1);
	return NULL;
}

static void *wait_for_it(void *argument)
{
	(void)argument;
	make_noise();
	while (!atomic_load(&ready))
		;
	make_noise();
	return NULL;
}

/* ---- a thread that repeats the same writes does not wait in a loop: it ends ---- */

static volatile int stages[2];
static atomic_int rounds;

static void *go_round(void *argument)
{
	volatile int *stage = &stages[atomic_fetch_add(&rounds, 1)];

	for (int i = 0; i < 60000; i++) {
		*stage = 1;
		*stage = 2;
		*stage = 0;
	}
	return argument;
}

/* ---- each thread waits in a loop for a store that the other makes after its own loop ---- */

static atomic_int first, second;

static void *wait_for_second(void *argument)
{
	while (!atomic_load(&second))
		;
	atomic_store(&first, 1);
	return argument;
}

static void *wait_for_first(void *argument)
{
	while (!atomic_load(&first))
		;
	atomic_store(&second, 1);
	return argument;
}

/* ---- if an update of alive is lost, main waits forever while the threads continue to work ---- */

static volatile int alive, stop;

static void *work_on(void *argument)
{
	(void)argument;
	alive = alive + 1;
	while (!get((int *)&stop))
		put(&items, get(&items) + 1);
	alive = alive - 1;
	return NULL;
}

static void stop_work(void)
{
	while (alive != 2)
		;
	put((int *)&stop, 1);
	while (alive)
		;
}

/* ---- main may end before the assertion of a thread is evaluated ---- */

static void *late(void *argument)
{
	(void)argument;
	assert(atomic_load(&flag) == 0);
	return NULL;
}

static void *set_late(void *argument)
{
	(void)argument;
	atomic_store(&flag, 1);
	return NULL;
}

/* ---- the process looks newly started to itself, whether it was executed or copied ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t robust;

static void look_at_process(void)
{
	pthread_mutexattr_t attributes;
	int fd = open("/dev/null", O_RDONLY); /* the test has closed descriptor 3 */

	assert(fd == 3 && !close(fd));
	assert(kill(getppid(), 0) == 0);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&robust, &attributes);
}

static void *look_around(void *argument)
{
	pthread_once(&once, look_at_process);
	assert(pthread_mutex_lock(&robust) == 0);
	assert(pthread_mutex_lock(&robust) == EDEADLK);
	assert(pthread_mutex_unlock(&robust) == 0);
	return argument;
}

/* The second thread to come must write first.  If both think that they came first, both wait. */
static int to_first[2], to_second[2];
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_both(void)
{
	assert(pipe(to_first) == 0 && pipe(to_second) == 0);
}

static void ask(const int *in, const int *out)
{
	char byte = 'x';
	int second;

	pthread_once(&opened, open_both);
	second = fine ? atomic_exchange(&flag, 1) : atomic_load(&flag);

	atomic_store(&flag, 1);
	if (second)
		assert(write(out[1], &byte, 1) == 1);
	assert(read(in[0], &byte, 1) == 1);
	if (!second)
		assert(write(out[1], &byte, 1) == 1);
}

static void *ask_first(void *unused)
{
	ask(to_first, to_second);
	return unused;
}

static void *ask_second(void *unused)
{
	ask(to_second, to_first);
	return unused;
}

static void look_at_main(void)
{
	struct robust_list_head *head = NULL;
	size_t size = 0;

	assert(syscall(SYS_gettid) == getpid());
	assert(syscall(SYS_get_robust_list, 0, &head, &size) == 0 && head && size);
	assert(pthread_mutex_lock(&robust) == 0);
	assert((pid_t)(robust.__data.__lock & FUTEX_TID_MASK) == getpid());
}

static const struct {
	const char *name;
	void *(*threads[2])(void *);
	void (*check)(void);
	int joins;
} table[] = {
	{"lost", {deposit, deposit}, check_balance, 1},
	{"early", {make, use}, nothing, 1},
	{"locks", {one, two}, nothing, 1},
	{"waits", {raise_flag, wait_for_flag}, nothing, 1},
	{"around", {look_around, look_around}, look_at_main, 1},
	{"unjoined", {set_late, late}, nothing, 0},
	{"vain", {come_late, wait_for_it}, nothing, 1},
	{"round", {go_round, go_round}, nothing, 1},
	{"idle", {do_nothing, do_nothing}, nothing, 0},
	{"stuck", {wait_for_second, wait_for_first}, nothing, 1},
	{"asks", {ask_first, ask_second}, nothing, 1},
	{"endless", {work_on, work_on}, stop_work, 0},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t length = strcspn(name, "-");
	pthread_t threads[2];

	fine = name[length] != '\0';
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (strlen(table[i].name) != length || strncmp(table[i].name, name, length) != 0)
			continue;
		for (int t = 0; t < 2; t++)
			pthread_create(&threads[t], NULL, table[i].threads[t], NULL);
		for (int t = 0; t < 2 && table[i].joins; t++)
			pthread_join(threads[t], NULL);
		table[i].check();
		puts("done");
		return 0;
	}
	fprintf(stderr, "which program?\n");
	return 2;
}
