# raddle cc in every mode of a compiler: the same files, output, diagnostics and exit status as
# clang's, the same machine code, and bitcode wherever code is generated.  The short form has two
# levels of optimisation, because the driver passes on all levels alike, and compiles one file, not
# two, with each option that changes how code is made.
# sanitizers: yes, runs the compiler driver in all of its modes
. "$ROOT/test/lib.sh"

LLVM=19

cat >a.c <<'C'
#include <stdio.h>
#include "h.h"
int b(int);
static int twice(int x) { return 2 * x; }
int main(int argc, char **argv) { (void)argv; printf("%d %s\n", b(twice(argc)), NAME); return 0; }
C
echo 'int b(int x) { return x + 40; }' >b.c
echo '#define NAME "h"' >h.h
echo 'int unused(void) { int x; return 1; }' >warn.c
echo 'int broken( { }' >broken.c
printf '.globl s\ns: ret\n.section .note.GNU-stack,"",@progbits\n' >s.s
printf '#define F p\n.globl F\nF: ret\n.section .note.GNU-stack,"",@progbits\n' >p.S

has() { readelf -SW "$1" 2>/dev/null | grep -q "[ ]$2 "; }

# same NAME ARGS...: runs both compilers in two equal directories, and compares status, stdout,
# stderr and the files that appeared.
same() {
	local what=$1 status1=0 status2=0
	shift
	rm -rf one two
	mkdir one two
	cp ./*.c ./*.h ./*.s ./*.S one
	cp ./*.c ./*.h ./*.s ./*.S two
	(cd one && clang-$LLVM "$@" <../input >../out1 2>../err1) || status1=$?
	(cd two && "$RADDLE" cc "$@" <../input >../out2 2>../err2) || status2=$?
	[ $status1 = $status2 ] || complain "$what: status $status2 instead of $status1: $(cat err2)"
	sed -e 's/[a-z0-9]*-[0-9a-f]\{6\}\./X./g' -e 's/dir.one/DIR/g' err1 >e1
	sed -e 's/[a-z0-9]*-[0-9a-f]\{6\}\./X./g' -e 's/dir.two/DIR/g' err2 >e2
	cmp -s out1 out2 || complain "$what: other standard output: $(diff out1 out2 | head -5)"
	cmp -s e1 e2 || complain "$what: other messages: $(diff e1 e2 | head -5)"
	[ "$(ls one)" = "$(ls two)" ] || complain "$what: other files: $(diff <(ls one) <(ls two))"
}

text_of() { objcopy -O binary -j .text "$1" "$2" 2>/dev/null; }
same_text() {
	text_of "one/$1" t1
	text_of "two/$1" t2
	cmp -s t1 t2 || complain "$1: .text differs from clang's"
}

: >input
levels="-O0 -O2"
[ -z "${RADDLE_LONG:-}" ] || levels="-O0 -O1 -O2 -O3 -Os -Og"
for level in $levels; do
	same "$level -c" $level -c b.c
	same_text b.o
	has two/b.o .rad.bc || complain "$level: no bitcode in b.o"
	has two/b.o .llvmbc && complain "$level: the section has clang's name"
	same "$level link" $level a.c b.c -o x
	same_text x
	has two/x .rad.bc || complain "$level: no bitcode in x"
	has two/x .rad.ln || complain "$level: no link line in x"
	[ "$(two/x)" = "42 h" ] || complain "$level: x prints $(two/x)"
done
same "joined -o" -O2 -c b.c -oy.o
has two/y.o .rad.bc || complain "-oFILE: no bitcode"
same "--output" -c b.c --output=y.o
same "two sources" -c a.c b.c
has two/a.o .rad.bc && has two/b.o .rad.bc || complain "-c of two: no bitcode"
same "a.out" a.c b.c
has two/a.out .rad.ln || complain "a.out: no link line"
same "-MMD" -MMD -MF a.d -c a.c
cmp -s one/a.d two/a.d || complain "-MMD: other dependencies"
same "-M" -M a.c
same "-MM -MT" -MM -MT x a.c
same "-E" -E a.c
same "-E -o" -E a.c -o a.i
same "-fsyntax-only" -fsyntax-only warn.c
same "warnings" -Wall -Wextra -c warn.c
same "-Werror" -Wall -Werror -c warn.c
same "-Weverything" -Weverything -Werror -c b.c
same "unused argument" -Werror -c b.c -L.
same "unused at link" -c b.c -lm
same "error" -c broken.c
same "error of one" -c b.c broken.c
same "no such file" -c nothing.c
same "no input"
same "undefined" -g a.c -o x
same "unknown option" -c b.c -fno-such-thing
same "--version" --version
same "-dumpmachine" -dumpmachine
same "-print-file-name" -print-file-name=libc.so
same "-print-search-dirs" -print-search-dirs
same "--help" --help
same "-###" '-###' --version
same "-pipe" -pipe -c b.c
same "-S to standard output" -S b.c -o -
same "-o /dev/null" -c b.c -o /dev/null
same "-g" -g -c b.c
same "-gsplit-dwarf alone" -gsplit-dwarf -c b.c
same "-save-temps" -save-temps -c b.c
same "-x" -x c -c b.c -o z.o
same "--" -c -o z.o -- b.c
same "-emit-llvm" -emit-llvm -c b.c
same "header" -x c-header h.h -o h.pch
same "-r" -r -nostdlib a.c b.c -o ab.o
has two/ab.o .rad.bc || complain "-r: no bitcode"
has two/ab.o .rad.ln && complain "-r: an object has a link line"
cp b.c input
same "from standard input" -x c -c - -o i.o
has two/i.o .rad.bc || complain "standard input: no bitcode"
same "-E of standard input" -E -
: >input

# Options that change how code is made: sanitizers, profiling, code models.
for flags in -fsanitize=address -fsanitize=undefined -fsanitize=thread -pg --coverage -fPIC -fno-pie \
	-mcmodel=large -march=x86-64-v3 -fstack-protector-all "-D_FORTIFY_SOURCE=2 -O2" -ffunction-sections \
	-fno-integrated-as -gz -g3 -gdwarf-4 "-fvisibility=hidden" "-fprofile-instr-generate"; do
	# shellcheck disable=SC2086
	same "$flags" $flags -c a.c ${RADDLE_LONG:+b.c}
	same_text a.o
	has two/a.o .rad.bc || complain "$flags: no bitcode"
	case $flags in
	-fsanitize=* | -pg | --coverage | -fprofile*)
		same "$flags link" $flags a.c b.c -o x
		[ "$(two/x)" = "42 h" ] || complain "$flags: x prints $(two/x)" ;;
	esac
done

# Assembly made by -S contains the bitcode in our section, and the assembler keeps it.
"$RADDLE" cc -S b.c -o b.s && clang-$LLVM -c b.s -o b1.o && "$RADDLE" cc -c b.s -o b2.o
for object in b1.o b2.o; do
	has $object .rad.bc || complain "-S, then assembled: no bitcode in $object"
	has $object .llvmbc && complain "-S, then assembled: clang's name in $object"
	has $object .rad.obj && complain "-S, then assembled: $object has a copy of itself"
done
rm b.s

# With -g0, our bitcode has names, but the program has no debug sections.
"$RADDLE" cc -g0 -c a.c -o a0.o && "$RADDLE" cc -g0 -c b.c -o b0.o && "$RADDLE" cc a0.o b0.o -o x0
has x0 .debug_info && complain "-g0: the program has debug information"
has x0 .rad.bc || complain "-g0: no bitcode"
[ "$(./x0)" = "42 h" ] || complain "-g0: x0 prints $(./x0)"
for linker in gold lld mold; do
	command -v ld.$linker >/dev/null || continue
	"$RADDLE" cc -fuse-ld=$linker a0.o b0.o -o x0 || complain "-g0: $linker fails"
	has x0 .debug_info && complain "-g0: the program of $linker has debug information"
done

# Objects of assembler files contain a copy of themselves.
"$RADDLE" cc -c s.s p.S || complain "assembler files"
has s.o .rad.obj && has p.o .rad.obj || complain "assembler objects do not carry themselves"
readelf -sW s.o | grep -q ' s$' || complain "s.o lost its symbol"

# Options for link-time optimisation are not passed on.
"$RADDLE" cc -flto -O2 -c a.c -o l.o && "$RADDLE" cc -flto=thin -ffat-lto-objects -O2 -c b.c -o m.o &&
	"$RADDLE" cc -flto l.o m.o -o l || complain "-flto"
file l.o | grep -q ELF || complain "-flto: no ELF object"
[ "$(./l)" = "42 h" ] || complain "-flto: l prints $(./l)"

# Response files may be nested and quoted, and may contain options that are not passed on.
printf -- '-O2 -DQ="\\"a b\\""\n-flto @two.rsp' >one.rsp
printf "'b.c' -c" >two.rsp
"$RADDLE" cc @one.rsp -o r.o || complain "@file"
has r.o .rad.bc || complain "@file: no bitcode"
printf 'a.c b.c -o' >three.rsp
"$RADDLE" cc @three.rsp rr && has rr .rad.ln || complain "@file for a link"
same "missing @file" @nothing.rsp -c b.c

# The compiler can be called by the names that build systems use.
[ "$("$BUILD/raddle-cc" -dumpmachine)" = "$(clang-$LLVM -dumpmachine)" ] || complain "raddle-cc"
echo 'struct S { S(); ~S(); }; int main() { try { throw 7; } catch (int i) { return i; } }' >c.cpp
status=0
"$BUILD/raddle-c++" c.cpp -o c && ./c || status=$?
[ $status = 7 ] || complain "raddle-c++: exceptions give $status"
verdict
