#!/bin/bash
# lint_rules.sh - breaks every rule of scripts/lint.sh at once in a scratch copy, and sees that lint names each break.
#
# A rule that nothing here breaks fails the test: nobody has seen it fail. Needs a finished build, as lint does. Its last
# line is "passed N failed M".
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C

passed=0
failed=0
scratch=$(mktemp -d -p "${PS_TMPDIR:-/tmp}")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP PIPE

# --- a copy, with the objects of this build; without what takes long to look at and is not broken here ----------------------
tar --exclude=./.git --exclude=./build --exclude=./results --exclude=./bench --exclude=./demo --exclude='./test/shell/*' \
  --exclude='./test/attacks/*' --exclude='*.so' --exclude='./sql/privacy_score--*.sql' -cf - . | tar -C "$scratch" -xf -
mkdir "$scratch/build" "$scratch/bin"
ln -s "$(command -v true)" "$scratch/bin/clang-format"
cp -as "$PWD/build/module" "$scratch/build"
cp "$PWD/build/libpg_query.a" "$scratch/build"
checkout=$PWD
cd "$scratch" || exit 1

# The patterns that lint looks for are put together here, so that this file does not hold them.
put() { printf '%b\n' "${@:2}" >"$1"; }
add() { printf '%b\n' "${@:2}" >>"$1"; }

# --- layers -------------------------------------------------------------------------------------------------------------
put src/core/statement/broken.cpp '// a file' '' '#include "postgres.h"' '#include "sqlparse/analyse.hpp"' '#include <random>' '#include <ClpSimplex.hpp>'
put src/sqlparse/broken.cpp '// broken.cpp' '#include "utils/elog.h"' '#include "backend/server/settings.hpp"'
put src/solver/broken.cpp '// broken.cpp' '#include "core/base/error.hpp"' '#include "backend/server/settings.hpp"'
put src/backend/server/broken.cpp '// broken.cpp' 'void f() { pg_query_parse ("SELECT 1"); }' '#include "backend/watch/live.hpp"'
put src/backend/server/unnamed.cpp '// unnamed.cpp' 'namespace privacy_score {}' 'using namespace privacy_score;' 'void ForgetConcerns() {}' \
  'void Held() {' '  SpinLockAcquire(&mutex);' '  palloc(1);' '  return;' '  SpinLockRelease(&mutex);' '}' \
  'int n = *row[0];'
put src/core/entropy/sideways.cpp '// sideways.cpp' '#include "core/scoring/score.hpp"'
mkdir src/core/attic && put src/core/attic/lost.cpp '// lost.cpp'

# --- objects and modules ------------------------------------------------------------------------------------------------
put src/core/statement/unused.cpp '// unused.cpp' 'extern "C" void* palloc(unsigned long);' 'extern "C" int SPI_connect();' 'namespace privacy_score { void* StrayFunction(); }' \
  'void* privacy_score::StrayFunction() { return palloc(SPI_connect()); }'
put src/core/entropy/lifted.cpp '// lifted.cpp' '#include <string_view>' '#include <vector>' 'namespace privacy_score { std::vector<std::string_view> RelationsNamedBy(std::string_view, char); int Lifted() { return RelationsNamedBy("", 1).empty(); } }'
mkdir -p build/module/core/entropy build/module/core/statement
g++ -std=c++17 -fPIC -c src/core/entropy/lifted.cpp -o build/module/core/entropy/lifted.o
g++ -fPIC -c src/core/statement/unused.cpp -o build/module/core/statement/unused.o
compile() { gcc -x c -fPIC "${@:2}" -o "$1" -; }
rm build/module/island.o
compile build/module/island.o -c <<<'void* palloc(unsigned long); void stray_entry(void) {} void* privacy_score_a(void) { return palloc(1); }'
compile build/unlooked.o -c <<<'void* calloc(unsigned long, unsigned long); void* unlooked(void) { return calloc(1, 1); }'
ar r build/libpg_query.a build/unlooked.o
compile libodd.so -shared <<<'int odd(void) { return 1; }'
gcc -x c -fPIC -shared -o privacy_score.so - -x none "$scratch/libodd.so" -Wl,-rpath,"$scratch" \
  <<<'int nowhere(void); int odd(void); void stray(void) {} int _PG_init(void) { return nowhere() + odd(); }'
gcc -x c -fPIC -shared -o privacy_score_solver.so - -x none "$scratch/libodd.so" -Wl,-rpath,"$scratch" \
  <<<'void* palloc(unsigned long); int odd(void); void stray(void) {} void* ps_linear_solver(void) { odd(); return palloc(1); }'

# --- house rules --------------------------------------------------------------------------------------------------------
{ echo '// long.cpp'; yes '//' | head -n 500; } >src/sqlparse/long.cpp
put src/sqlparse/broken.hpp '// broken.hpp' 'namespace privacy_score {' 'struct BaselineRows {' '  int a;' '};' '}'
put test/sql/broken.sql 'SELECT 1;'
put test/sql/10_tables.sql 'SELECT 1;'
put expected/10_tables.out 'SELECT 1;'
put expected/orphan.out 'SELECT 1;'
put test/shell/broken.sh '#!/bin/bash' '. "$(dirname "$0")/../lib.sh"' 'if'
put docs/broken.md "see /ro""ot/x" "https://deb.deb""ian.org/" "as iss""ue 7 says" "$(printf 'long %.0s' {1..30})"
sed -i '/^| `alpha` |/d; s/^| `pad` |/| `nosuch` | `1` | |\n&/' docs/reference.md
sed -i 's/^  bool pad;/  int unread;\n  int stray;\n&/' src/backend/server/settings.hpp
sed -i 's/^void DefineScoring() {/&\n  DefineInt("privacy_score.unread", "", nullptr, \&ps_settings.unread, 1, 1, 2, PGC_SUSET, 0);\n  DefineInt("privacy_score.other", "", nullptr, \&ps_settings.pad, 1, 1, 2, PGC_SUSET, 0);/' \
  src/backend/server/settings.cpp

# --- metadata and scripts -----------------------------------------------------------------------------------------------
sed -i 's/"abstract"/"abstact"/; s/"version": "[0-9]/&x/; s/"postgresql"/"mine"/' META.json
sed -i '1s/([0-9]*\.[0-9]*/(9.9/' debian/changelog
sed -i '/^.echo/d' sql/00_guard.sql
add sql/20_declare.sql "CREATE FUNCTION privacy_score.stray() RETURNS int LANGUAGE sql AS 'SELECT 1';"
put broken_make '#!/bin/bash' 'for argument in "$@"; do case $argument in DESTDIR=*) root=${argument#*=} ;; install) kind=install ;; esac; done' \
  'if [ "${kind:-}" = install ]; then mkdir -p "$root"; touch "$root/left_behind"; echo it breaks; exit 1; fi'
chmod +x broken_make

PATH=$scratch/bin:$PATH MAKE=$scratch/broken_make scripts/lint.sh >lint.out 2>&1

# --- what lint has to say -----------------------------------------------------------------------------------------------
# broken "rule" "finding"...: the rule failed, and named each of these (extended regular expressions).
broken() {
  local rule=$1 said finding missing=
  said=$(awk -v rule="FAILED  $rule" '$0 == rule { inside = 1; print; next } /^(ok|FAILED|passed|note)/ { inside = 0 } inside' lint.out)
  if [ -z "$said" ]; then missing=" the rule itself"; fi
  for finding in "${@:2}"; do
    grep -qE -- "$finding" <<<"$said" || missing+=" [$finding]"
  done
  if [ -z "$missing" ]; then
    passed=$((passed + 1))
    echo "ok      lint_rules: $rule"
  else
    failed=$((failed + 1))
    echo "FAILED  lint_rules: $rule: it does not say$missing"
    sed 's/^/          /' <<<"$said"
  fi
}

broken "src/core includes no server header" 'src/core/statement/broken.cpp:3:.*postgres\.h'
broken "src/sqlparse includes no server header" 'src/sqlparse/broken.cpp:2:.*elog'
broken "src/core includes nothing of sqlparse or backend" 'src/core/statement/broken.cpp:4:.*analyse'
broken "src/sqlparse includes nothing of backend" 'src/sqlparse/broken.cpp:3:.*settings'
broken "each folder of src includes only what src/layers.txt lets it" 'src/backend/server/broken.cpp:3: may not include backend/watch/live.hpp' \
  'src/core/entropy/sideways.cpp:2: may not include core/scoring/score.hpp' 'src/core/attic/lost.cpp: src/layers.txt does not know'
broken "src/solver includes no server header, and of the project the solver's interface only" 'src/solver/broken.cpp:2:' 'src/solver/broken.cpp:3:'
broken "src/core and src/sqlparse have no clock, no threads, no files and no randomness of their own" 'src/core/statement/broken.cpp:5:'
broken "Clp is used in src/solver only" 'src/core/statement/broken.cpp:6:'
broken "libpg_query is used in src/sqlparse only" 'src/backend/server/broken.cpp:2:'
broken "each folder of src/core links with those that it may include alone" 'core/entropy: .*undefined reference to .privacy_score::RelationsNamedBy'
broken "src/core links alone" 'undefined reference to .palloc'
broken "src/sqlparse links with src/core and libpg_query alone" 'undefined reference to .SPI_connect'
broken "no function and no constant is there for tests only" 'unused.o: StrayFunction\(\)'
broken "the module exports only what the server calls" '^ *stray$'
broken "the module takes errstart from the server" 'it does not import errstart'
broken "the module takes palloc from the server" 'it does not import palloc'
broken "the module needs only libc, libm, libstdc++ and libgcc" 'libodd'
broken "every symbol the module imports is one of the server or of those libraries" 'nowhere'
broken "the parser island shows only its entry points" 'stray_entry'
broken "libpg_query gets memory and ends the process by the island only" '^ *calloc$'
broken "the parser island takes nothing from the server" 'palloc'
broken "the solver's module exports one entry, and its magic block" '^ *stray$'
broken "the solver's module needs Clp and the libraries of C++ only" 'libodd'
broken "the solver's module takes nothing from the server" 'palloc'
broken "no source file has more than 500 lines" 'src/sqlparse/long.cpp: 501 lines'
broken "every X.cpp of src/core has test/unit/X_test.cpp" 'src/core/statement/unused.cpp'
broken "every C++ file begins with a comment that names it" 'src/core/statement/broken.cpp'
broken "no line of prose is longer than 120 characters" 'docs/broken.md:4: 150 characters'
broken "every header is guarded by #pragma once" 'src/sqlparse/broken.hpp'
broken "no two types of one namespace bear one name" 'BaselineRows: src/core/scoring/ngram.hpp:[0-9]+ src/sqlparse/broken.hpp:3'
broken "columns of rows that cross the wall have names (core/base/wire_section.hpp)" 'unnamed.cpp:11:'
broken "nothing is called under a spinlock but what moves a few bytes" 'unnamed.cpp:7: palloc' 'unnamed.cpp:8: leaves with'
broken "no two files of src/backend have functions of one name" 'ForgetConcerns: src/backend/server/unnamed.cpp:4 src/backend/state/model_changes.cpp'
broken "every file of src/backend stands in namespace privacy_score" '^ *src/backend/server/broken.cpp$' 'unnamed.cpp:3: using'
broken "each setting is read and documented, and no others are" 'other does not fill ps_settings.other' \
  'other is defined, but Settings has no member' 'unread is defined, but nothing reads it' 'unread has no row' 'alpha has no row' \
  'Settings has stray' 'row for nosuch'
broken "no regression test bears the name of a file in sql/" 'test/sql/10_tables.sql'
broken "each regression test has its expected output, and each expected output its test" 'test/sql/broken.sql: no expected' 'expected/orphan.out: no test'
broken "each shell test uses what tests share, and comes to its end" 'test/shell/broken.sh'
broken "no file names a folder of a developer's machine" 'docs/broken.md:1:'
broken "no file names a package registry's host" 'docs/broken.md:2:'
broken "no file speaks of issue numbers" 'docs/broken.md:3:'
broken "every shell script parses" 'test/shell/broken.sh.*syntax error'
broken "make install works" 'it breaks'
broken "it installs modules, control file, scripts and the daily round" 'privacy_score.so is not installed' 'privacy_score_daily.psql is not installed'
broken "make uninstall leaves nothing" 'left_behind'
broken "META.json has what the specification requires, and its files exist" 'abstract is missing' 'version is not semantic' 'licence mine is not known'
broken "debian/changelog, META.json and the control file speak of one version" 'debian/changelog speaks of another'
broken "the SQL parts keep the rules for extension scripts" 'does not begin with the guard' 'stray: search_path is not set' \
  'stray: IMMUTABLE, STABLE or VOLATILE is not stated' 'FUNCTION stray: defined 1 times, commented on 0 times'
if command -v shellcheck >/dev/null; then broken "shellcheck finds no error" 'test/shell/broken.sh'; fi

# Rules that nobody has broken.
while IFS= read -r rule; do
  failed=$((failed + 1))
  echo "FAILED  lint_rules: nothing breaks: $rule"
done < <(sed -nE 's/^ok +//p' lint.out)
if ! tail -n 1 lint.out | grep -qE '^passed 0 failed [1-9][0-9]*$'; then
  failed=$((failed + 1))
  echo "FAILED  lint_rules: lint says at its end how many rules are broken"
  tail -n 3 lint.out
fi
cd "$checkout" || exit 1
echo "passed $passed failed $failed"
[ $failed -eq 0 ]
