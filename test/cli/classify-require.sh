# Predicates of the user (--require), and synchronisation that is left out (--without-sync).
. "$ROOT/test/lib.sh"
shown=(err)
source=$ROOT/test/prog/classify/require.c

line() {
	grep -n "/\* $1 \*/" "$source" | cut -d: -f1
}
# classify ARGUMENT...: classifies the races of `take`.  The status is in $got.
classify() {
	got=0
	timeout 120 "$RADDLE" classify -q -o out --json out.json "$@" >/dev/null 2>err </dev/null || got=$?
}
# is CLASS CONSEQUENCE NAME: checks the first finding.
is() {
	[ "$(jq -r '.findings[0] | "\(.class) \(.consequence)"' out.json)" = "$1 $2" ] ||
		complain "$3: $(jq -c '.findings[0] | [.class, .consequence, .notes]' out.json) instead of $1 $2"
}

# Every variable has the value that C gives it, however the program is optimised.
here=require.c:$(line here)
true_there="n == 11; u == 3 && !(u > -1); small == -1 && small < u + 0.0; byte == 200 && byte > small; wide == 1ul << 40
wide >> 40 == 1; real == 2.5 && half * 2 == 1; yes && !none; colour == GREEN && GREEN == 7 && BLUE == -3 && RED == 0
copy.x == 3 && copy.y == 4; p->x == 1 && p->y == -2 && p->inner == 9; p->both.word == 0x04030201 && p->both.bytes[2] == 3
p->low == 5 && p->high == -7; p->next->x == 5 && p->next == &points[2] && p->next - p == 2; points[1].y == 4
grid[1][2] == 6 && *(grid[1] + 1) == 5; at[0] == 2 && at[-1] == 1 && *(at + 2) == 4; list[3] == 4
own == 11; shared == 40; times == 2; words[1][0] == 'o' && words[0][1] == 'e'; none == NULL || none->x > 0
(unsigned char)(byte + 100) == 44 && (int)real == 2; 7 / 2 == 3 && -7 / 2 == -3 && -7 % 3 == -1; (u ? 5 : 6) == 5
(1 | 6) == 7 && (5 & 4) == 4 && (5 ^ 1) == 4 && ~0 == -1; shared_before == 1; -1 > 1u && (long)-1 < 1; -8 >> 1 == -4"
list=$(sed "s/ *$//; s/\([^;]*\)\(;\|$\)/\1 @ $here\2/g" <<<"$true_there" | sed 's/ *;/;/g' | paste -sd ';' | sed 's/; *@ [^;]*$//')
for option in -O0 -O2; do
	"$RADDLE" cc $option -g -pthread "$source" -o require || exit 1
	timeout 120 "$RADDLE" check -q --no-classify -o found -- ./require take >/dev/null 2>err </dev/null
	classify --require "$list" found/findings.json
	[ $got = 1 ] || complain "$option: status $got"
	is k-witness-harmless null "$option: what is true"
	! grep -q 'no run reached' err || complain "$option: not evaluated"

	# An update is lost: whether 10 or more are left depends on the order.
	classify --require "shared <= 20 @ require.c:$(line end)" found/findings.json
	is spec-violated predicate "$option: a lost update"
	jq -e ".findings[0].witness.seen | test(\"'shared <= 20' does not hold when T_0 reached require.c:$(line end)\")" out.json >/dev/null ||
		complain "$option: $(jq .findings[0].witness.seen out.json)"
	classify --require "seen == shared - 10 * n @ require.c:$(line take)" found/findings.json
	is spec-violated predicate "$option: locals and a global"
done
timeout 60 "$RADDLE" replay "$(jq -r .findings[0].witness.schedule out.json)" -- ./require take >/dev/null 2>err </dev/null
grep -q "program was ended: 'seen == shared - 10 \* n' does not" err || complain "the witness does not show it"
tr -s ' \n' ' ' <err | grep -q "after that the program was ended: 'seen == shared - 10 \* n' does not hold" ||
	complain "the replay does not name the predicate"

# In an inner scope, a variable may hide another one of the same name.
classify --require "n == 77 @ require.c:$(line inner); n == 11 @ $here" found/findings.json
is k-witness-harmless null "inner names"

# A predicate without a value, such as one that dereferences NULL, does not hold.  It does not crash
# the program.
for expression in 'none->x == 0' 'u / (shared - 40) == 1' '*(p->next->next) == 0 || p->next->next->x'; do
	classify --require "$expression @ $here" found/findings.json
	jq -e '.findings[0] | .class == null and (.notes[-1] | test("before the threads had met, the program was ended"))' out.json >/dev/null ||
		complain "$expression: $(jq -c '.findings[0] | [.class, .notes]' out.json)"
done

# refused PREDICATE TEXT: expects a message that says what is wrong with the predicate.
refused() {
	classify --require "$1" found/findings.json
	[ $got = 2 ] || complain "$1: status $got"
	grep -q "$2" err || complain "$1: no '$2'"
	[ "$(wc -l <err)" = 1 ] || complain "$1: more than one message"
}
refused "absent == 1 @ $here" "no variable 'absent'"
refused "p->absent == 1 @ $here" "no member 'absent'"
refused "copy == 1 @ $here" "structure"
refused "look(1) @ $here" "a call"
refused "(struct point *)p == p @ $here" "a cast to this type is not supported"
refused "n = 1 @ $here" "cannot change anything"
refused "n == 1" "EXPR @ FILE:LINE"
refused "n == 1 @ require.c:1" "no code at require.c:1"
refused "n == 1 @ other.c:1" "no code at other.c:1"
refused "copy.x == 1 @ require.c:$(line inner); *n == 1 @ $here" "pointer"
classify --require "1 @ require.c:$(line lock)" found/findings.json
grep -q 'no run reached' err || complain "a predicate that no run comes to"

# Without the synchronisation at a line, the races of the resulting program are predicted and
# classified.
without() {
	timeout 120 "$RADDLE" classify -q -o "$1" --without-sync "require.c:$(line "$2")" --json out.json -- ./require "$1" >/dev/null 2>err </dev/null
	got=$?
}
timeout 60 "$RADDLE" check -q -o sound -- ./require locked >/dev/null 2>err </dev/null || complain "locked is sound"
without locked lock
[ $got = 1 ] || complain "--without-sync: status $got"
is output-differs output "without the lock"
timeout 60 "$RADDLE" replay "$(jq -r .findings[0].witness.schedule out.json)" -- ./require locked >shows 2>err </dev/null
grep -qx '3[89]' shows || complain "the witness without the lock: $(cat shows)"
without handed sem
is output-differs output "without the semaphore"
without queue 'wait lock'
jq -e '[.findings[] | select(.object == "filled" and .status == "confirmed")] | length == 1' out.json >/dev/null ||
	complain "a wait without its lock: $(jq -c '[.findings[] | [.object, .status, .class]]' out.json)"
timeout 60 "$RADDLE" check -q -o none --without-sync "$here" -- ./require locked >/dev/null 2>err </dev/null
[ $? = 2 ] || complain "nothing to leave out"
grep -q 'no call of a pthread' err || complain "nothing to leave out: no message"
classify --without-sync "require.c:$(line lock)" found/findings.json
[ $got = 2 ] || complain "findings of another program"
"$RADDLE" cc -g -pthread "$ROOT/test/prog/cause/ping-pong.c" -o other || exit 1
timeout 120 "$RADDLE" classify -q found/findings.json -- ./other >/dev/null 2>err </dev/null
[ $? = 2 ] || complain "another program"
grep -q 'are not those of ./other' err || complain "another program: no message"

# A race that is classified again has only the notes of the last classification.
classify found/findings.json
mv out.json first.json
classify first.json
notes='[.findings[] | .class_notes, .notes]'
[ "$(jq -c "$notes" first.json)" = "$(jq -c "$notes" out.json)" ] ||
	complain "again: $(jq -c "$notes" first.json out.json)"
jq -e '.findings[0].class_notes >= 1' out.json >/dev/null || complain "class_notes"
verdict
