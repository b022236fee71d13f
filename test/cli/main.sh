# The entry point of raddle: the table of commands, help, suggestions, other names, and lost output.
. "$ROOT/test/lib.sh"

# expect STATUS COMMAND...: runs the command, expects this status, and keeps stdout in out and
# stderr in err.
expect() {
	local want=$1 status=0
	shift
	"$@" >out 2>err || status=$?
	[ $status = "$want" ] || fail "$* gave status $status instead of $want: $(cat out err)"
}

expect 0 "$RADDLE" --help
cp out help
grep -q '^  record ' help || fail "help does not list record"
expect 0 "$RADDLE" help
cmp out help || fail "help and --help differ"
expect 0 "$RADDLE" -h
cmp out help || fail "help and -h differ"
expect 2 "$RADDLE"
cmp err help || fail "without arguments, the help belongs on stderr"
[ ! -s out ] || fail "without arguments, stdout stays empty"
awk 'length($0) > 80 { exit 1 }' help || fail "help is wider than 80 columns"

expect 0 "$RADDLE" --version
grep -Eqx 'raddle [0-9]+\.[0-9]+\.[0-9]+ \(LLVM [0-9]+\)' out || fail "version: $(cat out)"

expect 2 "$RADDLE" recrod
grep -q "did you mean 'record'?" err || fail "no suggestion: $(cat err)"
expect 2 "$RADDLE" zzzzzzzzz
grep -q "raddle help" err || fail "no pointer to help: $(cat err)"
expect 2 "$RADDLE" --zzz
grep -q -- "--zzz" err || fail "unknown option not named: $(cat err)"
expect 2 "$RADDLE" help zzz

# Every command has help, and its help shows an example and fits the screen.
for command in $("$RADDLE" --list-commands); do
	expect 0 "$RADDLE" help "$command"
	grep -q '^usage: raddle' out || fail "help $command: $(cat out)"
	awk 'length($0) > 80 { exit 1 }' out || fail "help $command is wider than 80 columns"
done

# If it is called as raddle-COMMAND, it is that command.
ln -s "$RADDLE" raddle-doctor
expect 0 ./raddle-doctor --help
grep -q 'raddle doctor' out || fail "raddle-doctor: $(cat out)"
ln -s "$RADDLE" raddle-nonsense
expect 0 ./raddle-nonsense --version

# Output that cannot be written is a failure, however it is lost.
expect_lost() {
	[ "$1" = 2 ] || fail "lost output gave status $1"
	grep -q 'cannot write to standard output' err || fail "lost output is not reported: $(cat err)"
}
"$RADDLE" help >/dev/full 2>err
expect_lost $?
"$RADDLE" help >&- 2>err
expect_lost $?
