/*
 * dp_columns.cpp - see dp_columns.hpp.
 */
#include "backend/dp/dp_columns.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/value.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
}

namespace privacy_score {

namespace {

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

// The operator that a query means by OPERATOR(pg_catalog.=); InvalidOid when it is not clear. The owner of an enum may
// have made an implicit cast of it.
Oid EqualityByName(Oid type) {
  List* name = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup("=")));
  return compatible_oper_opid(name, type, type, true);
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

}  // namespace

Oid ComparableOperand(Oid type) {
  if (!IsOwnType(type)) return InvalidOid;
  const Oid element = get_base_element_type(type);
  if (OidIsValid(element) && !OidIsValid(ComparableOperand(element))) return InvalidOid;
  const Oid opclass = GetDefaultOpClass(type, BTREE_AM_OID);
  if (!OidIsValid(opclass)) return InvalidOid;
  const Oid input = get_opclass_input_type(opclass);
  const Oid equal = get_opfamily_member(get_opclass_family(opclass), input, input, BTEqualStrategyNumber);
  if (!OidIsValid(equal) || NamespaceOfOperator(equal) != PG_CATALOG_NAMESPACE) return InvalidOid;
  const Oid operand = IsPolymorphicType(input) ? type : input;
  return EqualityByName(operand) == equal ? operand : InvalidOid;
}

BoundColumn BindColumn(Oid relation, const char* name) {
  const AttrNumber number = get_attnum(relation, name);
  if (number == InvalidAttrNumber)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                    errmsg("column \"%s\" of relation \"%s\" does not exist", name, get_rel_name(relation)),
                    errhint("Name the relation's own columns.")));
  BoundColumn column = {pstrdup(name), number, InvalidOid, InvalidOid, InvalidOid, -1};
  if (number < 0) return column;
  get_atttypetypmodcoll(relation, number, &column.type, &column.modifier, &column.collation);
  column.type = getBaseTypeAndTypmod(column.type, &column.modifier);
  column.operand = ComparableOperand(column.type);
  return column;
}

Datum ReadValue(Oid type, const char* text) {
  Oid input, parameter;
  getTypeInputInfo(type, &input, &parameter);
  return OidInputFunctionCall(input, const_cast<char*>(text), parameter, -1);
}

const char* TextOfValue(Oid type, Datum value) {
  if (type == NUMERICOID && !numeric_is_nan(DatumGetNumeric(value)) && !numeric_is_inf(DatumGetNumeric(value)))
    return numeric_normalize(DatumGetNumeric(value));
  Oid output;
  bool varlena;
  getTypeOutputInfo(type, &output, &varlena);
  return OidOutputFunctionCall(output, value);
}

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

}  // namespace privacy_score
