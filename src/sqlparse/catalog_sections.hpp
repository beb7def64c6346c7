/*
 * catalog_sections.hpp - the sections that answer which names a text means: what the catalog source writes and Catalog
 * reads, in this order.
 */
#pragma once

#include "core/base/wire_section.hpp"

namespace privacy_score {

// What was asked, and what that is: nothing where kCanonical is NULL.
WIRE_SECTION(NamedRelationSection, kSchema, kName, kCanonical, kKind, kCatalog, kOwn, kDefinition, kProtected);
WIRE_SECTION(NamedColumnSection, kRelation, kColumn);
// A row a column of a key, keys one after the other.
WIRE_SECTION(NamedKeySection, kRelation, kKey, kColumn);
WIRE_SECTION(NamedFunctionSection, kSchema, kName, kArguments, kCanonical, kKind);
WIRE_SECTION(FunctionColumnSection, kSchema, kName, kArguments, kColumn);
WIRE_SECTION(OriginSection, kRelation, kColumn, kOriginRelation, kOriginColumn, kForeign);
// The members of DescribedColumn.
WIRE_SECTION(DescribedSection, kSchema, kTable, kOid, kColumn, kNumber, kReadable, kRelation, kName);

}  // namespace privacy_score
