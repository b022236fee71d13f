# What races do to a program: each labelled race gets its class, with a witness that reproduces it.
. "$ROOT/test/lib.sh"
shown=(err)

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/classify/races.c" -o races || exit 1

# check_races PROGRAM: checks the program, with the results in found/PROGRAM.  A program that may
# hang can also hang in the recorded run.  Then it is ended, and its races are found in what it did
# before.
check_races() {
	"$RADDLE" check -q --timeout 20s --no-classify -o "found/$1" -- ./races "$1" >/dev/null 2>err </dev/null
}
# classify_races PROGRAM: classifies these races, with the results in PROGRAM.json and out/PROGRAM.
classify_races() {
	"$RADDLE" classify -q -o "out/$1" --json "$1.json" "found/$1/findings.json" >out.txt 2>err </dev/null
	[ ! -s out.txt ] || complain "$1: something was written: $(cat out.txt)"
}
# classes FILE: prints object, accesses, class and consequence of each confirmed race.
classes() {
	jq -r '.findings[] | select(.kind == "race" and .status == "confirmed") |
		[(.object | sub("\\[.*"; "") | gsub(" "; "_")), (if [.accesses[] | [.file, .line]] | .[0] == .[1] then "ss" else ([.accesses[].op[0:1]] | sort | join("")) end),
		.class // "-", .consequence // "-"] |
		join(" ")' "$1" | sort -u | told_once
}
# told_once: removes lines "ww" if the same line exists with "rw".  A race of two statements that
# each read and write is one finding, shown by a write and either access of the other statement.
told_once() {
	awk '{ line[NR] = $0; seen[$0] = 1 }
	END { for (i = 1; i <= NR; i++) { other = line[i]; if (sub(/ ww /, " rw ", other) && other in seen) continue; print line[i] } }'
}
# fits PROGRAM: its races have the classes of their labels.  An ordinary run of some of them does
# not reach the race, or fails before it on a busy machine, so there are up to three more runs.  That
# is only for races that were not found; a race with a class other than its label fails immediately.
fits() {
	local wanted run runs=4
	wanted=$(sed -n "s/^$1 //p" "$ROOT/test/prog/classify/labels" | sort -u | told_once)
	for ((run = 1; run <= runs; run++)); do
		check_races "$1"
		classify_races "$1"
		[ "$(classes "$1.json" | cut -d ' ' -f 1,2)" != "$(cut -d ' ' -f 1,2 <<<"$wanted")" ] || break
		echo "$1, run $run: $(classes "$1.json")"
	done
	[ "$(classes "$1.json")" = "$wanted" ] || complain "$1: $(classes "$1.json") instead of $wanted; without a class: $(jq -c '[.findings[] | select(.class == null) | .notes]' "$1.json")"
}

programs="redundant redundant-prints flag-spin flag-sleep lost-update lost-update-noisy copied-string exit-counts order-violation assertion hang used-freed double-free"
[ -z "${RADDLE_LONG-}" ] || programs=$(sed '/^#/d; s/ .*//' "$ROOT/test/prog/classify/labels" | sort -u)
mkdir -p found out
for program in $programs; do
	fits "$program"
done

# The document shows what a class is based on.
jq -e '.version == 1 and (.findings[] | select(.object == "pointer") | .class == "spec-violated" and .classes == {sc: "spec-violated"} and .consequence == "crash" and
	.witness.class == "spec-violated" and .witness.model == "sc" and .witness.runs >= 2 and
	(.witness.schedule | test("witness.schedule$")) and (.witness.seen | test("signal 11")) and .k > 0)' order-violation.json >/dev/null ||
	complain "the document: $(jq '.findings[0]' order-violation.json)"
jq -e '.findings[0] | .class == "k-witness-harmless" and .k >= 8 and .input == null and .witness == null' redundant.json >/dev/null ||
	complain "the harmless one: $(jq '.findings[0]' redundant.json)"
jq -e '.findings[0].witnesses | length == 2' lost-update.json >/dev/null || complain "both outputs have a witness"
if grep -qri benign ./*.json; then complain "a forbidden word"; fi

# A witness reproduces the failure each time, in whichever form the schedule is given.
for i in 1 2 3; do
	"$RADDLE" replay out/order-violation/*.witness.schedule -- ./races order-violation >/dev/null 2>err </dev/null
	grep -q 'ended by signal 11' err || complain "replay $i of the crash"
	got=$("$RADDLE" replay out/lost-update/*.witness.schedule -- ./races lost-update 2>err </dev/null)
	[ "$got" = 1 ] || complain "replay $i of the lost update: $got"
	got=$("$RADDLE" replay out/lost-update/*.witness-2.schedule -- ./races lost-update 2>err </dev/null)
	[ "$got" = 2 ] || complain "replay $i of the other order: $got"
done

# For freed memory, the witness names the thread that used it and the one that had freed it.
jq -e '.findings[0].witness.seen | test("use after free: T_0_0 used memory at races.c:[0-9]+ that T_0_1 had freed at races.c:[0-9]+")' \
	used-freed.json >/dev/null || complain "use after free: $(jq '.findings[0].witness' used-freed.json)"

# What keeps the two accesses in order is named.
jq -e '[.findings[] | .notes[-1] | test("waits in a loop at races.c:[0-9]+ until flag changes")] | all and length == 2' flag-sleep.json >/dev/null ||
	complain "the flag is not named: $(jq -c '[.findings[].notes]' flag-sleep.json)"

# raddle check includes the classification, and reports the worst class first.
"$RADDLE" check --timeout 20s -o all --json all.json --sarif all.sarif --html all.html -- ./races hang >/dev/null 2>err </dev/null
[ $? = 1 ] || complain "check: the status"
jq -e '[.findings[] | select(.status == "confirmed") | .class][0] == "spec-violated" and .stats.classified >= 1' all.json >/dev/null ||
	complain "check: $(jq -c '[.findings[] | [.object, .status, .class]]' all.json)"
jq -e '[.runs[0].results[] | select(.level == "error" and .properties.class == "spec-violated" and .rank > 50)] | length >= 1' all.sarif >/dev/null ||
	complain "SARIF: $(jq -c '[.runs[0].results[] | [.level, .rank, .properties]]' all.sarif)"
grep -q spec-violated all.html || complain "HTML has no class"
grep -q 'Classes: ' err || complain "the report of check has no classes"
ls all/*.witness.schedule >/dev/null || complain "check left no witness"
grep -q '^  Again     raddle replay --timeout 20 all/[0-9a-f]*\.witness\.schedule -- \./races hang$' err || complain "the line that shows a witness again: $(cat err)"
"$RADDLE" check -q -o none --no-classify --json none.json -- ./races redundant 2>err </dev/null
jq -e '[.findings[].class] == [null]' none.json >/dev/null || complain "--no-classify: $(jq -c '[.findings[].class]' none.json)"
for wanted in 0:output-differs 1:k-witness-harmless 2:harmless; do
	"$RADDLE" check -q -o fails --fail-on "${wanted#*:}" -- ./races redundant 2>err </dev/null
	got=$?
	[ $got = "${wanted%:*}" ] || complain "check --fail-on ${wanted#*:}: status $got"
done

# Classes are the same each time, also for a schedule alone, and despite other findings.
classes lost-update.json >first
classify_races lost-update
classes lost-update.json | cmp -s - first ||
	complain "the classes differ the second time: $(cat first), then $(jq -c '[.findings[] | [.class, .notes]]' lost-update.json)"
# The recorded run of this program may have crashed, which is another finding.
alone=$(jq -r '[.findings[] | select(.object == "pointer")][0].schedule' found/order-violation/findings.json)
"$RADDLE" classify -q -o out/alone --json alone.json "$alone" -- ./races order-violation 2>err </dev/null
[ "$(jq -r '.findings[0].class' alone.json)" = spec-violated ] || complain "a schedule alone: $(cat alone.json)"

# Races may be named by their places, by a user or in a report of ThreadSanitizer.  Some of these
# are not races, since ThreadSanitizer did not see a lock.
line() {
	grep -n "$1" "$ROOT/test/prog/classify/races.c" | head -n 1 | cut -d: -f1
}
at=races.c:$(line '/\* locked \*/')
"$RADDLE" classify -q -o out/named --json named.json --race "$at,$at" -- ./races locked 2>err </dev/null
jq -e '.findings | length == 1 and (.[0] | .class == "single-ordering" and .object == "data" and (.notes[-1] | test("mutex-lock for lock")))' \
	named.json >/dev/null || complain "--race: $(cat named.json)"
at=$(line 'counter++;')
cat >report.txt <<END
WARNING: ThreadSanitizer: data race (pid=1)
  Write of size 4 at 0x1 by thread T2:
    #0 lost_update $ROOT/test/prog/classify/races.c:$at:9 (races+0x1)

  Previous read of size 4 at 0x1 by thread T1:
    #0 lost_update $ROOT/test/prog/classify/races.c:$at:9 (races+0x1)
END
"$RADDLE" classify -q -o out/tsan --json tsan.json --from-tsan report.txt -- ./races lost-update 2>err </dev/null
[ "$(classes tsan.json)" = "counter ss output-differs output" ] || complain "--from-tsan: $(cat tsan.json)"

# status WANTED ARGUMENTS...: expects this exit status.
status() {
	local wanted=$1 got=0
	shift
	"$RADDLE" classify -q -o out/status "$@" >/dev/null 2>err </dev/null || got=$?
	[ $got = "$wanted" ] || complain "classify $*: status $got instead of $wanted"
}
status 1 found/redundant/findings.json
status 0 --fail-on output-differs found/redundant/findings.json
status 1 --fail-on output-differs found/order-violation/findings.json
status 2 --fail-on nothing found/redundant/findings.json
status 2 --memory tsx found/redundant/findings.json
status 2 --memory sc --coherent found/redundant/findings.json
status 2 --memory arm --without-sync races.c:1 -- ./races redundant
status 2 --without everything found/redundant/findings.json
status 2 --id 000000 found/redundant/findings.json
status 2 absent.json
status 2 --race races.c:1 -- ./races locked
status 2 --race races.c:1,races.c:2 -- ./races locked
status 2 --race "races.c:$at,races.c:$at" -- ./races locked
status 2 --race "races.c:$at,races.c:$at"
status 2 --from-tsan absent.txt -- ./races locked
status 2 --from-tsan "$ROOT/README.md" -- ./races locked
status 2

# Experiments need no control group.
check_races lost-update-steps
status 1 --json without.json --without control found/lost-update-steps/findings.json
classes without.json | grep -q 'counter ss output-differs' || complain "--without control: $(classes without.json)"

# The report goes to standard error.
"$RADDLE" classify -o out/text found/lost-update/findings.json 2>err </dev/null
grep -q 'confirmed, output differs' err || complain "the report has no class"
grep -q 'Classes: 1 output-differs' err || complain "the report has no summary"

# A race can be reached in other ways, and by other accesses on its lines.  One schedule does not
# lead to its race.  In another race the read makes no difference, but the write on the same line
# does.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/classify/strangers.c" -o strangers || exit 1
for program in add-halves arena-reset; do
	"$RADDLE" check -q --no-classify -o "found/$program" -- ./strangers $program >/dev/null 2>err </dev/null
done
jq '(.findings[].schedule_inline.holds[].after) |= 99 | del(.findings[].schedule)' found/add-halves/findings.json >nowhere.json
"$RADDLE" classify -q -o out/nowhere --json add-halves.json nowhere.json -- ./strangers add-halves >/dev/null 2>err </dev/null
"$RADDLE" classify -q -o out/arena --json arena-reset.json found/arena-reset/findings.json >/dev/null 2>err </dev/null
for program in add-halves arena-reset; do
	[ "$(jq -r '.findings[0].class' $program.json)" = output-differs ] || complain "$program: $(jq '.findings[0]' $program.json)"
done

verdict
