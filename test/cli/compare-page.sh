# The page about a propagation, made from a real fault.  It shows the line where the error began,
# the thread that it reached, and what it did there.
# sanitizers: yes, writes the page of a comparison
set -eu

cp "$ROOT/test/prog/epa/pca.c" .
"$RADDLE" cc -g -O1 -pthread -o pca pca.c
line=$(grep -n 'covariance\[j\]\[i\] = sum' pca.c | cut -d: -f1)
"$RADDLE" inject -q --fault BitFlip --thread T_0_4 --line "pca.c:$((line - 1))" --opcode add --instance 9 --bit 7 \
	--keep-traces all -o faults -- ./pca
[ "$(jq -r .outcome faults/log)" = sdc ]

status=0
"$RADDLE" compare --html page.html faults/golden/trace faults/runs/0/trace >text || status=$?
[ $status = 1 ]
grep -q '<!DOCTYPE html>' page.html
grep -Eq '<p class="verdict bad">The error reached [0-9]+ places</p>' page.html

# The page has marks of both threads, the first of them at or after the fault.  It has an arrow
# through memory from one thread to the other.
grep -Eq '<text class="head" [^>]*>T_0</text>' page.html
grep -Eq '<text class="head" [^>]*>T_0_4</text>' page.html
[ "$(grep -c 'class="mark k-[a-z]* origin"' page.html)" = 1 ]
grep -q '<path class="w w-memory cross"' page.html

# The page contains the source, and the values at the first place.
grep -Eq "<div class=\"row code hit\"><i>$line</i><span>.*covariance\[i\]\[j\] = covariance\[j\]\[i\]" page.html
grep -Eq "<tr id=\"n0\">.*pca\.c:($((line - 1))|$line):[0-9]+</td><td class=\"mono\">find_covariances</td><td class=\"mono\">T_0_4</td>" page.html

# If nothing deviates, nothing is drawn.
"$RADDLE" compare --html same.html faults/golden/trace faults/golden/trace >text
grep -q 'No deviation' same.html
! grep -q '<svg' same.html
