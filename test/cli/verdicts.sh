# What a verdict may rest on, and what not.
. "$ROOT/test/lib.sh"

# verdict_of ARGUMENTS...: status and reason of the one finding of a check of ./lack.
verdict_of() {
	"$RADDLE" check -o found --json found.json "$@" >out 2>&1
	jq -r '.findings[] | "\(.status): \(.reason)"' found.json
}

# A replay in which the system refuses the program something says nothing.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/lack.c" -o lack || exit 1
for what in memory threads descriptors; do
	rm -rf found seen
	found=$(verdict_of --setup 'test ! -d found/trace || touch seen' -- ./lack $what)
	grep -qE '^unconfirmed: .*the system refused the program (memory|threads or processes|descriptors)' <<<"$found" ||
		complain "$what: $found"
done
rm -rf found seen
[ "$(verdict_of -- ./lack nothing)" = 'confirmed: null' ] || complain "nothing is refused: $(cat out)"
verdict
