/*
 * catalog_source.cpp - see catalog_source.hpp.
 */
#include "backend/catalog/catalog_source.hpp"

#include "backend/catalog/catalog_arena.hpp"
#include "backend/catalog/catalog_heirs.hpp"
#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/side_effect_functions.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/internal.hpp"
#include "sqlparse/catalog_sections.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace privacy_score {

namespace ps = privacy_score;

namespace {

// The rows of one section while they are gathered.
struct Section {
  StringInfoData rows;
  int columns;
  uint32 count;
};

struct Feeding {
  Section relations;
  Section columns;
  Section keys;
  Section functions;
  Section function_columns;
  Section origins;
  List* described;  // OIDs whose columns and keys are in
  Oid role;
  bool check_usage;
};

void StartSection(Section* section, int columns) {
  initStringInfo(&section->rows);
  section->columns = columns;
  section->count = 0;
}

void PutField(Section* section, const char* text, int length) {
  if (text != nullptr) text = ToUtf8(text, length, &length);
  AppendField(&section->rows, text, length);
}

void PutField(Section* section, const char* text) {
  PutField(section, text, text == nullptr ? 0 : static_cast<int>(strlen(text)));
}

void PutField(Section* section, std::string_view text) {
  PutField(section, text.empty() ? "" : text.data(), static_cast<int>(text.size()));
}

// The name as it was asked, which is UTF-8 already.
void PutAsked(Section* section, const std::string& text) {
  AppendField(&section->rows, text.data(), static_cast<int>(text.size()));
}

void FinishSection(StringInfo wire, const Section* section) {
  AppendSectionHead(wire, section->columns, section->count);
  appendBinaryStringInfo(wire, section->rows.data, section->rows.len);
}

// The schema of that name; InvalidOid when there is none or the role may not look into it.
Oid FindSchema(const Feeding* feeding, const char* name) {
  if (strcmp(name, "pg_temp") == 0) return LookupExplicitNamespace(name, true);
  const Oid schema = get_namespace_oid(name, true);
  if (!OidIsValid(schema) || (feeding->check_usage && !MayUseSchema(schema, feeding->role))) return InvalidOid;
  return schema;
}

// What the definition of a view writes without a schema is asked for in pg_catalog, but it may be temporary, too: the
// server leaves that schema out in any search_path.
Oid FindRelationOid(const Feeding* feeding, const std::string& schema, const char* name) {
  if (schema.empty()) return RelnameGetRelid(name);
  const char* schema_name = FromUtf8(schema.data(), static_cast<int>(schema.size()));
  const Oid found = schema_name == nullptr ? InvalidOid : FindSchema(feeding, schema_name);
  if (!OidIsValid(found)) return InvalidOid;
  const Oid relid = get_relname_relid(name, found);
  if (OidIsValid(relid) || found != PG_CATALOG_NAMESPACE) return relid;
  const Oid temporary = LookupExplicitNamespace("pg_temp", true);
  return OidIsValid(temporary) ? get_relname_relid(name, temporary) : InvalidOid;
}

// The query of a view with every name qualified but those of pg_catalog and temporary ones; null when the view is gone.
const char* ViewDefinition(Oid view) {
  const int nest_level = NewGUCNestLevel();
  SetWithin("search_path", "pg_catalog, pg_temp");
  LOCAL_FCINFO(fcinfo, 1);
  InitFunctionCallInfoData(*fcinfo, nullptr, 1, InvalidOid, nullptr, nullptr);
  fcinfo->args[0].value = ObjectIdGetDatum(view);
  fcinfo->args[0].isnull = false;
  const Datum definition = pg_get_viewdef(fcinfo);
  const char* result = fcinfo->isnull ? nullptr : text_to_cstring(DatumGetTextPP(definition));
  AtEOXact_GUC(true, nest_level);
  return result;
}

void DescribeKey(Feeding* feeding, const RelationEntry* relation, const ps::Key* key, int number) {
  for (int i = 0; i < key->size; ++i) {
    PutField(&feeding->keys, relation->self.name);
    PutField(&feeding->keys, psprintf("%d", number));
    PutField(&feeding->keys, relation->self.columns.At(key->columns[i])->name);
    ++feeding->keys.count;
  }
}

// Columns and keys under the canonical name; once a relation.
void DescribeRelation(Feeding* feeding, const RelationEntry* relation) {
  if (list_member_oid(feeding->described, relation->relid)) return;
  feeding->described = lappend_oid(feeding->described, relation->relid);
  for (const ps::Column* column : relation->self.columns) {
    PutField(&feeding->columns, relation->self.name);
    PutField(&feeding->columns, column->name);
    ++feeding->columns.count;
  }
  int number = 0;
  for (const ps::Key* key : relation->self.keys) DescribeKey(feeding, relation, key, ++number);
  number = 0;
  for (const ps::Key* key : relation->self.references) DescribeKey(feeding, relation, key, --number);
}

// What the columns of a copy, or of a parent of protected relations, come from.
void DescribeOrigins(Feeding* feeding, const RelationEntry* entry) {
  BackendArena arena(CurrentMemoryContext);
  ps::Relation* relation = NewRelation(&arena, entry);
  const ps::Origins* alone = relation->origins;
  AddHeirs(&arena, relation, entry);
  if (relation->origins == nullptr) return;
  int index = 0;
  for (const ps::Column* column : relation->columns) {
    // What the parent has of its own comes first.
    int own = alone == nullptr || alone->columns[index].empty() ? 1 : alone->columns[index].size;
    if (relation->origins == alone) own = relation->origins->columns[index].size;
    for (const ps::Origin* origin : relation->origins->columns[index]) {
      PutField(&feeding->origins, relation->name);
      PutField(&feeding->origins, column->name);
      PutField(&feeding->origins, origin->relation->name);
      PutField(&feeding->origins, origin->relation->columns.At(origin->column)->name);
      PutField(&feeding->origins, own-- > 0 ? "f" : "t");
      ++feeding->origins.count;
    }
    ++index;
  }
}

void AnswerRelation(Feeding* feeding, const ps::MissingName& asked) {
  const char* name = FromUtf8(asked.name.data(), static_cast<int>(asked.name.size()));
  const Oid relid = name == nullptr ? InvalidOid : FindRelationOid(feeding, asked.schema, name);
  // The definition comes first: it runs a query, which may empty the relation cache.
  const bool is_view =
      OidIsValid(relid) && get_rel_relkind(relid) == RELKIND_VIEW && !IsCatalogSchema(get_rel_namespace(relid));
  const char* definition = is_view ? ViewDefinition(relid) : nullptr;
  ForgetStaleRelations();
  const ResolvedRelation resolved = OidIsValid(relid) ? ResolveRelation(relid) : ResolvedRelation();

  Section* rows = &feeding->relations;
  PutAsked(rows, asked.schema);
  PutAsked(rows, asked.name);
  ++rows->count;
  if (resolved.self == nullptr) {
    for (uint32 i = NamedRelationSection::kCanonical; i < NamedRelationSection::kColumns; ++i)
      PutField(rows, nullptr, 0);
    return;
  }
  PutField(rows, resolved.root->self.name);
  PutField(rows, definition != nullptr ? "v" : "t");
  const ps::Relation relation = RelationFor(resolved.root, feeding->role);
  PutField(rows, relation.catalog ? "t" : "f");
  PutField(rows, relation.own ? "t" : "f");
  PutField(rows, definition);
  PutField(rows, DeclaredEntry(resolved.root) ? "t" : "f");
  if (!list_member_oid(feeding->described, resolved.root->relid)) DescribeOrigins(feeding, resolved.root);
  DescribeRelation(feeding, resolved.root);
}

// Takes a function when it is a better choice than the one before: an aggregate, else a window function, else any.
void Prefer(Oid function, char found, Oid* chosen, char* kind) {
  const char letter = found == PROKIND_AGGREGATE ? 'a' : found == PROKIND_WINDOW ? 'w' : 'f';
  if (OidIsValid(*chosen) && (*kind == 'a' || letter == 'f' || letter == *kind)) return;
  *chosen = function;
  *kind = letter;
}

// Of the candidates in the first schema of the path that has one.
Oid ChooseFunction(FuncCandidateList candidates, char* kind) {
  Oid chosen = InvalidOid;
  int path_position = candidates == nullptr ? 0 : candidates->pathpos;
  for (FuncCandidateList candidate = candidates; candidate != nullptr; candidate = candidate->next)
    path_position = Min(path_position, candidate->pathpos);
  for (FuncCandidateList candidate = candidates; candidate != nullptr; candidate = candidate->next)
    if (candidate->pathpos == path_position && OidIsValid(candidate->oid))
      Prefer(candidate->oid, get_func_prokind(candidate->oid), &chosen, kind);
  return chosen;
}

// Of the functions in one schema: those that accept so many arguments, else all.
Oid ChooseFunctionOf(Oid schema, const char* name, int arguments, char* kind) {
  Oid chosen = InvalidOid;
  CatCList* functions = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
  for (int pass = 0; pass < 2 && !OidIsValid(chosen); ++pass) {
    for (int i = 0; i < functions->n_members; ++i) {
      auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(&functions->members[i]->tuple));
      const bool fits = arguments <= form->pronargs ? arguments >= form->pronargs - form->pronargdefaults
                                                    : OidIsValid(form->provariadic);
      if (form->pronamespace == schema && (fits || pass == 1)) Prefer(form->oid, form->prokind, &chosen, kind);
    }
  }
  ReleaseSysCacheList(functions);
  return chosen;
}

// The functions of that name, in one schema or in the search_path. Candidates of a schema are looked for here, as the
// server's own look-up by a qualified name insists on USAGE.
Oid FindFunction(const Feeding* feeding, const ps::MissingName& asked, char* kind) {
  const char* name = FromUtf8(asked.name.data(), static_cast<int>(asked.name.size()));
  if (name == nullptr || asked.arguments > FUNC_MAX_ARGS) return InvalidOid;
  if (!asked.schema.empty()) {
    const char* schema_name = FromUtf8(asked.schema.data(), static_cast<int>(asked.schema.size()));
    const Oid schema = schema_name == nullptr ? InvalidOid : FindSchema(feeding, schema_name);
    return OidIsValid(schema) ? ChooseFunctionOf(schema, name, asked.arguments, kind) : InvalidOid;
  }
  List* names = list_make1(makeString(pstrdup(name)));
  FuncCandidateList candidates = FuncnameGetCandidates(names, asked.arguments, NIL, true, true, false, true);
  if (candidates == nullptr) candidates = FuncnameGetCandidates(names, -1, NIL, false, false, false, true);
  return ChooseFunction(candidates, kind);
}

void PutFunctionColumn(Feeding* feeding, const ps::MissingName& asked, const char* column) {
  Section* rows = &feeding->function_columns;
  PutAsked(rows, asked.schema);
  PutAsked(rows, asked.name);
  PutField(rows, psprintf("%d", asked.arguments));
  PutField(rows, column);
  ++rows->count;
}

// The columns of a function's result in FROM.
void DescribeFunction(Feeding* feeding, const ps::MissingName& asked, Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return;
  const Oid type = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prorettype;
  TupleDesc columns = build_function_result_tupdesc_t(tuple);
  ReleaseSysCache(tuple);
  if (columns == nullptr && OidIsValid(get_typ_typrelid(getBaseType(type))))
    columns = lookup_rowtype_tupdesc_copy(getBaseType(type), -1);
  if (columns == nullptr) {
    if (const char* name = get_func_result_name(function)) PutFunctionColumn(feeding, asked, name);
    return;
  }
  for (int i = 0; i < columns->natts; ++i) {
    const auto* attribute = TupleDescAttr(columns, i);
    if (!attribute->attisdropped) PutFunctionColumn(feeding, asked, NameStr(attribute->attname));
  }
}

void AnswerFunction(Feeding* feeding, const ps::MissingName& asked) {
  char kind = 'f';
  const Oid function = FindFunction(feeding, asked, &kind);
  Section* rows = &feeding->functions;
  PutAsked(rows, asked.schema);
  PutAsked(rows, asked.name);
  PutField(rows, psprintf("%d", asked.arguments));
  ++rows->count;
  if (!OidIsValid(function)) {
    PutField(rows, nullptr, 0);
    PutField(rows, nullptr, 0);
    return;
  }
  PutField(rows, CanonicalFunction(function));
  if (kind == 'f' && get_func_retset(function)) kind = 's';
  if ((kind == 'f' || kind == 's') && FunctionTells(function)) kind = FunctionIsPlain(function) ? 'q' : 't';
  const char kind_text[2] = {kind, '\0'};
  PutField(rows, kind_text);
  DescribeFunction(feeding, asked, function);
}

}  // namespace

void AppendCatalog(StringInfo wire, const std::vector<ps::MissingName>& names, Oid role, bool check_usage) {
  Feeding feeding;
  StartSection(&feeding.relations, NamedRelationSection::kColumns);
  StartSection(&feeding.columns, NamedColumnSection::kColumns);
  StartSection(&feeding.keys, NamedKeySection::kColumns);
  StartSection(&feeding.functions, NamedFunctionSection::kColumns);
  StartSection(&feeding.function_columns, FunctionColumnSection::kColumns);
  StartSection(&feeding.origins, OriginSection::kColumns);
  feeding.described = NIL;
  feeding.role = role;
  feeding.check_usage = check_usage && OidIsValid(role);
  for (const ps::MissingName& asked : names) {
    CHECK_FOR_INTERRUPTS();
    if (asked.kind == ps::MissingName::Kind::kRelation)
      AnswerRelation(&feeding, asked);
    else
      AnswerFunction(&feeding, asked);
  }
  FinishSection(wire, &feeding.relations);
  FinishSection(wire, &feeding.columns);
  FinishSection(wire, &feeding.keys);
  FinishSection(wire, &feeding.functions);
  FinishSection(wire, &feeding.function_columns);
  FinishSection(wire, &feeding.origins);
}

const char* ToUtf8(const char* text, int length, int* utf8_length) {
  *utf8_length = length;
  // What is not UTF-8 in it is for the parser to refuse; the server would raise an error.
  if (GetDatabaseEncoding() == PG_SQL_ASCII) return text;
  char* converted = pg_server_to_any(text, length, PG_UTF8);
  *utf8_length = converted == text ? length : static_cast<int>(strlen(converted));
  return converted;
}

const char* Utf8Name(const char* name) {
  int length;
  return ToUtf8(name, static_cast<int>(strlen(name)), &length);
}

const char* FromUtf8(const char* text, int length) {
  const int encoding = GetDatabaseEncoding();
  if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
    return pg_verify_mbstr(encoding, text, length, true) ? pnstrdup(text, length) : nullptr;
  const Oid conversion = FindDefaultConversionProc(PG_UTF8, encoding);
  if (!OidIsValid(conversion)) return nullptr;
  const int room = length * MAX_CONVERSION_GROWTH + 1;
  auto* converted = static_cast<char*>(palloc(room));
  const int done = pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding,
                                                 reinterpret_cast<unsigned char*>(const_cast<char*>(text)), length,
                                                 reinterpret_cast<unsigned char*>(converted), room, true);
  return done == length ? converted : nullptr;
}

}  // namespace privacy_score
