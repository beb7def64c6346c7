/*
 * dp_predicate.cpp - see dp_predicate.hpp.
 */
#include "backend/dp/dp_predicate.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
}

#include <string>

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/catalog_source.hpp"
#include "backend/dp/dp_columns.hpp"
#include "backend/server/array_elements.hpp"
#include "backend/server/core_call.hpp"
#include "core/statement/predicate.hpp"
#include "sqlparse/predicate.hpp"

namespace privacy_score {

namespace ps = privacy_score;

namespace {

constexpr int kLongestShape = 1000;
constexpr std::size_t kFewComparisons = 4;

// What is built while a predicate is bound.
struct Binding {
  const ConditionTable* tables;
  int count;
  ps::Predicate predicate;
  ps::NormalPredicate normal;
};

// Finds a column in the first relation that has it; returns that relation's alias.
const char* BindNamed(const Binding* binding, const std::string* utf8_name, BoundColumn* column) {
  const ConditionTable* table = binding->tables;
  const char* name = FromUtf8(utf8_name->data(), static_cast<int>(utf8_name->size()));
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                    errmsg("column \"?\" of relation \"%s\" does not exist", get_rel_name(table->relation)),
                    errhint("Name the relation's own columns.")));
  for (int i = 0; i < binding->count; ++i) {
    if (get_attnum(binding->tables[i].relation, name) == InvalidAttrNumber) continue;
    table = &binding->tables[i];
    break;
  }
  *column = BindColumn(table->relation, name);
  if (column->number < 0)
    ereport(ERROR, (errcode(kQuestionRefused), errmsg("predicate must not contain a system column: %s", name),
                    errhint("Name the relation's own columns.")));
  return table->alias;
}

void RequireComparable(const BoundColumn* column) {
  if (!OidIsValid(column->operand))
    ereport(ERROR, (errcode(kQuestionRefused),
                    errmsg("predicate must not compare column \"%s\": its type is %s", column->name,
                           format_type_be(column->type)),
                    errdetail("Only values of the server's own types that have an order can be compared without a risk "
                              "of errors."),
                    errhint("Compare another column.")));
}

void RequireLikeable(const BoundColumn* column) {
  if (column->operand != TEXTOID && column->operand != BPCHAROID && column->operand != NAMEOID)
    ereport(ERROR, (errcode(kQuestionRefused),
                    errmsg("predicate must not use LIKE on column \"%s\": its type is %s", column->name,
                           format_type_be(column->type)),
                    errhint("LIKE is for text; compare other types, or use IN or BETWEEN.")));
  if (!get_collation_isdeterministic(column->collation))
    ereport(ERROR,
            (errcode(kQuestionRefused),
             errmsg("predicate must not use LIKE on column \"%s\": its collation is nondeterministic", column->name),
             errhint("Compare it, or use IN or BETWEEN.")));
}

void RequireSameType(const BoundColumn* left, const BoundColumn* right) {
  if (left->operand != right->operand || left->collation != right->collation)
    ereport(ERROR, (errcode(kQuestionRefused),
                    errmsg("predicate must not compare columns \"%s\" and \"%s\": their types or collations differ",
                           left->name, right->name),
                    errhint("Compare columns of one type, or each with constants.")));
}

// The type that a cast names; InvalidOid when the server brings none of that name.
Oid NamedType(const std::string* utf8_name) {
  char* name = pnstrdup(utf8_name->data(), utf8_name->size());
  const Size length = strlen(name);
  const bool is_array = length > 2 && strcmp(name + length - 2, "[]") == 0;
  if (is_array) name[length - 2] = '\0';
  const Oid type =
      GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name), ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
  return is_array && OidIsValid(type) ? get_array_type(type) : type;
}

// The text of a constant that is cast to `type`, as one of the column's type. What that cannot hold is refused rather
// than rounded.
const char* CastText(const BoundColumn* column, const std::string* type_name, const char* text) {
  const Oid type = NamedType(type_name);
  if (!OidIsValid(type) || !OidIsValid(ComparableOperand(type)))
    ereport(ERROR, (errcode(kQuestionRefused), errmsg("predicate must not contain a cast to %s", type_name->c_str()),
                    errhint("Cast constants to types of the server's own that have an order.")));
  if (type == column->type || type == column->operand) return text;
  const char* there = TextOfValue(type, ReadValue(type, text));
  const char* here = TextOfValue(column->operand, ReadValue(column->operand, there));
  if (strcmp(TextOfValue(type, ReadValue(type, here)), there) != 0)
    ereport(ERROR, (errcode(kQuestionRefused),
                    errmsg("a constant of type %s does not fit column \"%s\", whose type is %s", format_type_be(type),
                           column->name, format_type_be(column->type)),
                    errhint("Write it as a value of the column's type.")));
  return there;
}

// Reads a constant as a value of the column's type.
Datum ReadConstant(const BoundColumn* column, const ps::PredicateConstant* constant) {
  const char* text = FromUtf8(constant->text.data(), static_cast<int>(constant->text.size()));
  if (text == nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
             errmsg("a constant of the predicate cannot be written in encoding \"%s\"", GetDatabaseEncodingName()),
             errhint("No row of this database can hold it.")));
  if (!constant->type.empty()) text = CastText(column, &constant->type, text);
  char category;
  bool preferred;
  get_type_category_preferred(column->operand, &category, &preferred);
  const bool fits =
      constant->kind == ps::ConstantKind::kString || !constant->type.empty() ||
      category == (constant->kind == ps::ConstantKind::kNumber ? TYPCATEGORY_NUMERIC : TYPCATEGORY_BOOLEAN);
  if (!fits)
    ereport(ERROR, (errcode(kQuestionRefused),
                    errmsg("predicate must not compare column \"%s\", whose type is %s, with a %s", column->name,
                           format_type_be(column->type),
                           constant->kind == ps::ConstantKind::kNumber ? "number" : "truth value"),
                    errhint("Write it in quotes, as a value of the column's type.")));
  if (constant->kind == ps::ConstantKind::kNumber && constant->type.empty())
    text = TextOfValue(NUMERICOID, ReadValue(NUMERICOID, text));
  return ReadValue(column->operand, text);
}

// Gives a constant its value; returns the datum.
Datum BindConstant(const BoundColumn* column, ps::PredicateConstant* constant) {
  if (constant->kind == ps::ConstantKind::kNull) return Datum(0);
  const Datum value = ReadConstant(column, constant);
  StringInfoData image;
  initStringInfo(&image);
  AppendImage(&image, column->operand, value);
  CallCoreOrRaise([&] { constant->value.assign(image.data, static_cast<std::size_t>(image.len)); });
  pfree(image.data);
  return value;
}

// Tells core what a column is.
void DescribeColumn(const BoundColumn* bound, const char* alias, ps::PredicateColumn* column) {
  const char* quoted = QuoteName(bound->name);
  const char* sql = psprintf("%s.%s", alias, quote_identifier(bound->name));
  const char* identity = psprintf("%s %s", quoted, CanonicalType(bound->type));
  const bool arrays = OidIsValid(bound->operand) && OidIsValid(get_array_type(bound->operand));
  CallCoreOrRaise([&] {
    column->name = quoted;
    column->sql = sql;
    column->identity = identity;
    column->arrays = arrays;
  });
}

// Finds the columns of all leaves and reads their constants; returns these.
Datum* BindLeaves(Binding* binding, BoundColumn* columns) {
  ps::Predicate* predicate = &binding->predicate;
  auto* values = static_cast<Datum*>(palloc0(sizeof(Datum) * (predicate->constants.size() + 1)));
  for (std::size_t i = 0; i < predicate->columns.size(); ++i) {
    const char* alias = BindNamed(binding, &predicate->columns[i].name, &columns[i]);
    DescribeColumn(&columns[i], alias, &predicate->columns[i]);
  }
  const BoundColumn pattern = {"", 0, TEXTOID, TEXTOID, InvalidOid, -1};
  for (std::size_t i = 0; i < predicate->leaves.size(); ++i) {
    const ps::PredicateLeaf* leaf = &predicate->leaves[i];
    const BoundColumn* column = &columns[leaf->column];
    const bool is_like = leaf->kind == ps::LeafKind::kLike;
    if (is_like) RequireLikeable(column);
    if (leaf->kind != ps::LeafKind::kIsNull) RequireComparable(column);
    if (leaf->kind == ps::LeafKind::kColumns) RequireSameType(column, &columns[leaf->other]);
    for (std::size_t k = 0; k < leaf->constants.size(); ++k) {
      CHECK_FOR_INTERRUPTS();
      const std::size_t constant = leaf->constants[k];
      values[constant] = BindConstant(is_like ? &pattern : column, &predicate->constants[constant]);
    }
  }
  return values;
}

Datum ArrayOfConstants(Oid type, const std::vector<std::size_t>* constants, const Datum* values) {
  const std::size_t count = constants->size();
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * count));
  for (std::size_t i = 0; i < count; ++i) elements[i] = values[(*constants)[i]];
  return PointerGetDatum(ArrayOf(type, elements, nullptr, static_cast<int>(count)));
}

void BindParameters(ConditionQuery* query, const Binding* binding, const BoundColumn* columns, const Datum* values,
                    int before) {
  const std::size_t count = binding->normal.parameters.size();
  const Size room = count + static_cast<Size>(before);
  query->nargs = static_cast<int>(room);
  query->types = static_cast<Oid*>(palloc0(sizeof(Oid) * (room + 1)));
  query->values = static_cast<Datum*>(palloc0(sizeof(Datum) * (room + 1)));
  for (std::size_t i = 0; i < count; ++i) {
    const ps::PredicateParameter* parameter = &binding->normal.parameters[i];
    const Oid type = parameter->is_pattern ? TEXTOID : columns[parameter->column].operand;
    const std::size_t at = i + static_cast<std::size_t>(before);
    query->types[at] = parameter->is_array ? get_array_type(type) : type;
    query->values[at] =
        parameter->is_array ? ArrayOfConstants(type, &parameter->constants, values) : values[parameter->constants[0]];
  }
}

// Whether evaluating a part only where another one holds shows in the time: values may be long, or comparisons many. A
// few of plain values take some nanoseconds.
bool TakesTime(const ps::Predicate* predicate, const BoundColumn* columns) {
  bool takes = predicate->leaves.size() > kFewComparisons;
  for (std::size_t i = 0; i < predicate->columns.size(); ++i) takes = takes || get_typlen(columns[i].type) < 0;
  return takes;
}

// The columns' names, each once.
List* NamesOf(const BoundColumn* columns, std::size_t count) {
  List* names = NIL;
  for (std::size_t i = 0; i < count; ++i) {
    bool is_new = true;
    for (std::size_t k = 0; k < i; ++k) is_new = is_new && strcmp(columns[k].name, columns[i].name) != 0;
    if (is_new) names = lappend(names, const_cast<char*>(columns[i].name));
  }
  return names;
}

// The shape for the ledger, cut where it is too long to be read.
const char* ShapeText(const std::string* shape) {
  const auto length = static_cast<int>(shape->size());
  if (length <= kLongestShape) return pnstrdup(shape->data(), shape->size());
  const int cut = pg_mbcliplen(shape->data(), length, kLongestShape);
  return psprintf("%.*s ...", cut, shape->data());
}

// Zero bytes, which text cannot hold, and backslashes are escaped.
const char* CanonicalText(const std::string* canonical) {
  StringInfoData text;
  initStringInfo(&text);
  for (std::size_t i = 0; i < canonical->size(); ++i) {
    const char byte = (*canonical)[i];
    if (byte == '\0')
      appendStringInfoString(&text, "\\0");
    else if (byte == '\\')
      appendStringInfoString(&text, "\\\\");
    else
      appendStringInfoChar(&text, byte);
  }
  return text.data;
}

}  // namespace

ConditionQuery* BindCondition(const ConditionTable* tables, int count, const text* predicate, int parameters_before,
                              bool steady) {
  auto* query = static_cast<ConditionQuery*>(palloc0(sizeof(ConditionQuery)));
  CoreHolder<Binding>* holder = NewCoreHolder<Binding>(CurrentMemoryContext);
  CallCoreOrRaise([&] { holder->Reset(new Binding()); });
  Binding* binding = holder->object;
  binding->tables = tables;
  binding->count = count;
  if (predicate != nullptr) {
    int length;
    int name_length;
    const char* utf8 = ToUtf8(VARDATA_ANY(predicate), static_cast<int>(VARSIZE_ANY_EXHDR(predicate)), &length);
    const char* relation_name = get_rel_name(tables[0].relation);
    const char* utf8_name = ToUtf8(relation_name, static_cast<int>(strlen(relation_name)), &name_length);
    CallCoreOrRaise([&] {
      binding->predicate = ps::ParsePredicate({utf8, static_cast<std::size_t>(length)},
                                              {utf8_name, static_cast<std::size_t>(name_length)});
    });
  }
  auto* columns = static_cast<BoundColumn*>(palloc0(sizeof(BoundColumn) * (binding->predicate.columns.size() + 1)));
  const Datum* values = BindLeaves(binding, columns);
  steady = steady && TakesTime(&binding->predicate, columns);
  CallCoreOrRaise([&] { binding->normal = ps::Normalise(binding->predicate, parameters_before + 1, steady); });
  BindParameters(query, binding, columns, values, parameters_before);
  query->sql = pnstrdup(binding->normal.sql.data(), binding->normal.sql.size());
  query->canonical = CanonicalText(&binding->normal.canonical);
  query->columns = NamesOf(columns, binding->predicate.columns.size());
  query->shape = predicate == nullptr ? nullptr : ShapeText(&binding->normal.shape);
  holder->Reset(nullptr);
  return query;
}

}  // namespace privacy_score
