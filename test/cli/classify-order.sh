# Synchronisation that keeps two accesses in one order, with and without an owner, and
# synchronisation that only seems to.
. "$ROOT/test/lib.sh"
shown=(err)

# build NAME: builds the program.
build() {
	source=$ROOT/test/prog/classify/$1.c
	"$RADDLE" cc -O1 -g -pthread "$source" -o "$1" 2>err || fail 'the program was not built'
}
# ordered PROGRAM KIND: prints the class of the two accesses of a kind, and what keeps them in
# order.
ordered() {
	lines=$(grep -n "shared.*/\* $2 \*/" "$source" | cut -d: -f1)
	race="$1.c:$(head -n 1 <<<"$lines"),$1.c:$(tail -n 1 <<<"$lines")"
	"$RADDLE" classify -q -o "out/$2" --json "$2.json" --race "$race" -- "./$1" "$2" </dev/null >/dev/null 2>err
	jq -r '.findings[] | [.class // "-", (.notes[-1] | capture(" waits in (?<how>[^ ]+ for [^ ,]+)").how // "")] | join(" ")' "$2.json"
}
# expect PROGRAM KIND TEXT
expect() {
	got=$(ordered "$1" "$2")
	[ "$got" = "$3" ] || complain "$2: $got instead of $3, $(jq -c '.findings[].notes' "$2.json")"
}

build blind
expect blind trylock 'single-ordering mutex-trylock for mutex'
expect blind semaphore 'single-ordering sem-wait for permits'
expect blind handed 'single-ordering sem-wait for handed'
expect blind condition 'single-ordering cond-wake for changed'
expect blind barrier 'single-ordering barrier-exit for barrier'

build given
expect given chain 'single-ordering sem-wait for passed_on'
expect given once 'single-ordering mutex-trylock for mutex'
expect given idle 'single-ordering sem-wait for given'

# Another thread may also provide what one thread waits for, so both orders happen.
for kind in third either round peek; do
	expect given "$kind" 'output-differs '
done
verdict
