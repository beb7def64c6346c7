/*
 * dp_predicate.cpp - see dp_predicate.hpp.
 *
 * Comparisons are those of the default B-tree operator class of the column's type, in pg_catalog, and of types that
 * have been there from the beginning (or enums, and arrays of both): these operators fail on no value. Constants are
 * read by the type's own input function, without the constraints of a domain, whose CHECK is somebody's code.
 */
#include "dp_predicate.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
}

#include <string>

#include "catalog_source.hpp"
#include "core/predicate.hpp"
#include "core_call.hpp"
#include "sqlparse/predicate.hpp"

namespace ps = privacy_score;

namespace {

constexpr int kRefused = MAKE_SQLSTATE('P', 'S', '0', '0', '3');
constexpr int kLongestShape = 1000;

struct BoundColumn {
  const char* name;
  Oid type;     // without domains
  Oid operand;  // as the operators take it: text for varchar
  Oid collation;
};

// What is built while a predicate is bound.
struct Binding {
  Oid relation;
  ps::Predicate predicate;
  ps::NormalPredicate normal;
};

Oid NamespaceOfType(Oid type) {
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for type %u", type);
  const Oid found = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typnamespace;
  ReleaseSysCache(tuple);
  return found;
}

Oid NamespaceOfOperator(Oid id) {
  HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(id));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid found = reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple))->oprnamespace;
  ReleaseSysCache(tuple);
  return found;
}

// Whether values of the type are of the server's own making. Arrays are that when their elements are.
bool IsOwnType(Oid type) {
  const Oid element = get_base_element_type(type);
  if (OidIsValid(element)) type = element;
  const char kind = get_typtype(type);
  if (kind == TYPTYPE_ENUM) return true;
  return (kind == TYPTYPE_BASE || kind == TYPTYPE_RANGE || kind == TYPTYPE_MULTIRANGE) &&
         NamespaceOfType(type) == PG_CATALOG_NAMESPACE;
}

// The type that the operators of the default B-tree class take for values of `type`; InvalidOid when it has none that
// may be used.
Oid ComparableOperand(Oid type) {
  if (!IsOwnType(type)) return InvalidOid;
  const Oid element = get_base_element_type(type);
  if (OidIsValid(element) && !OidIsValid(ComparableOperand(element))) return InvalidOid;
  const Oid opclass = GetDefaultOpClass(type, BTREE_AM_OID);
  if (!OidIsValid(opclass)) return InvalidOid;
  const Oid input = get_opclass_input_type(opclass);
  const Oid equal = get_opfamily_member(get_opclass_family(opclass), input, input, BTEqualStrategyNumber);
  if (!OidIsValid(equal) || NamespaceOfOperator(equal) != PG_CATALOG_NAMESPACE) return InvalidOid;
  return IsPolymorphicType(input) ? type : input;
}

BoundColumn BindColumn(Oid relation, const std::string* utf8_name) {
  const char* name = FromUtf8(utf8_name->data(), static_cast<int>(utf8_name->size()));
  const AttrNumber number = name == nullptr ? InvalidAttrNumber : get_attnum(relation, name);
  if (number == InvalidAttrNumber)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("column \"%s\" of relation \"%s\" does not exist",
                                                              name == nullptr ? "?" : name, get_rel_name(relation))));
  if (number < 0) ereport(ERROR, (errcode(kRefused), errmsg("predicate must not contain a system column: %s", name)));
  BoundColumn column = {pstrdup(name), InvalidOid, InvalidOid, InvalidOid};
  int32 modifier;
  get_atttypetypmodcoll(relation, number, &column.type, &modifier, &column.collation);
  column.type = getBaseType(column.type);
  column.operand = ComparableOperand(column.type);
  return column;
}

void RequireComparable(const BoundColumn* column) {
  if (!OidIsValid(column->operand))
    ereport(ERROR, (errcode(kRefused),
                    errmsg("predicate must not compare column \"%s\": its type is %s", column->name,
                           format_type_be(column->type)),
                    errdetail("Only values of the server's own types that have an order can be compared without a risk "
                              "of errors.")));
}

void RequireLikeable(const BoundColumn* column) {
  if (column->operand != TEXTOID && column->operand != BPCHAROID && column->operand != NAMEOID)
    ereport(ERROR, (errcode(kRefused), errmsg("predicate must not use LIKE on column \"%s\": its type is %s",
                                              column->name, format_type_be(column->type))));
  if (!get_collation_isdeterministic(column->collation))
    ereport(ERROR,
            (errcode(kRefused),
             errmsg("predicate must not use LIKE on column \"%s\": its collation is nondeterministic", column->name)));
}

void RequireSameType(const BoundColumn* left, const BoundColumn* right) {
  if (left->operand != right->operand || left->collation != right->collation)
    ereport(ERROR, (errcode(kRefused),
                    errmsg("predicate must not compare columns \"%s\" and \"%s\": their types or collations differ",
                           left->name, right->name)));
}

Datum ReadValue(Oid type, const char* text) {
  Oid input, parameter;
  getTypeInputInfo(type, &input, &parameter);
  return OidInputFunctionCall(input, const_cast<char*>(text), parameter, -1);
}

// The value as text; a number without zeros that say nothing, so that 1.0 can be read as an integer.
const char* TextOfValue(Oid type, Datum value) {
  if (type == NUMERICOID && !numeric_is_nan(DatumGetNumeric(value)) && !numeric_is_inf(DatumGetNumeric(value)))
    return numeric_normalize(DatumGetNumeric(value));
  Oid output;
  bool varlena;
  getTypeOutputInfo(type, &output, &varlena);
  return OidOutputFunctionCall(output, value);
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
    ereport(ERROR, (errcode(kRefused), errmsg("predicate must not contain a cast to %s", type_name->c_str())));
  if (type == column->type || type == column->operand) return text;
  const char* there = TextOfValue(type, ReadValue(type, text));
  const char* here = TextOfValue(column->operand, ReadValue(column->operand, there));
  if (strcmp(TextOfValue(type, ReadValue(type, here)), there) != 0)
    ereport(ERROR, (errcode(kRefused), errmsg("a constant of type %s does not fit column \"%s\", whose type is %s",
                                              format_type_be(type), column->name, format_type_be(column->type))));
  return there;
}

// Reads a constant as a value of the column's type.
Datum ReadConstant(const BoundColumn* column, const ps::PredicateConstant* constant) {
  const char* text = FromUtf8(constant->text.data(), static_cast<int>(constant->text.size()));
  if (text == nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
             errmsg("a constant of the predicate cannot be written in encoding \"%s\"", GetDatabaseEncodingName())));
  if (!constant->type.empty()) text = CastText(column, &constant->type, text);
  char category;
  bool preferred;
  get_type_category_preferred(column->operand, &category, &preferred);
  const bool fits =
      constant->kind == ps::ConstantKind::kString || !constant->type.empty() ||
      category == (constant->kind == ps::ConstantKind::kNumber ? TYPCATEGORY_NUMERIC : TYPCATEGORY_BOOLEAN);
  if (!fits)
    ereport(ERROR, (errcode(kRefused), errmsg("predicate must not compare column \"%s\", whose type is %s, with a %s",
                                              column->name, format_type_be(column->type),
                                              constant->kind == ps::ConstantKind::kNumber ? "number" : "truth value")));
  if (constant->kind == ps::ConstantKind::kNumber && constant->type.empty())
    text = TextOfValue(NUMERICOID, ReadValue(NUMERICOID, text));
  return ReadValue(column->operand, text);
}

// Bytes that are the same for equal values, as far as that is known of the type, and for no others. They depend on no
// setting, and outlive a dump.
void AppendImage(StringInfo bytes, Oid type, Datum value) {
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  if (type == NUMERICOID || get_typtype(type) == TYPTYPE_ENUM) {
    appendStringInfoString(bytes, TextOfValue(type, value));
  } else if (type == BPCHAROID) {
    const auto* text = DatumGetBpCharPP(value);
    appendBinaryStringInfo(bytes, VARDATA_ANY(text), bpchartruelen(VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text)));
  } else if (by_value) {
    appendBinaryStringInfo(bytes, reinterpret_cast<const char*>(&value), sizeof value);
  } else if (length == -1) {
    const auto* plain = PG_DETOAST_DATUM_PACKED(value);
    appendBinaryStringInfo(bytes, VARDATA_ANY(plain), static_cast<int>(VARSIZE_ANY_EXHDR(plain)));
  } else {
    appendBinaryStringInfo(bytes, DatumGetPointer(value),
                           length > 0 ? length : static_cast<int>(strlen(DatumGetCString(value))));
  }
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
void DescribeColumn(const BoundColumn* bound, ps::PredicateColumn* column) {
  const char* quoted = quote_identifier(bound->name);
  const char* sql = psprintf("r.%s", quoted);
  const char* identity = psprintf("%s %s", quoted, format_type_be_qualified(bound->type));
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
    columns[i] = BindColumn(binding->relation, &predicate->columns[i].name);
    DescribeColumn(&columns[i], &predicate->columns[i]);
  }
  const BoundColumn pattern = {"", TEXTOID, TEXTOID, InvalidOid};
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

Datum ArrayOf(Oid type, const std::vector<std::size_t>* constants, const Datum* values) {
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  const std::size_t count = constants->size();
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * count));
  for (std::size_t i = 0; i < count; ++i) elements[i] = values[(*constants)[i]];
  return PointerGetDatum(construct_array(elements, static_cast<int>(count), type, length, by_value, alignment));
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
        parameter->is_array ? ArrayOf(type, &parameter->constants, values) : values[parameter->constants[0]];
  }
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

const ConditionQuery* BindCondition(Oid relation, const text* predicate, int parameters_before) {
  auto* query = static_cast<ConditionQuery*>(palloc0(sizeof(ConditionQuery)));
  CoreHolder<Binding>* holder = NewCoreHolder<Binding>(CurrentMemoryContext);
  CallCoreOrRaise([&] { holder->Reset(new Binding()); });
  Binding* binding = holder->object;
  binding->relation = relation;
  if (predicate != nullptr) {
    int length;
    int name_length;
    const char* utf8 = ToUtf8(VARDATA_ANY(predicate), static_cast<int>(VARSIZE_ANY_EXHDR(predicate)), &length);
    const char* relation_name = get_rel_name(relation);
    const char* utf8_name = ToUtf8(relation_name, static_cast<int>(strlen(relation_name)), &name_length);
    CallCoreOrRaise([&] {
      binding->predicate = ps::ParsePredicate({utf8, static_cast<std::size_t>(length)},
                                              {utf8_name, static_cast<std::size_t>(name_length)});
    });
  }
  auto* columns = static_cast<BoundColumn*>(palloc0(sizeof(BoundColumn) * (binding->predicate.columns.size() + 1)));
  const Datum* values = BindLeaves(binding, columns);
  CallCoreOrRaise([&] { binding->normal = ps::Normalise(binding->predicate, parameters_before + 1); });
  BindParameters(query, binding, columns, values, parameters_before);
  query->sql = pnstrdup(binding->normal.sql.data(), binding->normal.sql.size());
  query->canonical = CanonicalText(&binding->normal.canonical);
  query->shape = predicate == nullptr ? nullptr : ShapeText(&binding->normal.shape);
  holder->Reset(nullptr);
  return query;
}
