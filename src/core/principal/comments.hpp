/*
 * comments.hpp - the comments around a statement, and the tags that sqlcommenter writes into them.
 *
 * Applications and their libraries put a comment before or behind each statement: key='value',key='value', both encoded
 * as in URLs. Somebody who gets a text of their own into a statement must not get it taken for that comment. So only
 * the comment at the very beginning and the one at the very end count, and they are found as the server's scanner finds
 * them, with standard_conforming_strings on: what stands in a string or an identifier is none.
 *
 * What cannot be told apart is refused rather than chosen: a tag that the two comments give differently, and one that
 * stands in one of them twice. Who writes a whole statement can hide a comment that the application appends behind --;
 * the comment is at the end still, but not in the format. When it names the tag, a value from elsewhere does not count.
 * Nobody can hide a comment that the application puts first.
 */
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace privacy_score {

// The comment at the beginning of a statement and the one at its end, without their marks: what stands between /* and
// */, or from behind the first -- to the end of the last line of consecutive lines with --, the marks of further lines
// included. A statement of comments only may have one comment that is both. Empty where there is none.
struct OuterComments {
  std::string_view first, last;
};

// Beside comments only white space, and at the end semicolons, stand outside of a statement. A comment or a string that
// is not finished leaves no last comment. Takes time linear in `sql`; the result is a part of it.
OuterComments OuterCommentsOf(std::string_view sql);

// The value of a tag in the outer comments of a statement, decoded; nothing where there is none. Each line after -- is
// a comment of its own, of one run. A comment that is not in the format as a whole has no tags. kInvalidEndUser stands
// for a value that cannot be told, and for one with malformed percent escapes.
std::optional<std::string> CommentTag(std::string_view sql, std::string_view key);

}  // namespace privacy_score
