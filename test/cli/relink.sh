# The flavours of a program that is hard to relink, quick and fast, print what the program prints,
# however it was built.  The short form links the same objects in all ways, if they may be the same,
# and optimises in two of the four ways.
. "$ROOT/test/lib.sh"

unit=$ROOT/test/prog/relink

cat >expected <<'T'
static 2 101
section 321
naked 7 musttail 1
weak 1 -1 renamed 5
common -277 tls 36 11
assembler 42
c++ 1052 foreign 31
destructor
T

# compile FLAG...: makes objects/.
compile() {
	rm -rf objects && mkdir objects
	"$RADDLE" cc "$@" -fcommon -c "$unit/a.c" -o objects/a.o &&
		"$RADDLE" cc "$@" -fcommon -c "$unit/b.c" -o objects/b.o &&
		"$RADDLE" c++ "$@" -c "$unit/c.cpp" -o objects/c.o &&
		"$RADDLE" cc -c "$unit/d.S" -o objects/d.o &&
		g++ -std=c++17 "$@" -c "$unit/foreign.cpp" -o objects/foreign.o &&
		ar rcs objects/some.a objects/b.o objects/foreign.o
}

# objects FLAG...: makes objects/, from a copy if they were made with the same flags before.
objects() {
	if [ -z "${RADDLE_LONG:-}" ] && [ "$*" = "$(cat made/flags 2>/dev/null)" ]; then
		cp -r made objects
		return
	fi
	compile "$@" || return
	rm -rf made && cp -r objects made && echo "$*" >made/flags
}

levels="0 2"
[ -z "${RADDLE_LONG:-}" ] || levels="0 1 2 3"
for level in $levels; do
	for link in "" -static "-fuse-ld=lld -Wl,--gc-sections" "-Wl,--gc-sections -s" -fuse-ld=mold -no-pie; do
		[ "$link" = -fuse-ld=mold ] && ! command -v ld.mold >/dev/null && continue
		flags="-O$level -ffunction-sections"
		[ "$link" = -no-pie ] && flags="$flags -fno-pie"
		# shellcheck disable=SC2086
		objects $flags &&
			"$RADDLE" c++ $link objects/a.o objects/c.o objects/d.o objects/some.a -o program ||
			{ complain "-O$level $link: does not build"; continue; }
		rm -rf objects
		./program >out || complain "-O$level $link: status $?"
		cmp -s out expected || complain "-O$level $link: $(diff expected out)"
		for mode in "" --fast; do
			# shellcheck disable=SC2086
			flavour=$("$RADDLE" flavour $mode ./program) || { complain "-O$level $link $mode: no flavour"; continue; }
			"$flavour" >out || complain "-O$level $link $mode: status $?"
			cmp -s out expected || complain "-O$level $link $mode: $(diff expected out)"
		done
		[ $level = 2 ] || break
	done
done
verdict
