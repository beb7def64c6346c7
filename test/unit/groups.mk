# groups.mk - how the unit tests are compiled: many files at a time, in a quarter of the time that they take one by one.
#
# The Makefile includes this. It wants CORE and says UNIT, the objects of the tests below build/.

# Each group is tests of one folder of core; those of the parser and all others are two more.
UNIT_TESTS := $(patsubst test/unit/%.cpp,%,$(wildcard test/unit/*_test.cpp))
CORE_SUBJECTS := $(sort $(notdir $(patsubst %/,%,$(dir $(CORE)))))
tests_of_subject = $(filter $(patsubst src/core/$(1)/%.cpp,%_test,$(wildcard src/core/$(1)/*.cpp)),$(UNIT_TESTS))
TESTS_OF_SUBJECTS := $(foreach subject,$(CORE_SUBJECTS),$(call tests_of_subject,$(subject)))
TESTS_OF_TEXTS := $(filter sqlparse_%,$(UNIT_TESTS))
TESTS_OF_OTHERS := $(filter-out $(TESTS_OF_SUBJECTS) $(TESTS_OF_TEXTS),$(UNIT_TESTS))
tests_of = $(if $(filter sqlparse,$(1)),$(TESTS_OF_TEXTS),$(if $(filter others,$(1)),$(TESTS_OF_OTHERS),$(call tests_of_subject,$(1))))
UNIT_GROUPS := $(foreach group,$(CORE_SUBJECTS) sqlparse others,$(if $(call tests_of,$(group)),unit/$(group)))
UNIT := $(UNIT_GROUPS) unit/sqlparse_support

# What later versions of clang warn of in tests is no error.
TESTS = $(filter-out $(WERROR),$(LANGUAGE)) -Itest/unit -O0 -g1
# The tests of a group in one file. What has no name outside of its test has the test's there, so that two may call
# something alike.
$(UNIT_GROUPS:%=build/together/%.cpp): build/together/unit/%.cpp: always
	@mkdir -p $(@D)
	@for test in $(call tests_of,$*); do \
	  printf '#line 1 "test/unit/%s.cpp"\n' $$test; sed "s/^namespace {$$/namespace of_$$test {/" test/unit/$$test.cpp; \
	done >$@.$$$$ && $(TAKE_WHEN_CHANGED)

define TEST_RECIPE
@mkdir -p $(@D)
$(CLANGXX) $(TESTS) -include build/unit/prefix.h -c $< -o $@
endef
$(UNIT_GROUPS:%=build/%.o): build/unit/%.o: build/together/unit/%.cpp build/unit/prefix.h.pch
	$(TEST_RECIPE)

build/unit/%.o: test/unit/%.cpp build/unit/prefix.h.pch
	$(TEST_RECIPE)

build/unit/prefix.h.pch: test/unit/prefix.h test/unit/groups.mk Makefile
	@mkdir -p $(@D)
	@cp $< $(@:.pch=)
	$(CLANGXX) $(TESTS) -x c++-header -c $< -o $@
