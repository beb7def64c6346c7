/*
 * readable_test.cpp - abstractions as clauses, whatever the names are.
 */
#include "core/base/readable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace privacy_score {
namespace {

TEST(Readable, ClausesInTheOrderOfSql) {
  EXPECT_EQ(ReadableStatement("cmd:select p:public.patients.zip t:public.patients w:public.patients.patient_id"),
            "select zip\nfrom patients\nwhere patient_id");
  EXPECT_EQ(ReadableStatement(
                "cmd:select f:avg(h.bills.amount) p:h.bills.amount t:h.bills t:h.visits j:h.bills.id j:h.visits.id"),
            "select avg(bills.amount), bills.amount\nfrom bills, visits\njoined by bills.id, visits.id");
  EXPECT_EQ(ReadableStatement("cmd:select f:count(*)"), "select count(*)");
  EXPECT_EQ(ReadableStatement("unparsed"), "unparsed");
  EXPECT_EQ(ReadableStatement(""), "");
}

TEST(Readable, QuotedNamesStayWhole) {
  EXPECT_EQ(ReadableStatement("cmd:select p:s.\"my table\".\"a. b\" t:s.\"my table\""),
            "select \"a. b\"\nfrom \"my table\"");
  EXPECT_EQ(ShortName("s.\"a.b\".c", 2), "\"a.b\".c");
}

}  // namespace
}  // namespace privacy_score
