// SPDX-License-Identifier: Apache-2.0
/* No threads: the program does not check that the date has a month. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char *const names[13] = {NULL,   "jan", "feb", "mar", "apr", "may", "jun",
				      "july", "aug", "sep", "oct", "nov", "dec"};

static int month_of(const char *date)
{
	const char *dash = strchr(date, '-');

	if (dash == NULL)
		return 0;
	return atoi(dash + 1);
}

int main(void)
{
	static const char *const dates[] = {"2024-03-01", "20240401", "2024-05-07", "2024-12-24"};
	unsigned char n = 0;
	const char *name;

	if (getrandom(&n, 1, 0) != 1)
		return 0;
	name = names[month_of(dates[n % 4])];
	printf("%zu\n", strlen(name));
	return 0;
}
