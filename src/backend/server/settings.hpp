/*
 * settings.hpp - the settings privacy_score.*, as one struct.
 *
 * Everything that weakens protection is PGC_SUSET: a superuser sets it for the server, a database or a role
 * (ALTER ROLE ... SET), the watched role cannot change it.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include "core/report/alert_event.hpp"
#include "core/scoring/ngram.hpp"
#include "core/scoring/score_settings.hpp"

namespace privacy_score {

enum class WatchMode : int { kObserve, kWarn, kEnforce, kOff };
enum class AlarmAction : int { kAlert, kWarn, kRefuse };
enum class TrackLevel : int { kAll, kTop };
enum class Principal : int { kSessionUser, kCurrentUser };
enum class AnswerNotice : int { kOff, kCost, kFull };
enum class SessionScope : int { kAuto, kConnection, kPrincipal };

// The values in force; a limit below zero is not set.
struct Settings {
  int mode;               // WatchMode
  int track;              // TrackLevel
  int principal;          // Principal
  int session_scope;      // SessionScope
  char* end_user_source;  // core/principal/end_user_source.hpp
  char* end_user;         // one of the places that it may name
  int ngram_length;
  int counting;  // privacy_score::ScoreSettings::Counting
  int compare;   // privacy_score::ScoreSettings::Compare
  bool where_counts;
  bool pad;
  double alpha;
  bool identifiers_count;
  int aggregate_least;  // subjects, 0 = aggregates hide whatever they are taken over
  int idle_gap;         // seconds
  double session_limit;
  double daily_limit;
  double normalised_limit;
  double alert_level;
  double reach_factor;
  bool four_eyes;     // what is accepted of alerts waits for a second person
  double alarm_rate;  // share of normal sessions that may raise an alarm, 0 = none is raised
  double expected_novelty;
  int alarm_action;           // AlarmAction
  int alert_format;           // privacy_score::AlertForm
  int alert_window;           // seconds, 0 = every alert is one
  int baseline_min_sessions;  // fewer are worth an alert
  bool break_glass;
  int flush_interval;      // milliseconds
  int worker_stays;        // milliseconds
  int max_memory;          // kilobytes
  int history_retention;   // days, 0 = for ever
  int subject_key_period;  // days, 0 = no key
  int max_rates;           // of a model that backends score with
  bool ignore_catalogs;
  int rate_refresh_threshold;        // rows
  double rate_refresh_scale_factor;  // share of the rows
  int bucket_search_time;            // milliseconds
  double dp_least_epsilon;           // of budgets that are granted now
  int dp_work_mem;                   // kilobytes, likewise
  bool dp_sql;                       // plain SQL is answered privately
  double dp_epsilon;                 // of a query in plain SQL
  double dp_max_epsilon;             // that it may be
  double dp_delta;                   // of its groups that nobody has declared
  double dp_max_delta;               // that it may be
  int dp_refresh_after;              // seconds, 0 = held answers are given whatever their age
  int dp_max_rows;                   // of a person that count, 0 = as the data says
  int dp_notice;                     // AnswerNotice
  char* fleet_database;              // null without preload
  int fleet_interval;                // milliseconds
  int fleet_timeout;                 // milliseconds
  int text_limit;                    // kilobytes
  int rate_check_interval;           // milliseconds; this and those down to room_patience are for tests
  int month_check_interval;          // milliseconds
  int rate_fault_pause;              // milliseconds
  int rate_patience;                 // milliseconds
  int node_timeout;                  // milliseconds
  int room_patience;                 // milliseconds
  int answering;                     // an Oid: see noisy_answer_reads.hpp; 0 = no
};

extern Settings ps_settings;

// How often a setting was given a value, so that what follows from settings is known to stand.
extern uint64 ps_settings_changes;

// Whether the setting `answering` may be set now.
extern bool ps_answering_begins;

// Defines all settings and reserves the prefix. Called once from _PG_init.
void DefineSettings();

// What core needs to score, from the settings in force.
privacy_score::ScoreSettings ScoreSettingsInForce();

inline privacy_score::AlertForm AlertFormInForce() {
  return static_cast<privacy_score::AlertForm>(ps_settings.alert_format);
}
inline AlarmAction AlarmActionInForce() { return static_cast<AlarmAction>(ps_settings.alarm_action); }
inline WatchMode ModeInForce() { return static_cast<WatchMode>(ps_settings.mode); }

}  // namespace privacy_score
