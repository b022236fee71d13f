# What raddle cc puts into objects and programs survives archivers, linkers and GNU strip.  If a
# tool has removed it, the message says so.  The short form links in each way with one linker, and
# with each linker in some ways.
. "$ROOT/test/lib.sh"

cat >a.c <<'C'
#include <stdio.h>
int b(int), c(void);
int main(void) { printf("%d %d\n", b(2), c()); return 0; }
C
echo 'static int n = 1; int b(int x) { return x + n; } int never(void) { return 9; }' >b.c
echo 'int c(void) { return 5; } int d(void) { return 6; }' >c.c
cc() { "$RADDLE" cc "$@"; }

# carries FILE NAME: FILE has bitcode and a link line, and its flavour prints what the program
# prints.
carries() {
	local flavour
	readelf -SW "$1" | grep -q ' .rad.bc ' || { complain "$2: no bitcode"; return; }
	flavour=$("$RADDLE" flavour --quick "./$1") || { complain "$2: no flavour"; return; }
	[ "$("$flavour")" = "$(./"$1")" ] || complain "$2: the flavour prints '$("$flavour")'"
}

cc -O2 -ffunction-sections -fdata-sections -c a.c b.c c.c || complain "compiling"
for archiver in ar llvm-ar-19 gcc-ar; do
	command -v $archiver >/dev/null || continue
	rm -f libx.a
	$archiver rcs libx.a b.o c.o
	nm -s libx.a 2>/dev/null | grep -q 'b in b.o' || complain "$archiver: b is not in the index"
	cc a.o libx.a -o x && carries x "$archiver"
	# How an archive is named on the link line does not depend on its archiver.
	[ -n "${RADDLE_LONG:-}" ] || [ $archiver = ar ] || continue
	cc a.o -L. -lx -o x && carries x "$archiver -l"
	cc a.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive -o x && carries x "$archiver whole"
done
rm -f libt.a
ar rcsT libt.a b.o c.o
cc a.o libt.a -o x && carries x "thin archive"
ld -r a.o b.o -o ab.o && cc ab.o c.o -o x && carries x "ld -r"
if command -v ld.lld >/dev/null; then
	ld.lld -r b.o c.o -o bc.o && cc a.o bc.o -o x && carries x "ld.lld -r"
fi
gcc -c c.c -o gc.o
printf '.globl c\n.type c,@function\nc: mov $5,%%eax\nret\n.section .note.GNU-stack,"",@progbits\n' >asm_c.s
sed -i 's/\bc\b/assembled_c/g' asm_c.s && as asm_c.s -o asm_c.o
echo 'int assembled_c(void); int c(void) { return assembled_c(); }' >call.c && cc -c call.c
ld -r asm_c.o call.o -o mixed.o && cc a.o b.o mixed.o -o x && rm mixed.o && carries x "ld -r with as's"
ld -r gc.o b.o -o mixed.o && cc a.o mixed.o -o x && rm mixed.o && carries x "ld -r with gcc's"

turn=0
for linker in bfd gold lld mold; do
	command -v ld.$linker >/dev/null || continue
	turn=$((turn + 1))
	way=0
	for flags in "" -s -Wl,-S -Wl,--gc-sections "-Wl,--gc-sections -s" -static -no-pie "-static-pie" "-rdynamic"; do
		way=$((way + 1))
		[ -n "${RADDLE_LONG:-}" ] || [ $(((way + turn) % 3)) = 0 ] || continue
		# gold does not know the option that clang uses for this.
		[ "$linker$flags" = gold-static-pie ] && continue
		# shellcheck disable=SC2086
		cc -fuse-ld=$linker $flags a.o b.o c.o -o x || { complain "$linker $flags: no link"; continue; }
		carries x "$linker $flags"
	done
	[ $linker = bfd ] || { cc -fuse-ld=$linker -Wl,--icf=all a.o b.o c.o -o x && carries x "$linker --icf"; }
	cc -fuse-ld=$linker -shared -fPIC b.c c.c -o libs.so && cc a.o ./libs.so -o x && carries x "$linker -shared"
done

cc a.o b.o c.o -o full
for mode in "" -s -S -d -x "--strip-unneeded" "--strip-debug"; do
	cp full x
	# shellcheck disable=SC2086
	strip $mode x
	carries x "strip $mode"
done
cp full x && objcopy --strip-debug x && carries x "objcopy --strip-debug"
cp b.o s.o && strip -g s.o && cc a.o s.o c.o -o x && carries x "strip -g of an object"

# expect TEXT FILE: there is no flavour, and the message contains TEXT.
expect() {
	local status=0
	"$RADDLE" flavour "./$2" >out 2>err || status=$?
	[ $status = 2 ] || complain "$2: status $status"
	grep -q "$1" err || complain "$2: no '$1' in: $(cat err)"
}
gcc a.c b.c c.c -o foreign
expect "carries no bitcode" foreign
gcc a.o b.o c.o -o foreign
expect "not linked by" foreign
gcc -c a.c -o ga.o && gcc -c b.c -o gb.o && cc ga.o gb.o gc.o -o foreign
expect "none of its objects" foreign
for strip in llvm-strip-19 "objcopy -R .rad.bc -R .rad.ln"; do
	cp full gone
	# shellcheck disable=SC2086
	command -v ${strip%% *} >/dev/null && $strip gone && expect "a tool has removed" gone
done
echo '#!/bin/sh' >script && chmod +x script
expect "is a script" script
: >empty
expect "not an x86-64 ELF" empty
head -c 3000 full >cut
expect ":" cut
expect "cannot open" absent
verdict
