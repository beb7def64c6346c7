/*
 * label_names.hpp - what security labels of this extension say.
 */
#pragma once

namespace privacy_score {

constexpr const char* kLabelProvider = "privacy_score";

// Labels of roles (RoleClass in watching.hpp), and the label of a column that anybody may know.
constexpr const char* kWatchedLabel = "watched";
constexpr const char* kExemptLabel = "exempt";
constexpr const char* kDpOnlyLabel = "dp only";
constexpr const char* kGatewayLabel = "gateway";
constexpr const char* kPublicLabel = "public";

}  // namespace privacy_score
