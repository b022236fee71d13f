# The snippets for CTest and Meson in doc/ci.md work as described: a test with a race fails, a
# correct one passes, and one that fails by itself fails.
. "$ROOT/test/lib.sh"

PATH=$BUILD:$PATH
# snippet SECTION: prints the indented lines of a section.
snippet() {
	sed -n "/^## $1\$/,/^## /s/^    //p" "$ROOT/doc/ci.md"
}

cat >racy.c <<'END'
#include <pthread.h>

static int hits;

static void *count(void *argument)
{
	COUNT;
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	(void)argv;
	pthread_create(&a, NULL, count, NULL);
	pthread_create(&b, NULL, count, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return argc > 1 ? 3 : 0;
}
END
{ echo '#define COUNT __atomic_add_fetch(&hits, 1, __ATOMIC_SEQ_CST)' && cat racy.c; } >fine.c
sed -i '1i #define COUNT hits++' racy.c

# run NAME LOG: the snippet must fail because of two of the three tests.
run() {
	snippet "$1" >snippet
	[ -s snippet ] || complain "$1: doc/ci.md has no such snippet"
	rm -rf build
	sh -e snippet >log 2>&1 && complain "$1: passes in spite of a race: $(cat log)"
	grep -qE 'fine( \.*)? +(Passed|OK)' log || complain "$1: the correct test does not pass: $(cat log)"
	grep -qE "racy( \.*)?[ *]*(Failed|FAIL)" log || complain "$1: the race does not fail: $(cat log)"
	grep -qE "status( \.*)?[ *]*(Failed|FAIL)" log || complain "$1: a failing test does not fail: $(cat log)"
	[ "$(grep -c 'BUG 1 of 1  data race on hits' log)" = 1 ] ||
		complain "$1: not one race is reported: $(cat log)"
}

if command -v cmake >/dev/null; then
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(ci C)
enable_testing()
find_package(Threads REQUIRED)
foreach(name racy fine)
	add_executable(${name} ${name}.c)
	target_link_libraries(${name} Threads::Threads)
	add_test(NAME ${name} COMMAND ${name})
endforeach()
add_test(NAME status COMMAND fine 3)
END
	run CTest
fi
if command -v meson >/dev/null; then
	cat >meson.build <<'END'
project('ci', 'c')
threads = dependency('threads')
test('racy', executable('racy', 'racy.c', dependencies: threads))
fine = executable('fine', 'fine.c', dependencies: threads)
test('fine', fine)
test('status', fine, args: '3')
END
	run Meson
fi
verdict
