// Request and response with two flags and busy waiting, as between a boot loader's two processors.
// Why: the server takes the question after it saw "request", which is stored after the question; the
// same holds for the answer and "response".  Neither pair of accesses can happen in the other order.
//
// expect: question single-ordering -
//
// expect: answer single-ordering -
#include <pthread.h>
#include <stdio.h>

static int question, answer;
static volatile int request, response;

#define KEEP_ORDER() __asm__ volatile("" ::: "memory") /* by the compiler */

static void *client(void *arg)
{
	question = 21;
	KEEP_ORDER();
	request = 1;
	while (!response)
		;
	KEEP_ORDER();
	printf("%d\n", answer);
	return arg;
}

static void *server(void *arg)
{
	while (!request)
		;
	KEEP_ORDER();
	answer = 2 * question;
	KEEP_ORDER();
	response = 1;
	return arg;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, client, NULL);
	pthread_create(&b, NULL, server, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
