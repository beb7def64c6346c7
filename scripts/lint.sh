#!/bin/bash
# Proves the layering, the symbols of the built module and the house rules. Needs a finished build (make lint sees to it).
# Each rule is one line of output; the last line is "passed N failed M". test/lint_rules.sh breaks every rule once.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C

passed=0
failed=0

# verdict "rule" "findings": the rule holds when there are no findings.
verdict() {
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    echo "ok      $1"
  else
    failed=$((failed + 1))
    echo "FAILED  $1"
    printf '%s\n' "$2" | head -n 40 | sed 's/^/          /'
  fi
}

# Files of the project below the given paths, tracked or not yet, without what is ignored.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -co --exclude-standard -- "$@" | while IFS= read -r file; do
      if [ -f "$file" ]; then echo "$file"; fi
    done
  else
    find "$@" \( -path ./.git -o -path ./build -o -path ./results \) -prune -o \
      -type f ! -name '*.so' ! -name 'privacy_score--*.sql' ! -name 'regression.*' ! -name 'report.*' -print 2>/dev/null
  fi
}

# includes LAYER: every #include of a layer, as file:line:text.
includes() {
  find "src/$1" -name '*.[ch]*' -print0 | xargs -0r grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null
}

layering() {
  local server='[<"](postgres|postgres_fe|postgres_ext|c|fmgr|funcapi|miscadmin|pgstat|pg_config|pg_getopt|pgtime|port)\.h'
  server+='|[<"](access|bootstrap|catalog|commands|common|datatype|executor|foreign|jit|lib|libpq|mb|nodes|optimizer)/'
  server+='|[<"](parser|partitioning|port|portability|postmaster|replication|rewrite|snowball|statistics|storage)/'
  server+='|[<"](tcop|tsearch|utils|windowapi)/?.*\.h[>"]'
  verdict "src/core includes no server header" "$(includes core | grep -E "$server")"
  verdict "src/sqlparse includes no server header" "$(includes sqlparse | grep -E "$server")"
  verdict "src/core includes nothing of sqlparse or backend" \
    "$(includes core | grep -E '"(\.\./|sqlparse/|backend/)|parser_island')"
  verdict "src/sqlparse includes nothing of backend" "$(includes sqlparse | grep -E '"(\.\./)*backend/')"
  verdict "each folder of src includes only what src/layers.txt lets it" "$(perl scripts/lint_layers.pl 2>&1)"
  verdict "src/solver includes no server header, and of the project the solver's interface only" \
    "$(includes solver | grep -E "$server|\"(sqlparse|backend)/"; includes solver | grep '"' | grep -vF '"core/inference/linear_solver.hpp"')"
  verdict "src/core and src/sqlparse have no clock, no threads, no files and no randomness of their own" \
    "$(for layer in core sqlparse; do includes $layer; done |
      grep -E '<(iostream|fstream|filesystem|random|chrono|ctime|thread|mutex|future|time\.h|pthread\.h)>')"
  verdict "Clp is used in src/solver only" "$(grep -rnE 'include.*(Clp|Coin)[A-Z]' src/core src/sqlparse src/backend test/unit test/fuzz 2>/dev/null)"
  verdict "libpg_query is used in src/sqlparse only" \
    "$(grep -rnE 'include.*pg_query|PgQuery__|pg_query_[a-z]+ ?\(' src/core src/backend test/unit test/fuzz 2>/dev/null)"
}

# The solver's module shows one entry and what the server knows a module by, and asks nothing of the server.
solver_symbols() {
  local module=privacy_score_solver.so server
  server=$("${PG_CONFIG:-pg_config}" --bindir)/postgres
  if ! [ -f $module ]; then verdict "the solver's module is built" "there is no $module"; return; fi
  verdict "the solver's module exports one entry, and its magic block" "$(defined $module | grep -vxE 'ps_linear_solver|Pg_magic_func')"
  verdict "the solver's module needs Clp and the libraries of C++ only" \
    "$(objdump -p $module | awk '$1 == "NEEDED" { print $2 }' |
      grep -vE '^(libClp|libCoinUtils|libc|libm|libstdc\+\+|libgcc_s|ld-linux[-a-z0-9_]*)\.so')"
  verdict "the solver's module takes nothing from the server" \
    "$(comm -12 <(undefined $module) <(defined "$server") |
      comm -23 - <(ldd $module | awk '$3 ~ /^\// { print $3 }' | while IFS= read -r library; do defined "$library"; done | sort -u))"
}

# Core, and core with sqlparse, must link without anything above them.
linking() {
  local core sqlparse archive folder part object objects out=build/lint_link.so
  core=(build/module/core/*.o build/module/core/*/*.o)
  if ! [ -e "${core[0]}" ]; then return; fi
  verdict "src/core links alone" "$(g++ -shared -Wl,--no-undefined -o $out "${core[@]}" 2>&1)"
  verdict "each folder of src/core links with those that it may include alone" \
    "$(for folder in src/core/*/; do
      folder=${folder#src/}
      folder=${folder%/}
      objects=()
      for part in $(perl scripts/lint_layers.pl "$folder"); do
        for object in build/module/"$part".o build/module/"$part"/*.o; do if [ -e "$object" ]; then objects+=("$object"); fi; done
      done
      g++ -shared -Wl,--no-undefined -o $out "${objects[@]}" 2>&1 | sed "s|^|$folder: |"
    done)"
  sqlparse=(build/module/sqlparse.o build/module/sqlparse/*.o)
  if [ -e "${sqlparse[0]}" ]; then
    archive=(build/libpg_query.a)
    # Where the structs of the trees are our own.
    if [ -e build/tree/pg_query/pg_query.pb-c.o ]; then
      archive=(build/tree/pg_query/pg_query.pb-c.o "${archive[@]}" -lprotobuf-c)
    fi
    verdict "src/sqlparse links with src/core and libpg_query alone" \
      "$(g++ -shared -Wl,--no-undefined -o $out "${core[@]}" "${sqlparse[@]}" "${archive[@]}" -lpthread 2>&1)"
  fi
  rm -f $out
}

unused() {
  local folder object objects=()
  while IFS= read -r folder; do
    folder=build/module/${folder#src/}
    if [ -e "$folder.o" ] || ! [ -d "$folder" ]; then objects+=("$folder.o"); fi
    for object in "$folder"/*.o; do if [ -e "$object" ]; then objects+=("$object"); fi; done
  done < <(find src -name '*.cpp' -printf '%h\n' | sort -u)
  verdict "no function and no constant is there for tests only" "$(perl scripts/lint_unused.pl "${objects[@]}" 2>&1)"
}

defined() { nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u; }
undefined() { nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u; }

symbols() {
  local module=privacy_score.so server libraries imports exports name
  server=$("${PG_CONFIG:-pg_config}" --bindir)/postgres
  if ! [ -f $module ]; then verdict "the module is built" "there is no $module"; return; fi
  imports=$(undefined $module)
  exports=$(defined $module)
  verdict "the module exports only what the server calls" \
    "$(grep -vxE '_PG_init|Pg_magic_func|pg_finfo_ps_.*|ps_.*|' <<<"$exports")"
  for name in errstart palloc; do
    verdict "the module takes $name from the server" \
      "$(grep -qxE "${name}(0|_cold|_extended)?" <<<"$imports" || echo "it does not import $name"
        grep -xE "${name}(0|_cold|_extended)?" <<<"$exports")"
  done
  verdict "the module needs only libc, libm, libstdc++ and libgcc" \
    "$(objdump -p $module | awk '$1 == "NEEDED" { print $2 }' |
      grep -vE '^(libc|libm|libstdc\+\+|libgcc_s|ld-linux[-a-z0-9_]*)\.so')"
  libraries=$(ldd $module | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }')
  verdict "every symbol the module imports is one of the server or of those libraries" \
    "$(comm -23 <(echo "$imports") \
      <(for name in "$server" $libraries; do defined "$name"; done |
        cat - <(printf '%s\n' __cxa_finalize __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable) |
        sort -u))"
  if [ -f build/module/island.o ]; then
    verdict "the parser island shows only its entry points" \
      "$(nm --defined-only --extern-only build/module/island.o | awk '{ print $NF }' | grep -v "^privacy_score_")"
    verdict "libpg_query gets memory and ends the process by the island only" \
      "$(nm --undefined-only build/libpg_query.a 2>/dev/null | awk '$1 == "U" { print $2 }' |
        grep -xE '(c|m|re)alloc|reallocarray|aligned_alloc|posix_memalign|strn?dup|_?exit|_Exit|quick_exit|abort|pipe2?|dup2|fork' | sort -u)"
    verdict "the parser island takes nothing from the server" \
      "$(comm -12 <(nm --undefined-only build/module/island.o | awk '{ print $NF }' | sort -u) \
        <(comm -23 <(defined "$server") <(for name in $libraries; do defined "$name"; done | sort -u)))"
  fi
}

house_rules() {
  local file stem
  verdict "no source file has more than 500 lines" \
    "$(files src sql test scripts bench demo monitoring Makefile .ci | grep -vE '^(\./)?(test/(data|corpus)|sql/releases)/' |
      xargs -r wc -l | awk '$1 > 500 && $2 != "total" { print $2 ": " $1 " lines" }')"
  verdict "every X.cpp of src/core has test/unit/X_test.cpp" \
    "$(for file in src/core/*/*.cpp; do
      stem=$(basename "$file" .cpp)
      compgen -G "test/unit/${stem}_test.cpp" >/dev/null || compgen -G "test/unit/${stem}_*_test.cpp" >/dev/null ||
        echo "$file"
    done)"
  verdict "every C++ file begins with a comment that names it" \
    "$(files src test/unit test/fuzz | grep -E '\.[ch]pp$' |
      xargs -r awk 'FNR == 1 { name = FILENAME; sub(".*/", "", name); unnamed[FILENAME] = 1 }
        FNR <= 3 && index($0, name) { delete unnamed[FILENAME] }
        END { for (file in unnamed) print file }' | sort)"
  # Tables, code and pictures are as wide as they are.
  verdict "no line of prose is longer than 120 characters"     "$(files . | grep -E '\.md$' | grep -v '^\(\./\)\?test/' | xargs -r awk 'FNR == 1 { code = hidden = 0 }
        /^ *```/ { code = !code }
        /^<!--/ { hidden = 1 }
        !code && !hidden && !/^ *[|!]/ && length($0) > 120 { print FILENAME ":" FNR ": " length($0) " characters" }
        /-->/ { hidden = 0 }')"
  verdict "every header is guarded by #pragma once" \
    "$(files src test/unit test/fuzz | grep -E '\.hpp$' | xargs -r grep -L '^#pragma once')"
  verdict "no two types of one namespace bear one name" \
    "$(perl scripts/lint_types.pl src/core/*/*.[ch]pp src/sqlparse/*.[ch]pp src/solver/*.[ch]pp src/backend/*/*.[ch]pp 2>&1)"
  verdict "columns of rows that cross the wall have names (core/base/wire_section.hpp)" \
    "$(grep -rnE '\brow\[[0-9]+\]' src --include='*.[ch]pp')"
  verdict "nothing is called under a spinlock but what moves a few bytes" "$(perl scripts/lint_spinlocks.pl src/backend/*/*.[ch]pp 2>&1)"
  verdict "no two files of src/backend have functions of one name" "$(perl scripts/lint_names.pl src/backend/*/*.[ch]pp 2>&1)"
  # The magic block of the solver's module is all of its file.
  verdict "every file of src/backend stands in namespace privacy_score" \
    "$(files src/backend | grep -E '\.[ch]pp$' | grep -v /solver_magic | xargs -r awk 'FNR == 1 { names[FILENAME] = 1 }
        FNR == 1 || NF { last[FILENAME] = $0 }
        /using namespace privacy_score;/ { print FILENAME ":" FNR ": using namespace" }
        END { for (file in names) if (last[file] != "}  // namespace privacy_score") print file }' | sort)"
  verdict "each setting is read and documented, and no others are" "$(perl scripts/lint_settings.pl 2>&1)"
  verdict "no regression test bears the name of a file in sql/" \
    "$(for file in test/sql/*.sql; do
      if [ -e "sql/$(basename "$file")" ]; then echo "$file: also in sql/"; fi
    done)"
  # The runner and the Makefile take all files of test/sql; what they are compared with has to be there, and no more.
  verdict "each regression test has its expected output, and each expected output its test" \
    "$(for file in test/sql/*.sql; do
      stem=$(basename "$file" .sql)
      if ! [ -s "expected/$stem.out" ]; then echo "$file: no expected/$stem.out"; fi
    done
    for file in expected/*.out; do
      stem=$(basename "$file" .out)
      if ! [ -e "test/sql/$stem.sql" ]; then echo "$file: no test/sql/$stem.sql"; fi
    done)"
  verdict "each shell test uses what tests share, and comes to its end" \
    "$(for file in test/shell/*.sh test/attacks/*.sh; do
      grep -qE '^\. "\$\(dirname "\$0"\)/\.\./(lib|attack)\.sh"' "$file" && tail -n 1 "$file" | grep -qx done_testing || echo "$file"
    done)"
  # The patterns are written so that they do not match themselves.
  verdict "no file names a folder of a developer's machine" \
    "$(files . | tr '\n' '\0' | xargs -0r grep -nIE '(^|[^A-Za-z0-9_.$}*])/(wor[k]|roo[t]|hom[e])/' /dev/null)"
  verdict "no file names a package registry's host" \
    "$(files . | tr '\n' '\0' | xargs -0r grep -nIiE \
      '(deb|security|ftp)\.debian[.]org|apt\.postgresql[.]org|(pypi|crates|npmjs)[.](org|io|com)|pgxn[.]org' /dev/null)"
  verdict "no file speaks of issue numbers" \
    "$(files . | tr '\n' '\0' | xargs -0r grep -nIiE '(^|[^a-z])issue[s]? #?[0-9]+' /dev/null)"
  verdict "every shell script parses" \
    "$(files . | while IFS= read -r file; do
      case $file in *.sh | .ci/run | ./.ci/run) bash -n "$file" 2>&1 ;; esac
    done)"
}

# What is installed goes again, all of it.
installation() {
  local root=build/lint_install run
  rm -rf $root
  run() { "${MAKE:-make}" -s --no-print-directory PG_CONFIG="${PG_CONFIG:-pg_config}" DESTDIR="$PWD/$root" "$@" 2>&1; }
  verdict "make install works" "$(run install >$root.log || cat $root.log)"
  verdict "it installs modules, control file, scripts and the daily round" \
    "$(for run in privacy_score.so privacy_score_solver.so privacy_score.control "privacy_score--$(sed -n "s/^default_version = '\(.*\)'/\1/p" privacy_score.control).sql" privacy_score_daily.psql; do
      find $root -type f -name "$run" | grep -q . || echo "$run is not installed"
    done)"
  verdict "make uninstall leaves nothing" "$(run uninstall >$root.log || cat $root.log; find $root -type f -o -type l)"
  rm -rf $root $root.log
}

# META.json as the specification 1.0.0 of the PostgreSQL Extension Network's metadata wants it, versions that agree, and
# a plan of the house that is true.
metadata() {
  verdict "META.json has what the specification requires, and its files exist" "$(perl scripts/lint_meta.pl 2>&1)"
  verdict "ARCHITECTURE.md and the README.md of each folder name files that exist, and every file of src/" "$(perl scripts/lint_architecture.pl 2>&1)"
  verdict "debian/changelog, META.json and the control file speak of one version" \
    "$(for file in META.json debian/changelog; do
      grep -qE "\b$(sed -nE "s/^default_version = '([0-9]+)\.([0-9]+)'/\1\\\\.\2/p" privacy_score.control)\.[0-9]+\b" $file || echo "$file speaks of another"
    done)"
}

tools() {
  local sources
  if command -v shellcheck >/dev/null; then
    verdict "shellcheck finds no error" \
      "$(files . | grep -E '\.sh$|\.ci/run$' | xargs -r shellcheck -x -S error 2>&1)"
  fi
  # Versions of clang-format differ; this is for information only.
  if command -v clang-format >/dev/null; then
    sources=$(files src test/unit test/fuzz | grep -E '\.[ch]pp$' | xargs -r clang-format --dry-run 2>&1 | sed -nE 's/^([^: ]+):[0-9]+:.*/\1/p' | sort -u)
    if [ -n "$sources" ]; then echo "note    clang-format would change $(wc -l <<<"$sources") files (make format)"; fi
  fi
}

layering
linking
unused
symbols
solver_symbols
house_rules
installation
metadata
verdict "the SQL parts keep the rules for extension scripts" "$(perl scripts/lint_sql.pl sql/[0-9][0-9]_*.sql 2>&1)"
tools
echo "passed $passed failed $failed"
[ $failed -eq 0 ]
