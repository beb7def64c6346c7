/*
 * model_sections.hpp - the sections that a model is read from, in their order, and those of a history behind it.
 */
#pragma once

#include "core/base/wire_section.hpp"

namespace privacy_score {

WIRE_SECTION(RelationSection, kName, kSubjectGroup, kIsRowSubject, kJointHome);
WIRE_SECTION(AttributeSection, kName, kRelationName, kLabel, kIdentifier, kSubjectPosition);
WIRE_SECTION(DependencySection, kDeterminant, kDependent);
// Abstractions: a row a token.
WIRE_SECTION(TokenSection, kId, kToken);
// The figures of reach stand side by side, in the order of kReachFigureNames.
WIRE_SECTION(BaselineSection, kId, kRole, kSessions, kReach, kSubjects, kSubjectColumns, kCells, kDayReach,
             kDaySubjects, kDaySubjectColumns, kEndUser);
// How the n-grams of baselines are read, and what a model has of them: ngram_table.hpp.
WIRE_SECTION(BaselineNGramSection, kBaselineId, kNgram, kCount);
WIRE_SECTION(PackedNGramSection, kBaselineId, kTable);
WIRE_SECTION(BaselineSessionSection, kBaselineId, kCount, kIds);
WIRE_SECTION(LimitSection, kRole, kEndUser, kSessionLimit, kDailyLimit);
// An n-gram, or a figure of reach and how far it may go.
WIRE_SECTION(AcceptedSection, kRole, kEndUser, kNgram, kFigure, kHeight);
WIRE_SECTION(RateSection, kRelationName, kAttributes, kRate, kRows, kSubjectEntropy, kModified);

// Behind a model that was published: in how many sessions of a baseline each attribute is revealed, under the settings
// that decide it. Attributes by their number in the model.
WIRE_SECTION(RevealingSection, kBaselineId, kWhereCounts, kAggregateLeast, kExact, kAttributes, kCounts);
// Behind that, one row: the rates in bytes of the machine (packed_rates.hpp).
WIRE_SECTION(PackedRateSection, kRelations, kJoins, kSubjectEntropies);

// One row.
WIRE_SECTION(SettingsSection, kNgramLength, kCounting, kCompare, kAlpha, kWhereCounts, kPad, kIdentifiersCount,
             kAggregateLeast);
// A row a part of a session; the figures of reach as above.
WIRE_SECTION(SessionSection, kId, kRole, kDay, kSession, kIds, kRuns, kRows, kReach, kSubjects, kSubjectColumns,
             kEndUser);
// Scores of days as they are kept: figures as in KeptFigure (kept_days.hpp), then the n-grams that add to the score.
WIRE_SECTION(KeptDaySection, kRole, kEndUser, kDay, kQueries, kNgrams, kMismatched, kScore, kMaxScore, kTightMax,
             kNormalised, kStatementScore, kRows, kEnforced, kPeerScore, kIds, kCounts, kScores);
// The sessions of a day, with the statements that each has had; parts of sessions.
WIRE_SECTION(DaySessionSection, kId, kQueries);
WIRE_SECTION(SessionPartSection, kSessionId, kPart, kIds, kRuns);
// What is executed: abstractions, and how often each.
WIRE_SECTION(RunSection, kIds, kRuns);

}  // namespace privacy_score
