// SPDX-License-Identifier: Apache-2.0
/* Threads send signals to themselves; for one signal, the handler returns by siglongjmp(). */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t seen;

static void handler(int number)
{
	seen = seen + 1;
	if (number == SIGFPE)
		siglongjmp(back, 1);
}

static void *work(void *argument)
{
	long n = (long)argument, sum = 0;
	for (long i = 0; i < n; i++) {
		if (sigsetjmp(back, 1) == 0) {
			raise(i % 3 ? SIGUSR1 : SIGFPE);
			sum += i;
		} else {
			sum += 100;
		}
	}
	return (void *)(sum * 10 + seen);
}

int main(void)
{
	struct sigaction a = {.sa_handler = handler};
	pthread_t t[2];
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGFPE, &a, NULL);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 5));
	for (int i = 0; i < 2; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
