// SPDX-License-Identifier: Apache-2.0
/*
 * The files of the dashboard and the description of the API.  The assembler includes them in the
 * executable.  The dashboard gets all its data through the API.
 */
#include "base/error.h"
#include "hive/request-int.h"

#include <string.h>

#define FILE_BYTES(name, path)                                                                               \
	__asm__(".section .rodata\n"                                                                         \
		"hive_web_" #name ":\n.incbin \"" path "\"\n"                                                \
		"hive_web_" #name "_end:\n.byte 0\n.previous\n");                                            \
	extern const char hive_web_##name[] __attribute__((visibility("hidden")));                           \
	extern const char hive_web_##name##_end[] __attribute__((visibility("hidden")))

FILE_BYTES(page, "src/fleet/hive/web/index.html");
FILE_BYTES(style, "src/fleet/hive/web/style.css");
FILE_BYTES(script, "src/fleet/hive/web/app.js");
FILE_BYTES(icon, "src/fleet/hive/web/icon.svg");
FILE_BYTES(api, "doc/format/hive-api.json");

static const struct {
	const char *name, *type;
	const char *from, *to;
} files[] = {
	{"", "text/html; charset=utf-8", hive_web_page, hive_web_page_end},
	{"style.css", "text/css; charset=utf-8", hive_web_style, hive_web_style_end},
	{"app.js", "text/javascript; charset=utf-8", hive_web_script, hive_web_script_end},
	{"icon.svg", "image/svg+xml", hive_web_icon, hive_web_icon_end},
	{"openapi.json", "application/json", hive_web_api, hive_web_api_end},
};

int hive_answer_page(struct hive_request *r)
{
	const char *name = strrchr(r->path, '/') + 1;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (!strcmp(files[i].name, name)) {
			r->type = files[i].type;
			r->fixed = files[i].from;
			r->answer_length = (size_t)(files[i].to - files[i].from);
			return 0;
		}
	return rd_fail(RD_ENOTFOUND, "there is no such path");
}
