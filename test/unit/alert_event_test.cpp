/*
 * alert_event_test.cpp - alerts in the forms of others hold what these require, whatever names hold.
 */
#include "core/report/alert_event.hpp"

#include <gtest/gtest.h>

#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <sstream>

namespace privacy_score {
namespace {

using boost::property_tree::ptree;

AlertEvent Example() {
  AlertEvent event;
  event.uid = "clinic/7";
  event.kind = "session";
  event.severity = "critical";
  event.role = "ann";
  event.session = "6b01.4d";
  event.database = "clinic";
  event.version = "0.2";
  event.first = {1767323045678, "2026-01-02T03:04:05.678901Z"};
  event.last = {1767326400000, "2026-01-02T04:00:00.000000Z"};
  event.occurrences = 3;
  event.score = 2.5;
  event.limit = 1;
  event.blocked = true;
  event.detail = R"({"version": 1, "attributes": ["t.a", "t.b"]})";
  return event;
}

ptree Json(AlertForm form, const AlertEvent& event) {
  std::istringstream text(AlertEventText(form, event));
  ptree tree;
  boost::property_tree::read_json(text, tree);
  return tree;
}

TEST(AlertEvent, FormsByName) {
  EXPECT_EQ(AlertFormOf("ocsf"), AlertForm::kOcsf);
  EXPECT_EQ(AlertFormOf("ecs"), AlertForm::kEcs);
  EXPECT_EQ(AlertFormOf("cef"), AlertForm::kCef);
  for (const char* name : {"", "OCSF", "xml", "privacy_score"}) EXPECT_EQ(AlertFormOf(name), std::nullopt) << name;
}

// What OCSF 1.3.0 requires of a Detection Finding and of the objects in it.
TEST(AlertEvent, OcsfHasWhatItsSchemaRequires) {
  const ptree json = Json(AlertForm::kOcsf, Example());
  for (const char* key : {"activity_id", "category_uid", "class_uid", "finding_info.title", "finding_info.uid",
                          "metadata.product.vendor_name", "metadata.version", "severity_id", "time", "type_uid",
                          "action_id", "status_id"})
    EXPECT_TRUE(json.get_optional<std::string>(key)) << key;
  EXPECT_EQ(json.get<int>("type_uid"), json.get<int>("class_uid") * 100 + json.get<int>("activity_id"));
  EXPECT_EQ(json.get<std::int64_t>("time"), 1767326400000);
  EXPECT_EQ(json.get<int>("action_id"), 2);
  EXPECT_EQ(json.get<int>("severity_id"), 5);
  EXPECT_EQ(json.get_child("evidences..data.attributes").front().second.data(), "t.a");
  EXPECT_FALSE(json.get_child_optional("evidences..src_endpoint"));
  AlertEvent event = Example();
  event.acknowledged_by = "officer";
  event.blocked = false;
  event.address = "10.0.0.7";
  event.tls = true;
  const ptree other = Json(AlertForm::kOcsf, event);
  EXPECT_EQ(other.get<int>("type_uid"), 200402);
  EXPECT_EQ(other.get<std::string>("status"), "In Progress");
  EXPECT_EQ(other.get<std::string>("evidences..src_endpoint.ip"), "10.0.0.7");
  EXPECT_EQ(other.get<std::string>("unmapped.tls"), "true");
  EXPECT_EQ(other.get<std::string>("unmapped.acknowledged_by"), "officer");
}

TEST(AlertEvent, EcsHasWhatItsSchemaRequires) {
  AlertEvent event = Example();
  event.address = "::1";
  event.program = "psql";
  const ptree json = Json(AlertForm::kEcs, event);
  EXPECT_EQ(json.get<std::string>("@timestamp"), "2026-01-02T04:00:00.000000Z");
  EXPECT_EQ(json.get<std::string>("ecs.version"), "8.11.0");
  EXPECT_EQ(json.get<std::string>("event.kind"), "alert");
  EXPECT_EQ(json.get<std::string>("event.outcome"), "failure");
  EXPECT_EQ(json.get<std::string>("source.ip"), "::1");
  EXPECT_EQ(json.get<std::string>("privacy_score.application_name"), "psql");
  EXPECT_EQ(json.get_child("event.type").front().second.data(), "access");
  event.kind = "baseline_small";
  EXPECT_EQ(Json(AlertForm::kEcs, event).get_child("event.type").front().second.data(), "info");
}

TEST(AlertEvent, CefIsALine) {
  AlertEvent event = Example();
  EXPECT_EQ(AlertEventText(AlertForm::kCef, event),
            "CEF:0|privacy_score|privacy_score|0.2|session|A session passed its privacy limit|9|rt=1767326400000 "
            "start=1767323045678 end=1767326400000 cnt=3 externalId=clinic/7 suser=ann act=refused cfp1Label=score "
            "cfp1=2.5 cfp2Label=limit cfp2=1 cs1Label=session cs1=6b01.4d cs2Label=database cs2=clinic "
            "cs3Label=attributes cs3=[\"t.a\", \"t.b\"] msg=A session passed its privacy limit");
  event.end_user = "mary";
  event.program = "psql";
  event.address = "10.0.0.7";
  EXPECT_NE(AlertEventText(AlertForm::kCef, event)
                .find(" cs4Label=end user cs4=mary cs5Label=application cs5=psql src=10.0.0.7"),
            std::string::npos);
  event.address = "fe80::1";
  EXPECT_NE(AlertEventText(AlertForm::kCef, event).find(" c6a2Label=Source IPv6 Address c6a2=fe80::1"),
            std::string::npos);
}

// A name can end no field and no line.
TEST(AlertEvent, NamesAreValues) {
  AlertEvent event = Example();
  event.role = "a|b=c\\d\"e\nact=reported\r\x01";
  event.end_user = event.role;
  event.program = event.role;
  event.session = "\"}, {\"";
  for (const AlertForm form : {AlertForm::kOcsf, AlertForm::kEcs, AlertForm::kCef}) {
    const std::string text = AlertEventText(form, event);
    for (const char c : text) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << text;
  }
  EXPECT_NE(AlertEventText(AlertForm::kCef, event).find("suser=a|b\\=c\\\\d\"e\\nact\\=reported\\n  act=refused"),
            std::string::npos);
  const ptree json = Json(AlertForm::kOcsf, event);
  EXPECT_EQ(json.get<std::string>("evidences..actor.user.name"), event.role);
  EXPECT_EQ(json.get<std::string>("evidences..actor.session.uid"), event.session);
}

}  // namespace
}  // namespace privacy_score
