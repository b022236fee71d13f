# Threads wait for each other in loops without a yield.  Raddle finds that they wait, although
# several of them spin at the same time.
. "$ROOT/test/lib.sh"
shown=(err)
source=$ROOT/test/prog/classify/load.c

"$RADDLE" cc -O1 -g -pthread "$source" -o load || exit 1

# place MARK: prints the place of an access.
place() {
	echo "load.c:$(grep -n "/\* $1 \*/" "$source" | cut -d: -f1)"
}

while read -r one other flag; do
	"$RADDLE" classify -q -o "$one" --json "$one.json" --race "$(place "$one"),$(place "$other")" -- ./load chain >/dev/null 2>err </dev/null
	jq -e --arg flag "in a loop at $(place "$flag") until stage changes" \
		'.findings[0] | .class == "single-ordering" and (.notes | any(contains($flag)))' "$one.json" >/dev/null ||
		complain "$one and $other: $(jq -c '.findings[0] | [.class, .notes]' "$one.json")"
done <<'END'
chain-datum chain-look chain-wait-two
chain-one chain-two chain-wait-one
END

# A loop that changes memory in each iteration can still wait in vain, and one that gives up does not.
"$RADDLE" check -q -o polls -- ./load polls >/dev/null 2>err </dev/null
jq -e '[.findings[] | select(.kind == "race" and (.object | test("polls_stop"))) | [.class, .consequence]] | any(. == ["spec-violated", "hang"])' polls/findings.json >/dev/null ||
	complain "polls: $(jq -c '[.findings[] | [.object, .class, .consequence]]' polls/findings.json)"
"$RADDLE" check -q -o tries -- ./load tries >/dev/null 2>err </dev/null
jq -e '[.findings[] | .consequence == "hang"] | any | not' tries/findings.json >/dev/null ||
	complain "tries: $(jq -c '[.findings[] | [.object, .class, .consequence]]' tries/findings.json)"
verdict
