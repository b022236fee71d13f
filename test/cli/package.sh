# The Debian package has all parts, and its links have targets. lintian (in the long form, if
# installed) reports nothing, and building continues to work afterwards.
. "$ROOT/test/lib.sh"

# A sanitized build is not packaged.
[ "$(basename "$BUILD")" != asan ] || exit 77
command -v dpkg-deb >/dev/null || exit 77

make -s -C "$ROOT" B="$BUILD" install DESTDIR="$PWD/stage" PREFIX=/usr >log 2>&1 || fail "$(cat log)"
# Compression takes longer than all the rest.  CI makes the package with compression.
compression=none
[ -z "${RADDLE_LONG:-}" ] || compression=xz
COMPRESSION=$compression "$ROOT/tool/make-deb" "$BUILD" 0.0.test https://raddle.example >log 2>&1 || fail "$(cat log)"
package=$(tail -n 1 log)
finally 'rm -rf "$package" "$BUILD/deb"'
dpkg-deb -x "$package" tree || fail "cannot be unpacked"
[ "$(dpkg-deb -f "$package" Homepage)" = https://raddle.example ] || complain "$(dpkg-deb -f "$package")"
(cd stage/usr && find . ! -type d | sed 's,\(man1/.*\)$,\1.gz,' | grep -v LICENSE | sort) >wanted
(cd tree/usr && find . ! -type d | grep -v 'doc/raddle/\(copyright\|changelog.gz\)' | sort) >found
diff wanted found || complain "the package has other files than an installation"
find tree -xtype l | grep . && complain "links that lead nowhere"
PATH=$PWD/tree/usr/bin:$PATH
raddle-llvm-ar --version >out 2>&1 || complain "raddle-llvm-ar: $(cat out)"

# The directories that make deb leaves must not confuse make.
make -s -n -C "$ROOT" B="$BUILD" all >out 2>&1 || complain "make behind make deb: $(tail -n 3 out)"

if [ -n "${RADDLE_LONG:-}" ] && command -v lintian >/dev/null; then
	lintian --fail-on error,warning "$package" >out 2>&1 || complain "lintian: $(cat out)"
fi
verdict
