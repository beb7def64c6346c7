/*
 * log_functions.cpp - import_log(): history straight from the files of a server's log.
 *
 * Files are read in pieces and records are parsed in core (core/logs), so that memory does not grow with the log but by
 * the statements that it has. What is no record, or no text of the database's encoding, is counted and left out.
 */
#include "backend/history/import_sessions.hpp"
#include "backend/history/import_writing.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/guarded.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/watching.hpp"

extern "C" {
#include <glob.h>
#include <sys/stat.h>

#include "catalog/pg_authid.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "postmaster/syslogger.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
}

#include "core/logs/log_records.hpp"
#include "core/logs/logged_statement.hpp"
#include "sqlparse/constants.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_import_log);
}

namespace {

using privacy_score::LogFormat;
using privacy_score::LogRecord;
using privacy_score::LogRecords;

constexpr size_t kPiece = 1 << 18;

// What one file has come to.
struct FileCounts {
  int64 records, statements, imported, elsewhere, unwatched, strange, first_strange;
};

// What goes on over all files.
struct LogImport {
  Import import;
  privacy_score::LoggedStatements statements;
  std::unordered_map<std::string, bool> watched;                  // by role
  std::unordered_map<std::string, std::optional<int64>> moments;  // by date, hour and zone
};

// What is read of one file.
struct LogFile {
  std::optional<LogRecords> records;
  LogRecord record;
  std::optional<privacy_score::LoggedStatement> statement;
};

void RequireMayReadFiles() {
  if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to read the server's files"),
                    errhint("Members of pg_read_server_files may, who were granted EXECUTE on import_log().")));
}

// The names that a pattern stands for, in their order; beside log_directory when it is not absolute.
List* FilesOf(const char* path) {
  char* pattern = pstrdup(path);
  if (!is_absolute_path(path))
    pattern = is_absolute_path(Log_directory) ? psprintf("%s/%s", Log_directory, path)
                                              : psprintf("%s/%s/%s", DataDir, Log_directory, path);
  glob_t found;
  List* files = NIL;
  const int status = glob(pattern, 0, nullptr, &found);
  for (size_t i = 0; status == 0 && i < found.gl_pathc; ++i) files = lappend(files, pstrdup(found.gl_pathv[i]));
  if (status == 0) globfree(&found);
  if (files == NIL)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FILE), errmsg("there is no file \"%s\"", pattern),
                    errhint("A path that is not absolute is taken from log_directory; * and ? stand for any part of a "
                            "name: 'postgresql-*.csv'.")));
  return files;
}

bool HasEnding(const char* name, const char* ending) {
  const size_t length = strlen(name);
  return length > strlen(ending) && strcmp(name + length - strlen(ending), ending) == 0;
}

// By the name, as the server ends them.
const char* FormatByName(const char* file) {
  if (HasEnding(file, ".csv")) return "csvlog";
  return HasEnding(file, ".json") ? "jsonlog" : "stderr";
}

// Whether what the role does is watched, of roles that exist; what others did is history, too.
bool IsWatched(LogImport* log, const std::string* name) {
  bool known = false;
  bool watched = true;
  CallCoreOrRaise([&] {
    const auto found = log->watched.find(*name);
    known = found != log->watched.end();
    if (known) watched = found->second;
  });
  if (known) return watched;
  const Oid role = get_role_oid(name->c_str(), true);
  const char* reason;
  watched = !OidIsValid(role) || Counts(ClassOfRole(role, &reason));
  CallCoreOrRaise([&] { log->watched.emplace(*name, watched); });
  return watched;
}

// The server's own reading of a time, of which it makes an error where it does not know the zone.
std::optional<int64> ParseMoment(const char* text) {
  TimestampTz moment = 0;
  ErrorData* error = InSubtransaction([&] {
    moment = DatumGetTimestampTz(
        DirectFunctionCall3(timestamptz_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
  });
  if (error != nullptr || TIMESTAMP_NOT_FINITE(moment)) return std::nullopt;
  return moment;
}

// When a record was written; nothing when that cannot be told. Zones change on the hour, or at half past: what is
// behind "2026-11-27 07:0" is added to a moment that is known.
std::optional<int64> MomentOf(LogImport* log, const std::string* at) {
  constexpr size_t kBeforeMinute = sizeof("2026-11-27 07:0") - 1;
  constexpr size_t kSeconds = sizeof("2026-11-27 07:05:47") - 1;
  const char* text = at->c_str();
  if (strchr(text, '-') == nullptr) {
    char* end = nullptr;
    const double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0 && seconds < 1e11)) return std::nullopt;
    return static_cast<int64>(rint(seconds * USECS_PER_SEC)) -
           static_cast<int64>(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
  }
  int minute = 0;
  int second = 0;
  int used = 0;
  if (at->size() <= kSeconds || sscanf(text + kBeforeMinute, "%1d:%2d%n", &minute, &second, &used) != 2 || used != 4 ||
      second > 59)
    return std::nullopt;
  char* zone = nullptr;
  const double fraction = text[kSeconds] == '.' ? strtod(text + kSeconds, &zone) : 0;
  if (!(fraction >= 0 && fraction < 1)) return std::nullopt;
  if (zone == nullptr) zone = const_cast<char*>(text + kSeconds);
  const char* key = psprintf("%.*s0:00%s", static_cast<int>(kBeforeMinute), text, zone);
  std::optional<int64> base;
  bool known = false;
  CallCoreOrRaise([&] {
    const auto found = log->moments.find(key);
    known = found != log->moments.end();
    if (known) base = found->second;
  });
  if (!known) {
    base = ParseMoment(key);
    CallCoreOrRaise([&] { log->moments.emplace(key, base); });
  }
  if (!base) return std::nullopt;
  return *base + (minute * SECS_PER_MINUTE + second) * USECS_PER_SEC +
         static_cast<int64>(rint(fraction * USECS_PER_SEC));
}

bool IsText(const std::string* text) {
  return pg_verify_mbstr(GetDatabaseEncoding(), text->data(), static_cast<int>(text->size()), true) &&
         text->find('\0') == std::string::npos;
}

// Takes in one record that was understood. False when it is not, after all.
bool AddRecord(LogImport* log, LogFile* file, const char* database, FileCounts* counts) {
  const LogRecord* record = &file->record;
  CallCoreOrRaise([&] { file->statement = log->statements.Of(*record); });
  if (!file->statement) return true;
  ++counts->statements;
  if (!record->database.empty() && record->database != database) {
    ++counts->elsewhere;
    return true;
  }
  const std::optional<int64> at = MomentOf(log, &record->at);
  if (!at || record->role.empty() || record->role.size() >= NAMEDATALEN || record->session.empty() ||
      !IsText(&file->statement->sql) || !IsText(&record->role) || !IsText(&record->session))
    return false;
  if (!IsWatched(log, &record->role)) {
    ++counts->unwatched;
    return true;
  }
  privacy_score::LoggedStatement* logged = &*file->statement;
  if (!logged->execute.empty())
    CallCoreOrRaise([&] { logged->parameters = privacy_score::ParametersOfExecute(logged->execute); });
  ImportedStatement statement;
  statement.session = record->session.c_str();
  statement.role = record->role.c_str();
  statement.at = *at;
  statement.sql = cstring_to_text_with_len(logged->sql.data(), static_cast<int>(logged->sql.size()));
  statement.parameters = &logged->parameters;
  statement.rows = logged->rows.value_or(-1);
  if (AddStatement(&log->import, statement)) ++counts->imported;
  return true;
}

// Takes in all whole records that are there.
void AddRecords(LogImport* log, LogFile* file, const char* database, FileCounts* counts, MemoryContext scratch) {
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    LogRecords::State state = LogRecords::State::kMore;
    CallCoreOrRaise([&] { state = file->records->Next(&file->record); });
    if (state == LogRecords::State::kMore) return;
    ++counts->records;
    MemoryContext old = MemoryContextSwitchTo(scratch);
    const bool good = state == LogRecords::State::kRecord && AddRecord(log, file, database, counts);
    MemoryContextSwitchTo(old);
    MemoryContextReset(scratch);
    if (good) continue;
    ++counts->strange;
    if (counts->first_strange == 0) counts->first_strange = counts->records;
  }
}

// By what gzip, xz and zstd begin with.
bool IsCompressed(const char* bytes, size_t size) {
  return size > 4 && (memcmp(bytes, "\x1f\x8b", 2) == 0 ||
                      memcmp(bytes,
                             "\xfd"
                             "7zXZ",
                             5) == 0 ||
                      memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0);
}

// Whether there are bytes to be read to an end. Opening a pipe would wait for whoever writes to it.
bool IsOrdinaryFile(const char* name) {
  struct stat status;
  return stat(name, &status) != 0 || S_ISREG(status.st_mode);  // what is not there is told when it is opened
}

FileCounts ReadFile(LogImport* log, const char* name, const char* format, const char* line_prefix, const char* database,
                    uint64* done, uint64 total) {
  FileCounts counts = {};
  if (!IsOrdinaryFile(name)) {
    ereport(WARNING, (errmsg("left out \"%s\", which is no ordinary file", name),
                      errhint("Name files, or a pattern such as 'postgresql-*.csv'.")));
    return counts;
  }
  CoreHolder<LogFile>* holder = NewCoreHolder<LogFile>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    holder->Reset(new LogFile());
    holder->object->records.emplace(privacy_score::LogFormatOf(format), line_prefix);
  });
  LogFile* file = holder->object;
  MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "privacy_score log", ALLOCSET_DEFAULT_SIZES);
  char* piece = static_cast<char*>(palloc(kPiece));
  FILE* stream = AllocateFile(name, "r");
  if (stream == nullptr)
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not open file \"%s\" for reading: %m", name)));
  bool begins = true;
  for (size_t read; (read = fread(piece, 1, kPiece, stream)) > 0; begins = false) {
    if (begins && IsCompressed(piece, read)) {
      ereport(WARNING, (errmsg("left out file \"%s\", which is compressed", name), errhint("Uncompress it first.")));
      break;
    }
    CallCoreOrRaise([&] { file->records->Feed({piece, read}); });
    AddRecords(log, file, database, &counts, scratch);
    SetProgress(*done += read, total);
  }
  if (ferror(stream) != 0) ereport(ERROR, (errcode_for_file_access(), errmsg("could not read file \"%s\": %m", name)));
  FreeFile(stream);
  CallCoreOrRaise([&] { file->records->Finish(); });
  AddRecords(log, file, database, &counts, scratch);
  holder->Reset(nullptr);
  MemoryContextDelete(scratch);
  return counts;
}

uint64 SizeOfFiles(const List* files) {
  uint64 size = 0;
  ListCell* cell;
  foreach (cell, files) {
    struct stat status;
    if (stat(static_cast<const char*>(lfirst(cell)), &status) == 0) size += static_cast<uint64>(status.st_size);
  }
  return size;
}

}  // namespace

// import_log(path, format, line_prefix)
Datum ps_import_log(PG_FUNCTION_ARGS) {
  RequirePrimary("import_log");
  RequireReadCommitted("import_log");
  RequireMayReadFiles();
  if (PG_ARGISNULL(0))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("path must not be NULL"),
                    errhint("Name a file, or a pattern such as 'postgresql-*.csv'.")));
  const char* format = PG_ARGISNULL(1) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(1));
  const char* line_prefix =
      PG_ARGISNULL(2) ? GetConfigOption("log_line_prefix", false, false) : text_to_cstring(PG_GETARG_TEXT_PP(2));
  const char* database = get_database_name(MyDatabaseId);
  InitMaterializedSRF(fcinfo, 0);
  List* files = FilesOf(text_to_cstring(PG_GETARG_TEXT_PP(0)));
  auto* log = NewCoreObject<LogImport>();
  const uint64 total = SizeOfFiles(files);
  auto* counts_of = static_cast<FileCounts*>(palloc0(sizeof(FileCounts) * static_cast<Size>(list_length(files))));
  BeginProgress("import_log", InvalidOid, "reading the log");
  RunImport(&log->import, [&] {
    CallCoreOrRaise([&] { log->statements = {}; });
    uint64 done = 0;
    ListCell* cell;
    foreach (cell, files) {
      const char* name = static_cast<const char*>(lfirst(cell));
      counts_of[foreach_current_index(cell)] =
          ReadFile(log, name, format == nullptr ? FormatByName(name) : format, line_prefix, database, &done, total);
    }
  });
  EndProgress();
  ListCell* cell;
  foreach (cell, files) {
    const char* name = static_cast<const char*>(lfirst(cell));
    const FileCounts& counts = counts_of[foreach_current_index(cell)];
    Datum values[] = {CStringGetTextDatum(name),        Int64GetDatum(counts.records),
                      Int64GetDatum(counts.statements), Int64GetDatum(counts.imported),
                      Int64GetDatum(counts.elsewhere),  Int64GetDatum(counts.unwatched),
                      Int64GetDatum(counts.strange),    Int64GetDatum(counts.first_strange)};
    bool nulls[] = {false, false, false, false, false, false, false, counts.first_strange == 0};
    PutResultRow(fcinfo, values, nulls);
  }
  return static_cast<Datum>(0);
}

}  // namespace privacy_score
