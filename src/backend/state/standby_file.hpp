/*
 * standby_file.hpp - the files in which a hot standby keeps what ran there.
 *
 * One a day, of this database and this making of the extension, in pg_stat_tmp, which no base backup and no pg_rewind
 * copies. The worker appends records (core/scoring/history_file.hpp), everybody reads; what somebody reads while a
 * record is written lacks that one. Nothing is synced to disk: a crash of the server loses nothing of them, one of the
 * machine may. After a promotion the worker writes them to the tables and removes them.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include <string_view>

namespace privacy_score {

// Appends a record to the file of a day; false when the file is full or cannot be written. Raises nothing.
bool AppendToStandbyFile(Oid extension, int32 day, std::string_view record);

// The files of a range of days, read, the earliest first. Palloc'd.
struct StandbyFiles {
  int count;
  std::string_view* bytes;
};
StandbyFiles ReadStandbyFiles(Oid extension, int32 from_day, int32 to_day);

bool HaveStandbyFiles(Oid extension);

// Takes what was recorded of an end user out of all of them; returns how many sessions that was. Raises what core does,
// and where a file cannot be written.
int64 ForgetInStandbyFiles(Oid extension, const char* role, const char* end_user);

// Removes those of days before `day`. `of_all`: of all databases, and of extensions that are no more.
void RemoveStandbyFiles(Oid extension, int32 day, bool of_all);

}  // namespace privacy_score
