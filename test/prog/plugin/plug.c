/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in that changes a counter without a lock.  With NEEDS, another library has the counter. */
#ifdef NEEDS
int add(int n);

int work(int n)
{
	return add(n);
}
#else
#ifndef NAME
#define NAME work
#endif
static int plugged;

int NAME(int n)
{
	plugged = plugged + n;
	return plugged;
}
#endif
