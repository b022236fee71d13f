/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plug-ins: shared objects that a program loads by dlopen().  Beside an instrumented program there
 * is a directory `plug` with symbolic links to its instrumented plug-ins.  There are two links to
 * each plug-in.  One is named after the key of the plug-in's path, with all symbolic links
 * resolved.  The other is named after the key of its file name, for a dlopen() without a directory.
 * The runtime searches `plug` before it loads a plug-in.
 */
#ifndef RADDLE_PLUGIN_H
#define RADDLE_PLUGIN_H

#include <stdint.h>

#define RADDLE_PLUGIN_DIRECTORY "plug"
#define RADDLE_PLUGIN_KEY_SIZE 17 /* 16 hex digits and NUL */

/* The key is the FNV-1a hash of the path. */
static inline void raddle_plugin_key(const char *path, char key[RADDLE_PLUGIN_KEY_SIZE])
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3ull;
	for (int i = 0; i < RADDLE_PLUGIN_KEY_SIZE - 1; i++)
		key[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
	key[RADDLE_PLUGIN_KEY_SIZE - 1] = '\0';
}

#endif
