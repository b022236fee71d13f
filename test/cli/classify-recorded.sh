# The number of executions that are tried under a memory model does not depend on how long the
# recorded run took, since that depends on how busy the machine was.
. "$ROOT/test/lib.sh"
shown=(err)

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/classify/load.c" -o load || exit 1
"$RADDLE" check -q --no-explore --no-classify -o checked -- ./load message >/dev/null 2>err </dev/null

# classes MS: classifies as if the recorded run had taken MS milliseconds, and prints the results.
classes() {
	local meta
	for meta in checked/trace*/meta.json; do
		jq -c ".end_ns = .start_ns + $1 * 1000000" "$meta" >new && mv new "$meta"
	done
	"$RADDLE" classify -q -j 1 --memory sc,tso,pso -o "out.$1" --json "$1.json" checked/findings.json -- ./load message \
		>/dev/null 2>err </dev/null
	jq -c '.findings[] | [.object, .classes, .k, .notes]' "$1.json"
}

short=$(classes 5)
[ "$(jq -s 'map(select(.[1].pso == "spec-violated")) | length' <<<"$short")" -ge 1 ] || complain "the classes: $short"
long=$(classes 2000)
[ "$short" = "$long" ] || complain "after a long recorded run: $long instead of $short"
verdict
