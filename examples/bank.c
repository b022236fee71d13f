// SPDX-License-Identifier: Apache-2.0
/*
 * A bank whose tellers move money, after a clerk has corrected one booking.
 * Every run ends with the right total and all fees, so all seems well.  But
 * there are three errors:
 *
 * - The clerk sets `fee` before it takes a lock; a teller reads `fee` after it
 *   released the same lock.  If the clerk comes first, the lock orders the two
 *   accesses.  But only the time until the bank opens makes the clerk come first.
 * - The clerk moves money from the second account to the first, the tellers from
 *   each account to the next.  All of them lock the account they take from first,
 *   so the clerk and a teller can wait for each other forever.
 * - `served` is counted without a lock at all.
 *
 * Usage: bank [TRANSFERS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ACCOUNTS = 4, TELLERS = 3, OPENING = 1000 };

struct account {
	pthread_mutex_t lock;
	long balance;
	long bookings;
};

struct teller {
	int number;
	long fees;
};

static struct account accounts[ACCOUNTS];
static pthread_barrier_t opening;
static long fee;
static unsigned long served;
static int transfers = 2000;

static void transfer(struct account *from, struct account *to, long amount)
{
	pthread_mutex_lock(&from->lock);
	pthread_mutex_lock(&to->lock);
	from->balance -= amount;
	to->balance += amount;
	from->bookings++;
	to->bookings++;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
}

/* Sets today's fee and corrects a booking of yesterday. */
static void *run_clerk(void *unused)
{
	(void)unused;
	fee = 1;
	transfer(&accounts[1], &accounts[0], 10);
	return NULL;
}

static void *run_teller(void *argument)
{
	struct teller *teller = argument;

	pthread_barrier_wait(&opening);
	for (int i = 0; i < transfers; i++) {
		int from = (teller->number + i) % (ACCOUNTS - 1);

		transfer(&accounts[from], &accounts[from + 1], 1 + i % 3);
		teller->fees += fee;
		served++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t clerk, threads[TELLERS];
	struct teller *tellers = calloc(TELLERS, sizeof *tellers);
	long total = 0, fees = 0;

	if (!tellers)
		return 1;
	if (argc > 1)
		transfers = atoi(argv[1]);
	for (int i = 0; i < ACCOUNTS; i++) {
		pthread_mutex_init(&accounts[i].lock, NULL);
		accounts[i].balance = OPENING;
	}
	pthread_barrier_init(&opening, NULL, TELLERS);
	pthread_create(&clerk, NULL, run_clerk, NULL);
	usleep(20000);
	puts("The bank opens.");
	for (int i = 0; i < TELLERS; i++) {
		tellers[i].number = i;
		pthread_create(&threads[i], NULL, run_teller, &tellers[i]);
	}
	pthread_join(clerk, NULL);
	for (int i = 0; i < TELLERS; i++) {
		pthread_join(threads[i], NULL);
		fees += tellers[i].fees;
	}
	for (int i = 0; i < ACCOUNTS; i++)
		total += accounts[i].balance;
	printf("It closes with %ld of %d in the accounts, %ld earned in fees.\n", total, ACCOUNTS * OPENING,
	       fees);
	free(tellers);
	return total == ACCOUNTS * OPENING ? 0 : 1;
}
