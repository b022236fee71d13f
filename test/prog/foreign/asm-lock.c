// SPDX-License-Identifier: Apache-2.0
/* A spin lock in inline assembler, whose memory is an operand.  With -DHIDDEN only the address is
 * an operand, in a register, so a tool does not see which memory is accessed. */
#include <pthread.h>
#include <stdio.h>

static int x;
static volatile int word;

static void lock(void)
{
	int v;

	do {
		v = 1;
#ifdef HIDDEN
		__asm__ volatile("xchgl %0, (%1)" : "+r"(v) : "r"(&word) : "memory");
#else
		__asm__ volatile("xchgl %0, %1" : "+r"(v), "+m"(word) : : "memory");
#endif
	} while (v);
}

static void unlock(void)
{
#ifdef HIDDEN
	__asm__ volatile("movl $0, (%0)" : : "r"(&word) : "memory");
#else
	__asm__ volatile("movl $0, %0" : "=m"(word) : : "memory");
#endif
}

static void *work(void *p)
{
	for (int i = 0; i < 10; i++) {
		lock();
		x++;
		unlock();
	}
	return p;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", x);
	return 0;
}
