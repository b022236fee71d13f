# A failure that has another cause is not blamed on a race that happens in the same runs.
. "$ROOT/test/lib.sh"
shown=(err)

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/classify/company.c" -o company || exit 1

# class OBJECT: prints the class of the race on this object.
class() {
	jq -r --arg object "$1" '[.findings[] | select(.kind == "race" and .object == $object) |
		.class // "-"] | unique | join(" ")' found/findings.json
}
# harmless PROGRAM OBJECT: the race on the object is harmless.  An ordinary run may fail before its
# threads have done what can be predicted from, so there are up to three more checks.
harmless() {
	for run in 1 2 3 4; do
		rm -rf found
		"$RADDLE" check -q --no-explore -o found -- ./company "$1" >/dev/null 2>err </dev/null
		[ -z "$(class "$2")" ] || break
	done
	[ "$(class "$2")" = k-witness-harmless ] ||
		complain "$1: $2 is '$(class "$2")': $(jq -c '[.findings[] | [.object, .class, .consequence, .notes]]' found/findings.json)"
}

harmless lock-order limit
harmless freed looked
harmless order hits

# Most of these programs were written without looking at Raddle, and held out until their first run.
programs="lock-order-flag.c bank-transfer.c heap-neighbour.c member-index.c block-slack.c other-crash.c
	lazy-lock.c ping-pong.c async-pending.cc"
[ -z "${RADDLE_LONG-}" ] || programs=$(cd "$ROOT/test/prog/cause" && ls)
for program in $programs; do
	has_classes "$ROOT/test/prog/cause/$program"
done

# In the README's example the clerk's lock order deadlocks, and the race on the fee does not.
"$RADDLE" cc -O2 -g -pthread "$ROOT/examples/bank.c" -o bank || exit 1
rm -rf found
"$RADDLE" check -q --no-explore -o found -- ./bank >/dev/null 2>err </dev/null
[ "$(class fee)" = output-differs ] || complain "bank: fee is '$(class fee)'"
[ "$(class served)" = k-witness-harmless ] || complain "bank: served is '$(class served)'"
jq -e '[.findings[] | select(.kind == "deadlock" and .status == "confirmed")] | length == 1' found/findings.json >/dev/null ||
	complain "bank: no deadlock"

verdict
