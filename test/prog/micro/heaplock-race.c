// SPDX-License-Identifier: Apache-2.0
// expect: race heap 2 speculative
// recorded: the worker is done with the object before it is released.
/* Memory is freed while another thread may still use the lock inside it. */
#include "case.h"

struct box {
	pthread_mutex_t m;
	int n;
};
static struct box *box;
static int total;
THREAD(work)
{
	struct box *b = argument;

	LOCK(b->m);
	total++;
	UNLOCK(b->m);
	return NULL;
}
int main(void)
{
	pthread_t worker;

	box = malloc(sizeof *box);
	pthread_mutex_init(&box->m, NULL);
	worker = start_settled(work, box);
	LOCK(box->m);
	total++;
	UNLOCK(box->m);
	free(box);
	join(worker);
	return total != 2;
}
