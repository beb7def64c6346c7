/*
 * settings.cpp - definition of the settings (see settings.hpp).
 */
#include "backend/server/settings.hpp"

extern "C" {
#include "access/parallel.h"
#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"
#include "utils/guc.h"
}

#include <climits>

#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "core/principal/end_user.hpp"
#include "core/principal/end_user_source.hpp"

namespace privacy_score {

Settings ps_settings;
uint64 ps_settings_changes = 0;
bool ps_answering_begins = false;

namespace {

const config_enum_entry kModes[] = {{"observe", static_cast<int>(WatchMode::kObserve), false},
                                    {"warn", static_cast<int>(WatchMode::kWarn), false},
                                    {"enforce", static_cast<int>(WatchMode::kEnforce), false},
                                    {"off", static_cast<int>(WatchMode::kOff), false},
                                    {nullptr, 0, false}};
const config_enum_entry kAlarmActions[] = {{"alert", static_cast<int>(AlarmAction::kAlert), false},
                                           {"warn", static_cast<int>(AlarmAction::kWarn), false},
                                           {"refuse", static_cast<int>(AlarmAction::kRefuse), false},
                                           {nullptr, 0, false}};
const config_enum_entry kAlertForms[] = {{"privacy_score", static_cast<int>(privacy_score::AlertForm::kOwn), false},
                                         {"ocsf", static_cast<int>(privacy_score::AlertForm::kOcsf), false},
                                         {"ecs", static_cast<int>(privacy_score::AlertForm::kEcs), false},
                                         {"cef", static_cast<int>(privacy_score::AlertForm::kCef), false},
                                         {nullptr, 0, false}};
const config_enum_entry kTracks[] = {{"all", static_cast<int>(TrackLevel::kAll), false},
                                     {"top", static_cast<int>(TrackLevel::kTop), false},
                                     {nullptr, 0, false}};
const config_enum_entry kPrincipals[] = {{"session_user", static_cast<int>(Principal::kSessionUser), false},
                                         {"current_user", static_cast<int>(Principal::kCurrentUser), false},
                                         {nullptr, 0, false}};
const config_enum_entry kAnswerNotices[] = {{"off", static_cast<int>(AnswerNotice::kOff), false},
                                            {"cost", static_cast<int>(AnswerNotice::kCost), false},
                                            {"full", static_cast<int>(AnswerNotice::kFull), false},
                                            {nullptr, 0, false}};
const config_enum_entry kScopes[] = {{"auto", static_cast<int>(SessionScope::kAuto), false},
                                     {"connection", static_cast<int>(SessionScope::kConnection), false},
                                     {"principal", static_cast<int>(SessionScope::kPrincipal), false},
                                     {nullptr, 0, false}};
const config_enum_entry kCountings[] = {{"set", static_cast<int>(privacy_score::ScoreSettings::kSet), false},
                                        {"multiset", static_cast<int>(privacy_score::ScoreSettings::kMultiset), false},
                                        {nullptr, 0, false}};
const config_enum_entry kCompares[] = {
    {"positionwise", static_cast<int>(privacy_score::ScoreSettings::kPositionwise), false},
    {"union", static_cast<int>(privacy_score::ScoreSettings::kUnion), false},
    {nullptr, 0, false}};

constexpr double kUnset = -1.0;
constexpr double kLargest = 1e12;

// Assign hooks.
void CountBoolChange(bool, void*) { ++ps_settings_changes; }
void CountIntChange(int, void*) { ++ps_settings_changes; }
void CountRealChange(double, void*) { ++ps_settings_changes; }
void CountTextChange(const char*, void*) { ++ps_settings_changes; }

// Whether a regular expression is valid, with one group; else the detail of the setting's error says what is wrong.
bool HasOneGroup(const char* pattern) {
  const auto length = static_cast<int>(strlen(pattern));
  auto* wide = static_cast<pg_wchar*>(palloc((static_cast<Size>(length) + 1) * sizeof(pg_wchar)));
  const int wide_length = pg_mb2wchar_with_len(pattern, wide, length);
  regex_t compiled;
  const int fault = pg_regcomp(&compiled, wide, static_cast<size_t>(wide_length), REG_ADVANCED, C_COLLATION_OID);
  pfree(wide);
  if (fault != REG_OKAY) {
    char message[100];
    pg_regerror(fault, &compiled, message, sizeof message);
    GUC_check_errdetail("\"%s\" is not a regular expression: %s.", pattern, message);
    return false;
  }
  const bool one = compiled.re_nsub == 1;
  pg_regfree(&compiled);
  if (!one) GUC_check_errdetail("\"%s\" does not have one group.", pattern);
  return one;
}

constexpr std::size_t kMostPatternBytes = 4096;

// Check hooks. Who is believed is decided when a statement runs, not when a setting is set.
bool IsSourceList(char** text, void**, GucSource) {
  CoreError error;
  char patterns[kMostPatternBytes];
  std::size_t used = 0;
  if (CallCore(&error, [&] {
        for (const privacy_score::EndUserSource& source : privacy_score::ParseEndUserSources(*text)) {
          if (source.kind != privacy_score::EndUserSource::Kind::kCommentPattern) continue;
          if (used + source.name.size() + 1 > sizeof patterns)
            throw privacy_score::InvalidValue("the patterns are too long");
          memcpy(patterns + used, source.name.c_str(), source.name.size() + 1);
          used += source.name.size() + 1;
        }
      })) {
    for (std::size_t at = 0; at < used; at += strlen(patterns + at) + 1)
      if (!HasOneGroup(patterns + at)) return false;
    return true;
  }
  GUC_check_errdetail("%s", error.message);
  return false;
}

bool IsEndUserName(char** name, void**, GucSource) {
  if (strlen(*name) <= privacy_score::kMostEndUserBytes) return true;
  GUC_check_errdetail("It has at most %zu bytes.", privacy_score::kMostEndUserBytes);
  return false;
}

void DefineEnum(const char* name, const char* summary, const char* detail, int* value, int initial,
                const config_enum_entry* options, GucContext context = PGC_SUSET) {
  DefineCustomEnumVariable(name, summary, detail, value, initial, options, context, 0, nullptr, CountIntChange,
                           nullptr);
}

void DefineBool(const char* name, const char* summary, const char* detail, bool* value, bool initial,
                GucContext context = PGC_SUSET) {
  DefineCustomBoolVariable(name, summary, detail, value, initial, context, 0, nullptr, CountBoolChange, nullptr);
}

void DefineInt(const char* name, const char* summary, const char* detail, int* value, int initial, int least,
               int greatest, GucContext context, int flags) {
  DefineCustomIntVariable(name, summary, detail, value, initial, least, greatest, context, flags, nullptr,
                          CountIntChange, nullptr);
}

void DefineText(const char* name, const char* summary, const char* detail, char** value, GucContext context,
                GucStringCheckHook check) {
  DefineCustomStringVariable(name, summary, detail, value, "", context, 0, check, CountTextChange, nullptr);
}

void DefineReal(const char* name, const char* summary, const char* detail, double* value, double initial, double least,
                double greatest, GucContext context = PGC_SUSET) {
  DefineCustomRealVariable(name, summary, detail, value, initial, least, greatest, context, 0, nullptr, CountRealChange,
                           nullptr);
}

void DefineWatching() {
  DefineEnum(
      "privacy_score.mode", "What happens to statements of watched roles.",
      "observe records and scores; warn also sends a warning when a limit is passed; enforce refuses statements that "
      "would pass one; off does nothing.",
      &ps_settings.mode, static_cast<int>(WatchMode::kObserve), kModes);
  DefineEnum("privacy_score.track", "Which statements count.",
             "all counts statements within functions too; top only those that the client sends.", &ps_settings.track,
             static_cast<int>(TrackLevel::kAll), kTracks);
  DefineEnum("privacy_score.principal", "Whose account a statement is charged to.",
             "session_user is the role that logged in, whatever SET ROLE says.", &ps_settings.principal,
             static_cast<int>(Principal::kSessionUser), kPrincipals);
  DefineBool("privacy_score.ignore_catalogs", "Leaves system catalogs out of abstractions.", nullptr,
             &ps_settings.ignore_catalogs, true);
  DefineInt("privacy_score.idle_gap", "A session is cut into two after this long without a statement.", nullptr,
            &ps_settings.idle_gap, 1800, 1, 7 * 86400, PGC_SUSET, GUC_UNIT_S);
  DefineInt("privacy_score.flush_interval", "How often the worker writes history.",
            "After a crash at most this much history is missing.", &ps_settings.flush_interval, 1000, 10, 3600 * 1000,
            PGC_SIGHUP, GUC_UNIT_MS);
  DefineInt("privacy_score.worker_stays", "How long the worker stays when no session is open any more.",
            "Short sessions that follow each other need not start one each. DROP DATABASE waits for it.",
            &ps_settings.worker_stays, 2000, 0, 3600 * 1000, PGC_SIGHUP, GUC_UNIT_MS);
  // Shared memory is only taken at start, and the server refuses to define such a setting later.
  ps_settings.max_memory = 64 * 1024;
  if (process_shared_preload_libraries_in_progress)
    DefineInt("privacy_score.max_memory", "Shared memory for sessions, history not yet written and models.",
              "When it is full, events are counted as dropped in stat_info.", &ps_settings.max_memory, 64 * 1024,
              2 * 1024, MAX_KILOBYTES, PGC_POSTMASTER, GUC_UNIT_KB);
  DefineInt("privacy_score.history_retention", "Days for which history is kept; 0 keeps it for ever.",
            "Baselines are not affected.", &ps_settings.history_retention, 0, 0, 36500, PGC_SIGHUP, 0);
  DefineInt("privacy_score.subject_key_period",
            "Days after which the key of the hashes of subjects is replaced, which ends what is known across sessions.",
            "0 keeps no key, and no figures of the subjects of a day.", &ps_settings.subject_key_period, 90, 0, 36500,
            PGC_SIGHUP, 0);
  DefineInt("privacy_score.max_rates", "Discrimination rates that the model which sessions are scored with may hold.",
            "Those of single columns, and those that were needed last. Every connection keeps a copy.",
            &ps_settings.max_rates, 10000, 100, 10000000, PGC_SIGHUP, 0);
  DefineInt("privacy_score.rate_refresh_threshold",
            "Modified rows of a relation, beside a share of its rows, before its rates are computed again.",
            "More than twice as many as the relation had at the time are always enough.",
            &ps_settings.rate_refresh_threshold, 50, 0, INT_MAX, PGC_SIGHUP, 0);
  DefineReal("privacy_score.rate_refresh_scale_factor",
             "Modified rows of a relation before its rates are computed again, as a share of its rows.",
             "rate_refresh_threshold is added.", &ps_settings.rate_refresh_scale_factor, 0.1, 0.0, 100.0, PGC_SIGHUP);
}

void DefineEndUsers() {
  DefineText(
      "privacy_score.end_user_source", "Where sessions of roles labelled gateway say who is asking.",
      "A list that is tried in order: setting NAME, setting NAME ->> KEY, application_name, comment KEY, comment "
      "/REGEX/, privacy_score.end_user. Empty: nowhere.",
      &ps_settings.end_user_source, PGC_SUSET, IsSourceList);
  DefineText("privacy_score.end_user", "The end user of what follows, where end_user_source names this setting.",
             "It is believed of roles labelled gateway.", &ps_settings.end_user, PGC_USERSET, IsEndUserName);
  DefineEnum("privacy_score.session_scope", "What a session is.",
             "connection: what one connection does for one principal; principal: what all connections do for it; auto: "
             "the latter where there is an end user.",
             &ps_settings.session_scope, static_cast<int>(SessionScope::kAuto), kScopes);
}

void DefineTextLimit() {
  DefineInt("privacy_score.text_limit", "SQL text that is longer counts as unparsed.",
            "What is shorter is read with at most 16 times work_mem for each step.", &ps_settings.text_limit, 1024, 1,
            MAX_KILOBYTES, PGC_SUSET, GUC_UNIT_KB);
}

// No SQL sets it, not even a superuser's: only BeginAnswering(), and a parallel worker that takes over what its leader
// has set.
bool MayAnswer(int* owner, void**, GucSource) {
  return *owner == 0 || ps_answering_begins || InitializingParallelWorker;
}

void DefineScoring() {
  const privacy_score::ScoreSettings defaults;
  DefineInt("privacy_score.ngram_length", "How many consecutive statements are compared at a time.", nullptr,
            &ps_settings.ngram_length, defaults.ngram_length, 1, privacy_score::kRecordedLength, PGC_SUSET, 0);
  DefineEnum("privacy_score.counting", "Whether a mismatched n-gram is paid once or each time it occurs.", nullptr,
             &ps_settings.counting, static_cast<int>(defaults.counting), kCountings);
  DefineEnum("privacy_score.compare", "How two n-grams are compared.",
             "positionwise sums over the positions; union compares all columns of the one with all of the other.",
             &ps_settings.compare, static_cast<int>(defaults.compare), kCompares);
  DefineBool("privacy_score.where_counts", "Counts columns in filters as revealed.", nullptr, &ps_settings.where_counts,
             defaults.where_counts);
  DefineBool("privacy_score.pad", "Pads a session in front, so that a short session still has n-grams.", nullptr,
             &ps_settings.pad, defaults.pad);
  DefineReal("privacy_score.alpha", "Share of the discrimination rate in the score; the rest is surprise.",
             "1 is the published score.", &ps_settings.alpha, defaults.alpha, 0.0, 1.0);
  DefineBool("privacy_score.identifiers_count", "Lets identifiers take part in discrimination rates of the score.",
             "on is the published score.", &ps_settings.identifiers_count, defaults.identifiers_count);
  DefineInt("privacy_score.aggregate_least",
            "Fewest subjects that an aggregate must be taken over to hide its columns; 0 lets it hide them always.",
            "By the rates, on the average over the cells that columns compared with constants and grouping make.",
            &ps_settings.aggregate_least, defaults.aggregate_least, 0, 1000000, PGC_SUSET, 0);
}

void DefineLimits() {
  DefineReal("privacy_score.session_limit", "Greatest score of a session; -1 for none.", nullptr,
             &ps_settings.session_limit, kUnset, kUnset, kLargest);
  DefineReal("privacy_score.daily_limit", "Greatest score of a role and day; -1 for none.", nullptr,
             &ps_settings.daily_limit, kUnset, kUnset, kLargest);
  DefineReal("privacy_score.normalised_limit", "Greatest normalised score of a session, from 0 to 1; -1 for none.",
             nullptr, &ps_settings.normalised_limit, kUnset, kUnset, 1.0);
  DefineReal("privacy_score.alert_level",
             "Rise of a session's score by one statement above which an alert is written; -1 for none.",
             "Independent of the limits.", &ps_settings.alert_level, kUnset, kUnset, kLargest);
  DefineReal(
      "privacy_score.reach_factor", "How many times the greatest reach of its baseline's sessions a session may have.",
      "Reach: distinct constants of one statement, distinct subjects, columns of one subject. Up to 9 nothing is "
      "said.",
      &ps_settings.reach_factor, 2.0, 0.0, kLargest);
  DefineReal("privacy_score.alarm_rate", "Share of normal sessions that may raise an alarm; 0 for no alarms.",
             "An alarm needs a baseline with recorded sessions, on which it is calibrated.", &ps_settings.alarm_rate,
             0.01, 0.0, 0.5, PGC_SIGHUP);
  DefineReal("privacy_score.expected_novelty",
             "Share of a role's statements that are to be expected to be new to its baseline.",
             "So many are withheld from the baseline when alarms are calibrated.", &ps_settings.expected_novelty, 0.1,
             0.0, 0.9, PGC_SIGHUP);
  DefineEnum("privacy_score.alarm_action", "What follows an alarm: alert, warn, refuse.",
             "Each writes an alert. warn: the client hears of it; refuse: what adds to it is refused as well.",
             &ps_settings.alarm_action, static_cast<int>(AlarmAction::kAlert), kAlarmActions);
  DefineEnum("privacy_score.alert_format", "How alerts stand in the server's log: privacy_score, ocsf, ecs, cef.",
             "privacy_score: key=value; the others are what collectors of logs read.", &ps_settings.alert_format,
             static_cast<int>(privacy_score::AlertForm::kOwn), kAlertForms, PGC_SIGHUP);
  DefineBool("privacy_score.four_eyes", "Has accept_alert() wait for a second person, who calls confirm_acceptance().",
             "Who has logged in counts, whatever role is set.", &ps_settings.four_eyes, false, PGC_SIGHUP);
  DefineInt("privacy_score.alert_window", "How long further alerts of one cause are counted on the first; 0 for never.",
            "A cause is a role, a kind of alert and an n-gram. An acknowledged alert takes in no further ones.",
            &ps_settings.alert_window, 3600, 0, 30 * 86400, PGC_SIGHUP, GUC_UNIT_S);
  DefineInt("privacy_score.baseline_min_sessions", "A baseline of fewer sessions raises an alert.", nullptr,
            &ps_settings.baseline_min_sessions, 10, 0, 1000000, PGC_SUSET, 0);
  DefineBool("privacy_score.break_glass", "Lets statements pass that would be refused, in an emergency.",
             "That it was needed is an alert.", &ps_settings.break_glass, false);
}

void DefinePublishing() {
  DefineInt("privacy_score.bucket_search_time",
            "How long the method optimal searches for the bucket setting of least loss.",
            "Then it takes the best that it has found, never worse than multi-size; gap says what is proved of it.",
            &ps_settings.bucket_search_time, 1000, 0, INT_MAX, PGC_USERSET, GUC_UNIT_MS);
}

// They count where a budget is granted, which its owner may do with any epsilon: whoever may grant may set them.
void DefineGranting() {
  DefineReal("privacy_score.dp_least_epsilon", "Least epsilon of a noisy question, for budgets that are granted now.",
             "The ledger has a row for every question that is charged.", &ps_settings.dp_least_epsilon, 0.001, 0.0,
             1000.0, PGC_USERSET);
  DefineInt("privacy_score.dp_work_mem", "Memory for sorting the rows of a noisy question, for budgets granted now.",
            "What does not fit goes to temporary files, as much for every question.", &ps_settings.dp_work_mem,
            64 * 1024, 64, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB);
}

// Plain SQL that is answered privately. Who asks chooses what an answer costs, out of a budget that is given.
void DefinePrivateSql() {
  DefineBool("privacy_score.dp_sql", "Answers plain SQL of roles labelled dp only that have a budget for persons.",
             "Off, such statements are refused.", &ps_settings.dp_sql, true, PGC_SUSET);
  DefineReal("privacy_score.dp_epsilon", "What a query in plain SQL spends of the budget for persons.",
             "Noise gets smaller as it grows.", &ps_settings.dp_epsilon, 0.1, 1e-12, 1000.0, PGC_USERSET);
  DefineReal("privacy_score.dp_max_epsilon", "The most that dp_epsilon may be.", nullptr, &ps_settings.dp_max_epsilon,
             1.0, 1e-12, 1000.0, PGC_SUSET);
  DefineReal("privacy_score.dp_delta", "What a query whose groups nobody has declared spends of delta.",
             "The probability that a group is shown which one person alone makes.", &ps_settings.dp_delta, 1e-6, 0.0,
             0.1, PGC_USERSET);
  DefineReal("privacy_score.dp_max_delta", "The most that dp_delta may be.",
             "Well below one over the number of persons.", &ps_settings.dp_max_delta, 1e-5, 0.0, 0.1, PGC_SUSET);
  DefineInt("privacy_score.dp_refresh_after", "Held answers that are older are asked again; 0 for never.",
            "What is asked again is paid again.", &ps_settings.dp_refresh_after, 0, 0, INT_MAX, PGC_USERSET,
            GUC_UNIT_S);
  DefineInt("privacy_score.dp_max_rows", "How many rows of a person count; 0 to find that out privately.",
            "What is said costs nothing; rows beyond it do not count.", &ps_settings.dp_max_rows, 0, 0, 1000000,
            PGC_USERSET, 0);
  DefineEnum("privacy_score.dp_notice", "What a client is told after an answer: off, cost, full.",
             "full adds how far each column may be off.", &ps_settings.dp_notice, static_cast<int>(AnswerNotice::kOff),
             kAnswerNotices, PGC_USERSET);
}

void DefineFleet() {
  // The process that collects is made at start, and the server refuses to define such a setting later.
  if (process_shared_preload_libraries_in_progress)
    DefineText("privacy_score.fleet_database", "The database that is the hub of a fleet of servers.",
               "A process of it collects from its members (fleet_add). Empty: this server is no hub.",
               &ps_settings.fleet_database, PGC_POSTMASTER, nullptr);
  DefineInt("privacy_score.fleet_interval", "How often a hub collects from each member.",
            "Scores of days are collected with every fifth time.", &ps_settings.fleet_interval, 2000, 100, 3600 * 1000,
            PGC_SIGHUP, GUC_UNIT_MS);
  DefineInt("privacy_score.fleet_timeout", "How long a hub waits for a member to answer.",
            "For the first answer, which has all days, ten times as long.", &ps_settings.fleet_timeout, 60 * 1000, 100,
            3600 * 1000, PGC_SIGHUP, GUC_UNIT_MS);
}

// For tests, which need not wait for what a server has minutes for.
void DefineDeveloping() {
  DefineInt("privacy_score.rate_check_interval", "How often the worker looks for rates that are out of date.",
            "For tests.", &ps_settings.rate_check_interval, 5000, 10, 3600 * 1000, PGC_SIGHUP,
            GUC_UNIT_MS | GUC_NOT_IN_SAMPLE);
  DefineInt("privacy_score.month_check_interval", "How often the worker looks at the tables of the months of history.",
            "For tests. One that could not be dropped is tried again after a sixth of it.",
            &ps_settings.month_check_interval, 60000, 10, 3600 * 1000, PGC_SIGHUP, GUC_UNIT_MS | GUC_NOT_IN_SAMPLE);
  DefineInt("privacy_score.rate_fault_pause", "How long a rate that could not be computed is not tried again.",
            "For tests.", &ps_settings.rate_fault_pause, 60000, 10, 3600 * 1000, PGC_SIGHUP,
            GUC_UNIT_MS | GUC_NOT_IN_SAMPLE);
  DefineInt("privacy_score.node_timeout", "How long another node of Citus may take to answer the background worker.",
            "A connection from it that waits to be confirmed waits a second longer.", &ps_settings.node_timeout, 3000,
            100, 3600 * 1000, PGC_SIGHUP, GUC_UNIT_MS);
  DefineInt("privacy_score.rate_patience", "How long the worker itself computes the rates of one relation.",
            "For tests.", &ps_settings.rate_patience, 500, 1, 3600 * 1000, PGC_SIGHUP, GUC_UNIT_MS | GUC_NOT_IN_SAMPLE);
  DefineInt("privacy_score.room_patience", "How long a new end user waits for the worker to make room.",
            "For tests. One who was here before waits two and a half times as long.", &ps_settings.room_patience, 2000,
            1, 3600 * 1000, PGC_SIGHUP, GUC_UNIT_MS | GUC_NOT_IN_SAMPLE);
}

}  // namespace

void DefineSettings() {
  DefineCustomIntVariable("privacy_score.answering", "Who has given the budget for which rows are being read.", nullptr,
                          &ps_settings.answering, 0, INT_MIN, INT_MAX, PGC_SUSET,
                          GUC_NO_SHOW_ALL | GUC_NO_RESET_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, MayAnswer,
                          nullptr, nullptr);
  DefineWatching();
  DefineEndUsers();
  DefineTextLimit();
  DefineScoring();
  DefineLimits();
  DefinePublishing();
  DefineGranting();
  DefinePrivateSql();
  DefineFleet();
  DefineDeveloping();
  MarkGUCPrefixReserved("privacy_score");
}

privacy_score::ScoreSettings ScoreSettingsInForce() {
  privacy_score::ScoreSettings settings;
  settings.ngram_length = ps_settings.ngram_length;
  settings.counting = static_cast<privacy_score::ScoreSettings::Counting>(ps_settings.counting);
  settings.compare = static_cast<privacy_score::ScoreSettings::Compare>(ps_settings.compare);
  settings.alpha = ps_settings.alpha;
  settings.where_counts = ps_settings.where_counts;
  settings.pad = ps_settings.pad;
  settings.identifiers_count = ps_settings.identifiers_count;
  settings.aggregate_least = ps_settings.aggregate_least;
  return settings;
}

}  // namespace privacy_score
