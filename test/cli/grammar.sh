# All commands have the same grammar of options: --json, letters, durations, 0, outputs that cannot
# be written, RADDLE_OPTIONS and .raddle files.
# sanitizers: yes, reads command lines of every kind
. "$ROOT/test/lib.sh"

trace=$ROOT/test/trace/v1-bank
full=$ROOT/test/trace/full-v1
export HOME=$PWD

# refused TEXT COMMAND...: expects status 2 and a message that contains TEXT.
refused() {
	local text=$1 status=0
	shift
	"$RADDLE" "$@" >out 2>err </dev/null || status=$?
	[ $status = 2 ] || complain "$*: status $status instead of 2: $(cat err)"
	grep -qF -- "$text" err || complain "$*: no '$text' in: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || complain "$*: more than one message: $(cat err)"
}
# accepted COMMAND...: expects that the command is not refused.  Its findings do not matter here.
accepted() {
	local status=0
	"$RADDLE" "$@" >out 2>err </dev/null || status=$?
	[ $status != 2 ] || complain "$* is refused: $(cat err)"
}

# A letter means the same option in all commands; -n is a number of runs, and -o an output.
for command in $("$RADDLE" --list-commands); do
	case $command in help | version | cc | c++) continue ;; esac
	"$RADDLE" "$command" --list-options
done | sort -u >options
[ "$(wc -l <options)" -gt 80 ] || complain "too few options: $(cat options)"
grep -oE '^-. --[a-z-]+' options | sort -u | awk '$1 != "-n" && $1 != "-o" && $1 == last { print }  { last = $1 }' >twice
[ ! -s twice ] || complain "letters with two meanings: $(cat twice)"
for letter in $(grep -oE '^-.' options | sort -u); do
	grep -q "^\.Fl ${letter#-}$" "$ROOT/doc/man/raddle.1" || complain "raddle.1 does not say what $letter means"
done
grep -- --json options | grep -qvxF -- '--json[=FILE]' && complain "--json has another form: $(grep -- --json options)"

# In commands that read something, --json alone means standard output, and --json=FILE a file.
for line in "predict|$trace" "dump|$trace" "dump --summary|$trace" "compare|$full $full" "sanitize|$full" "reversible|$full" "doctor|"; do
	IFS='|' read -r command operands <<<"$line"
	# shellcheck disable=SC2086
	"$RADDLE" $command --json $operands >printed 2>err || [ $? != 2 ] || complain "$command --json: $(cat err)"
	# shellcheck disable=SC2086
	"$RADDLE" $command --json=file $operands >out 2>err || [ $? != 2 ] || complain "$command --json=file: $(cat err)"
	for file in printed file; do
		jq -e '.version == 1' $file >/dev/null || complain "$command: no document in $file: $(head -c 300 $file)"
		jq -S 'del(.. | objects | (.stats, .items, .seconds))' $file >$file.sorted
	done
	cmp -s printed.sorted file.sorted || complain "$command: --json and --json=FILE differ"
	grep -q '"version"' out && complain "$command --json=file also prints the document"
	rm file
done

# In commands that run a program, the word after --json is the file, unless it looks like an option.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/micro/sections-race.c" -o racy || exit 1
for words in "--json file" "--json=file"; do
	# shellcheck disable=SC2086
	"$RADDLE" check -q -o found $words -- ./racy >out 2>err
	[ $? = 1 ] || complain "check $words: $(cat err)"
	jq -e '.findings | length == 1' file >/dev/null || complain "check $words: $(cat file)"
	rm file
done
"$RADDLE" check -q -o found --json -- ./racy >out 2>err
[ $? = 1 ] || complain "check --json --: $(cat err)"
jq -e '.findings | length == 1' out >/dev/null || complain "check --json --: $(cat out)"
"$RADDLE" record -f -o traced --json --no-watchdog ./racy >out 2>err || complain "record --json: $(cat err)"
jq -e '.complete' out >/dev/null || complain "record --json: $(cat out)"

# No argument is "--" or looks like an option, and a document does not overwrite a program.
refused 'option -o needs an argument (DIR)' record -o -- ./racy
refused 'option --output needs an argument (DIR)' check --output -- ./racy
refused 'option --timeout needs an argument (TIME)' check --timeout -- ./racy
refused "--output --json=x: that looks like an option" record -o --json=x -- ./racy
refused 'is a program and is not overwritten' check --json ./racy ./racy
[ -x racy ] && [ ! -e ./-- ] && [ ! -e ./--json=x ] || complain "a file got a wrong name: $(ls)"

# If an output cannot be written, that is reported before anything is done, even before the program
# is looked for.
touch plain
refused '--json: cannot write nowhere/x' check --json=nowhere/x -- ./absent
refused '--sarif: cannot write plain/x' check --sarif plain/x -- ./absent
refused '--html: cannot write found: it is a directory' check --html found -- ./absent
refused '--output: plain: plain is not a directory' check -o plain -- ./absent
refused '--output: plain/deep/er: cannot write there' record -o plain/deep/er -- ./absent
refused '--output: plain/x: cannot write there' inject -o plain/x --list -- ./absent
refused '--export: cannot write nowhere/x' replay --export nowhere/x absent.schedule
refused '--schedules: plain: plain is not a directory' predict -o plain "$trace"
refused '--json: the name is empty' predict --json= "$trace"
refused 'only one document can go to standard output' predict --json --sarif - "$trace"
[ ! -s plain ] && [ ! -e nowhere ] || complain "a refused output was written"

# Durations have units, and sizes have suffixes.  Wrong ones are refused.
for time in 5m 300 30s 1h 500ms 1.5h 0.25 2d; do
	accepted predict --time "$time" "$trace"
done
for time in 5x m '' 1h30 -1 nan 0x10 1e3 1000000d; do
	refused "--time=$time: " predict "--time=$time" "$trace"
done
accepted reversible --solver-timeout 500ms "$full"
refused 'not a number' record --limit=2Q -- ./racy
"$RADDLE" record -f -o traced --limit 2G -- ./racy || complain "--limit 2G"

# 0 means no limit for every limit.  A number of things to do is at least 1.
"$RADDLE" predict -v "$trace" >usual
for option in limit work time window; do
	"$RADDLE" predict -v --$option 0 "$trace" >out 2>err || complain "predict --$option 0: $(cat err)"
	cmp -s usual out || complain "predict --$option 0 finds something else"
done
"$RADDLE" dump "$trace" >all
"$RADDLE" dump --limit 0 "$trace" | cmp -s all || complain "dump --limit 0 is not all"
accepted compare --limit 0 "$full" "$full"
accepted reversible --limit 0 --solver-timeout 0 "$full"
"$RADDLE" check -q -o found --timeout 0 --time 0 -- ./racy 2>err
[ $? = 1 ] || complain "check without limits: $(cat err)"
for line in "check --jobs" "check --runs" "replay --times" "inject --jobs" "inject --runs" "inject --golden"; do
	# shellcheck disable=SC2086
	refused 'out of range' $line 0 found -- ./racy
done

# ---- defaults from RADDLE_OPTIONS and .raddle files ----

# limit_of: prints how many findings predict describes.
limit_of() { "$RADDLE" predict --json "$@" "$trace" | jq '.findings | length'; }
number=$(limit_of)
[ "$number" -ge 2 ] || complain "the trace has too few findings for this test: $number"
[ "$(RADDLE_OPTIONS='--limit=1' limit_of)" = 1 ] || complain "RADDLE_OPTIONS is not read"
[ "$(RADDLE_OPTIONS='--limit=1' limit_of --limit 2)" = 2 ] || complain "the command line does not count most"
[ "$(RADDLE_OPTIONS=' --jobs=2   --limit=1 ' limit_of)" = 1 ] || complain "an option of another command is in the way"
RADDLE_OPTIONS='--json="a b"' "$RADDLE" predict "$trace" >out && jq -e .version 'a b' >/dev/null || complain "quotes"
RADDLE_OPTIONS='--nonsense' refused "RADDLE_OPTIONS: no command has the option 'nonsense'" predict "$trace"
RADDLE_OPTIONS='limit' refused "RADDLE_OPTIONS: write --NAME" predict "$trace"
RADDLE_OPTIONS='--limit 1' refused "RADDLE_OPTIONS: option --limit needs an argument after '=' (COUNT)" predict "$trace"
RADDLE_OPTIONS="--id='x" refused 'a quote is not closed' predict "$trace"
RADDLE_OPTIONS='--nonsense' accepted predict --help

mkdir -p repo/.git repo/src/deep
cat >repo/.raddle <<'END'
# for all
time = 2m

[check predict]
  limit = 1
suppressions=known.supp
[dump]
limit = 3
END
echo 'race:nothing_of_that_name' >repo/known.supp
cd repo/src/deep || exit 1
[ "$(limit_of)" = 1 ] || complain "the .raddle file above is not read"
[ "$(RADDLE_OPTIONS=--limit=2 limit_of)" = 2 ] || complain "RADDLE_OPTIONS does not count more than .raddle"
[ "$("$RADDLE" dump --json "$trace" | jq '.events | length')" = 3 ] || complain "the section of dump is not read"
[ "$(RADDLE_FILE='' limit_of)" = "$number" ] || complain "an empty RADDLE_FILE does not leave the file out"
echo 'limit = 2' >own
[ "$(RADDLE_FILE=own limit_of)" = 2 ] || complain "RADDLE_FILE is not read"
rm ../../known.supp
refused "repo/known.supp: No such file" predict "$trace"
echo 'limit = 2' >.raddle
[ "$(limit_of)" = 2 ] || complain "the nearest .raddle file is not the one that is read"

# A file cannot set these options.
for line in 'with = touch owned' 'setup = touch owned' 'gdb' 'gdb-args = -ex shell' 'as-is' 'output = /tmp/x' 'json = ../x' \
	'write-baseline = x' 'filter = touch owned' 'executor = slurm' 'slurm-options = x' 'resume = x' 'force'; do
	for command in check replay inject record; do
		grep -q -- "--${line%% *}\b" <<<"$("$RADDLE" $command --list-options)" || continue
		echo "$line" >.raddle
		refused ".raddle:1: a file cannot decide what is run, written or removed: option '${line%% *}'" $command x
	done
done
[ ! -e owned ] || complain "a .raddle file had a command run"
printf '[predict]\n\nlimit = many\n' >.raddle
refused 'deep/.raddle:3: --limit=many: not a number' predict "$trace"
echo '[prdict]' >.raddle
refused ".raddle:1: there is no command 'prdict'" predict "$trace"
echo '[predict' >.raddle
refused ".raddle:1: no ] at the end of" predict "$trace"
echo 'limt = 1' >.raddle
refused ".raddle:1: no command has the option 'limt'" predict "$trace"
printf 'limit = 1\0' >.raddle
refused 'a zero byte' predict "$trace"
accepted predict --help

# A file that others can write to, or that belongs to another user, is ignored.  A pipe or a huge
# file is refused.
echo 'limit = 1' >.raddle
chmod o+w .raddle
[ "$(limit_of 2>err)" = "$number" ] && grep -q 'can be written by others, and is ignored' err || complain "others: $(cat err)"
chmod 644 .raddle
[ "$(limit_of)" = 1 ] || complain "the file is not read again"
if [ "$(id -u)" = 0 ]; then
	chown 12345 .raddle
	[ "$(limit_of 2>err)" = "$number" ] && grep -q 'belongs to another user, and is ignored' err || complain "owner: $(cat err)"
fi
rm .raddle
mkfifo .raddle
refused '.raddle: it is a pipe, not a file' predict "$trace"
rm .raddle
truncate -s 10G .raddle
refused '.raddle: it has 10737418240 bytes' predict "$trace"
verdict
