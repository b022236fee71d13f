// SPDX-License-Identifier: Apache-2.0
/* Loads a library only if all requested functions exist. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *rd_library_open(const char *library, const struct rd_library_function *functions, size_t count)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle && i < count; i++)
		if (!dlsym(handle, functions[i].name)) {
			dlclose(handle);
			return NULL;
		}
	for (size_t i = 0; handle && i < count; i++) {
		void *address = dlsym(handle, functions[i].name);

		memcpy(functions[i].to, &address, sizeof address);
	}
	return handle;
}

void rd_library_close(void *handle)
{
	if (handle)
		dlclose(handle);
}
