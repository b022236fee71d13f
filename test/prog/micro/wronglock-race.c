// SPDX-License-Identifier: Apache-2.0
// expect: race heap 1
// recorded: one thread is done before the other begins.
/* Each object has a lock; one object is changed under the other's lock. */
#include "case.h"

struct item {
	pthread_mutex_t lock;
	struct item *other;
	int state;
};
THREAD(own)
{
	struct item *i = argument;

	LOCK(i->lock);
	i->state++;
	UNLOCK(i->lock);
	return NULL;
}
THREAD(neighbour)
{
	struct item *i = argument;

	LOCK(i->lock);
	i->other->state++;
	UNLOCK(i->lock);
	return NULL;
}
static struct item *make(void)
{
	struct item *i = calloc(1, sizeof *i);

	pthread_mutex_init(&i->lock, NULL);
	return i;
}
int main(void)
{
	struct item *i = make(), *j = make();

	j->other = i;
	pthread_t a = start_settled(own, i), b = start(neighbour, j);
	join(a);
	join(b);
	return i->state < 1;
}
