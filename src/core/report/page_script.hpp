/*
 * page_script.hpp - the script of a page: sorting, filtering and searching what is already there.
 */
#pragma once

namespace privacy_score {

// The fields to search and filter with, in markup; hidden until the script shows them.
extern const char* const kPageTools;

// The script, and its hash as the page's policy names it: sha256- and the digest in base64.
extern const char* const kPageScript;
extern const char* const kPageScriptHash;

}  // namespace privacy_score
