// SPDX-License-Identifier: Apache-2.0
/* The keys of a search tree are added up recursively, near the root by a thread for each half. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
	int key;
	struct node *left, *right;
};

static struct node *insert(struct node *n, int key)
{
	if (!n) {
		n = calloc(1, sizeof *n);
		n->key = key;
	} else if (key < n->key) {
		n->left = insert(n->left, key);
	} else if (key > n->key) {
		n->right = insert(n->right, key);
	}
	return n;
}

struct job {
	const struct node *node;
	int depth;
	long sum;
};

static void *add(void *argument)
{
	struct job *j = argument, left = {0}, right = {0};
	pthread_t t;
	if (!j->node)
		return NULL;
	left = (struct job){j->node->left, j->depth + 1, 0};
	right = (struct job){j->node->right, j->depth + 1, 0};
	if (j->depth < 2) {
		pthread_create(&t, NULL, add, &left);
		add(&right);
		pthread_join(t, NULL);
	} else {
		add(&left);
		add(&right);
	}
	j->sum = left.sum + right.sum + (long)j->node->key * (j->depth + 1);
	return NULL;
}

static void drop(struct node *n)
{
	if (!n)
		return;
	drop(n->left);
	drop(n->right);
	free(n);
}

int main(void)
{
	struct node *root = NULL;
	unsigned x = 7;
	for (int i = 0; i < 40; i++) {
		x = x * 1103515245 + 12345;
		root = insert(root, (int)(x >> 16 & 255));
	}
	struct job all = {root, 0, 0};
	add(&all);
	printf("%ld\n", all.sum);
	drop(root);
	return 0;
}
