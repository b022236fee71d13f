// Two threads count themselves without a lock, and a third one polls until both have.
// Why: if one count is lost, the third thread polls forever, although it counts its polls.
// expect: turns spec-violated hang
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int turns;
static unsigned looks;

static void *take_turn(void *arg)
{
	turns++;
	return arg;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, take_turn, NULL);
	pthread_create(&b, NULL, take_turn, NULL);
	while (turns != 2) {
		looks += 3;
		usleep(5);
	}
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("both");
	return 0;
}
