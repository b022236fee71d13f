// SPDX-License-Identifier: Apache-2.0
/* Structures with pointers, arrays and padding are copied, returned and passed by value. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
	char tag;
	double weight;
	short count;
	const char *name;
};

struct whole {
	struct part parts[4];
	struct part *heaviest;
	unsigned char last;
};

static struct part make(char tag, double weight, const char *name)
{
	struct part p;
	p.tag = tag;
	p.weight = weight;
	p.count = (short)(weight * 3);
	p.name = name;
	return p;
}

static double judge(struct whole w)
{
	double sum = 0;
	for (int i = 0; i < 4; i++)
		sum += w.parts[i].weight * w.parts[i].count + (double)strlen(w.parts[i].name);
	return sum + w.heaviest->weight + w.last;
}

static void *work(void *argument)
{
	static const char *const names[] = {"bolt", "nut", "washer", "screw driver"};
	double *out = argument;
	struct whole a, *b = malloc(sizeof *b);
	for (int i = 0; i < 4; i++)
		a.parts[i] = make((char)('a' + i), *out * (i + 1), names[i]);
	a.heaviest = &a.parts[3];
	a.last = 7;
	memcpy(b, &a, sizeof a);
	b->heaviest = &b->parts[2];
	*out = judge(*b) + judge(a);
	free(b);
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	double x[3] = {1.5, 2.25, -3};
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, &x[i]);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
		printf("%g\n", x[i]);
	}
	return 0;
}
