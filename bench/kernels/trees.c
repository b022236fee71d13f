/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads build, search, rotate and free binary search trees, and spend almost all time in malloc,
 * free and pointer chasing.  One tree in four is handed to the next thread through a slot under a
 * mutex.  SIZE is the number of trees.
 */
#include "kernel.h"

#define NODES 2000

struct node {
	struct node *left, *right;
	uint64_t key;
};

static struct kernel_args args;
static struct {
	pthread_mutex_t lock;
	struct node *tree;
} slot[KERNEL_MAX_THREADS];
static uint64_t sums[KERNEL_MAX_THREADS];

static void insert(struct node **root, uint64_t key)
{
	while (*root)
		root = key < (*root)->key ? &(*root)->left : &(*root)->right;
	*root = kernel_alloc(1, sizeof **root);
	(*root)->key = key;
}

static bool contains(const struct node *n, uint64_t key)
{
	while (n && n->key != key)
		n = key < n->key ? n->left : n->right;
	return n != NULL;
}

static uint64_t destroy(struct node *n)
{
	if (!n)
		return 0;
	uint64_t sum = n->key + destroy(n->left) + destroy(n->right);
	free(n);
	return sum;
}

static struct node *exchange(int index, struct node *tree)
{
	pthread_mutex_lock(&slot[index].lock);
	struct node *old = slot[index].tree;
	slot[index].tree = tree;
	pthread_mutex_unlock(&slot[index].lock);
	return old;
}

static uint64_t one_tree(long number, int self)
{
	struct node *root = NULL;
	uint64_t sum = 0;
	for (int i = 0; i < NODES; i++)
		insert(&root, kernel_random(number * NODES + i));
	for (int i = 0; i < NODES; i += 2)
		sum += contains(root, kernel_random(number * NODES + i));
	if (number % 4 == 0)
		root = exchange((self + 1) % args.threads, root);
	return sum + destroy(root);
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	for (long number = self; number < args.size; number += args.threads)
		sums[self] += one_tree(number, self);
	return NULL;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 10, 1200);
	for (int t = 0; t < args.threads; t++)
		pthread_mutex_init(&slot[t].lock, NULL);
	kernel_run(args.threads, work);
	uint64_t sum = 0;
	for (int t = 0; t < args.threads; t++) {
		sum += sums[t] + destroy(exchange(t, NULL));
		pthread_mutex_destroy(&slot[t].lock);
	}
	return kernel_report("trees", sum);
}
