// SPDX-License-Identifier: Apache-2.0
/* Threads use unions of numbers, pointers and bytes. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

union any {
	int64_t number;
	double real;
	const char *text;
	uint8_t bytes[8];
};

struct tagged {
	int tag;
	union any u;
};

static long value(const struct tagged *t)
{
	switch (t->tag) {
	case 0: return t->u.number;
	case 1: return (long)(t->u.real * 4);
	case 2: return (long)strlen(t->u.text);
	default: return t->u.bytes[0] + t->u.bytes[7];
	}
}

static void *work(void *argument)
{
	long sum = (long)argument;
	struct tagged list[12];
	for (int i = 0; i < 12; i++) {
		list[i].tag = i % 4;
		if (i % 4 == 0)
			list[i].u.number = sum * i;
		else if (i % 4 == 1)
			list[i].u.real = (double)sum / 3;
		else if (i % 4 == 2)
			list[i].u.text = i > 6 ? "long text" : "short";
		else
			memcpy(list[i].u.bytes, "\1\2\3\4\5\6\7\10", 8);
	}
	for (int i = 0; i < 12; i++)
		sum = sum * 3 + value(&list[i]);
	return (void *)sum;
}

int main(void)
{
	pthread_t t[2];
	void *r[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 4));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &r[i]);
	printf("%ld %ld\n", (long)r[0], (long)r[1]);
	return 0;
}
