# A whole check under memory models: an outcome is shown in exactly those models that allow it, and
# is attributed only to races that cause it.
. "$ROOT/test/lib.sh"
unset RADDLE_OPTIONS # some races appear only in explored schedules

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/classify/litmus.c" -o litmus || exit 1

# allows PROGRAM SC TSO PSO WEAK: expects that some race violates the specification in the models
# with "yes", and in no others.
allows() {
	local program=$1 found
	shift
	"$RADDLE" check -q --memory-models sc,tso,pso,weak -o "$program.out" -- ./litmus "$program" >/dev/null 2>err </dev/null
	found=$(jq -r '[.findings[].classes // {}] as $c | ["sc", "tso", "pso", "weak"] |
		map(. as $m | if any($c[]; .[$m] == "spec-violated") then "yes" else "no" end) | join(" ")' \
		"$program.out/findings.json")
	[ "$found" = "$*" ] || complain "$program: $found instead of $*: $(cat err)"
}

allows isa2 no no yes yes
allows relaxed no no yes yes
allows seqlock no no yes yes
allows company no yes yes yes
# The race on `chatter` happens in the same runs.
jq -e '[.findings[] | select(.object == "chatter" and .status == "confirmed") | .class] as $c |
	($c | length) > 0 and all($c[]; . != "spec-violated" and . != null)' company.out/findings.json >/dev/null ||
	complain "company: $(jq -c '.findings[] | [.object, .status, .classes, .notes]' company.out/findings.json)"
if [ -n "${RADDLE_LONG-}" ]; then
	allows released no no no no
	allows unread no no no yes
fi
verdict
