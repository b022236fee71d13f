# Projects of each build system are built with raddle cc as their users would build them.  The
# resulting programs run and contain their bitcode.  With ccache, that is true for a miss and for a
# hit.  The short form takes one way of each build system, and C++ only with make and CMake.
. "$ROOT/test/lib.sh"

PATH=$BUILD:$PATH
unset MAKEFLAGS MAKELEVEL

# The sources: a program, a static and a shared library in C, and a program in C++.
mkdir src
cat >src/main.c <<'C'
#include <stdio.h>
int s(int), d(int);
int main(void) { printf("%d\n", s(1) + d(2)); return 0; }
C
echo 'int s(int x) { return x + 10; }' >src/s.c
echo 'int d(int x) { return x + 30; }' >src/d.c
cat >src/plus.cpp <<'C'
#include <iostream>
#include <stdexcept>
#include <vector>
int main()
{
	std::vector<int> v{1, 2};
	try {
		v.at(9);
	} catch (const std::out_of_range &) {
		std::cout << "caught\n";
	}
}
C

# check NAME PROGRAM WANTED: the program and its flavour print WANTED.
check() {
	local flavour
	[ "$("$2")" = "$3" ] || complain "$1: $2 prints '$("$2")'"
	flavour=$("$RADDLE" flavour --quick "$2") || { complain "$1: $2 has no flavour"; return; }
	[ "$("$flavour")" = "$3" ] || complain "$1: the flavour of $2 prints '$("$flavour")'"
}

# make, with implicit rules
cp -r src make
cat >make/Makefile <<'M'
CFLAGS = -O2 -Wall -Werror -fPIC
all: prog plus
prog: main.o libs.a libd.so
	$(CC) $(LDFLAGS) -o $@ main.o libs.a -L. -ld -Wl,-rpath,'$$ORIGIN'
libs.a: libs.a(s.o)
libd.so: d.o
	$(CC) -shared -o $@ d.o
plus: plus.o
	$(CXX) -o $@ plus.o
M
make -C make CC="raddle cc" CXX="raddle c++" >log 2>&1 || complain "make: $(cat log)"
check make make/prog 43
check make make/plus caught

# autoconf, automake
if command -v automake >/dev/null; then
	cp -r src autotools
	(
		cd autotools || exit
		cat >configure.ac <<'M'
AC_INIT([t],[1])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AC_PROG_RANLIB
AC_CHECK_FUNCS([mmap strlcpy no_such_function])
AC_CHECK_HEADERS([pthread.h no_such_header.h])
AC_CHECK_SIZEOF([long])
AC_CHECK_LIB([m],[cos])
AC_C_INLINE
AC_C_BIGENDIAN
AC_CONFIG_HEADERS([config.h])
AC_OUTPUT([Makefile])
M
		cat >Makefile.am <<'M'
bin_PROGRAMS = prog
noinst_LIBRARIES = libs.a
libs_a_SOURCES = s.c
prog_SOURCES = main.c d.c
prog_LDADD = libs.a
M
		if [ -n "${RADDLE_LONG:-}" ]; then
			sed -i 's/^AC_PROG_CC$/&\nAC_PROG_CXX/' configure.ac
			printf 'bin_PROGRAMS += plus\nplus_SOURCES = plus.cpp\n' >>Makefile.am
		fi
		autoreconf -i && ./configure CC="raddle cc" CXX="raddle c++" && make
	) >log 2>&1 || complain "autotools: $(tail -20 log)"
	# The results of configure must be those with clang.
	if [ -n "${RADDLE_LONG:-}" ]; then
		mkdir plain
		(cd plain && tar -C ../autotools -cf - configure configure.ac Makefile.am Makefile.in aclocal.m4 config.h.in \
			install-sh missing compile ar-lib depcomp 2>/dev/null | tar xf - &&
			./configure CC=clang-19 CXX=clang++-19) >log 2>&1 || complain "configure with clang: $(tail -5 log)"
		diff autotools/config.h plain/config.h >log || complain "configure finds other things: $(cat log)"
	fi
	check autotools autotools/prog 43
	[ -z "${RADDLE_LONG:-}" ] || check autotools autotools/plus caught
fi

if command -v cmake >/dev/null; then
	cp -r src cmake
	cat >cmake/CMakeLists.txt <<'M'
cmake_minimum_required(VERSION 3.10)
project(t C CXX)
set(CMAKE_BUILD_TYPE Release)
add_library(s STATIC s.c)
add_library(d SHARED d.c)
add_executable(prog main.c)
target_link_libraries(prog s d)
add_executable(plus plus.cpp)
M
	(
		cmake -S cmake -B cmake/b -DCMAKE_C_COMPILER=raddle-cc -DCMAKE_CXX_COMPILER=raddle-c++ &&
			cmake --build cmake/b
	) >log 2>&1 || complain "cmake: $(tail -20 log)"
	check cmake cmake/b/prog 43
	check cmake cmake/b/plus caught
fi
if [ -n "${RADDLE_LONG:-}" ] && command -v cmake >/dev/null; then
	CC="$BUILD/raddle cc" CXX="$BUILD/raddle c++" cmake -S cmake -B cmake/e \
		-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON >log 2>&1 &&
		cmake --build cmake/e >log 2>&1 || complain "cmake by CC: $(tail -20 log)"
	check "cmake by CC" cmake/e/prog 43
	# CMake takes the name raddle-cc for that of a cross compiler with a prefix.  For link-time
	# optimisation, it looks for raddle-llvm-ar.
	cat >>cmake/CMakeLists.txt <<'M'
include(CheckIPOSupported)
check_ipo_supported()
M
	cmake -S cmake -B cmake/i -DCMAKE_C_COMPILER=raddle-cc -DCMAKE_CXX_COMPILER=raddle-c++ \
		-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON >log 2>&1 &&
		cmake --build cmake/i -- VERBOSE=1 >log 2>&1 || complain "cmake with raddle-cc and IPO: $(tail -20 log)"
	grep -q -- '-flto' log || complain "cmake with IPO does not optimise at link time: $(tail -20 log)"
	check "cmake with raddle-cc and IPO" cmake/i/prog 43
fi

if command -v meson >/dev/null; then
	cp -r src meson
	cat >meson/meson.build <<'M'
project('t', 'c', default_options: ['buildtype=release', 'b_lto=true'])
s = static_library('s', 's.c')
d = shared_library('d', 'd.c')
executable('prog', 'main.c', link_with: [s, d])
M
	if [ -n "${RADDLE_LONG:-}" ]; then
		printf "%s\n" "add_languages('cpp')" "executable('plus', 'plus.cpp')" >>meson/meson.build
	fi
	(CC=raddle-cc CXX=raddle-c++ meson setup meson/b meson && ninja -C meson/b) >log 2>&1 ||
		complain "meson: $(tail -20 log)"
	check meson meson/b/prog 43
	[ -z "${RADDLE_LONG:-}" ] || check meson meson/b/plus caught
fi

if command -v ccache >/dev/null; then
	export CCACHE_DIR=$PWD/ccache CCACHE_NOHASHDIR=1
	mkdir cc
	compilers=("raddle cc")
	[ -z "${RADDLE_LONG:-}" ] || compilers+=("raddle-cc")
	for compiler in "${compilers[@]}"; do
		for round in 1 2; do
			rm -f cc/*.o
			for f in main s d; do
				# shellcheck disable=SC2086
				ccache $compiler -O2 -c src/$f.c -o cc/$f.o || complain "ccache $compiler fails"
			done
			# shellcheck disable=SC2086
			ccache $compiler cc/main.o cc/s.o cc/d.o -o cc/prog || complain "ccache $compiler: no link"
			check "ccache $compiler, round $round" cc/prog 43
		done
	done
	ccache -s >log
	grep -Eq 'Hits: +[1-9]' log || complain "ccache had no hits: $(cat log)"
fi
verdict
