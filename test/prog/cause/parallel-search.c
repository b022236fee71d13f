// expect: found k-witness-harmless -
// Kind f: found only lets the other searchers stop early; the target is in one
// segment only, so the result is the same. Segments report in any order.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

#define NSEG 5
#define SEGLEN 50

int data[NSEG * SEGLEN]; /* filled before the threads start */
int target;		 /* set before the threads start */
int result = -1;	 /* written by the one finder */
int found;		 /* early exit, unprotected */
sem_t out_sem;		 /* one printer at a time */

static void *search(void *arg)
{
	int seg = (int)(intptr_t)arg;
	int end = (seg + 1) * SEGLEN;

	for (int i = seg * SEGLEN; i < end; i++) {
		if (found) /* racy read */
			break;
		if (data[i] == target) {
			result = i;
			found = 1; /* racy write, by one thread only */
			break;
		}
	}
	sem_wait(&out_sem);
	printf("segment %d finished\n", seg);
	sem_post(&out_sem);
	return NULL;
}

int main(void)
{
	pthread_t t[NSEG];
	sem_init(&out_sem, 0, 1);
	for (int i = 0; i < NSEG * SEGLEN; i++)
		data[i] = 3 * i + 1; /* all different */
	target = data[2 * SEGLEN + 17];
	for (int i = 0; i < NSEG; i++)
		pthread_create(&t[i], NULL, search, (void *)(intptr_t)i);
	for (int i = 0; i < NSEG; i++)
		pthread_join(t[i], NULL);
	printf("target at %d\n", result);
	return 0;
}
