// SPDX-License-Identifier: Apache-2.0
/* Each thread runs a recursive parser, which reports errors by longjmp(). */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

struct parser {
	jmp_buf back;
	const char *at;
	int depth;
};

static int parse(struct parser *p)
{
	int sum = 0;
	if (++p->depth > 8)
		longjmp(p->back, 2);
	while (*p->at && *p->at != ')') {
		if (*p->at == '(') {
			p->at++;
			sum += 10 * parse(p);
			if (*p->at != ')')
				longjmp(p->back, 1);
			p->at++;
		} else {
			sum += *p->at++ - '0';
		}
	}
	p->depth--;
	return sum;
}

static void *work(void *argument)
{
	struct parser p = {.at = argument, .depth = 0};
	volatile int tries = 0;
	int error = setjmp(p.back);
	tries++;
	if (error)
		return (void *)(long)(-error * 100 - tries);
	return (void *)(long)parse(&p);
}

int main(void)
{
	static char *texts[] = {"12(3(4)5)6", "1(2(3", "((((((((((1))))))))))"};
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, texts[i]);
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
