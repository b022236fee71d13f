// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the litmus test in its argument (test/unit/litmus.h) and prints the outcome: what the reads
 * and exchanges of the threads returned, a semicolon, and the final values.
 *
 * Threads keep their results in registers and return them, so the only shared memory is that of the
 * test.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define OPS 8

struct op {
	char kind;
	int place, value;
};

static struct {
	_Alignas(64) int value;
} places[4];
static struct op ops[THREADS][OPS];
static int counts[THREADS], thread_count = 1, place_count;

__attribute__((noinline)) static int look(const int *p)
{
	return *p;
}

__attribute__((noinline)) static void put(int *p, int value)
{
	*p = value;
}

__attribute__((noinline)) static int swap(int *p, int value)
{
	return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);
}

/* Returns a decimal number: the digit 1, then one digit for each result, in program order. */
static void *run(void *argument)
{
	const struct op *mine = ops[(intptr_t)argument];
	uintptr_t said = 1;

	for (int i = 0; i < counts[(intptr_t)argument]; i++) {
		int *p = &places[mine[i].place].value;

		switch (mine[i].kind) {
		case 'W': put(p, mine[i].value); break;
		case 'R': said = said * 10 + (uintptr_t)look(p); break;
		case 'X': said = said * 10 + (uintptr_t)swap(p, mine[i].value); break;
		case 'F': __asm__ volatile("mfence" ::: "memory"); break;
		default: __asm__ volatile("sfence" ::: "memory");
		}
	}
	return (void *)said;
}

static void parse(const char *text)
{
	for (; *text; text++) {
		struct op *op;

		if (*text == ' ')
			continue;
		if (*text == '|') {
			thread_count++;
			continue;
		}
		op = &ops[thread_count - 1][counts[thread_count - 1]++];
		op->kind = *text;
		if (strchr("FG", *text))
			continue;
		op->place = (int)(strchr("xyzw", *++text) - strchr("xyzw", 'x'));
		if (op->place >= place_count)
			place_count = op->place + 1;
		if (op->kind != 'R')
			op->value = *++text - '0';
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	char said[64] = "", digits[32];
	void *result;

	if (argc != 2)
		return 2;
	parse(argv[1]);
	for (intptr_t i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < thread_count; i++) {
		pthread_join(threads[i], &result);
		snprintf(digits, sizeof digits, "%ju", (uintmax_t)(uintptr_t)result);
		strcat(said, digits + 1);
	}
	strcat(said, ";");
	for (int i = 0; i < place_count; i++)
		sprintf(said + strlen(said), "%d", look(&places[i].value));
	puts(said);
	return 0;
}
