# Flavours: made without the build tree, cached, with libraries, native objects and unusual links.
# Each flavour prints what the program prints.  The short form compiles once for all kinds of links.
# sanitizers: yes, makes flavours and uses the cache
. "$ROOT/test/lib.sh"

cc() { "$RADDLE" cc "$@"; }
flavour() { "$RADDLE" flavour "$@"; }
export RADDLE_CACHE=$PWD/cache

# same NAME PROGRAM: the flavour has the same output and status as the program.
same() {
	local made status1=0 status2=0
	made=$(flavour "$2") || { complain "$1: no flavour"; return; }
	"$2" >out1 2>&1 || status1=$?
	"$made" >out2 2>&1 || status2=$?
	cmp -s out1 out2 && [ $status1 = $status2 ] || complain "$1: $(diff out1 out2 | head -5) ($status1, $status2)"
}

cat >main.c <<'C'
#include <pthread.h>
#include <stdio.h>
int library(int), native(int);
static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *p)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
	}
	return p;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	printf("%d %d %d\n", counter, library(1), native(2));
	return 3;
}
C
echo 'int state = 5; int library(int x) { return x + state++; }' >library.c
echo 'int native(int x) { return x * 100; }' >native.c
printf '.globl native\nnative: imul $100,%%edi,%%eax\nret\n.section .note.GNU-stack,"",@progbits\n' >native.S

# Flavours are made without the build tree, of objects, archives, assembler files and objects of
# gcc.
in_tree() { mkdir -p tree && cp ./*.c ./*.S tree; }
for kind in objects archive gcc assembler one-shot gcc-archive script; do
	in_tree
	(
		cd tree || exit
		case $kind in
		objects) cc -O2 -c main.c library.c native.c && cc main.o library.o native.o -o ../p ;;
		archive) cc -c main.c library.c native.c && ar rcs l.a library.o native.o && cc main.o -L. -l:l.a -o ../p ;;
		gcc) gcc -c native.c && cc -c main.c library.c && cc main.o library.o native.o -o ../p ;;
		assembler) cc -c native.S main.c library.c && cc main.o native.o library.o -o ../p ;;
		one-shot) cc -O1 main.c library.c native.S -o ../p ;;
		gcc-archive) gcc -c native.c && ar rcs n.a native.o && cc main.c library.c n.a -o ../p ;;
		script) echo '{ global: main; };' >v.map && cc main.c library.c native.c -Wl,--version-script,v.map -Wl,-Map=m -o ../p ;;
		esac
	) || complain "$kind: does not build"
	rm -rf tree
	same "$kind" ./p
done

# Programs are linked in all ways.
sources="main.c library.c native.c"
[ -n "${RADDLE_LONG:-}" ] || cc -O2 -c $sources || complain "compiling"
for flags in -static -static-pie -no-pie -pie -rdynamic -Wl,--gc-sections -s "-Wl,-z,now -Wl,-z,relro" -Wl,--as-needed \
	-fuse-ld=lld -fuse-ld=gold -fsanitize=undefined -Wl,-z,defs; do
	inputs=$sources
	[ -n "${RADDLE_LONG:-}" ] || [ "${flags#-fsanitize}" != "$flags" ] || inputs=${sources//.c/.o}
	# shellcheck disable=SC2086
	cc -O2 $flags $inputs -o p 2>log || { echo "$flags: $(head -3 log)"; continue; }
	same "$flags" ./p
done

# The second use comes from the cache.  If a program has changed, its unchanged units do, too.
rm -rf "$RADDLE_CACHE"
cc -c main.c library.c native.c && cc main.o library.o native.o -o p
first=$(flavour ./p)
[ "$(flavour ./p)" = "$first" ] || complain "the second use gives another file"
[ "$(flavour --verbose ./p 2>&1 | grep -c instrumenting)" = 0 ] || complain "the second use instruments again"
echo 'int native(int x) { return x * 100 + 1; }' >native2.c
cc -c native2.c && cc main.o library.o native2.o -o p2
flavour --verbose ./p2 2>&1 | grep -q 'instrumenting 1 units' || complain "unchanged units are made again"
same "changed" ./p2
[ "$(flavour --quick ./p)" != "$(flavour --fast ./p)" ] || complain "fast and quick are the same"
same "fast" ./p
flavour() { "$RADDLE" flavour --quick "$@"; }
same "quick" ./p
# The compiler may emit constants that have no name and are not used.
printf 'int main(int argc, char **argv)\n{\n\t(void)argv;\n\treturn argc + 2;\n}\n' >trap.c
cc -g -O1 -fsanitize=undefined -fsanitize-trap=all trap.c -o trap || complain "trap: not built"
same "traps" ./trap
flavour() { "$RADDLE" flavour "$@"; }
for i in 1 2 3 4; do
	RADDLE_CACHE=$PWD/cache2 flavour ./p >at.$i 2>&1 &
done
wait
cat at.* | sort -u >places
[ "$(wc -l <places)" = 1 ] && [ -x "$(cat places)" ] || complain "four at once: $(cat places)"
[ -z "$(ls cache2/work)" ] || complain "work is left behind"

# Programs may have the names of other files in the cache.
for name in sum sites; do
	cp p $name
	[ -x "$(flavour ./$name)" ] || complain "a program that is called $name"
done

# Damage in the cache is noticed, and damaged files are made again.
damage() { printf X | dd of="$1" bs=1 seek=100 conv=notrunc status=none; }
remade() {
	flavour ./p >out 2>err || complain "with a damaged $1: $(cat err)"
	grep -q 'is damaged' err || complain "damage in $1 goes unnoticed"
	same "damaged $1" ./p
}
made=$(flavour ./p)
damage "$made" && remade executable
damage "$(dirname "$made")/.sites" && remade sites
rm -rf "$RADDLE_CACHE/flavour"
for file in "$RADDLE_CACHE"/unit/*/*.o; do
	damage "$file"
done
remade units
rm -rf "$RADDLE_CACHE" && same "the cache is gone" ./p

# The site table is complete, and contains the places of variables.
sites=$(flavour --sites ./p)
head -1 "$sites" | grep -q '^raddle-sites	1$' || complain "the site table's first line"
grep -q "^A	$first	[0-9]*	4	counter$" "$sites" || complain "no place of counter in the site table"
[ "$(tail -1 "$sites" | cut -f2)" = $(($(wc -l <"$sites") - 2)) ] || complain "the site table's count"
[ "$(grep -c '^U' "$sites")" = 3 ] || complain "units in the site table"

# Shared libraries are found as the loader finds them, get flavours, and these are used.
mkdir -p lib bin
cc -O2 -shared -fPIC -Wl,-soname,libl.so.1 library.c -o lib/libl.so.1 && ln -sf libl.so.1 lib/libl.so
cc main.c native.c -Llib -ll -Wl,-rpath,"\$ORIGIN/../lib" -o bin/p
same "runpath" bin/p
made=$(flavour bin/p)
ldd "$made" | grep -q "libl.so.1 => $RADDLE_CACHE" || complain "the flavoured library is not used: $(ldd "$made")"
grep -q "^A	$RADDLE_CACHE/.*/lib/libl.so.1	.*	state$" "$(flavour --sites bin/p)" || complain "no place of state"
mkdir -p far/away && mv bin/p far/away/p
export LD_LIBRARY_PATH=$PWD/lib
same "LD_LIBRARY_PATH" far/away/p
ldd "$(flavour far/away/p)" | grep -q "libl.so.1 => $RADDLE_CACHE" || complain "LD_LIBRARY_PATH goes first"
unset LD_LIBRARY_PATH
cc -shared -fPIC library.c -o libplain.so && cc main.c native.c ./libplain.so -o p
same "no soname" ./p

# CMake and Meson put the full version of a library on the link line.  That is neither the name that
# the loader uses nor that of -l.
cc -shared -fPIC -Wl,-soname,libv.so.1 library.c -o lib/libv.so.1.0.2
ln -s libv.so.1.0.2 lib/libv.so.1
cc main.c native.c lib/libv.so.1.0.2 -Wl,-rpath,"$PWD/lib" -o p
same "whole version" ./p
ldd "$(flavour ./p)" | grep -q "libv.so.1 => $RADDLE_CACHE" || complain "the flavoured library with a version is not used"
cc main.c native.c -Llib -l:libv.so.1.0.2 -Wl,-rpath,"$PWD/lib" -o p
same "-l: with a version" ./p
rm -f main.o native.o

# A program may define its own malloc(), and may contain code that only an optimiser removes.
cat >malloc.c <<'C'
#include <stdio.h>
#include <stddef.h>
static char heap[1 << 20];
static size_t used;
void *malloc(size_t n) { void *p = heap + used; used += (n + 15) & ~15ul; return used < sizeof heap ? p : 0; }
void free(void *p) { (void)p; }
int main(void) { char *p = malloc(10); printf("%d\n", p >= heap && p < heap + sizeof heap); return 0; }
C
cc -O2 malloc.c -o p && same "malloc" ./p
cat >removed.c <<'C'
extern void no_such_function(void);
static inline int never(void) { return 0; }
int main(void) { if (never()) no_such_function(); return 4; }
C
cc -O2 removed.c -o p && same "a call that was removed" ./p
for linker in lld mold; do
	command -v ld.$linker >/dev/null && cc -fuse-ld=$linker -O2 removed.c -o p && same "removed, $linker" ./p
done

# The link line in a program is not trusted: it does not choose what is executed.
mkdir -p evil
printf '#!/bin/sh\necho "$0" >>"%s/executed"\nexec /usr/bin/ld "$@"\n' "$PWD" >evil/ld
chmod +x evil/ld && cp evil/ld evil/clang
cc main.c library.c native.c -B"$PWD/evil" -o p && [ -s executed ] || complain "cc does not pass -B on"
LC_ALL=C sed "s,clang-19\x00,./evil19\x00," p >patched && cp evil/ld evil19 && chmod +x patched
rm -f executed
flavour ./p >/dev/null || complain "a link line with -B cannot be linked again"
grep -q evil19 patched || complain "the link line was not changed"
rm -rf "$RADDLE_CACHE"
flavour ./patched >/dev/null || complain "a link line with another driver cannot be linked again"
[ ! -e executed ] || complain "executed as the link line says: $(cat executed)"

# If a needed file is missing, the message names it.
mkdir tree2 && cp native.c tree2/ && gcc -shared -fPIC tree2/native.c -o tree2/libn.so
cc main.c library.c tree2/libn.so -o p && rm -rf tree2
flavour ./p >out 2>&1 && complain "a library is gone, but the flavour is made"
grep -q 'tree2/libn.so' out || complain "what is gone is not named: $(cat out)"
verdict
