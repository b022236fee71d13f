# Synchronisation in code that Raddle did not compile.  What it orders is never confirmed as a race,
# and the report names the code.  A race at which two threads are stopped at the same time is still
# confirmed.  The short form leaves out other ways to link the same code.
. "$ROOT/test/lib.sh"

prog=$ROOT/test/prog/foreign
shown=(err)

# unordered NAME CODE: the check confirms nothing, and says that CODE could have ordered what it
# saw.
unordered() {
	"$RADDLE" check --no-classify -o "$1.d" -- "./$1" >out 2>err || complain "$1: status $?"
	tr -s ' \n' ' ' <err | grep -qF "apparently unordered: code that Raddle did not compile ($2) could have" ||
		complain "$1: $2 is not named"
	jq -e '[.findings[] | select(.seen == "unordered")] | length > 0 and all(.status == "unconfirmed")' \
		"$1.d/findings.json" >/dev/null || complain "$1: $(cat "$1.d/findings.json")"
	# For all accesses between which the detector saw no order, that code is the reason.
	jq -e '[.findings[] | select((.reason // "" | contains("saw no order")) and .seen != "unordered")] == []' \
		"$1.d/findings.json" >/dev/null || complain "$1: another reason: $(cat "$1.d/findings.json")"
}

# Code of another compiler is in a library, an object, or a member of an archive.
gcc -O2 -fPIC -c "$prog/chan.c" -o chan.o || fail "gcc"
gcc -shared chan.o -o libchan.so || fail "gcc -shared"
ar rcs libchan.a chan.o || fail "ar"
"$RADDLE" cc -g -O1 -pthread "$prog/use.c" ./libchan.so -o use-library || fail "use-library"
unordered use-library libchan.so
if [ -n "${RADDLE_LONG-}" ]; then
	"$RADDLE" cc -g -O1 -pthread "$prog/use.c" chan.o -o use-object || fail "use-object"
	unordered use-object chan.o
	"$RADDLE" cc -g -O1 -pthread "$prog/use.c" libchan.a -o use-archive || fail "use-archive"
	unordered use-archive 'libchan.a(chan.o)'
	"$RADDLE" cc -g -O1 -pthread -DLOAD "$prog/use.c" -o use-loaded || fail "use-loaded"
	unordered use-loaded libchan.so
fi

# If Raddle compiles the same code, it is understood.
"$RADDLE" cc -g -O1 -pthread "$prog/use.c" "$prog/chan.c" -o use-own || fail "use-own"
"$RADDLE" check --no-classify -- ./use-own >out 2>err || complain "use-own: status $?"
grep -q 'Raddle: no bug confirmed' err || complain "use-own is wrong"
grep -q 'unordered as far' err && complain "use-own has no foreign code"

# Threads that meet race, whatever the foreign code does.
"$RADDLE" cc -g -O1 -pthread -DRACE "$prog/use.c" ./libchan.so -o use-race || fail "use-race"
"$RADDLE" check --no-classify -- ./use-race >out 2>err
[ $? = 1 ] || complain "use-race: not found"
grep -Eq '^BUG 1 of 1  data race on counter .*confirmed' err || complain "use-race: not confirmed"

# Inline assembly that names its memory operands orders threads.  If it does not name them, the
# report names the assembly.
"$RADDLE" cc -g -O1 -pthread "$prog/asm-lock.c" -o asm-lock || fail "asm-lock"
"$RADDLE" check --no-classify -- ./asm-lock >out 2>err || complain "asm-lock: status $?"
grep -q 'Raddle: no bug confirmed' err || complain "asm-lock is wrong"
if [ -n "${RADDLE_LONG-}" ]; then
	"$RADDLE" cc -g -O1 -fno-inline -pthread -DHIDDEN "$prog/asm-lock.c" -o asm-hidden || fail "asm-hidden"
	unordered asm-hidden 'assembler in lock, assembler in unlock'
fi
verdict
