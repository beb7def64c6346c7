/*
 * standby_file.cpp - see standby_file.hpp.
 */
#include "backend/state/standby_file.hpp"

extern "C" {
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "pgstat.h"
#include "storage/fd.h"
}

#include "backend/server/core_call.hpp"
#include "core/scoring/history_file.hpp"

namespace privacy_score {

namespace {

constexpr const char* kPrefix = "privacy_score.standby.";
constexpr off_t kMostBytes = off_t{64} << 20;  // of a day

struct NamedDay {
  Oid database, extension;
  int32 day;
};

bool ParseName(const char* name, NamedDay* named) {
  if (strncmp(name, kPrefix, strlen(kPrefix)) != 0) return false;
  char end;
  return sscanf(name + strlen(kPrefix), "%u.%u.%d%c", &named->database, &named->extension, &named->day, &end) == 3;
}

char* PathOf(const NamedDay& named) {
  return psprintf("%s/%s%u.%u.%d", PG_STAT_TMP_DIR, kPrefix, named.database, named.extension, named.day);
}

// Visits the files that there are, of all databases.
template <typename Visit>
void ForEachStandbyFile(Visit visit) {
  DIR* dir = AllocateDir(PG_STAT_TMP_DIR);
  if (dir == nullptr) return;
  for (const dirent* entry; (entry = ReadDirExtended(dir, PG_STAT_TMP_DIR, LOG)) != nullptr;) {
    NamedDay named;
    if (ParseName(entry->d_name, &named)) visit(named);
  }
  FreeDir(dir);
}

// What an open file holds; empty when it cannot be read.
std::string_view BytesOfOpen(int file) {
  struct stat state;
  Size length = 0;
  char* bytes = nullptr;
  if (fstat(file, &state) == 0 && state.st_size > 0 && state.st_size <= 2 * kMostBytes) {
    bytes = static_cast<char*>(palloc(static_cast<Size>(state.st_size)));
    while (length < static_cast<Size>(state.st_size)) {
      const ssize_t got = read(file, bytes + length, static_cast<Size>(state.st_size) - length);
      if (got <= 0) break;
      length += static_cast<Size>(got);
    }
  }
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, length);
}

std::string_view StandbyFileBytes(const char* path) {
  const int file = OpenTransientFile(path, O_RDONLY | PG_BINARY);
  if (file < 0) return {};
  const std::string_view bytes = BytesOfOpen(file);
  CloseTransientFile(file);
  return bytes;
}

bool WriteAll(int file, std::string_view bytes) {
  return write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
}

// Takes an end user out of one file. Nobody appends meanwhile.
int64 ForgetInFile(const char* path, const char* role, const char* end_user) {
  const int file = OpenTransientFile(path, O_RDWR | O_APPEND | PG_BINARY);
  if (file < 0) return 0;
  (void)flock(file, LOCK_EX);
  const std::string_view before = BytesOfOpen(file);
  int64 sessions = 0;
  auto* left = NewCoreHolder<std::string>(CurrentMemoryContext);
  CallCoreOrRaise([&] { left->Reset(new std::string(WithoutEndUser(before, role, end_user, &sessions))); });
  const bool done = sessions == 0 || (ftruncate(file, 0) == 0 && WriteAll(file, *left->object));
  left->Reset(nullptr);
  if (!done) ereport(ERROR, (errcode_for_file_access(), errmsg("could not write file \"%s\": %m", path)));
  CloseTransientFile(file);
  return sessions;
}

// Cuts off what a crash has left of a record: what is appended to it would never be read.
void CutToWhole(const char* path) {
  const std::string_view bytes = StandbyFileBytes(path);
  const std::size_t whole = WholeRecords(bytes);
  if (whole == bytes.size()) return;
  if (truncate(path, static_cast<off_t>(whole)) != 0)
    ereport(LOG, (errcode_for_file_access(), errmsg("could not truncate file \"%s\": %m", path)));
}

}  // namespace

bool AppendToStandbyFile(Oid extension, int32 day, std::string_view record) {
  static int32 cut_day = INT32_MIN;
  char* path = PathOf({MyDatabaseId, extension, day});
  if (cut_day != day) CutToWhole(path);
  cut_day = day;
  bool done = false;
  const int file = OpenTransientFile(path, O_WRONLY | O_CREAT | O_APPEND | PG_BINARY);
  struct stat state;
  if (file >= 0 && flock(file, LOCK_EX) == 0 && fstat(file, &state) == 0) {
    const auto length = static_cast<ssize_t>(record.size());
    if (state.st_size + length > kMostBytes) errno = EFBIG;
    done = state.st_size + length <= kMostBytes && WriteAll(file, record);
    // The next one must not stand behind half a record.
    if (!done && ftruncate(file, state.st_size) != 0) cut_day = INT32_MIN;
  }
  if (!done) ereport(LOG, (errcode_for_file_access(), errmsg("could not append to file \"%s\": %m", path)));
  if (file >= 0) CloseTransientFile(file);
  pfree(path);
  return done;
}

StandbyFiles ReadStandbyFiles(Oid extension, int32 from_day, int32 to_day) {
  List* days = NIL;
  ForEachStandbyFile([&](const NamedDay& named) {
    if (named.database == MyDatabaseId && named.extension == extension && named.day >= from_day && named.day <= to_day)
      days = lappend_int(days, named.day);
  });
  list_sort(days, list_int_cmp);
  StandbyFiles files = {
      0, static_cast<std::string_view*>(palloc(sizeof(std::string_view) * static_cast<Size>(list_length(days) + 1)))};
  const ListCell* cell;
  foreach (cell, days) {
    CHECK_FOR_INTERRUPTS();
    files.bytes[files.count++] = StandbyFileBytes(PathOf({MyDatabaseId, extension, lfirst_int(cell)}));
  }
  return files;
}

int64 ForgetInStandbyFiles(Oid extension, const char* role, const char* end_user) {
  List* paths = NIL;
  ForEachStandbyFile([&](const NamedDay& named) {
    if (named.database == MyDatabaseId && named.extension == extension) paths = lappend(paths, PathOf(named));
  });
  int64 sessions = 0;
  const ListCell* cell;
  foreach (cell, paths) {
    CHECK_FOR_INTERRUPTS();
    sessions += ForgetInFile(static_cast<const char*>(lfirst(cell)), role, end_user);
  }
  return sessions;
}

bool HaveStandbyFiles(Oid extension) {
  bool found = false;
  ForEachStandbyFile([&](const NamedDay& named) {
    found = found || (named.database == MyDatabaseId && named.extension == extension);
  });
  return found;
}

void RemoveStandbyFiles(Oid extension, int32 day, bool of_all) {
  ForEachStandbyFile([&](const NamedDay& named) {
    const bool is_own = named.database == MyDatabaseId && named.extension == extension;
    if (named.day < day && (is_own || of_all)) (void)unlink(PathOf(named));
  });
}

}  // namespace privacy_score
