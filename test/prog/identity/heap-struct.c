// SPDX-License-Identifier: Apache-2.0
// objects: session.hits struct_conn.inner.state struct_conn.refs
/* Threads change structs on the heap: directly, through a member's address, and without a tag. */
#include <pthread.h>
#include <stdlib.h>

struct inner {
	long pad;
	int state;
};
typedef struct {
	struct conn *conn;
	int hits;
} session;
struct conn {
	int refs;
	struct inner inner;
};

static void change(struct inner *inner)
{
	inner->state ^= 1;
}

static void *work(void *argument)
{
	session *s = argument;

	s->hits++;
	s->conn->refs++;
	change(&s->conn->inner);
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	session *s = calloc(1, sizeof *s);

	s->conn = calloc(1, sizeof *s->conn);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, s);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	free(s->conn);
	free(s);
	return 0;
}
