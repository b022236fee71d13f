// SPDX-License-Identifier: Apache-2.0
/* Each thread runs a program in a small interpreter, which has a table of functions. */
#include <pthread.h>
#include <stdio.h>

struct machine {
	const unsigned char *code;
	int stack[16], top, at, steps;
};

typedef void op(struct machine *m);
static void op_push(struct machine *m)
{
	m->stack[m->top++] = m->code[m->at++];
}
static void op_add(struct machine *m)
{
	m->top--;
	m->stack[m->top - 1] += m->stack[m->top];
}
static void op_mul(struct machine *m)
{
	m->top--;
	m->stack[m->top - 1] *= m->stack[m->top];
}
static void op_dup(struct machine *m)
{
	m->stack[m->top] = m->stack[m->top - 1];
	m->top++;
}
static void op_loop(struct machine *m)
{
	int to = m->code[m->at++];
	if (m->stack[m->top - 1] < 500)
		m->at = to;
}
static op *const table[] = {op_push, op_add, op_mul, op_dup, op_loop};

static void *work(void *argument)
{
	struct machine m = {.code = argument};
	while (m.code[m.at] != 9 && m.steps++ < 1000)
		table[m.code[m.at++]](&m);
	return (void *)(long)(m.stack[m.top - 1] * 10 + m.steps % 10);
}

int main(void)
{
	static unsigned char a[] = {0, 3, 0, 2, 2, 0, 1, 1, 4, 2, 9}, b[] = {0, 2, 3, 2, 4, 2, 9},
			     c[] = {0, 200, 0, 200, 1, 0, 90, 1, 0, 60, 1, 9};
	unsigned char *codes[] = {a, b, c};
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, codes[i]);
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
