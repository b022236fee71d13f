# Names chosen by programs cannot control the terminal, and commands in documents that another user
# may have written are not run without notice.
. "$ROOT/test/lib.sh"

escape=$(printf '\033')

# The name, source and arguments of this program contain escape sequences.
source="ra${escape}[2Jce.c"
program="./pro${escape}]0;x${escape}gram"
cp "$ROOT/test/prog/micro/sections-race.c" "$source"
"$RADDLE" cc -O1 -g -pthread -I "$ROOT/test/prog/micro" "$source" -o "$program" || exit 1
argument=$(printf 'a\r\302\2332Jb')

# shows COMMAND...: the output contains the name, but no control characters.
shows() {
	"$RADDLE" "$@" >out 2>err </dev/null
	LC_ALL=C grep -q "[$(printf '\001-\010\013-\037\177')]" out err && complain "$1: control characters: $(cat -v out err | head -n 30)"
	LC_ALL=C grep -q "$(printf '\302\233')" out err && complain "$1: a control character beyond ASCII: $(cat -v out err)"
	grep -q 'ra?\[2Jce\|pro?\]0' out err || complain "$1: the name is not shown: $(cat -v out err | head -n 30)"
}
shows check -v -- "$program" "$argument"
schedule=$(ls raddle-check/*.schedule | head -n 1)
[ -n "$schedule" ] || fail "no schedule: $(cat err)"
shows predict -v raddle-check/trace
shows dump raddle-check/trace
shows dump --stacks raddle-check/trace
shows dump --summary raddle-check/trace
shows dump --sites raddle-check/trace
shows dump raddle-check/findings.json
shows dump "$schedule"
shows dump "$program"
shows replay -v "$schedule" -- "$program"
shows record -- "./absent-pro${escape}]0"
shows dump "./absent-pro${escape}]0"
"$RADDLE" record --flavour full -o full -- "$program" || complain "not recorded"
shows sanitize full
shows reversible --objects full
"$RADDLE" facts -o facts "$program"
shows dump facts

# Documents are data, and keep every byte.
"$RADDLE" predict --json raddle-check/trace | jq -r '.. | .file? // empty' | grep -qF "$source" || complain "JSON has another name"
# On a terminal, Raddle's own colours are kept.
if command -v script >/dev/null; then
	TERM=xterm script -qec "'$RADDLE' predict -v raddle-check/trace" /dev/null </dev/null >typed 2>/dev/null
	grep -q "${escape}\[1" typed || complain "no colours on a terminal: $(cat -v typed | head)"
	grep -qF "${escape}[2J" typed && complain "the screen is cleared: $(cat -v typed | head)"
fi

# Commands in documents of other users are run only with a warning.
cp "$ROOT/test/prog/micro/sections-race.c" race.c
"$RADDLE" cc -O1 -g -pthread -I "$ROOT/test/prog/micro" race.c -o race || exit 1
mkdir mine
"$RADDLE" check -q -o mine/found --setup 'touch prepared' -- ./race 2>err
[ -f mine/found/findings.json ] || fail "no findings: $(cat err)"
# told PATTERN COMMAND...: expects a warning with PATTERN, or no warning if it is empty.  The
# command of the document runs.
told() {
	local pattern=$1
	shift
	rm -f prepared
	"$RADDLE" "$@" >out 2>err </dev/null
	if [ -n "$pattern" ]; then
		grep -q "$pattern" err || complain "$*: no '$pattern' in: $(cat err)"
	else
		grep -q 'has this run' err && complain "$*: $(cat err)"
	fi
	[ -e prepared ] || complain "$*: it did not run"
}
document=mine/found/findings.json
told '' replay "$document"
chmod g+w "$document"
told "findings.json: it can be written by others; it makes Raddle run: ./race, before each run 'touch prepared'" replay "$document"
chmod g-w "$document"
chmod o+w mine/found
told 'findings.json: its directory can be written by others; it makes Raddle run: ./race' replay "$document"
told 'its directory can be written by others; it makes Raddle run: ./race' classify -o classes "$document"
chmod 1777 mine/found
told '' replay "$document"
chmod 755 mine/found
if [ "$(id -u)" = 0 ]; then
	chown 12345 "$document"
	told 'findings.json: it belongs to another user; it makes Raddle run: ./race' replay "$document"
fi
# If the user names a program, the document's commands are not run.
rm -f prepared
"$RADDLE" replay "$document" -- ./race >out 2>err
grep -q 'has this run' err && complain "the user's own program: $(cat err)"
[ ! -e prepared ] || complain "a document had a command run beside the user's program"

printf '#include <stdio.h>\nint main(int argc, char **argv) { (void)argv; return printf("%%d", argc * 3) < 0; }\n' >sum.c
"$RADDLE" cc -g sum.c -o sum || exit 1
"$RADDLE" inject -q -n 2 --fault BitFlip --filter 'tee filtered' -o campaign -- ./sum 2>err || complain "inject: $(cat err)"
"$RADDLE" inject --resume campaign >out 2>err
grep -q 'has this run' err && complain "an own campaign: $(cat err)"
chmod g+w campaign/campaign.json
"$RADDLE" inject --resume campaign >out 2>err
grep -q "campaign.json: it can be written by others; it makes Raddle run: ./sum, filtered by 'tee filtered'" err || complain "a campaign: $(cat err)"
verdict
