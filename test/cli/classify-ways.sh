# Races that threads reach only in a certain order or in a later iteration, and accesses made by a
# library function.
. "$ROOT/test/lib.sh"
shown=(err)

source=$ROOT/test/prog/classify/visitors.c
"$RADDLE" cc -O1 -g -pthread "$source" -o prog 2>err || fail 'the program was not built'

# line TEXT: prints the number of the first line of the source that contains TEXT.
line() {
	grep -nF "$1" "$source" | head -n 1 | cut -d: -f1
}
# named PROGRAM LINE LINE: prints the class of the race of these two lines.
named() {
	"$RADDLE" classify -q -o "out/$1" --json "$1.json" --race "visitors.c:$2,visitors.c:$3" -- ./prog "$1" </dev/null >/dev/null 2>err
	jq -r '.findings[] | [.object, .class // "-", .status] | join(" ")' "$1.json"
}

# While the writer is stopped before its write, the reader waits in a loop, unless the reader came
# first.
got=$(named sequence-lock "$(line 'left_half = 2;')" "$(line 'l = left_half;')")
[ "$got" = 'left_half k-witness-harmless confirmed' ] || complain "a lock of sequences: $got, $(jq -c '.findings[].notes' sequence-lock.json)"

# The threads access the same memory only in a later round of a loop.
got=$(named round-list "$(line 'links[2] = 0;')" "$(line 'i = links[i];')")
[ "$got" = 'links[] spec-violated confirmed' ] || complain "a later round: $got, $(cat err)"

# A thread that copies memory has not read it before the copy is made.
got=$(named copy-page "$(line "memset(page, 'b'")" "$(line 'memcpy(got, page')")
[ "$got" = 'page output-differs confirmed' ] || complain "a copy: $got, $(jq -c '.findings[].notes' copy-page.json)"
for i in 1 2; do
	"$RADDLE" replay out/copy-page/*.witness.schedule -- ./prog copy-page </dev/null 2>err
	"$RADDLE" replay out/copy-page/*.witness-2.schedule -- ./prog copy-page </dev/null 2>err
done | sort -u >outputs
[ "$(tr '\n' ' ' <outputs)" = 'aaaaaaa bbbbbbb ' ] || complain "both orders of a copy: $(cat outputs)"
verdict
