# Makefile - builds, checks and installs privacy_score (PGXS).
#
#   make                 release build of the module and its SQL script
#   make install         into the directories of $(PG_CONFIG); uninstall takes it out again
#   make test            everything: build, lint, unit, regression and shell tests, attacks; on a throw-away server
#   make test-long       the same in its long forms, then soak, soak-scale, soak-import, sqlsmith, fuzz-jsonb and fuzz for SECONDS=600 each, test-matrix, test-pg-upgrade, test-mixed-fleet
#   make unit | regress | shell | attacks     one part of it (but for unit, T="name ..." picks tests)
#   make test-pg-upgrade  pg_upgrade with the extension in use, between the servers of this and other Debian releases (root only)
#   make test-mixed-fleet  a hub over the servers of this and other Debian releases (root only)
#   make test-matrix     the same on other Debian releases with their servers, in root file systems made for it (root only)
#   make lint | format   layering, symbols and text rules | clang-format in place
#   make coverage        which lines the tests run: unit, regression, shell tests and attacks on a second build
#   make soak            mixed load on one server for SECONDS=600, in which nothing may grow, be lost or go wrong
#   make soak-scale      STATEMENTS=5000000 on CONNECTIONS=500, 1500 a second, in which memory of all processes is flat
#   make soak-import     IMPORTED=20000000 statements are imported in flat memory
#   make fuzz            libFuzzer on the targets of test/fuzz: T="name ..." SECONDS=600 (of each)
#   make sqlsmith | sqlsmith-private | fuzz-jsonb    random statements against a watching server: SECONDS=600 | jsonb arguments: ROUNDS=2000
#   make package         the Debian package, built and tested in build/package where the tools for it are at hand
#   make demo | bench    the demonstration | the measurements; bench-core: of what needs no server
#
# ./test.sh and ./demo.sh do what "make test" and "make demo" do where there is no make yet.
#
# test, demo and bench install the Debian packages that are missing (as root or through sudo) and never write into the
# system's PostgreSQL: they install into a private copy in a temporary folder and run the server there as a non-root
# user, on a unix socket only.

.DEFAULT_GOAL := all

EXTENSION = privacy_score
MODULE_big = privacy_score
EXT_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" privacy_score.control)
SQL_PARTS := $(sort $(wildcard sql/[0-9][0-9]_*.sql))
SQL_SCRIPT = sql/$(EXTENSION)--$(EXT_VERSION).sql
# While a version is not released, the script that updates to it is its changes of tables and the parts after the tables.
SQL_UPDATES := $(patsubst sql/updates/%.sql,sql/$(EXTENSION)--%.sql,$(wildcard sql/updates/*--*.sql))
DATA_built = $(SQL_SCRIPT) $(SQL_UPDATES)
DATA = $(filter-out $(SQL_UPDATES),$(wildcard sql/$(EXTENSION)--*--*.sql)) $(wildcard sql/releases/*.sql) \
  psql/privacy_score_daily.psql

REGRESS = $(sort $(basename $(notdir $(wildcard test/sql/*.sql))))
REGRESS_OPTS = --inputdir=test --load-extension=$(EXTENSION)

# --- objects ----------------------------------------------------------------------------------------------------------
ISLAND = parser_island nesting_bound tree_copy
CORE := $(patsubst src/%.cpp,%,$(wildcard src/core/*/*.cpp))
SQLPARSE := $(patsubst src/%.cpp,%,$(wildcard src/sqlparse/*.cpp))
BACKEND := $(patsubst src/%.cpp,%,$(wildcard src/backend/*/*.cpp))
SOLVER := $(patsubst src/%.cpp,%,$(wildcard src/solver/*.cpp))
HAS_ISLAND := $(filter $(ISLAND:%=sqlparse/%),$(SQLPARSE))
PG_QUERY_A = build/libpg_query.a

# What the server knows the solver's module by.
SOLVER_MAGIC = backend/server/solver_magic
# A folder is compiled at a time, which reads what its files share once: names are unique in a folder. Apart from that stand
# what is optimised otherwise, what the tests put something else in the place of, the parser island, and the solver.
OPTIMISED = $(addprefix core/entropy/,narrow_rows subset_cube wide_rows)
APART = $(OPTIMISED) core/noise/discrete_laplace $(HAS_ISLAND) $(SOLVER_MAGIC)
TOGETHER = $(filter-out $(APART),$(CORE) $(SQLPARSE) $(BACKEND))
folders_of = $(patsubst %/,%,$(sort $(dir $(filter $(TOGETHER),$(1))))) $(filter $(APART),$(1))
CORE_PARTS := $(call folders_of,$(CORE))
SQLPARSE_PARTS := $(call folders_of,$(SQLPARSE))
MODULE_PARTS := $(CORE_PARTS) $(filter-out $(HAS_ISLAND),$(SQLPARSE_PARTS)) $(call folders_of,$(filter-out $(SOLVER_MAGIC),$(BACKEND)))
FOLDERS := $(filter-out $(APART),$(sort $(CORE_PARTS) $(SQLPARSE_PARTS) $(MODULE_PARTS)))
SERVED_FOLDERS := $(filter backend/%,$(FOLDERS))
HIDDEN_FOLDERS := $(filter-out backend/%,$(FOLDERS))
OBJS = $(MODULE_PARTS:%=build/module/%.o) $(if $(HAS_ISLAND),build/module/island.o)
SOLVER_OBJS = $(patsubst %,build/module/%.o,$(SOLVER) $(SOLVER_MAGIC))
include test/unit/groups.mk
# What is fuzzed; the unit tests run the inputs that are kept.
TARGETS := $(patsubst test/fuzz/%.cpp,targets/%,$(filter-out test/fuzz/fuzzer_main.cpp,$(wildcard test/fuzz/*.cpp)))
UNIT_OBJS = $(patsubst %,build/module/%.o,$(CORE_PARTS) $(SQLPARSE_PARTS) $(SOLVER)) $(patsubst %,build/%.o,$(UNIT) $(TARGETS))
# The tests themselves are compiled once, without the sanitizers. What they share with core comes first from core's objects.
ASAN_OBJS = $(patsubst %,build/asan/%.o,$(CORE_PARTS) $(SQLPARSE_PARTS) $(SOLVER) $(TARGETS)) $(UNIT:%=build/%.o)
FUZZ_OBJS = $(patsubst %,build/fuzz/%.o,$(CORE_PARTS) $(SQLPARSE_PARTS) $(SOLVER) $(TARGETS) targets/fuzzer_main unit/sqlparse_support)
CLANG_OK = $(patsubst %,build/clang/%.ok,$(CORE) $(SQLPARSE) $(SOLVER) $(BACKEND) $(patsubst %.cpp,%,$(wildcard bench/*.cpp)))
# The same a folder at a time, in a tenth of the time: what it does not see is a file that forgets to include what another one
# of its folder, or prefix.h, does. The rest clang++ has compiled for the sanitizers.
CLANG_QUICK = $(SERVED_FOLDERS:%=build/clang_quick/%.ok) $(SOLVER_MAGIC:%=build/clang_quick/%.ok) \
              $(patsubst build/clang/%,build/clang_quick/%,$(filter build/clang/bench/%,$(CLANG_OK)))
EXTRA_CLEAN = $(MODULE_big)_solver.so build bench/programs bench/results results regression.diffs regression.out

# --- PGXS, once the server's development files are there --------------------------------------------------------------
PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifneq ($(wildcard $(PGXS)),)
# The bitcode rule of PGXS does not know C++17.
override with_llvm = no
SHLIB_LINK = -Wl,--version-script=scripts/exports.map -lstdc++ -lm
include $(PGXS)
$(shlib): scripts/exports.map

# The second module, which a backend loads when it first solves a linear program; built and installed with the first.
SOLVER_MODULE = $(MODULE_big)_solver$(DLSUFFIX)
all: $(SOLVER_MODULE)
$(SOLVER_MODULE): $(SOLVER_OBJS) scripts/exports.map
	$(CXX) -shared -o $@ $(SOLVER_OBJS) -Wl,-z,relro -Wl,-z,now -Wl,--version-script=scripts/exports.map $(SOLVER_LIBS)
install: install-solver
install-solver: all installdirs
	$(INSTALL_SHLIB) $(SOLVER_MODULE) '$(DESTDIR)$(pkglibdir)/'
uninstall: uninstall-solver
uninstall-solver:
	rm -f '$(DESTDIR)$(pkglibdir)/$(SOLVER_MODULE)'
else
all install uninstall installcheck:
	@echo "the server's development files are missing: 'make packages' installs them on Debian" >&2; exit 1
clean:
	rm -rf $(EXTRA_CLEAN)
endif

# --- the structs of parse trees -----------------------------------------------------------------------------------------
# Later packages of libpg_query have the description of the trees, but not the C structs that are made from it.
PG_QUERY_PROTO := $(if $(wildcard /usr/include/pg_query/pg_query.pb-c.h),,$(wildcard /usr/include/pg_query/pg_query.proto))
ifneq ($(PG_QUERY_PROTO),)
TREE_STRUCTS = build/tree/pg_query/pg_query.pb-c
TREE_OBJ = $(TREE_STRUCTS).o
# Nor do they have trees of those structs: they pack theirs with upb, and the island unpacks them.
TREE_INCLUDE = -isystem build/tree -DPS_PACKED_BY_UPB
PG_QUERY_A += $(shell $(or $(CXX),g++) -print-file-name=libprotobuf-c.a)
$(TREE_STRUCTS).h: $(PG_QUERY_PROTO)
	@mkdir -p build/tree
	protoc-c --c_out=build/tree --proto_path=$(patsubst %/pg_query/pg_query.proto,%,$<) $<
$(TREE_OBJ): $(TREE_STRUCTS).h
	$(CC) -O2 -fPIC -Ibuild/tree -c $(TREE_STRUCTS).c -o $@
$(patsubst %,build/module/%.o,$(SQLPARSE_PARTS) $(MODULE_PARTS)) $(patsubst %,build/asan/%.o,$(SQLPARSE_PARTS) $(TARGETS)) \
$(patsubst %,build/%.o,$(UNIT) $(TARGETS)) $(DEMO_OBJS) $(FUZZ_OBJS) $(CLANG_OK) $(CLANG_QUICK): | $(TREE_STRUCTS).h
endif

# --- compiling --------------------------------------------------------------------------------------------------------
# Each layer gets only the include paths it may use, so the compiler keeps the arrows downward.
WERROR = -Werror
# What a compiler only suspects once it has inlined differs by its version: it is told, and stops nothing.
SUSPECTED = -Wno-error=array-bounds -Wno-error=stringop-overflow -Wno-error=maybe-uninitialized
WARNINGS = -Wall -Wextra $(WERROR) $(SUSPECTED) -Wno-register
LANGUAGE = -std=c++17 -Isrc $(TREE_INCLUDE) -MMD -MP $(WARNINGS)
# For backtraces -g1 would do, which takes a third less time to compile.
DEBUG = -g
RELEASE = -O2 $(DEBUG) -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2
SANITIZE = -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS
SERVER = -fno-strict-aliasing -fwrapv -D_GNU_SOURCE -isystem $(includedir_server) \
         -DPS_EXTENSION_VERSION='"$(EXT_VERSION)"'
# What speaks to a server from outside.
CLIENT = -isystem $(shell $(PG_CONFIG) --includedir)
# Where COIN-OR Clp's headers are, and what the module of the solver links with.
CLP_INCLUDE ?= /usr/include/coin
SOLVER_HEADERS = -isystem $(CLP_INCLUDE)
SOLVER_LIBS = -lClp -lCoinUtils
# It does not know all warnings that g++ is told of.
CLANGXX = clang++ -Wno-unknown-warning-option

# What many files of a layer include is compiled once (prefix.h). Both compilers look for prefix.h with .gch or .pch behind
# it; its text lies beside that, for files that are compiled otherwise than the rest.
HIDDEN = $(LANGUAGE) $(RELEASE) -fvisibility=hidden
SERVED = $(LANGUAGE) $(RELEASE) $(SERVER)

# The files of a folder in one; written anew when there is another one. Several makes may do so at once.
$(FOLDERS:%=build/together/%.cpp): build/together/%.cpp: always
	@mkdir -p $(@D)
	@printf '#include "%s.cpp"\n' $(filter $(TOGETHER),$(patsubst src/%.cpp,%,$(wildcard src/$*/*.cpp))) >$@.$$$$ && \
	$(TAKE_WHEN_CHANGED)
TAKE_WHEN_CHANGED = if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi
always:

define HIDDEN_RECIPE
@mkdir -p $(@D)
$(CXX) $(HIDDEN) -include build/module/core/prefix.h -c $< -o $@
endef
define SERVED_RECIPE
@mkdir -p $(@D)
$(CXX) $(SERVED) -include build/module/backend/prefix.h -c $< -o $@
endef
$(HIDDEN_FOLDERS:%=build/module/%.o): build/module/%.o: build/together/%.cpp build/module/core/prefix.h.gch Makefile
	$(HIDDEN_RECIPE)

build/module/core/%.o: src/core/%.cpp build/module/core/prefix.h.gch Makefile
	$(HIDDEN_RECIPE)

build/module/sqlparse/%.o: src/sqlparse/%.cpp build/module/core/prefix.h.gch Makefile
	$(HIDDEN_RECIPE)

$(SERVED_FOLDERS:%=build/module/%.o): build/module/%.o: build/together/%.cpp build/module/backend/prefix.h.gch Makefile
	$(SERVED_RECIPE)

build/module/backend/%.o: src/backend/%.cpp build/module/backend/prefix.h.gch Makefile
	$(SERVED_RECIPE)

build/module/core/prefix.h.gch: src/core/prefix.h Makefile
	@mkdir -p $(@D)
	@cp $< $(@:.gch=)
	$(CXX) $(HIDDEN) -x c++-header -c $< -o $@

build/module/backend/prefix.h.gch: src/backend/prefix.h Makefile
	@mkdir -p $(@D)
	@cp $< $(@:.gch=)
	$(CXX) $(SERVED) -x c++-header -c $< -o $@

$(patsubst %,build/module/backend/%.o,state watch module) build/module/$(SOLVER_MAGIC).o: privacy_score.control
# Loops over millions of rows, which the vectoriser of -O3 speeds up.
$(OPTIMISED:%=build/module/%.o): private RELEASE += -O3

# A copy of libpg_query that asks the island for memory, and for the end of the process: there is a way out of both. The
# island takes its trees before they are packed, too; or has upb pack deep ones into the parser's memory, and says nothing
# of the stack.
PACKING = pg_query__parse_result__get_packed_size=island_packed_size pg_query__parse_result__pack=island_pack
build/libpg_query.a: $(shell $(or $(CXX),g++) -print-file-name=libpg_query.a) Makefile
	@mkdir -p $(@D)
	objcopy $(foreach name,malloc realloc strdup exit abort,--redefine-sym $(name)=island_$(name)) \
	  $(foreach names,$(PACKING),--redefine-sym $(names) --weaken-symbol $(lastword $(subst =, ,$(names)))) $< $@.new
ifneq ($(PG_QUERY_PROTO),)
	cd $(@D) && ar x $(@F).new upb.o pg_query_outfuncs_protobuf.o pg_query.o
	objcopy --redefine-sym island_malloc=palloc --redefine-sym island_realloc=island_arena_realloc \
	  --redefine-sym free=island_arena_free $(@D)/upb.o
	objcopy --redefine-sym upb_Encode=island_encode $(@D)/pg_query_outfuncs_protobuf.o
	objcopy --redefine-sym pthread_getattr_np=island_stack_of $(@D)/pg_query.o
	cd $(@D) && ar r $(@F).new upb.o pg_query_outfuncs_protobuf.o pg_query.o && rm upb.o pg_query_outfuncs_protobuf.o pg_query.o
endif
	@mv $@.new $@

# The parser island: libpg_query and the server define the same names, so all but our entry points become local.
# Groups are dissolved first, else the linker would share inline functions between the island and the module.
define JOIN_ISLAND
ld -r --force-group-allocation -o $@.all $^
objcopy --wildcard --keep-global-symbol='privacy_score_*' $@.all $@
@rm -f $@.all
endef
build/module/island.o: $(ISLAND:%=build/module/sqlparse/%.o) $(TREE_OBJ) $(PG_QUERY_A)
	$(JOIN_ISLAND)

# Optimising what the sanitizers add takes longer than it saves, but for what computes for seconds.
SANITIZE_TESTED = $(if $(filter base buckets entropy inference loss noise private_sql,$(subst /, ,$@) $(subst ., ,$(@F))),$(SANITIZE),$(subst -O1,-O0,$(SANITIZE)))
$(HIDDEN_FOLDERS:%=build/asan/%.o): build/asan/%.o: build/together/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SANITIZE_TESTED) -c $< -o $@

build/asan/%.o: src/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SANITIZE_TESTED) -c $< -o $@

build/targets/%.o: test/fuzz/%.cpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(LANGUAGE) -O1 -g1 -c $< -o $@

build/asan/targets/%.o: test/fuzz/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(filter-out $(WERROR),$(LANGUAGE)) $(SANITIZE_TESTED) -c $< -o $@

# libFuzzer comes with clang.
build/fuzz/targets/%.o: test/fuzz/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SANITIZE) -fsanitize=fuzzer-no-link -c $< -o $@

build/fuzz/unit/%.o: test/unit/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SANITIZE) -fsanitize=fuzzer-no-link -c $< -o $@

$(HIDDEN_FOLDERS:%=build/fuzz/%.o): build/fuzz/%.o: build/together/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SANITIZE) -fsanitize=fuzzer-no-link -c $< -o $@

build/fuzz/%.o: src/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SANITIZE) -fsanitize=fuzzer-no-link $(SOLVER_HEADERS) -c $< -o $@

# clang++ blames a function for not using the argument that PG_FUNCTION_ARGS declares; g++ knows better.
build/clang/backend/%.ok: src/backend/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SERVER) -Wno-unused-parameter -MF $(@:.ok=.d) -MT $@ -fsyntax-only $<
	@touch $@

# Programs of the measurements, which nobody else compiles.
build/clang/bench/%.ok: bench/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(CLIENT) -MF $(@:.ok=.d) -MT $@ -fsyntax-only $<
	@touch $@

build/clang_quick/bench/%.ok: bench/%.cpp build/clang_quick/core/prefix.h.pch Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(CLIENT) $(SOLVER_HEADERS) -include build/clang_quick/core/prefix.h -MF $(@:.ok=.d) -MT $@ -fsyntax-only $<
	@touch $@

build/clang/%.ok: src/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) -MF $(@:.ok=.d) -MT $@ -fsyntax-only $<
	@touch $@

define CLANG_QUICK_RECIPE
@mkdir -p $(@D)
$(CLANGXX) $(LANGUAGE) $(SERVER) -Wno-unused-parameter -include build/clang_quick/backend/prefix.h -MF $(@:.ok=.d) -MT $@ -fsyntax-only $<
@touch $@
endef
$(SERVED_FOLDERS:%=build/clang_quick/%.ok): build/clang_quick/%.ok: build/together/%.cpp build/clang_quick/backend/prefix.h.pch Makefile
	$(CLANG_QUICK_RECIPE)

build/clang_quick/backend/%.ok: src/backend/%.cpp build/clang_quick/backend/prefix.h.pch Makefile
	$(CLANG_QUICK_RECIPE)

build/clang_quick/%.ok: src/%.cpp build/clang_quick/core/prefix.h.pch Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SOLVER_HEADERS) -include build/clang_quick/core/prefix.h -MF $(@:.ok=.d) -MT $@ -fsyntax-only $<
	@touch $@

build/clang_quick/core/prefix.h.pch build/clang_quick/backend/prefix.h.pch: build/clang_quick/%/prefix.h.pch: src/%/prefix.h Makefile
	@mkdir -p $(@D)
	@cp $< $(@:.pch=)
	$(CLANGXX) $(LANGUAGE) $(if $(filter backend,$*),$(SERVER),$(SOLVER_HEADERS)) -x c++-header $< -o $@

build/module/solver/%.o: src/solver/%.cpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(HIDDEN) $(SOLVER_HEADERS) -c $< -o $@

build/asan/solver/%.o: src/solver/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SANITIZE) $(SOLVER_HEADERS) -c $< -o $@

build/clang/solver/%.ok: src/solver/%.cpp Makefile
	@mkdir -p $(@D)
	$(CLANGXX) $(LANGUAGE) $(SOLVER_HEADERS) -MF $(@:.ok=.d) -MT $@ -fsyntax-only $<
	@touch $@

-include $(patsubst %.o,%.d,$(filter-out build/module/island.o,$(OBJS)) $(UNIT_OBJS) $(ASAN_OBJS) $(FUZZ_OBJS))
-include $(CLANG_OK:.ok=.d) $(CLANG_QUICK:.ok=.d)

$(SQL_SCRIPT): $(SQL_PARTS) privacy_score.control
	$(if $(SQL_PARTS),cat $(SQL_PARTS),printf '') > $@

$(SQL_UPDATES): sql/$(EXTENSION)--%.sql: sql/updates/%.sql $(SQL_PARTS)
	(cat $<; sed -E 's/^CREATE (FUNCTION|VIEW|TRIGGER|AGGREGATE)/CREATE OR REPLACE \1/' $(filter-out %/00_guard.sql %/10_tables.sql,$(SQL_PARTS))) > $@

# --- the module of the demonstration -------------------------------------------------------------------------------------
# Nobody has to wait for the optimiser before seeing what this is. The solver is not part of it.
DEMO_PARTS = $(MODULE_PARTS) $(HAS_ISLAND)
DEMO_OBJS = $(DEMO_PARTS:%=build/demo/%.o)

DEMO_SAYS = $(eval DEMO_STEPS += .)echo "building $(words $(DEMO_STEPS)) of $(words $(DEMO_PARTS)): $*"
DEMO_COMPILES = $(CXX) $(filter-out -W%,$(LANGUAGE)) -w -O0 -fPIC $(if $(filter build/demo/backend/%,$@),$(SERVER),-fvisibility=hidden)
define DEMO_RECIPE
@$(DEMO_SAYS)
@mkdir -p $(@D)
@$(DEMO_COMPILES) -include build/demo/$(if $(filter build/demo/backend/%,$@),backend,core)/prefix.h -c $< -o $@
endef
$(FOLDERS:%=build/demo/%.o): build/demo/%.o: build/together/%.cpp build/demo/core/prefix.h.gch build/demo/backend/prefix.h.gch Makefile
	$(DEMO_RECIPE)
$(filter-out $(FOLDERS:%=build/demo/%.o),$(DEMO_OBJS)): build/demo/%.o: src/%.cpp build/demo/core/prefix.h.gch Makefile
	$(DEMO_RECIPE)

build/demo/core/prefix.h.gch build/demo/backend/prefix.h.gch: build/demo/%/prefix.h.gch: src/%/prefix.h Makefile
	@mkdir -p $(@D)
	@cp $< $(@:.gch=)
	@$(DEMO_COMPILES) -x c++-header -c $< -o $@

build/demo/island.o: $(ISLAND:%=build/demo/sqlparse/%.o) $(TREE_OBJ) $(PG_QUERY_A)
	$(JOIN_ISLAND)

DEMO_LINKED = $(MODULE_PARTS:%=build/demo/%.o) $(if $(HAS_ISLAND),build/demo/island.o)
build/demo/privacy_score.so: $(DEMO_LINKED) scripts/exports.map
	@$(CXX) -shared -o $@ $(DEMO_LINKED) $(SHLIB_LINK)

demo-module: build/demo/privacy_score.so sql-script
sql-script: $(SQL_SCRIPT)
-include $(DEMO_OBJS:.o=.d)

# --- a module for tests of mechanisms ----------------------------------------------------------------------------------
# The module with noise that is none, or too little, as the server's environment says (test/support/changed_noise.cpp).
DRAW = _ZNK13privacy_score15DiscreteLaplace4DrawERNS_12RandomSourceE
build/test/discrete_laplace.o: build/module/core/noise/discrete_laplace.o Makefile
	@mkdir -p $(@D)
	objcopy --redefine-sym $(DRAW)=privacy_score_true_draw $< $@

build/test/changed_noise.o: test/support/changed_noise.cpp src/core/noise/discrete_laplace.hpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(HIDDEN) -c $< -o $@

build/test/privacy_score.so: build/test/changed_noise.o build/test/discrete_laplace.o \
    $(filter-out build/module/core/noise/discrete_laplace.o,$(OBJS)) scripts/exports.map
	@$(CXX) -shared -o $@ $(filter %.o,$^) $(SHLIB_LINK)

test-module: build/test/privacy_score.so

# --- unit test programs -----------------------------------------------------------------------------------------------
UNIT_LIBS = $(if $(HAS_ISLAND),$(TREE_OBJ) $(PG_QUERY_A)) $(SOLVER_LIBS) -lgtest -lgtest_main -lpthread

build/unit_tests build/unit_tests_asan build/fuzz/fuzzer: $(if $(HAS_ISLAND),$(TREE_OBJ) $(PG_QUERY_A))

build/unit_tests: $(UNIT_OBJS)
	$(CXX) -o $@ $(UNIT_OBJS) $(UNIT_LIBS)

build/unit_tests_asan: $(ASAN_OBJS)
	$(CLANGXX) $(SANITIZE) -o $@ $(ASAN_OBJS) $(UNIT_LIBS)

# --- the fuzzer -------------------------------------------------------------------------------------------------------
build/fuzz/fuzzer: $(FUZZ_OBJS)
	$(CLANGXX) $(SANITIZE) -fsanitize=fuzzer -o $@ $(FUZZ_OBJS) $(filter-out -lgtest%,$(UNIT_LIBS))

# --- programs of the measurements ---------------------------------------------------------------------------------------
# They lie where the sandbox finds them.
bench/programs/%: bench/%.cpp $(CORE_PARTS:%=build/module/%.o) Makefile
	@mkdir -p $(@D)
	$(CXX) $(LANGUAGE) $(RELEASE) -s -MF build/bench_$(*F).d -o $@ $< $(CORE_PARTS:%=build/module/%.o)

# A client, which knows the server by its protocol only.
bench/programs/statements: bench/statements.cpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(LANGUAGE) $(RELEASE) -s $(CLIENT) -MF build/bench_statements.d -o $@ $< \
	  -L$(shell $(PG_CONFIG) --libdir) -lpq

bench-programs: $(patsubst bench/%.cpp,bench/programs/%,$(wildcard bench/*.cpp))

bench-core: bench/programs/subset_entropies bench/programs/measures bench/programs/calibration
	@$< | tee bench/results_subset_entropies.md
	@bench/programs/calibration | tee bench/results_calibration.md
	@bench/programs/measures all | tee bench/results_measures.md

unit-programs: build/unit_tests build/unit_tests_asan
fuzz-program: build/fuzz/fuzzer
clang-check: $(CLANG_OK)
clang-check-quick: $(CLANG_QUICK)

# --- what people call -------------------------------------------------------------------------------------------------
packages:
	@scripts/install_packages.sh

test:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' test/run.sh all

unit regress shell attacks lint:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' test/run.sh $@ $(T)

# The long forms, the soak, the fuzzers and the matrix, each of those that take a time for SECONDS.
test-long:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' PS_FUZZ_SECONDS='$(SECONDS)' PS_FUZZ_ROUNDS='$(ROUNDS)' test/run.sh long $(SECONDS)

test-matrix:
	@scripts/test_matrix.sh $(T)

test-pg-upgrade:
	@scripts/test_pg_upgrade.sh $(T)

test-mixed-fleet:
	@scripts/test_mixed_fleet.sh

demo bench:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' test/run.sh $@

# The suites can be run one by one, and the report of all that ran be printed: T=regress, T=report.
coverage:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' scripts/coverage.sh $(T)

SECONDS ?= 600
soak:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' test/run.sh soak $(SECONDS)

STATEMENTS ?= 5000000
CONNECTIONS ?= 500
soak-scale:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' test/run.sh soak-scale $(STATEMENTS) $(CONNECTIONS)

IMPORTED ?= 20000000
soak-import:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' test/run.sh soak-import $(IMPORTED)

fuzz sqlsmith sqlsmith-private fuzz-jsonb:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' PS_FUZZ_SECONDS='$(SECONDS)' PS_FUZZ_ROUNDS='$(ROUNDS)' test/run.sh $@ $(T)

package:
	@PG_CONFIG='$(PG_CONFIG)' MAKE='$(MAKE)' scripts/package.sh

format:
	clang-format -i $(wildcard src/*/*.cpp src/*/*.hpp src/*/*/*.cpp src/*/*/*.hpp test/unit/*.cpp test/unit/*.hpp test/fuzz/*.cpp test/fuzz/*.hpp)

.PHONY: always all packages package test-module test test-long test-matrix test-pg-upgrade test-mixed-fleet coverage soak soak-scale soak-import unit regress shell attacks lint demo bench bench-core bench-programs fuzz sqlsmith sqlsmith-private fuzz-jsonb fuzz-program format unit-programs clang-check clang-check-quick \
  demo-module sql-script install-solver uninstall-solver
