// SPDX-License-Identifier: Apache-2.0
// expect: deadlock heap,list 1
// drop: race heap 2
// recorded: the object is made and changed before the other thread looks at the list.
/* A thread takes the lock of an object that is already in the list, and then the list's lock. */
#include "case.h"

struct object {
	pthread_mutex_t lock;
	int value;
};
MUTEX(list);
static struct object *listed;
THREAD(create)
{
	UNUSED;
	struct object *o = calloc(1, sizeof *o);

	pthread_mutex_init(&o->lock, NULL);
	LOCK(list);
	listed = o;
	UNLOCK(list);
	LOCK(o->lock);
	LOCK(list);
	UNLOCK(list);
	UNLOCK(o->lock);
	return NULL;
}
THREAD(visit)
{
	UNUSED;
	LOCK(list);
	if (listed) {
		LOCK(listed->lock);
		UNLOCK(listed->lock);
	}
	UNLOCK(list);
	return NULL;
}
int main(void)
{
	run_two(create, visit);
	return listed->value;
}
