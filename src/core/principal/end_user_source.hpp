/*
 * end_user_source.hpp - where an application says who its end user is: privacy_score.end_user_source.
 *
 * An application logs in with one role for all its users, and tells the user otherwise: in a setting, in
 * application_name or in a comment of each statement. The setting lists such places; the first that has a name counts.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

// One place where the name of the end user may stand.
struct EndUserSource {
  enum class Kind { kSetting, kApplicationName, kCommentTag, kCommentPattern };
  Kind kind;
  std::string name;  // of the setting, in lower case; the comment's tag or the pattern, as typed
  std::string key;   // of kSetting: the JSON key after ->>, or empty
};

// Parses a list separated by commas, in the order in which sources are tried: setting NAME, setting NAME ->> KEY,
// application_name, comment KEY, comment /REGEX/, and privacy_score.end_user, which is short for setting
// privacy_score.end_user. Keywords are in any case, white space is free. A KEY is bare (letters, digits and _ . : $ -)
// or in single quotes, with '' for a quote. In /REGEX/ a slash is written \/; the pattern has exactly one group,
// counted as in the server's advanced regular expressions; whether it is valid otherwise, the caller finds out. Empty
// text gives no sources. At most 16 sources. Throws Error 22023 that says what is wrong and at which character.
std::vector<EndUserSource> ParseEndUserSources(std::string_view text);

}  // namespace privacy_score
