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

# fits PROGRAM: the races of a program of test/prog/cause have the classes that its first lines state.
# These programs were written without looking at Raddle, and held out until their first run.
fits() {
	local object class consequence run
	"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/cause/$1.c" -o "$1" || fail "$1 does not compile"
	sed -n 's,^// expect: ,,p' "$ROOT/test/prog/cause/$1.c" >labels
	for run in 1 2 3 4; do
		rm -rf found
		"$RADDLE" check -q -o found -- "./$1" >/dev/null 2>err </dev/null
		jq -r '.findings[] | select(.kind == "race" and .status == "confirmed") |
			(.object | sub("\\[.*"; "") | sub("^struct job"; "job")) + " " + (.class // "-")' found/findings.json | sort -u >got
		cut -d ' ' -f 1 labels | sort -u >wanted
		cut -d ' ' -f 1 got | sed 's/\..*//' | sort -u | comm -23 wanted - >missing
		[ -s missing ] || break
	done
	while read -r object class consequence; do
		grep -qE "^$object(\.[a-z]*)? $class\$" got || complain "$1: $object is not $class ($consequence): $(cat got)"
	done <labels
}
programs="lock-order-flag bank-transfer heap-neighbour other-crash"
[ -z "${RADDLE_LONG-}" ] || programs=$(cd "$ROOT/test/prog/cause" && ls *.c | sed 's/\.c$//')
for program in $programs; do
	fits "$program"
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
