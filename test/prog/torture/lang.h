/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the two source files of the `lang` torture program share. */
#ifndef LANG_H
#define LANG_H

#include <stdarg.h>
#include <stdint.h>

struct big {
	int a[20];
	double d;
	char text[13];
};

struct bits {
	unsigned a : 3;
	int b : 7;
	unsigned long c : 40;
	_Bool d : 1;
};

extern _Thread_local int extern_tls;
extern _Thread_local struct big struct_tls;
extern int common_variable;

long add_all(int count, ...);
long add_list(int count, va_list list);
int big_by_value(struct big b, int i);
struct big make_big(int seed);
void jump_from_deep(int depth);
int weak_default(void);
int weak_overridden(void);
int aliased(int x);
int resolved(int x);
void register_order(const char *who);
__int128 multiply_wide(__int128 a, int64_t b);
long double mix_long(long double a, float b);

#endif
