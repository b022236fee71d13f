/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELINK_H
#define RELINK_H

#ifdef __cplusplus
extern "C" {
#endif

extern int tentative;
extern __thread int shared_tls;
int jump_a(int x), jump_b(int x);
int tls_of_b(void), read_tentative(void), call_renamed(void);
int overridden(void);
int absent(void) __attribute__((weak)); /* defined in no file */
int from_assembler(int x);		/* d.S: calls back into b.c */
int called_by_assembler(int x);
int try_catch(void); /* c.cpp: an exception through foreign.cpp */
int foreign(void);   /* foreign.cpp: shares a template with c.cpp */
int pass_through(int (*f)(int), int x);

#ifdef __cplusplus
}

/* Both C++ files define this; one copy must remain, with one counter. */
template <typename T> T count_up()
{
	static T counter;
	return ++counter;
}
inline int inline_variable = count_up<int>();
#endif

#endif
