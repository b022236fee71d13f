# Each finding has one identity: whatever order the threads run in, every check of a program reports
# findings with the same IDs and fingerprints, about objects with the same names.  The programs of
# test/prog/identity have the names in their first lines, with _ for a space; for some of
# test/prog/micro only the IDs are compared.  The short form checks six programs three times, the
# long one twenty programs eight times or, if it is set, $TIMES times.
# timeout: 3600
. "$ROOT/test/lib.sh"

named=(main-stack heap-struct heap-array heap-plain copy pool)
others=()
times=3
if [ -n "${RADDLE_LONG:-}" ]; then
	named+=(thread-stack globals local untouched class)
	others=(heap-race struct-race stack-race refcount-race cxx-race pool-race order-deadlock listing-race free-race)
	times=${TIMES:-8}
fi

build() {
	case $1 in
	*.cpp) "$RADDLE" c++ -std=c++17 -O1 -g -pthread "$1" -o "$2" ;;
	*) "$RADDLE" cc -O1 -g -pthread "$1" -o "$2" ;;
	esac
}

# identities FILE: prints the identities of the confirmed findings of a document.
identities() {
	jq -r '.findings[] | select(.status == "confirmed") | "\(.id) \(.fingerprint) \((.object // "") | gsub("\\[[0-9]+\\]"; "[]"))"' "$1" | sort
}

check_program() { # SOURCE
	local name i
	name=$(basename "$1")
	name=${name%.*}
	build "$1" "$name" || { complain "$name is not compiled"; return; }
	for ((i = 0; i < times; i++)); do
		timeout 300 "$RADDLE" check --no-classify -o "$name.check" --json "$name.json" -- "./$name" >"$name.out" 2>&1
		[ $? = 1 ] || { complain "$name: check $i has another status: $(tail -n 5 "$name.out")"; return; }
		identities "$name.json" >"$name.$i"
		diff "$name.0" "$name.$i" || complain "$name: check $i has other findings"
		rm -rf "$name.check"
	done
}

for name in "${named[@]}"; do
	source=$(ls "$ROOT/test/prog/identity/$name".c*)
	check_program "$source"
	sed -n 's,^// objects: ,,p' "$source" | tr ' ' '\n' | sort >"$name.expected"
	cut -d ' ' -f 3- "$name.0" | tr ' ' '_' | sort -u | diff "$name.expected" - || complain "$name: other names"
done
for name in "${others[@]}"; do
	check_program "$(ls "$ROOT/test/prog/micro/$name".c*)"
done
verdict
