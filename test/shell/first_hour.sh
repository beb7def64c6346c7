#!/bin/bash
# first_hour.sh - what a newcomer meets first and no other test runs: the two commands for a bare machine, the refusal of "make
# package" without its tools, the Dockerfile. No server is started, nothing is installed.
. "$(dirname "$0")/../lib.sh"

# --- ./demo.sh and ./test.sh ----------------------------------------------------------------------------------------------
for script in demo.sh test.sh; do
  check_true "$script can be run" test -x "$script"
  check "$script is run by bash and needs no make" "$(head -n 1 "$script"; grep -cw make <(grep -v '^#' "$script"))" '#!/bin/bash
0'
done
check "./demo.sh does what make demo does" "$(grep -oE 'test/run.sh .*' demo.sh)" "test/run.sh demo"
check "./test.sh does what make test does" "$(grep -oE 'test/run.sh .*' test.sh)" "test/run.sh all"
check "they are what the README begins with" "$(grep -m 1 -n -A 2 '^```sh' README.md | grep -oE '\./(demo|test)\.sh' | paste -sd ' ')" "./demo.sh ./test.sh"

# --- packages, with an apt that only says what it is asked for -------------------------------------------------------------
# The tools that are "missing" are hidden: the scripts see the commands in this folder only. Nobody is root here, so that what
# takes itself for root ends where it would write.
bin=$PS_TMP/first_hour/bin
mkdir -p "$bin"
for tool in bash sed awk grep cat tr head env id mktemp rm mkdir rmdir tee chmod dirname basename dpkg-query; do
  ln -s "$(command -v $tool)" "$bin/$tool"
done
cat >"$bin/apt-get" <<'APT'
#!/bin/bash
case "$*" in
  *--assume-no*) printf '0 upgraded, 7 newly installed, 0 to remove and 0 not upgraded.\nNeed to get 1,000 kB/12.5 MB of archives.\nAfter this operation, 34.5 MB of additional disk space will be used.\n' ;;
  *update*) if [ -e "${0%/*}/no_network" ]; then echo "E: there is no network"; exit 100; fi ;;
  *) exit 100 ;;
esac
APT
cat >"$bin/apt-cache" <<'APT'
#!/bin/bash
echo '  Depends: postgresql-15'
APT
printf '#!/bin/bash\necho 0\n' >"$bin/id.root"
chmod +x "$bin"/apt-* "$bin/id.root"
# A user who is not root and has no sudo is told.
asked() { env -i PATH="$bin" PG_CONFIG="$bin/no_pg_config" TMPDIR="$PS_TMP" scripts/install_packages.sh "$@" 2>&1; }
missing=$(asked demo)
check_match "what is missing is listed" "$missing" '^missing packages: make g\+\+ binutils'
check_match "who cannot install is told" "$missing" 'neither root nor sudo: please install them as root$'
check "the demonstration wants nothing that only tests need" "$(head -n 1 <<<"$missing" | grep -oE 'clang|gtest|cbc|pgaudit|curl|clp')" ""
check_match "the tests do" "$(asked | head -n 1)" 'clang .*coinor-cbc curl'
# As root: it says how much comes, and what apt says when it fails.
rm "$bin/id" && mv "$bin/id.root" "$bin/id"
as_root=$(asked demo)
check_match "it says how much comes before it comes" "$as_root" 'installing 7 packages, with all that they depend on: 12\.5 MB to download, 34\.5 MB on disk'
touch "$bin/no_network"
check_match "and shows what apt says when it fails" "$(asked demo; echo "exit $?")" 'E: there is no network.*exit 100$'

# --- make package ---------------------------------------------------------------------------------------------------------
refusal=$(env -i PATH="$bin" scripts/package.sh 2>&1; echo "exit $?")
check_match "make package fails without its tools, and says which packages have them" "$refusal" \
  'no package can be built here: it needs dpkg-dev debhelper.*
install them, as root or with sudo: apt-get install dpkg-dev debhelper.*
exit 1$'

# --- the Dockerfile -------------------------------------------------------------------------------------------------------
# Not built here: what it copies, runs and starts has to be there.
check "Dockerfile: its instructions are known" "$(sed -E '/^(#|$)/d' Dockerfile | awk '{ print $1 }' | sort -u | paste -sd ' ')" "CMD COPY FROM RUN WORKDIR"
for file in $(sed -nE 's/^COPY (.*) [^ ]+$/\1/p' Dockerfile) $(sed -nE 's/^CMD \["([^"]*)".*/\1/p' Dockerfile) $(grep -oE '\bscripts/[a-z_]+\.sh' Dockerfile); do
  check_true "Dockerfile: there is $file" test -e "$file"
done
check "Dockerfile: what CMD starts can be run" "$(test -x "$(sed -nE 's/^CMD \["([^"]*)".*/\1/p' Dockerfile)" && echo yes)" yes
for target in $(sed -nE 's/^RUN make (-[a-z]+ |"[^"]*" )*(.*)$/\2/p' Dockerfile); do
  case $target in -* | '"'* | '$'* | *')'*) continue ;; esac
  check_true "Dockerfile: the Makefile has $target" grep -qE "^$target:" Makefile
done
check "Dockerfile: the shell understands its commands" "$(sed -nE 's/^RUN //p' Dockerfile | bash -n 2>&1)" ""
done_testing
