/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each kind of event.  instr-events.expected lists the events that must happen. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct node {
	int key;
	struct node *next;
	char name[16];
};

void stub_segment(void);

struct node first, second;
struct node *table[4] = {&first, &second};
int hits;
static int calls;
volatile int loud;
_Atomic int flag;
static __thread int quiet_local;
__thread int shared_local;
const int constant[2] = {1, 2};
char text[32] = "hello";
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
int ready = 1;

__attribute__((noinline)) void simple(void)
{
	hits = 1;
	first.key = hits;
	hits = 2;
}

__attribute__((noinline)) void names(struct node *n, int i)
{
	n->next->key = table[i]->key;
	n->name[i] = 'x';
	loud++;
}

__attribute__((noinline)) void skipped(int i)
{
	int local[4] = {0};
	local[i & 3] = constant[i & 1];
	quiet_local = local[1];
}

__attribute__((noinline)) void keep(int *p)
{
	calls++;
	*p = 3;
	table[3] = (struct node *)p;
}

__attribute__((noinline)) void escaping(void)
{
	int local = 0;
	keep(&local);
	local++;
	shared_local = local;
}

__attribute__((noinline)) void atomics(void)
{
	int expected = 100;
	atomic_store_explicit(&flag, 1, memory_order_release);
	atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
	atomic_compare_exchange_strong(&flag, &expected, 5);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&flag, memory_order_acquire) == 7)
		hits++;
}

__attribute__((noinline)) void ranges(int fd)
{
	struct node copy = first;
	second = copy;
	memset(text, 0, sizeof text);
	strcpy(text, first.name);
	if (strcmp(text, "abd") == 0)
		hits++;
	if (write(fd, text, 4) == 4)
		hits++;
	if (read(fd, text, sizeof text) > 0)
		hits++;
	snprintf(text, sizeof text, "%d", 12345);
	strcat(text, "xyz");
}

__attribute__((noinline)) void waits(void)
{
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) void segments(int n)
{
	for (int i = 0; i < n; i++)
		hits++;
	stub_segment();
	hits++;
}

int main(void)
{
	int fds[2];
	if (pipe(fds) != 0)
		return 1;
	strcpy(first.name, "abc");
	simple();
	first.next = &second;
	names(&first, 1);
	skipped(1);
	escaping();
	atomics();
	ranges(fds[1]);
	waits();
	segments(3);
	return 0;
}
