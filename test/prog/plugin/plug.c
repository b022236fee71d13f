/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in: a counter that nothing protects.  With NEEDS it is in a library of its own. */
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
