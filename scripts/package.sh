#!/bin/bash
# package.sh - builds the Debian package of this tree in build/package and tests what is in it on throw-away servers.
#
# Neither the system nor its clusters are touched: the package is not installed but unpacked into the private installation
# of sandbox.sh. Where something is missing that builds packages it fails, and says which to install. Its last line is
# "passed N failed M".
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

# What building a package needs: the tools, and what debian/control says that this one is built with.
missing=()
command -v dpkg-buildpackage >/dev/null || missing+=(dpkg-dev)
command -v dh >/dev/null || missing+=(debhelper)
while IFS= read -r name; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
done < <(printf '%s\n' build-essential; sed -nE '/^Build-Depends:/,/^$/p' debian/control | grep -oE '^ +[a-z0-9.+-]+' | grep -v debhelper | tr -d ' ')
if [ ${#missing[@]} -gt 0 ]; then
  echo "no package can be built here: it needs ${missing[*]}" >&2
  echo "install them, as root or with sudo: apt-get install ${missing[*]}" >&2
  exit 1
fi

passed=0
failed=0
# step "what" COMMAND...
step() {
  local what=$1
  shift
  if "$@" >>build/package/log 2>&1; then
    passed=$((passed + 1))
    echo "ok      $what"
  else
    failed=$((failed + 1))
    echo "FAILED  $what"
    tail -n 25 build/package/log | sed 's/^/          /'
  fi
}

version=$(sed -nE '1s/.*\((.*)\).*/\1/p' debian/changelog)
tree=build/package/privacy-score-$version
rm -rf build/package
mkdir -p "$tree"
tar --exclude=./.git --exclude=./build --exclude=./results --exclude='*.so' --exclude=./bench/programs -cf - . | tar -C "$tree" -xf -

# What is missing of what it is built with, dpkg-buildpackage says.
build() { (cd "$tree" && dpkg-buildpackage --no-sign --build=binary -j2); }
step "the package is built" build
package=$(compgen -G "build/package/postgresql-*-privacy-score_${version}_*.deb")
if [ -n "$package" ]; then
  if command -v lintian >/dev/null; then
    step "lintian finds nothing wrong" lintian --allow-root --fail-on error,warning "build/package/"*.changes
  fi
  contents=$(dpkg-deb --contents "$package")
  has() { grep -qE "/$1\$" <<<"$contents"; }
  for file in privacy_score.so privacy_score_solver.so privacy_score.control 'privacy_score--[0-9.]+.sql' 'privacy_score--[0-9.]+--[0-9.]+.sql' \
    privacy_score_daily.psql copyright changelog.gz README.md; do
    step "the package has $file" has "$file"
  done
  PS_PACKAGE=$PWD/$package
  export PS_PACKAGE
  step "it is what a server needs: one thing of each kind that the extension does" \
    scripts/sandbox.sh bash -c '. test/lib.sh; start_server; q_script <debian/tests/installed.sql && ps_finished=yes'
  step "the regression tests pass with it" scripts/sandbox.sh bash -c 'test/run_server.sh regress | tee regress.log; tail -n 1 regress.log | grep -qE "^passed [1-9][0-9]* failed 0$"'
fi
echo "passed $passed failed $failed"
[ $failed -eq 0 ]
