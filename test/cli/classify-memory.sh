# What races do under memory models: each labelled race has its class in each model, and the witness
# reproduces it.
. "$ROOT/test/lib.sh"
shown=(err)
source=$ROOT/test/prog/classify/smcm.c

"$RADDLE" cc -O1 -g -pthread "$source" -o smcm || exit 1

# place MARK: prints the place of an access.
place() {
	echo "smcm.c:$(grep -n "/\* $1 \*/" "$source" | cut -d: -f1)"
}
# classes FILE: prints the classes of the only race.
classes() {
	jq -r '.findings[0] | [.classes.sc, .classes.tso, .classes.pso, .classes.weak, .consequence] | map(. // "-") | join(" ")' "$1"
}
# fits PROGRAM ACCESS ACCESS CLASSES...: expects the race to have these classes.
fits() {
	local program=$1 race
	race=$(place "$2"),$(place "$3")
	shift 3
	"$RADDLE" classify -q -o "out/$program" --memory sc,tso,pso,weak --json "$program.json" --race "$race" -- ./smcm "$program" \
		2>err </dev/null
	[ "$(classes "$program.json")" = "$*" ] || complain "$program $race: $(classes "$program.json") instead of $*"
}

programs='no-sync-bug-y dekker dekker-fenced box box-rightly'
[ -z "${RADDLE_LONG-}" ] || programs=$(sed '/^#/d; s/ .*//' "$ROOT/test/prog/classify/memory-labels" | sort -u)
mkdir -p out
for program in $programs; do
	while read -r -a label; do
		fits "${label[@]}"
	done < <(grep "^$program " "$ROOT/test/prog/classify/memory-labels")
done

# A witness has the memory model and its choices, and reproduces the failure each time.
jq -e '.findings[0] | .class == "spec-violated" and .witness.model == "tso" and (.witness.seen | test("memory model tso")) and
	.witnesses[0].schedule_inline.memory == "tso" and (.witnesses[0].schedule_inline.choices | length > 0)' dekker.json >/dev/null ||
	complain "the witness: $(jq '.findings[0] | [.class, .witness]' dekker.json)"
grep -q '^memory	tso	0$' out/dekker/*.witness.schedule || complain "the schedule has no model"
for i in 1 2 3; do
	"$RADDLE" replay out/dekker/*.witness.schedule -- ./smcm dekker >/dev/null 2>err </dev/null
	grep -q 'ended by signal 6' err || complain "replay $i of the witness"
done
# Without the choices it does not.  A document may contain schedules that were made by hand.
jq '.findings[0] |= (.schedule_inline = (.witnesses[0].schedule_inline | .choices = []) | del(.schedule))' dekker.json >plain.json
"$RADDLE" replay plain.json -- ./smcm dekker >/dev/null 2>err </dev/null
grep -q 'ended with status 0' err || complain "the choices are not needed"
jq '.findings[0] |= (.schedule_inline = (.witnesses[0].schedule_inline | .choices[0].from = 9) | del(.schedule))' dekker.json >other.json
"$RADDLE" replay other.json -- ./smcm dekker >/dev/null 2>err </dev/null
grep -q 'other alternatives' err || complain "a choice that does not fit"

# Runs that continue from a frozen program have the same results as runs that are started anew.
"$RADDLE" classify -q -o anew --memory sc,tso,pso,weak --no-snapshots --json anew.json --race "$(place publish),$(place receive)" -- ./smcm box \
	2>err </dev/null
[ "$(jq -c '.findings[0] | [.classes, .k, .notes]' anew.json)" = "$(jq -c '.findings[0] | [.classes, .k, .notes]' box.json)" ] ||
	complain "snapshots: $(jq -c '.findings[0] | [.classes, .k, .notes]' anew.json box.json)"

# Single models can be requested, and their classes are the same each time.
"$RADDLE" classify -q -o out/weak --memory weak --coherent --json weak.json --race "$(place publish),$(place receive)" -- ./smcm box 2>err </dev/null
[ "$(jq -c '.findings[0].classes' weak.json)" = '{"weak":"spec-violated"}' ] || complain "weak alone: $(jq -c '.findings[0].classes' weak.json)"

# raddle check passes --memory-models on.  Its option --memory is the memory for prediction.
"$RADDLE" check -q -o checked --json checked.json --memory-models sc,tso --no-explore -- ./smcm dekker >/dev/null 2>err </dev/null
jq -e '[.findings[] | select(.status == "confirmed") | .classes | keys] | length >= 1 and all(. == ["sc", "tso"])' checked.json >/dev/null ||
	complain "check --memory-models: $(jq -c '[.findings[] | [.object, .status, .classes]]' checked.json)"
for wrong in --memory-models=arm --coherent; do
	"$RADDLE" check "$wrong" -o wrong -- ./smcm dekker >/dev/null 2>err </dev/null
	[ $? = 2 ] || complain "check $wrong is not refused"
	grep -q -- --memory-models err || complain "check $wrong: $(cat err)"
done
verdict
