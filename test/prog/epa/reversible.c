/* SPDX-License-Identifier: Apache-2.0 */
/* Situations for the reversibility check: reversible SITUATION.  In
 * each, a few threads share memory, a lock, a file or the like.
 * test/cli/reversible.sh lists the situations whose result is the same
 * in every schedule. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int value, other;
static char text[64];
static union {
	unsigned word;
	char bytes[8];
} mixed;
static _Atomic int counter;
static int *shared;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem, sem2;

typedef void *body(void *);

/* Runs two threads at the same time. */
static void both(body *one, body *two)
{
	pthread_t a, b;

	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, two, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

/* ---- memory ---- */

static void *set_one(void *p)
{
	value = 1;
	return p;
}

static void *set_two(void *p)
{
	value = 2;
	return p;
}

static void *get(void *p)
{
	other = value;
	return p;
}

static void write_write(void)
{
	both(set_one, set_two);
}

static void write_read(void)
{
	both(set_one, get);
}

static void *get_only(void *p)
{
	return value ? p : NULL;
}

static void read_read(void)
{
	value = 3;
	both(get_only, get_only);
}

static void *copy_in(void *p)
{
	char from[48] = "something";

	memcpy(text, from, (size_t)(value + 40));
	return p;
}

static void *length(void *p)
{
	other = (int)strlen(text + 4);
	return p;
}

static void library(void)
{
	both(copy_in, length);
}

static int compare(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

static void *sort(void *p)
{
	qsort(text, 16, 1, compare);
	return p;
}

static void *fill(void *p)
{
	memset(text + 8, 'x', (size_t)(value + 4));
	return p;
}

static void library_sort(void)
{
	memcpy(text, "the quick brown fox", 20);
	both(sort, fill);
}

static void *set_word(void *p)
{
	mixed.word = 0x01020304;
	return p;
}

static void *get_byte(void *p)
{
	other = mixed.bytes[2];
	return p;
}

static void *set_byte_6(void *p)
{
	mixed.bytes[6] = 1;
	return p;
}

static void overlap(void)
{
	both(set_word, get_byte);
}

static void neighbours(void)
{
	both(set_word, set_byte_6);
}

static void *add_atomic(void *p)
{
	atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
	return p;
}

static void *load_atomic(void *p)
{
	other = atomic_load(&counter);
	return p;
}

static void atomic_add(void)
{
	both(add_atomic, add_atomic);
}

static void atomic_load_store(void)
{
	both(add_atomic, load_atomic);
}

static void *use_shared(void *p)
{
	other = shared[1];
	return p;
}

static void *free_shared(void *p)
{
	sem_wait(&sem); /* in the recorded run, shared[1] is read before the block is freed */
	free(shared);
	return p;
}

static void *use_and_post(void *p)
{
	other = shared[1];
	sem_post(&sem);
	other += shared[2];
	return p;
}

static void free_ordered(void)
{
	shared = calloc(4, sizeof *shared);
	both(free_shared, (body *)use_and_post);
}

static void *unmap_shared(void *p)
{
	munmap(shared, 4096);
	return p;
}

static void *post_only(void *p)
{
	sem_post(&sem);
	return p;
}

static void *use_then_join(void *p)
{
	pthread_t t;

	use_shared(p);
	pthread_create(&t, NULL, unmap_shared, NULL);
	pthread_join(t, NULL);
	return p;
}

static void unmap_ordered(void)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	both(use_then_join, post_only);
}

/* Each thread uses only its own blocks, which may reuse memory that the other thread freed. */
static void *own_heap(void *p)
{
	for (int i = 0; i < 20; i++) {
		int *mine = malloc(64);

		mine[3] = i;
		free(mine);
	}
	return p;
}

static void heap_reuse(void)
{
	both(own_heap, own_heap);
}

static int deep(int n)
{
	volatile int mine[16];

	mine[n & 15] = n;
	return n ? deep(n - 1) + mine[n & 15] : 0;
}

static void *own_stack(void *p)
{
	(void)deep(10);
	return p;
}

/* This thread ends while main runs, and the next thread may get its stack. */
static void *leave(void *p)
{
	(void)deep(12);
	sem_post(&sem);
	return p;
}

static void stack_reuse(void)
{
	pthread_t t;

	for (int i = 0; i < 5; i++) {
		pthread_create(&t, NULL, leave, NULL);
		pthread_detach(t);
		sem_wait(&sem);
	}
	both(own_stack, own_stack);
}

/* ---- threads ---- */

static void *nothing(void *p)
{
	return p;
}

static void silent(void)
{
	both(nothing, nothing);
}

static int slots[16];

static void *take_slot(void *p)
{
	*(int *)p += 1;
	return p;
}

static void fork_order(void)
{
	pthread_t t[16];
	int sum = 0;

	for (int i = 0; i < 16; i++) {
		slots[i] = i;
		pthread_create(&t[i], NULL, take_slot, &slots[i]);
	}
	for (int i = 0; i < 16; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 16; i++)
		sum += slots[i];
	printf("%d\n", sum);
}

/* A thread's own handle is stored before it runs; that of the next thread may not be stored yet. */
static pthread_t handles[2];

static void *get_own(void *p)
{
	return handles[0] ? p : NULL;
}

static void *get_next(void *p)
{
	return handles[1] ? p : NULL;
}

static void start_with(body *one)
{
	pthread_create(&handles[0], NULL, one, NULL);
	pthread_create(&handles[1], NULL, nothing, NULL);
	pthread_join(handles[0], NULL);
	pthread_join(handles[1], NULL);
}

static void handle_own(void)
{
	start_with(get_own);
}

static void handle_next(void)
{
	start_with(get_next);
}

/* ---- locks ---- */

static void *add_locked(void *p)
{
	pthread_mutex_lock(&mutex);
	value++;
	pthread_mutex_unlock(&mutex);
	return p;
}

static void mutex_add(void)
{
	both(add_locked, add_locked);
}

static void *other_locked(void *p)
{
	pthread_mutex_lock(&mutex);
	other++;
	pthread_mutex_unlock(&mutex);
	return p;
}

static void mutex_apart(void)
{
	both(add_locked, other_locked);
}

/* The creator holds the lock already, so the child cannot get it before the creator releases it. */
static void handover(void)
{
	pthread_t t;

	pthread_mutex_lock(&mutex);
	pthread_create(&t, NULL, add_locked, NULL);
	value = 5;
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
}

static void *try_add(void *p)
{
	if (pthread_mutex_trylock(&mutex) == 0) {
		if (p)
			value++;
		pthread_mutex_unlock(&mutex);
	}
	return p;
}

static void trylock(void)
{
	both(try_add, try_add);
}

static void *read_locked(void *p)
{
	pthread_rwlock_rdlock(&rwlock);
	int seen = value;
	pthread_rwlock_unlock(&rwlock);
	return seen ? p : NULL;
}

static void *write_locked(void *p)
{
	pthread_rwlock_wrlock(&rwlock);
	value = 7;
	pthread_rwlock_unlock(&rwlock);
	return p;
}

static void rwlock_write(void)
{
	both(read_locked, write_locked);
}

static void rwlock_readers(void)
{
	value = 1;
	both(read_locked, read_locked);
}

static void *add_spinning(void *p)
{
	pthread_spin_lock(&spin);
	value += 2;
	pthread_spin_unlock(&spin);
	return p;
}

static void spin_add(void)
{
	both(add_spinning, add_spinning);
}

/* reader() can read value before main sets it only if this thread locks the mutex before main. */
static void *later(void *p)
{
	pthread_mutex_lock(&mutex);
	sem_post(&sem2);
	pthread_mutex_unlock(&mutex);
	return p;
}

static void *reader(void *p)
{
	sem_wait(&sem);
	sem_wait(&sem2);
	other = value;
	return p;
}

static void solver(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, later, NULL);
	pthread_mutex_lock(&mutex);
	sem_post(&sem);
	value = 1;
	pthread_mutex_unlock(&mutex);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

/* ---- barriers, semaphores, condition variables, once controls, hidden state ---- */

static void *through_barrier(void *p)
{
	value = 1;
	pthread_barrier_wait(&barrier);
	return p;
}

static void *behind_barrier(void *p)
{
	pthread_barrier_wait(&barrier);
	other = value;
	return p;
}

static void barrier_ordered(void)
{
	both(through_barrier, behind_barrier);
}

static void *ask_serial(void *p)
{
	if (pthread_barrier_wait(&barrier))
		puts("serial");
	return p;
}

static void barrier_serial(void)
{
	both(ask_serial, ask_serial);
}

static void *set_and_post(void *p)
{
	value = 1;
	sem_post(&sem);
	return p;
}

static void *wait_and_get(void *p)
{
	sem_wait(&sem);
	other = value;
	return p;
}

static void semaphore(void)
{
	both(set_and_post, wait_and_get);
}

/* The other post may end the wait, so the wait does not order the accesses to value. */
static void semaphore_two(void)
{
	pthread_t t;

	pthread_create(&t, NULL, post_only, NULL);
	both(set_and_post, wait_and_get);
	pthread_join(t, NULL);
}

static void *set_and_signal(void *p)
{
	pthread_mutex_lock(&mutex);
	value = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return p;
}

/* Main holds the mutex from before it creates the thread until it waits, so it always waits. */
static void condition(void)
{
	pthread_t t;

	pthread_mutex_lock(&mutex);
	pthread_create(&t, NULL, set_and_signal, NULL);
	while (!value)
		pthread_cond_wait(&cond, &mutex);
	other = value;
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
}

static void *wait_for_value(void *p)
{
	pthread_mutex_lock(&mutex);
	while (!value)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return p;
}

static void condition_open(void)
{
	both(wait_for_value, set_and_signal);
}

static void initialise(void)
{
	value = 9;
}

static void *call_once(void *p)
{
	pthread_once(&once, initialise);
	return p;
}

static void once_open(void)
{
	both(call_once, call_once);
}

static void once_before(void)
{
	pthread_once(&once, initialise);
	both(call_once, call_once);
}

static void *draw(void *p)
{
	return rand() ? p : NULL;
}

static void hidden(void)
{
	both(draw, draw);
}

/* ---- time, random numbers, output and files ---- */

static void outside(void)
{
	FILE *random = fopen("/dev/urandom", "r");
	int *fresh = malloc(16), byte;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	byte = random ? fgetc(random) : 0;
	printf("%s %p\n", "this is at", (void *)&value);
	value = fresh[2] + byte + getpid() + (int)time(NULL);
	if (random)
		fclose(random);
	free(fresh);
}

static void *say(void *p)
{
	puts("hello");
	return p;
}

static void output(void)
{
	both(say, say);
}

static void output_joined(void)
{
	pthread_t t;

	pthread_create(&t, NULL, say, NULL);
	pthread_join(t, NULL);
	puts("hello");
}

/* Both threads open the same file by its name; each has its own descriptor. */
static void *write_file(void *p)
{
	int fd = open("reversible.tmp", O_CREAT | O_TRUNC | O_WRONLY, 0600);

	if (write(fd, "12345678", 8) != 8)
		abort();
	close(fd);
	return p;
}

static void *read_file(void *p)
{
	FILE *f = fopen("reversible.tmp", "r");
	char text[9];

	value = f && fgets(text, sizeof text, f) ? text[3] : 0;
	if (f)
		fclose(f);
	return p;
}

static void file(void)
{
	both(write_file, read_file);
}

static void file_handed(void)
{
	pthread_t t;

	pthread_create(&t, NULL, write_file, NULL);
	pthread_join(t, NULL);
	read_file(NULL);
}

/* The two threads use different files; only the table of descriptors is shared. */
static void *open_null(void *p)
{
	close(open("/dev/null", O_WRONLY));
	return p;
}

static void descriptors(void)
{
	both(write_file, open_null);
}

/* How far the other thread gets before the process dies does not matter: they share no data. */
static void *hold_and_die(void *p)
{
	pthread_mutex_lock(&second);
	other = 3;
	raise(SIGKILL);
	pthread_mutex_unlock(&second);
	return p;
}

static void killed(void)
{
	both(hold_and_die, add_locked);
}

static void alone(void)
{
	value = 1;
}

/* ---- channels ---- */

static int ends[2], counter_fd;

/* How many of these bytes one read() returns depends on the schedule. */
static void *send_four(void *p)
{
	for (int i = 0; i < 4; i++)
		if (write(ends[1], "x", 1) != 1)
			abort();
	close(ends[1]);
	return p;
}

static void channel_some(void)
{
	pthread_t t;
	char bytes[4];

	if (pipe(ends))
		abort();
	pthread_create(&t, NULL, send_four, NULL);
	while (read(ends[0], bytes, sizeof bytes) > 0) {
	}
	pthread_join(t, NULL);
}

static void *send_value(void *p)
{
	char byte = 'x';

	value = 1;
	if (write(ends[1], &byte, 1) != 1)
		abort();
	return p;
}

static void *receive_value(void *p)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		abort();
	value = value + 1;
	if (eventfd_write(counter_fd, 1))
		abort();
	return p;
}

/* A pipe hands value to the receiver, and an eventfd hands it back to main. */
static void channel(void)
{
	eventfd_t got;
	pthread_t a, b;

	counter_fd = eventfd(0, 0);
	if (pipe(ends))
		abort();
	pthread_create(&a, NULL, send_value, NULL);
	pthread_create(&b, NULL, receive_value, NULL);
	if (eventfd_read(counter_fd, &got))
		abort();
	other = value;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

static void *send_one(void *p)
{
	if (write(ends[1], p, 1) != 1)
		abort();
	return p;
}

/* The order in which the two threads send is visible in the bytes received. */
static void channel_two(void)
{
	static char bytes[2] = "ab";
	pthread_t a, b;

	if (pipe(ends))
		abort();
	pthread_create(&a, NULL, send_one, bytes);
	pthread_create(&b, NULL, send_one, bytes + 1);
	if (read(ends[0], text, 1) != 1 || read(ends[0], text + 1, 1) != 1)
		abort();
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

/* ---- numbers ---- */

static __attribute__((noinline)) unsigned long key_of(const void *p)
{
	return (unsigned long)p;
}

static void *calculate(void *p)
{
	other = (int)(long)p % 7; /* p contains a number, not an address */
	return p;
}

/* One function returns an address as a number; another gets a number as a pointer. */
static void key(void)
{
	int *block = malloc(sizeof *block);
	pthread_t a;

	value = (int)(key_of(block) % 7);
	pthread_create(&a, NULL, calculate, (void *)123456L);
	pthread_join(a, NULL);
	free(block);
}

/* A hash is computed from the bytes of an address. */
static void byte_hash(void)
{
	struct {
		void *p;
	} s = {malloc(4)};
	const unsigned char *bytes = (const unsigned char *)&s;
	unsigned hash = 0;

	for (size_t i = 0; i < sizeof s; i++)
		hash = hash * 31 + bytes[i];
	value = (int)hash;
}

/* ---- signals ---- */

static void on_signal(int number)
{
	value = number;
}

static void *send_signal(void *p)
{
	pthread_kill(*(pthread_t *)p, SIGUSR1);
	return p;
}

static void signals(void)
{
	pthread_t self = pthread_self(), a;

	signal(SIGUSR1, on_signal);
	pthread_kill(self, SIGUSR1); /* is handled here, before the call returns */
	pthread_create(&a, NULL, send_signal, &self);
	pthread_join(a, NULL);
}

/* An index is computed from an address, as for a hash table, so it differs from run to run. */
static void addresses(void)
{
	int *block = malloc(sizeof *block);

	other = (int)((unsigned long)block / 16 % 7);
	value = ((unsigned long)block & 3) == 0; /* the alignment is the same in every run */
	free(block);
}

/* One call accesses more bytes than the check examines. */
static void huge(void)
{
	size_t size = 65u << 20;
	char *block = malloc(size);

	memset(block, 1, size);
	value = block[size / 2];
	free(block);
}

static const struct {
	const char *name;
	void (*run)(void);
} situations[] = {
	{"write-write", write_write},
	{"write-read", write_read},
	{"read-read", read_read},
	{"library", library},
	{"library-sort", library_sort},
	{"overlap", overlap},
	{"neighbours", neighbours},
	{"atomic-add", atomic_add},
	{"atomic-load", atomic_load_store},
	{"free", free_ordered},
	{"unmap", unmap_ordered},
	{"heap-reuse", heap_reuse},
	{"stack-reuse", stack_reuse},
	{"silent", silent},
	{"fork-order", fork_order},
	{"handle-own", handle_own},
	{"handle-next", handle_next},
	{"mutex", mutex_add},
	{"mutex-apart", mutex_apart},
	{"handover", handover},
	{"trylock", trylock},
	{"rwlock", rwlock_write},
	{"rwlock-readers", rwlock_readers},
	{"spin", spin_add},
	{"solver", solver},
	{"barrier", barrier_ordered},
	{"barrier-serial", barrier_serial},
	{"semaphore", semaphore},
	{"semaphore-two", semaphore_two},
	{"condition", condition},
	{"condition-open", condition_open},
	{"once", once_open},
	{"once-before", once_before},
	{"hidden", hidden},
	{"outside", outside},
	{"output", output},
	{"file", file},
	{"file-handed", file_handed},
	{"descriptors", descriptors},
	{"channel-some", channel_some},
	{"output-joined", output_joined},
	{"killed", killed},
	{"alone", alone},
	{"huge", huge},
	{"addresses", addresses},
	{"channel", channel},
	{"channel-two", channel_two},
	{"key", key},
	{"byte-hash", byte_hash},
	{"signals", signals},
};

int main(int argc, char **argv)
{
	sem_init(&sem, 0, 0);
	sem_init(&sem2, 0, 0);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	for (size_t i = 0; argc > 1 && i < sizeof situations / sizeof *situations; i++)
		if (!strcmp(situations[i].name, argv[1])) {
			situations[i].run();
			return 0;
		}
	fprintf(stderr, "reversible: which situation?\n");
	return 2;
}
