/*
 * csv_fields.hpp - the fields of one record of comma-separated values (RFC 4180), as csvlog and pgaudit write them.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

// False when quotes stand where none may. `most` fields at most: what follows the last one's comma is left out.
bool SplitCsv(std::string_view record, std::vector<std::string>* fields, std::size_t most = 64);

}  // namespace privacy_score
