# Functions for tests that compare a program that clang built with the same program, built by raddle
# cc and recorded in both modes.  Standard output, standard error and the exit status or signal must
# be the same, and the trace must be readable.  In the short form the program that raddle cc built
# runs in place of clang's: both have the same machine code (cc-modes.sh), and clang would take as
# long as half a test.  Source this file; finish() prints the verdict.
failures=0
compared=0
mkdir -p native raddle

# build NAME [c|cxx] FLAGS... SOURCES...: makes native/NAME and raddle/NAME.  The tests of one run
# share what they build, because compiling the C++ program takes longer than most tests.
build() {
	local name=$1 shared
	shift
	shared=${SHARED:-$PWD/shared}/$(printf '%s\n' "$@" | md5sum | cut -c 1-32)
	mkdir -p "$shared"
	(
		flock 9
		[ -e "$shared/done" ] || { compile "$shared" "$@" && touch "$shared/done"; }
	) 9>"$shared/lock" || exit 1
	cp "$shared/native" "native/$name"
	cp "$shared/raddle" "raddle/$name"
}

# compile DIR [c|cxx] FLAGS... SOURCES...: makes DIR/native and DIR/raddle.
compile() {
	local dir=$1 native=clang-19 command=cc
	[ "$2" = c ] || { native=clang++-19 command=c++; }
	shift 2
	"$RADDLE" $command -g "$@" -o "$dir/raddle" -lpthread -lm 2>log || { echo "raddle cannot build $*:"; cat log; return 1; }
	if [ -z "${RADDLE_LONG:-}" ]; then
		cp "$dir/raddle" "$dir/native"
	else
		"$native" -g "$@" -o "$dir/native" -lpthread -lm 2>log || { cat log; return 1; }
	fi
}

# execute PREFIX COMMAND...: runs the command and writes PREFIX.out, .err and .status.
execute() {
	local prefix=$1
	shift
	printf 'some lines\nof input\n' | (
		# The message of the shell about a signal is not part of the output.
		timeout -k 5 240 "$@" >"$prefix.out" 2>"$prefix.err"
		echo $? >"$prefix.status"
	) 2>/dev/null
}

# same LABEL PREFIX1 PREFIX2: checks that two runs had the same status and output.
same() {
	local label=$1 part
	compared=$((compared + 1))
	for part in status out err; do
		cmp -s "$2.$part" "$3.$part" && continue
		echo "$label: $part differs:"
		diff -a "$2.$part" "$3.$part" | head -10
		[ $part = status ] && head -5 "$3.err"
		failures=$((failures + 1))
		return
	done
}

# compare NAME ARGUMENTS...: runs the program natively, and recorded in the modes $modes and the
# flavour $flavour.  Raddle itself may print nothing, or only a line that contains $told, if that is
# not empty.
flavour=record
modes="quick fast"
told=
compare() {
	local name=$1 mode
	shift
	execute native.result "./native/$name" "$@"
	for mode in $modes; do
		rm -rf trace
		execute record.result "$RADDLE" record --flavour $flavour --$mode -o trace -- "./raddle/$name" "$@"
		take_told "$name $* ($mode)" record.result.err
		same "$name $* ($mode)" native.result record.result
		check_trace "$name $* ($mode)"
	done
}

# take_told LABEL FILE: removes Raddle's expected line ($told) from the file; it must be there once.
take_told() {
	[ -n "$told" ] || return 0
	if [ "$(grep -c "^raddle: .*$told" "$2")" != 1 ]; then
		echo "$1: Raddle did not say once: $told"
		failures=$((failures + 1))
	fi
	sed -i "/^raddle: .*$told/d" "$2"
}

# check_trace LABEL: checks that the trace can be read to its end.
check_trace() {
	"$RADDLE" dump --check trace >dump.out 2>dump.err && return
	echo "$1: the trace cannot be read: $(head -3 dump.err)"
	failures=$((failures + 1))
}

finish() {
	echo "$compared runs compared, $failures differ"
	[ $failures = 0 ]
}
