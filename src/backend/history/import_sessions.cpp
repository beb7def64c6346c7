/*
 * import_sessions.cpp - see import_sessions.hpp.
 */
#include "backend/history/import_sessions.hpp"

#include "backend/catalog/subject_key.hpp"
#include "backend/history/import_writing.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/end_user.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/text/text_statements.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
}

namespace privacy_score {

namespace {

// Beyond this many distinct texts the memory of texts starts anew; abstractions stay.
constexpr std::size_t kMostTexts = 100000;
// Texts that are longer are not remembered.
constexpr std::size_t kShortText = 8192;
// What a statement takes until its session is written.
constexpr std::size_t kBytesOfEvent = 128;
// Beyond this many sessions nothing is known any more of their temporary tables.
constexpr std::size_t kMostSessions = 10000;

// Abstracts each text once a role, since what a role owns makes a difference, but those that have to do with temporary
// tables, which are another matter in each session.
ImportedText Abstracted(Import* import, const ImportedStatement& statement) {
  bool is_short = VARSIZE_ANY_EXHDR(statement.sql) <= kShortText;
  const char* key = is_short ? psprintf("%s\n%s", statement.role, text_to_cstring(statement.sql)) : "";
  bool known = false;
  ImportedText result;
  privacy_score::SessionTables* tables = nullptr;
  std::uint64_t changes = 0;
  CallCoreOrRaise([&] {
    if (import->texts.size() > kMostTexts) import->texts.clear();
    if (import->temporary.size() > kMostSessions) import->temporary.clear();
    tables = &import->temporary[statement.session];
    changes = tables->changes();
    is_short = is_short && !tables->MayBeNamedIn(key);
    const auto found = import->texts.find(key);
    known = is_short && found != import->texts.end();
    if (known) result = found->second;
  });
  if (known) return result;
  auto* constants = NewCoreObject<privacy_score::TextConstants>();
  constants->key = import->executions.key();
  CoreHolder<privacy_score::Tokens>* tokens = TokensOfText(statement.sql, get_role_oid(statement.role, true),
                                                           privacy_score::TextUse::kHistory, tables, constants);
  CallCoreOrRaise([&] {
    result.id = privacy_score::Fingerprint(*tokens->object);
    if (result.id != 0 && constants->known) result.number = import->executions.AddText(constants->found);
    if (is_short && tables->changes() == changes) import->texts.emplace(key, result);
    if (result.id != 0) import->tokens.emplace(result.id, *tokens->object);
  });
  return result;
}

// Gives back the memory of executions whose sessions were written.
void ForgetExecutions(Import* import) {
  std::vector<std::int64_t> kept;
  for (const privacy_score::Event& event : import->events.events()) kept.push_back(event.execution);
  for (const auto& text : import->texts) kept.push_back(text.second.number);
  const auto numbers = import->executions.KeepOnly(kept);
  for (privacy_score::Event& event : import->events.events())
    if (event.execution != 0) event.execution = numbers.at(event.execution);
  for (auto& text : import->texts)
    if (text.second.number != 0) text.second.number = numbers.at(text.second.number);
}

}  // namespace

void BeginImport(Import* import, bool streams) {
  const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
  const std::size_t most = static_cast<std::size_t>(maintenance_work_mem) * 1024 / kBytesOfEvent;
  const std::size_t events = streams ? most : std::numeric_limits<std::size_t>::max() / 2;
  CallCoreOrRaise([&] {
    *import = Import();
    import->executions = privacy_score::LoggedExecutions(SubjectKeyInForce().key);
    import->events = privacy_score::EventBuffer(gap, events, most / 4);
    import->full_at = streams ? most * kBytesOfEvent : std::numeric_limits<std::size_t>::max();
  });
  import->context = CurrentMemoryContext;
}

bool AddStatement(Import* import, const ImportedStatement& statement) {
  const char* end_user = CheckedName(statement.end_user);
  const bool over_all = end_user[0] != '\0' && IsOverAll(end_user);
  const int32 day = DayOf(statement.at);
  const ImportedText text = Abstracted(import, statement);
  CallCoreOrRaise([&] {
    // No session of a server is named like that.
    const std::string name = over_all ? std::string("end user ") + end_user : statement.session;
    const auto known =
        import->key_of_session.emplace(name + '\n' + end_user, static_cast<std::int64_t>(import->sessions.size()));
    if (known.second) import->sessions.push_back({&known.first->first, static_cast<std::uint32_t>(name.size())});
    if (text.id == 0) return;
    static const privacy_score::LoggedParameters none;
    const std::int64_t execution =
        import->executions.Add(text.number, statement.parameters == nullptr ? none : *statement.parameters);
    const auto rows = statement.rows < 0 ? std::nullopt : std::optional<std::int64_t>(statement.rows);
    import->events.Add({known.first->second, statement.role, statement.at, day, text.id, execution, rows});
    ++import->counted;
  });
  const bool is_large = import->executions.bytes() > import->full_at && import->events.is_in_order();
  if (is_large || import->events.is_full()) {
    WriteClosedSessions(import);
    CallCoreOrRaise([&] { ForgetExecutions(import); });
    import->full_at = Max(import->full_at, 2 * import->executions.bytes());
  }
  return text.id != 0;
}

}  // namespace privacy_score
