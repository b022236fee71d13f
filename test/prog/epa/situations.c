/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Situations in which two runs are compared.  Each is a separate function, which the second thread
 * calls.  NO is a false condition that a fault can make true, so that only the statement it
 * controls differs.  The first thread allocates meanwhile, so that addresses differ between runs.
 *
 *	situations NAME
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define NO (zero != 0)
/* The pointer `a` if `first` is 1, the pointer `b` if it is 0; computed without a branch. */
#define EITHER(first, a, b)                                                                                  \
	((void *)(((uintptr_t)(a) & -(uintptr_t)(first)) | ((uintptr_t)(b) & ~-(uintptr_t)(first))))

static volatile int zero;
static int table[16], cell;
static void *slots[16];
static int *main_stack;
static atomic_long counter;
static jmp_buf back;

static NOINLINE void heap(void)
{
	void *a = malloc(32), *b = malloc(32);
	int other = NO;
	slots[0] = EITHER(other, a, b); /* here: heap */
	slots[1] = b;
	free(a);
	free(b);
}

static NOINLINE void stack(void)
{
	int mine = 1, other = NO;
	slots[0] = EITHER(other, main_stack, &mine); /* here: stack */
	cell = *(int *)slots[1] + mine;
}

static NOINLINE void swap_bytes(char *a, char *b, size_t size)
{
	while (size-- > 0) {
		char byte = *a;
		*a++ = *b;
		*b++ = byte;
	}
}

/* Two structures with pointers are swapped byte by byte. */
static NOINLINE void bytes(void)
{
	struct {
		void *pointer;
		int number;
	} both[2] = {{malloc(16), 1}, {malloc(16), 2}};
	int other;
	swap_bytes((char *)&both[0], (char *)&both[1], sizeof both[0]);
	other = NO;
	slots[0] = EITHER(other, both[0].pointer, both[1].pointer); /* here: bytes */
	cell = both[0].number;
}

/* A number is stored where a pointer is expected. */
static NOINLINE void integer(void)
{
	int other = NO;
	slots[0] = (void *)(uintptr_t)(1234567 + 64 * other); /* here: integer */
	cell = (int)(uintptr_t)slots[0];
}

static void *count(void *unused)
{
	volatile int sum = 0;
	for (int i = 0; i < 20; i++)
		sum = sum + i;
	return unused;
}

/* Some threads may not have begun, or not have ended, when the process ends. */
static NOINLINE void detached(void)
{
	pthread_t thread;
	for (int i = 0; i < 4; i++) {
		pthread_create(&thread, NULL, count, NULL);
		pthread_detach(thread);
	}
}

/* A thread crashes while other threads run. */
static NOINLINE void dying(void)
{
	pthread_t thread;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, count, NULL);
	slots[0] = NULL;
	*(volatile int *)slots[0] = 1;
}

static NOINLINE void value(void)
{
	table[0] = NO ? 6 : 5; /* here: value */
	table[1] = table[0] * 2;
	table[0] = 0;
}

static NOINLINE void address(void)
{
	table[NO ? 3 : 2] = 1; /* here: address */
}

static NOINLINE void left(void)
{
	cell = 1;
}

static NOINLINE void right(void)
{
	cell = 2;
}

static NOINLINE void control(void)
{
	if (NO) /* here: control */
		left();
	else
		right();
	table[3] = 4;
}

static NOINLINE void arguments(void)
{
	char text[32];
	snprintf(text, sizeof text, "%d", NO ? 4 : 3); /* here: arguments */
	table[0] = text[0];
}

static NOINLINE void input(void)
{
	char text[8];
	if (read(0, text, sizeof text) == sizeof text) /* here: input */
		table[0] = text[3];
}

static void *one(void *argument)
{
	*(int *)argument += 1;
	return NULL;
}

static void *two(void *argument)
{
	*(int *)argument += 2;
	return NULL;
}

static NOINLINE void routine(void)
{
	pthread_t t;
	pthread_create(&t, NULL, NO ? two : one, &table[0]); /* here: routine */
	pthread_join(t, NULL);
}

static NOINLINE void argument(void)
{
	pthread_t t;
	pthread_create(&t, NULL, one, NO ? &table[1] : &table[0]); /* here: argument */
	pthread_join(t, NULL);
}

static NOINLINE void join(void)
{
	pthread_t t[2];
	int other;
	pthread_create(&t[0], NULL, one, &table[0]);
	pthread_create(&t[1], NULL, one, &table[1]);
	other = NO;
	pthread_join((pthread_t)EITHER(other, t[1], t[0]), NULL); /* here: join */
	pthread_join((pthread_t)EITHER(other, t[0], t[1]), NULL);
}

static NOINLINE void refused(void)
{
	pthread_t t;
	int r = pthread_create(&t, NULL, one, &table[0]); /* here: refused */
	if (r == 0)
		pthread_join(t, NULL);
}

static NOINLINE void extra(void)
{
	pthread_t t;
	if (NO) { /* here: extra */
		pthread_create(&t, NULL, one, &table[0]);
		pthread_join(t, NULL);
	}
	table[1] = 1;
}

static NOINLINE void missing(void)
{
	pthread_t t;
	if (!NO) { /* here: missing */
		pthread_create(&t, NULL, one, &table[0]);
		pthread_join(t, NULL);
	}
	table[1] = 1;
}

static NOINLINE void sizes(void)
{
	void *a = malloc(NO ? 24 : 16); /* here: sizes */
	slots[0] = a;
	slots[0] = NULL;
	free(a);
}

static NOINLINE void zeroed(void)
{
	void *a = calloc(NO ? 2 : 3, 8); /* here: zeroed */
	slots[0] = a;
	slots[0] = NULL;
	free(a);
}

static NOINLINE void moved(void)
{
	char *a = malloc(16);
	memset(a, 1, 16);
	a = realloc(a, NO ? 4000 : 3000); /* here: moved */
	slots[0] = a + 15;
	cell = a[15];
	free(a);
}

static NOINLINE void freed(void)
{
	void *a = malloc(16), *b = malloc(16);
	int other = NO;
	free(EITHER(other, a, b)); /* here: freed */
	free(EITHER(other, b, a));
}

static NOINLINE void atomics(void)
{
	atomic_fetch_add(&counter, NO ? 2 : 1); /* here: atomics */
	cell = (int)atomic_load(&counter);
}

static NOINLINE void arithmetic(void)
{
	long x = zero;
	for (int i = 0; i < 10; i++)
		x = x * 31 + (i ^ 5);
	printf("%ld\n", x); /* here: arithmetic */
}

static NOINLINE void *compute(void *argument)
{
	uintptr_t x = (uintptr_t)argument;
	x = x * 31 + 7;
	x ^= x >> 3;
	return (void *)(x & 0xff); /* here: alone */
}

static NOINLINE void alone(void)
{
	pthread_t t;
	pthread_create(&t, NULL, compute, (void *)5);
	pthread_join(t, NULL);
}

struct holder {
	long number;
	uintptr_t plain, tagged;
	void *inside[2];
	double after;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static NOINLINE void pointers(void)
{
	char *names[4] = {strdup("d"), strdup("b"), strdup("c"), strdup("a")};
	struct holder h, *copy = malloc(sizeof *copy * 8);
	memset(&h, 0, sizeof h);
	h.plain = (uintptr_t)copy + 8;
	h.tagged = (uintptr_t)names[1] | 1;
	h.inside[0] = &h;
	h.inside[1] = slots;
	h.after = NO ? 0.5 : 0.25; /* here: pointers */
	for (int i = 0; i < 8; i++)
		memcpy(&copy[i], &h, sizeof h);
	qsort(names, 4, sizeof names[0], by_name);
	slots[3] = (void *)(copy[5].tagged & ~(uintptr_t)1);
	slots[4] = copy[7].inside[0];
	slots[5] = (void *)((uintptr_t)names[0] + copy[1].number);
	for (int i = 0; i < 4; i++)
		free(names[i]);
	free(copy);
	memset(slots, 0, sizeof slots);
}

/* memcmp() returns the same whether or not a page ends shortly after the bytes it compares. */
static NOINLINE void pages(void)
{
	size_t size = 3 + (size_t)zero;
	char *a = aligned_alloc(4096, 8192), *b = a + 100, *c = a + 4094;
	memcpy(a, "same", 4);
	memcpy(b, "seem", 4);
	memcpy(c, "seem", 4);
	table[0] = memcmp(a, b, size);
	table[1] = memcmp(a, c, size);
	cell = NO ? 2 : 1; /* here: pages */
	free(a);
}

static NOINLINE void unknown(void)
{
	const char *home = getenv("HOME");
	slots[0] = stdin;
	slots[1] = (void *)(uintptr_t)free;
	slots[2] = &errno;
	slots[3] = environ;
	slots[4] = (void *)(uintptr_t)(home ? home : "none");
	slots[5] = (void *)(uintptr_t)pthread_self();
	slots[6] = strchr(program_invocation_name, 's');
	cell = *(char *)slots[4];
	table[5] = NO ? 2 : 1; /* here: unknown */
	errno = 3;
}

/* Maps a page at an address that differs in every run, as under stronger address randomisation.
 * The random bytes are part of a pointer; no other value of the program is random. */
static void *far_away(uintptr_t base)
{
	char *place = (char *)base;
	void *p;
	if (getrandom((char *)&place + 2, 3, 0) != 3)
		return NULL;
	p = mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0);
	return p == MAP_FAILED ? NULL : p;
}

/* The program writes bytes to a file: pointers, and six letters that could pass for a pointer. */
static NOINLINE void wide(void)
{
	struct {
		void *pointers[3];
		char text[8];
	} record = {{0}, "raddle"};
	int null = open("/dev/null", O_WRONLY);
	record.pointers[0] = far_away(0x5c0000000000);
	record.pointers[1] = far_away(0x700000000000);
	record.pointers[2] = far_away(0x300000000000);
	record.text[5] = NO ? 'x' : 'e'; /* here: wide */
	cell = (int)write(null, &record, sizeof record);
	close(null);
}

static NOINLINE void crash(void)
{
	*(NO ? (int *)8 : &cell) = 1; /* here: crash */
	table[7] = 1;
}

static void handle(int number)
{
	int inner = number;
	slots[0] = &inner;
	table[0] = NO ? 8 : 9; /* here: handler */
}

static NOINLINE void handler(void)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	table[1] = 1;
}

static NOINLINE void deeper(int n)
{
	char room[64];
	memset(room, n, sizeof room);
	slots[n] = room;
	if (n == 0)
		longjmp(back, 3);
	deeper(n - 1);
	cell = room[n];
}

static NOINLINE void jump(void)
{
	volatile int after = 0;
	if (setjmp(back) == 0)
		deeper(4);
	after++;
	slots[0] = (void *)(uintptr_t)&after;
	left();
	table[1] = NO ? 6 : 5; /* here: jump */
}

static NOINLINE int unbalanced_inner(int n)
{
	char room[16] = {0};
	slots[1] = room;
	if (NO) /* here: unbalanced */
		longjmp(back, 1);
	return n == 0 ? room[0] + 1 : unbalanced_inner(n - 1) + room[n] + 1;
}

static NOINLINE void unbalanced(void)
{
	if (setjmp(back) == 0)
		cell = unbalanced_inner(3);
	table[1] = 5;
	left();
}

static void *endless(void *argument)
{
	for (;;)
		++*(volatile int *)argument;
	return NULL;
}

static NOINLINE void killed(void)
{
	pthread_t t;
	pthread_create(&t, NULL, endless, &table[2]);
	left();
	table[1] = NO ? 6 : 5; /* here: killed */
}

static NOINLINE void masked(void)
{
	table[0] = NO ? 6 : 5; /* here: masked */
	table[0] = 7;
	cell = table[0];
}

static const struct situation {
	const char *name;
	void (*run)(void);
} situations[] = {
	{"bytes", bytes},     {"integer", integer}, {"detached", detached},	{"dying", dying},
	{"heap", heap},	      {"stack", stack},	    {"value", value},		{"address", address},
	{"control", control}, {"input", input},	    {"arguments", arguments},	{"routine", routine},
	{"join", join},	      {"refused", refused}, {"argument", argument},	{"extra", extra},
	{"missing", missing}, {"sizes", sizes},	    {"zeroed", zeroed},		{"moved", moved},
	{"freed", freed},     {"atomics", atomics}, {"arithmetic", arithmetic}, {"alone", alone},
	{"unknown", unknown}, {"crash", crash},	    {"pointers", pointers},	{"handler", handler},
	{"jump", jump},	      {"killed", killed},   {"unbalanced", unbalanced}, {"masked", masked},
	{"pages", pages},     {"wide", wide},
};

static void *noise(void *argument)
{
	char *kept[20];
	for (int i = 0; i < 20; i++)
		kept[i] = malloc((size_t)(16 + i * 8));
	for (int i = 0; i < 20; i++) {
		memset(kept[i], i, 16);
		free(kept[i]);
	}
	return argument;
}

static void *second(void *argument)
{
	const struct situation *s = argument;
	int here = 2;
	slots[1] = &here;
	s->run();
	slots[1] = NULL;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t first_thread, second_thread;
	int here = 1;
	main_stack = &here;
	for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
		if (argc < 2 || strcmp(argv[1], situations[i].name) != 0)
			continue;
		pthread_create(&first_thread, NULL, noise, NULL);
		pthread_create(&second_thread, NULL, second, (void *)(uintptr_t)&situations[i]);
		pthread_join(first_thread, NULL);
		pthread_join(second_thread, NULL);
		printf("%d %d %d\n", cell, table[0], table[1]);
		return 0;
	}
	return 2;
}
