/*
 * end_user.cpp - see end_user.hpp.
 */
#include "backend/state/end_user.hpp"

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_collation.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
}

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/label_names.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/watching.hpp"
#include "core/base/characters.hpp"
#include "core/base/json_field.hpp"
#include "core/principal/comments.hpp"
#include "core/principal/end_user.hpp"
#include "core/principal/end_user_source.hpp"

namespace privacy_score {

using privacy_score::EndUserSource;

namespace {

// Of comments longer than that a pattern searches the beginning, and what it finds there is no name.
constexpr std::size_t kMostSearched = 4096;

// A source and what it said last.
struct Source {
  EndUserSource named;
  std::string raw;   // of a setting: its value then
  std::string name;  // what was found in it
};

struct Sources {
  std::vector<Source> list;
  bool any_comment = false;
  std::string found;  // what EndUserNow() gives
};

Sources* sources = nullptr;
uint64 parsed_after = 0;  // the number of the change of settings
std::string* parsed_text = nullptr;

// Reads the list again when it has changed. Within CallCore.
void ReadList() {
  if (sources == nullptr) sources = new Sources();
  if (parsed_text == nullptr) parsed_text = new std::string();
  if (*parsed_text == ps_settings.end_user_source) return;
  Sources fresh;
  for (EndUserSource& named : privacy_score::ParseEndUserSources(ps_settings.end_user_source)) {
    fresh.any_comment |=
        named.kind == EndUserSource::Kind::kCommentTag || named.kind == EndUserSource::Kind::kCommentPattern;
    fresh.list.push_back({std::move(named), {}, {}});
  }
  *sources = std::move(fresh);
  *parsed_text = ps_settings.end_user_source;
}

// The list in force; null when it is empty.
Sources* SourcesInForce() {
  if (ps_settings.end_user_source == nullptr || ps_settings.end_user_source[0] == '\0') return nullptr;
  if (sources != nullptr && parsed_after == ps_settings_changes) return sources;
  CoreError error;
  if (!CallCore(&error, ReadList)) {
    CountScoringError(error.message);
    return nullptr;
  }
  parsed_after = ps_settings_changes;
  return sources;
}

bool IsComment(const Source& source) {
  return source.named.kind == EndUserSource::Kind::kCommentTag ||
         source.named.kind == EndUserSource::Kind::kCommentPattern;
}

// What a setting, or application_name, says now; null for nothing.
const char* ValueOf(const Source& source) {
  if (source.named.kind == EndUserSource::Kind::kApplicationName) return application_name;
  if (source.named.name == "privacy_score.end_user") return ps_settings.end_user;
  return GetConfigOption(source.named.name.c_str(), true, false);
}

// Looks at a source that is no comment. Within CallCore.
void LookAtSource(Source& source, const char* value) {
  if (value == nullptr) value = "";
  if (source.raw == value) return;
  source.name = source.named.key.empty() ? std::string(value)
                                         : privacy_score::JsonField(value, source.named.key).value_or(std::string());
  source.raw = value;
}

// What the only group of a pattern matches in a comment, palloc'd; null when it does not match.
const char* MatchOf(const std::string& pattern, std::string_view comment) {
  if (comment.empty()) return nullptr;
  const bool whole = comment.size() <= kMostSearched;
  if (!whole)
    comment = comment.substr(0, static_cast<std::size_t>(pg_mbcliplen(comment.data(), static_cast<int>(comment.size()),
                                                                      static_cast<int>(kMostSearched))));
  LOCAL_FCINFO(call, 2);
  FmgrInfo function;
  fmgr_info(F_SUBSTRING_TEXT_TEXT, &function);
  InitFunctionCallInfoData(*call, &function, 2, C_COLLATION_OID, nullptr, nullptr);
  call->args[0] = {PointerGetDatum(cstring_to_text_with_len(comment.data(), static_cast<int>(comment.size()))), false};
  call->args[1] = {PointerGetDatum(cstring_to_text_with_len(pattern.data(), static_cast<int>(pattern.size()))), false};
  const Datum match = FunctionCallInvoke(call);
  if (call->isnull) return nullptr;
  return whole ? TextDatumGetCString(match) : kInvalidEndUser.data();
}

// What a pattern finds in the outer comments of a statement, palloc'd; null for nothing. Two names are none: one of
// them may be what somebody has put before the application's.
const char* NameByPattern(const std::string& pattern, const char* text) {
  const privacy_score::OuterComments comments = privacy_score::OuterCommentsOf(text);
  const char* first = MatchOf(pattern, comments.first);
  const char* last = MatchOf(pattern, comments.last);
  if (first != nullptr && last != nullptr && strcmp(first, last) != 0) return privacy_score::kInvalidEndUser.data();
  return first != nullptr ? first : last;
}

const char* executed_text = nullptr;

// Whether the client has sent the text. What functions run has a text of its own, also where no statement stands above
// it: in triggers at COMMIT, in the arguments of EXECUTE, in defaults that ALTER TABLE fills in.
bool IsOfClient(const char* text) {
  if (text == nullptr) return false;  // what a library plans need not have one
  if (debug_query_string != nullptr && (text == debug_query_string || strcmp(text, debug_query_string) == 0))
    return true;
  return executed_text != nullptr && strcmp(text, executed_text) == 0;
}

// The name as UTF-8, in which it is checked.
const char* AsUtf8(const char* name) {
  if (GetDatabaseEncoding() == PG_UTF8) return name;
  return reinterpret_cast<const char*>(
      pg_do_encoding_conversion(reinterpret_cast<unsigned char*>(const_cast<char*>(name)),
                                static_cast<int>(strlen(name)), GetDatabaseEncoding(), PG_UTF8));
}

}  // namespace

char* CheckedName(const char* name) {
  const char* utf8 = AsUtf8(name);
  std::string_view checked = privacy_score::CheckedEndUser(utf8);
  if (utf8 != name && !checked.empty() && checked != privacy_score::kInvalidEndUser) {
    // In another encoding it may be longer than it was when it was checked.
    checked = privacy_score::WithoutOuterSpace(name);
    if (checked.size() > privacy_score::kMostEndUserBytes) checked = privacy_score::kInvalidEndUser;
  }
  return pnstrdup(checked.data(), checked.size());
}

bool SpeaksForOthers() {
  static struct {
    Oid role;
    uint64 labels_version;
    TimestampTz looked_at;
    bool gateway;
  } last = {};
  if (ps_shared == nullptr || ps_settings.end_user_source == nullptr || ps_settings.end_user_source[0] == '\0')
    return false;
  const Oid role = GetSessionUserId();
  const uint64 labels = pg_atomic_read_u64(&ps_shared->role_labels_version);
  // Replicated labels are not announced on a standby.
  const TimestampTz now = GetCurrentStatementStartTimestamp();
  const bool outdated = now - last.looked_at > 2 * USECS_PER_SEC && RecoveryInProgress();
  if (last.role == role && last.labels_version == labels && !outdated) return last.gateway;
  if (!IsTransactionState()) return false;
  const char* label = LabelOfRole(role);
  last = {role, labels, now, label != nullptr && strcmp(label, kGatewayLabel) == 0};
  return last.gateway;
}

bool NoteStatementText(const char* text) {
  if (!SpeaksForOthers()) return false;
  Sources* at = SourcesInForce();
  if (at == nullptr || !at->any_comment || !IsOfClient(text)) return false;
  CoreError error;
  for (Source& source : at->list) {
    if (!IsComment(source)) continue;
    const char* match = nullptr;
    const bool by_pattern = source.named.kind == EndUserSource::Kind::kCommentPattern;
    if (by_pattern && standard_conforming_strings) match = NameByPattern(source.named.name, text);
    const bool done = CallCore(&error, [&] {
      source.name.clear();
      if (by_pattern)
        source.name = match == nullptr ? "" : match;
      else if (standard_conforming_strings)
        source.name = privacy_score::CommentTag(text, source.named.name).value_or(std::string());
    });
    if (!done) CountScoringError(error.message);
  }
  return true;
}

const char* NoteExecutedText(const char* text) { return std::exchange(executed_text, text); }

EndUser EndUserNow() {
  Sources* at = SourcesInForce();
  if (at == nullptr) return {"", EndUserFault::kNone};
  const bool believed = SpeaksForOthers();
  bool failed = false;
  for (Source& source : at->list) {
    CoreError error;
    bool says = !source.name.empty();
    if (!IsComment(source)) {
      // Every connection has an application_name: that one is given says nothing of whom it speaks for.
      if (!believed && source.named.kind == EndUserSource::Kind::kApplicationName) continue;
      const char* value = ValueOf(source);
      if (!CallCore(&error, [&] {
            LookAtSource(source, value);
            says = !source.name.empty();
          })) {
        CountScoringError(error.message);
        failed = true;
      }
    } else if (!believed) {
      continue;
    }
    if (failed) break;
    if (!says) continue;
    if (!believed) return {"", EndUserFault::kIgnored};
    char* checked = CheckedName(source.name.c_str());
    const bool kept = CallCore(&error, [&] { at->found = checked; });
    pfree(checked);
    if (!kept) {
      CountScoringError(error.message);
      failed = true;
      break;
    }
    if (at->found.empty()) continue;
    const bool invalid = at->found == privacy_score::kInvalidEndUser;
    return {at->found.c_str(), invalid ? EndUserFault::kInvalid : EndUserFault::kNone};
  }
  if (failed && believed) return {"(invalid)", EndUserFault::kInvalid};
  return {"", EndUserFault::kNone};
}

}  // namespace privacy_score
