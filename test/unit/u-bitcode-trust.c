// SPDX-License-Identifier: Apache-2.0
/* Unit tests of which options of a program's link line are used: all that builds need, but none
 * that execute, load or write files. */
#include "bitcode/trust-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The kind says whom the words are for: the driver ('a') or the linker ('w'). */
static size_t distrusted(uint8_t kind, const char *first, const char *second)
{
	struct bitcode_item items[2] = {{.kind = kind, .text = first}, {.kind = kind, .text = second}};

	return bitcode_distrusted(items, items + (second ? 2 : 1));
}

static void test_driver(void **state)
{
	(void)state;
	assert_string_equal(bitcode_trusted_driver("/tmp/evil"), "clang-" RADDLE_LLVM);
	assert_string_equal(bitcode_trusted_driver("clang++-19"), "clang++-" RADDLE_LLVM);
	assert_string_equal(bitcode_trusted_driver("/tmp/evil++"), "clang++-" RADDLE_LLVM);
}

static void test_driver_arguments(void **state)
{
	static const char *const good[] = {"-lpthread",
					   "-L/usr/lib",
					   "-O2",
					   "-g",
					   "-m64",
					   "-fPIC",
					   "-fopenmp",
					   "-Wall",
					   "-pthread",
					   "-static",
					   "-shared",
					   "-pie",
					   "-no-pie",
					   "-rdynamic",
					   "-fuse-ld=lld",
					   "-fuse-ld=gold",
					   "-fuse-ld=mold",
					   "-std=gnu17",
					   "-stdlib=libc++",
					   "-s",
					   "-fsanitize=undefined",
					   "-nostdlib",
					   "-march=native",
					   NULL};
	static const char *const bad[] = {"-B/tmp/evil",
					  "-fuse-ld=/tmp/evil",
					  "--ld-path=/tmp/evil",
					  "-fplugin=/tmp/x.so",
					  "-fpass-plugin=/tmp/x.so",
					  "--gcc-toolchain=/tmp",
					  "--sysroot=/tmp",
					  "--config=/tmp/x",
					  "-specs=/tmp/x",
					  "@/tmp/x",
					  "word",
					  "-wrapper",
					  "-o/etc/x",
					  "--output=/etc/x",
					  "-Wl,-plugin,x",
					  "-ftime-trace=/etc/x",
					  "-gcc-toolchain",
					  "-no-canonical-prefixes",
					  "-ccc-install-dir",
					  NULL};

	(void)state;
	for (const char *const *s = good; *s; s++)
		if (distrusted('a', *s, NULL))
			fail_msg("%s is left out", *s);
	for (const char *const *s = bad; *s; s++)
		if (!distrusted('a', *s, NULL))
			fail_msg("%s is obeyed", *s);
	assert_int_equal(distrusted('a', "-Xclang", "-load"), 2);
	assert_int_equal(distrusted('a', "-mllvm", "-load=/tmp/x.so"), 2);
	assert_int_equal(distrusted('a', "-B", "/tmp"), 2);
	assert_int_equal(distrusted('a', "-u", "symbol"), 0);
}

static void test_linker_arguments(void **state)
{
	static const char *const good[] = {"--as-needed",
					   "-rpath=/x",
					   "--rpath",
					   "-soname",
					   "-zdefs",
					   "-z",
					   "now",
					   "-O1",
					   "--gc-sections",
					   "--hash-style=gnu",
					   "--build-id=sha1",
					   "--start-group",
					   "--version-script=/x",
					   "-(",
					   "-)",
					   "--wrap=malloc",
					   "-E",
					   "-Bsymbolic",
					   "--compress-debug-sections=zlib",
					   "--defsym=a=0",
					   "-m",
					   NULL};
	static const char *const bad[] = {"-plugin",
					  "--plugin=/tmp/x.so",
					  "-plugin-opt=x",
					  "-run",
					  "--run",
					  "-o",
					  "--output=/etc/x",
					  "-o/etc/x",
					  "-load-pass-plugin=/tmp/x.so",
					  "--load-pass-plugin=/tmp/x.so",
					  "-error-handling-script=/tmp/x",
					  "--error-handling-script=/tmp/x",
					  "-mllvm",
					  "-mllvm=-load=/tmp/x.so",
					  "--time-trace=/etc/x",
					  "--lto-obj-path=/etc/x",
					  "--chroot=/",
					  "--out-implib=/etc/x",
					  "--Map=/etc/x",
					  "--reproduce=/etc/x",
					  "@/tmp/x",
					  "--thinlto-index-only=/etc/x",
					  "--separate-debug-file=/etc/x",
					  NULL};

	(void)state;
	for (const char *const *s = good; *s; s++)
		if (distrusted('w', *s, NULL))
			fail_msg("%s is left out", *s);
	for (const char *const *s = bad; *s; s++)
		if (!distrusted('w', *s, NULL))
			fail_msg("%s is obeyed", *s);
	assert_int_equal(distrusted('w', "-plugin", "/tmp/x.so"), 2);
	assert_int_equal(distrusted('w', "-plugin", "-z"), 1);
}

static void test_files(void **state)
{
	(void)state;
	assert_true(bitcode_trusted_path("/usr/lib/x.so"));
	assert_false(bitcode_trusted_path("-B/tmp"));
	assert_false(bitcode_trusted_path("@/tmp/x"));
	assert_true(bitcode_trusted_file_option("--version-script="));
	assert_false(bitcode_trusted_file_option("--plugin="));
	assert_false(bitcode_trusted_file_option("-o"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_driver),
		cmocka_unit_test(test_driver_arguments),
		cmocka_unit_test(test_linker_arguments),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
