/*
 * private_expressions.cpp - the table of functions (see private_expressions.hpp).
 *
 * An entry is a name or a name with argument types; {a,b} stands for each of the alternatives. An entry with types is
 * for that overload only and goes before one without. Whatever could fail in some version is guarded: that costs
 * nothing where it does not. Among what can fail without a look at the row are comparisons of arrays whose elements
 * cannot be compared.
 */
#include "core/private_sql/private_expressions.hpp"

#include <algorithm>
#include <unordered_map>

namespace privacy_score {

namespace {

constexpr const char* kSafe[] = {
    "{bool,char,name,oid,int2,int4,int8,int24,int42,int28,int82,int48,int84,float4,float8,float48,float84}"
    "{eq,ne,lt,le,gt,ge}",
    "{text,bpchar,bit,varbit,bytea}{eq,ne}",
    "{varbit,bit,bytea,bpchar}{lt,le,gt,ge}",
    "text_{lt,le,gt,ge}",
    "{text,bpchar}_pattern_{lt,le,gt,ge}",
    "name{eq,ne,lt,le,gt,ge}text",
    "text{eq,ne,lt,le,gt,ge}name",
    "{uuid,interval,date,time,timetz,timestamp,timestamptz,numeric,cash,macaddr,macaddr8,network,enum}"
    "_{eq,ne,lt,le,gt,ge}",
    "{range,multirange,jsonb}_{eq,ne,lt,le,gt,ge}",
    "date_{eq,ne,lt,le,gt,ge}_{timestamp,timestamptz}",
    "timestamp_{eq,ne,lt,le,gt,ge}_{date,timestamptz}",
    "timestamptz_{eq,ne,lt,le,gt,ge}_{date,timestamp}",
    "range_{contains,contained_by,overlaps,contains_elem,before,after,adjacent,overleft}",
    "range_overright",
    "elem_contained_by_range",
    "{lower,upper,lower_inc,upper_inc,lower_inf,upper_inf,isempty}({anyrange,anymultirange})",
    "network_{sub,subeq,sup,supeq,overlap}",
    "jsonb_{contains,contained}",
    "json{,b}_typeof",
    "{float4,float8}{abs,up,um}",
    "abs({float4,float8})",
    "{ceil,ceiling,floor,trunc,round,sign}(float8)",
    "{dround,dtrunc}",
    "int{2,4,8}{and,or,xor,not,shl,shr}",
    "isfinite",
    "{family,masklen}(inet)",
    "{array_length,array_lower,array_upper}(anyarray,int4)",
    "{cardinality,array_ndims}(anyarray)",
};

constexpr const char* kGuarded[] = {
    "int{2,4,8,24,42,28,82,48,84}{pl,mi,mul,div}",
    "int{2,4,8}{mod,um,up,abs}",
    "{abs,mod}",
    "{gcd,lcm}({int4,int8},{int4,int8})",
    "float{4,8,48,84}{pl,mi,mul,div}",
    "numeric_{add,sub,mul,div,mod,abs,uminus,uplus}",
    "div(numeric,numeric)",
    "{ceil,ceiling,floor,trunc,round,sign}(numeric)",
    "{round,trunc}(numeric,int4)",
    "width_bucket(float8,float8,float8,int4)",
    "width_bucket(numeric,numeric,numeric,int4)",
    "width_bucket(anycompatible,anycompatiblearray)",
    "{sqrt,cbrt,exp,ln,log,log10,degrees,radians,sin,cos,tan,cot,asin,acos,atan,sinh,cosh,tanh}(float8)",
    "{dsqrt,dcbrt,dexp,dlog1,dlog10}",
    "{power,pow,atan2}(float8,float8)",
    "dpow",
    "pi()",
    // casts
    "int2({int4,int8,float4,float8,numeric,jsonb})",
    "int4({bool,char,bit,int2,int8,float4,float8,numeric,jsonb})",
    "int8({bit,int2,int4,float4,float8,numeric,oid,jsonb})",
    "float4({int2,int4,int8,float8,numeric,jsonb})",
    "float8({int2,int4,int8,float4,numeric,jsonb})",
    "numeric({int2,int4,int8,float4,float8,jsonb})",
    "bool({int4,jsonb})",
    "text({bool,bpchar,char,inet,name})",
    "bpchar({char,name})",
    "varchar(name)",
    "char({int4,text})",
    "name({bpchar,text,varchar})",
    // text
    "{lower,upper,initcap,reverse,md5}(text)",
    "{btrim,ltrim,rtrim}(text)",
    "{btrim,ltrim,rtrim}({text,bytea},{text,bytea})",
    "{left,right}(text,int4)",
    "{length,char_length,character_length,octet_length,bit_length}({text,bpchar,bytea,bit})",
    "textlen",
    "{position,strpos,starts_with}(text,text)",
    "host(inet)",
    "num_{nulls,nonnulls}",
    "{substring,substr}({text,bytea},int4)",
    "{substring,substr}({text,bytea},int4,int4)",
    "overlay(text,text,int4)",
    "overlay(text,text,int4,int4)",
    "textcat",
    "textanycat",
    "anytextcat",
    "concat",
    "concat_ws",
    "ascii(text)",
    "chr(int4)",
    "split_part(text,text,int4)",
    "translate(text,text,text)",
    "to_hex({int4,int8})",
    // dates
    "date({timestamp,timestamptz})",
    "time({interval,timestamp,timestamptz,timetz})",
    "timetz({time,timestamptz})",
    "timestamp({date,timestamptz})",
    "timestamp(date,time)",
    "timestamptz({date,timestamp})",
    "timestamptz(date,{time,timetz})",
    "interval(time)",
    "date_{mi,pli,mii,pl_interval,mi_interval}",
    "{datetime,datetimetz,timedate,timetzdate}_pl",
    "integer_pl_date",
    "interval_pl_{date,time,timetz,timestamp,timestamptz}",
    "{timestamp,timestamptz}_{mi,pl_interval,mi_interval}",
    "{time,timetz}_{pl,mi}_interval",
    "time_mi_time",
    "interval_{pl,mi,um,mul,div}",
    "mul_d_interval",
    "age({timestamp,timestamptz},{timestamp,timestamptz})",
    "justify_{days,hours,interval}",
    "make_date",
    "make_time",
    "make_timestamp",
    "make_interval",
    "to_timestamp(float8)",
    // ranges, json, arrays
    "int4range(int4,int4)",
    "int8range(int8,int8)",
    "numrange(numeric,numeric)",
    "daterange(date,date)",
    "tsrange(timestamp,timestamp)",
    "tstzrange(timestamptz,timestamptz)",
    "array_{eq,ne,lt,le,gt,ge,position}",
    "array{contains,contained,overlap}",
    "json{,b}_array_length",
};

struct ConstantArgumentEntry {
  const char* name;
  unsigned arguments;
};

// Guarded, too: patterns, formats, fields and keys, which decide how long a function takes and when it fails.
constexpr ConstantArgumentEntry kWithConstants[] = {
    {"{textlike,textnlike,texticlike,texticnlike,bpcharlike,bpcharnlike,bpchariclike,bpcharicnlike}", 2},
    {"{namelike,namenlike,nameiclike,nameicnlike,bytealike,byteanlike}", 2},
    {"{like,notlike}({text,name,bytea},{text,bytea})", 2},
    {"{extract,date_part}(text,{date,time,timetz,timestamp,timestamptz,interval})", 1},
    {"date_trunc(text,{timestamp,timestamptz,interval})", 1},
    {"date_trunc(text,timestamptz,text)", 5},
    {"int4range(int4,int4,text)", 4},
    {"int8range(int8,int8,text)", 4},
    {"numrange(numeric,numeric,text)", 4},
    {"daterange(date,date,text)", 4},
    {"tsrange(timestamp,timestamp,text)", 4},
    {"tstzrange(timestamptz,timestamptz,text)", 4},
    {"date_bin(interval,{timestamp,timestamptz},{timestamp,timestamptz})", 5},
    {"timezone({text,interval},{timestamp,timestamptz,timetz})", 1},
    {"to_char({int4,int8,float4,float8,numeric,timestamp,timestamptz,interval},text)", 2},
    {"to_{date,timestamp,number}(text,text)", 2},
    {"json{,b}_object_field", 2},
    {"json{,b}_object_field_text", 2},
    {"json{,b}_array_element", 2},
    {"json{,b}_array_element_text", 2},
    {"json{,b}_extract_path", 2},
    {"json{,b}_extract_path_text", 2},
    {"jsonb_exists", 2},
    // casts to a length or a precision
    {"numeric(numeric,int4)", 2},
    {"bpchar(bpchar,int4,bool)", 6},
    {"varchar(varchar,int4,bool)", 6},
    {"time(time,int4)", 2},
    {"timetz(timetz,int4)", 2},
    {"timestamp(timestamp,int4)", 2},
    {"timestamptz(timestamptz,int4)", 2},
    {"interval(interval,int4)", 2},
    {"jsonb_exists_{any,all}", 2},
};

struct ReasonEntry {
  const char* name;
  const char* reason;
};

// What people would ask for, and why it is not there. A name that ends with * stands for all that begin so.
constexpr ReasonEntry kRefusals[] = {
    {"regexp*", "regular expressions may take any time"},
    {"{text,name,bpchar}{,ic}regex{eq,ne}", "regular expressions may take any time"},
    {"{similar_to_escape,similar_escape}", "regular expressions may take any time"},
    {"substring(text,text)", "regular expressions may take any time"},
    {"substring(text,text,text)", "regular expressions may take any time"},
    {"{to_tsvector,to_tsquery,plainto_tsquery,phraseto_tsquery,websearch_to_tsquery}", "it parses text"},
    {"ts_*", "it parses text"},
    {"jsonb_path*", "jsonpath may take any time"},
    {"xpath*", "XML is parsed by a library that may take any time"},
    {"xml*", "XML is parsed by a library that may take any time"},
    {"{repeat,lpad,rpad,format,replace,quote_literal,quote_nullable,quote_ident}", "its result may be of any size"},
    {"{string_to_array,string_to_table,array_fill,array_cat,array_append,array_prepend,array_replace}",
     "its result may be of any size"},
    {"{generate_series,generate_subscripts,unnest,json_array_elements,jsonb_array_elements}",
     "it returns more than one value for a row"},
    {"numeric_{power,exp,ln,log,sqrt}", "numbers of any length may take any time"},
    {"{power,pow,exp,ln,log,log10,sqrt,factorial}", "numbers of any length may take any time"},
    {"{random,setseed,gen_random_uuid,nextval,currval,lastval,clock_timestamp,timeofday,pg_sleep*}",
     "it gives another value each time"},
    {"pg_*", "it tells of the server, not of the row"},
    {"has_*", "it tells of the server, not of the row"},
    {"current_setting", "it tells of the server, not of the row"},
    {"age", "it depends on the day on which it is asked"},
};

constexpr const char* kNotListed = "it is not among the functions that may be";

// --- the table -------------------------------------------------------------------------------------------------------

// Calls `visit` with each of the names that an entry stands for.
template <typename Visit>
void ForEachName(const std::string& entry, const Visit& visit) {
  const std::size_t open = entry.find('{');
  if (open == std::string::npos) {
    visit(entry);
    return;
  }
  const std::size_t close = entry.find('}', open);
  for (std::size_t begin = open + 1; begin <= close;) {
    const std::size_t end = std::min(entry.find(',', begin), close);
    ForEachName(entry.substr(0, open) + entry.substr(begin, end - begin) + entry.substr(close + 1), visit);
    begin = end + 1;
  }
}

using RuleTable = std::unordered_map<std::string, ExpressionRule>;

RuleTable MakeTable() {
  RuleTable table;
  const auto add = [&](const char* entry, const ExpressionRule& rule) {
    ForEachName(entry, [&](const std::string& name) { table.emplace(name, rule); });
  };
  for (const char* entry : kSafe) add(entry, {ExpressionUse::kSafe, 0, {}});
  for (const char* entry : kGuarded) add(entry, {ExpressionUse::kGuarded, 0, {}});
  for (const ConstantArgumentEntry& entry : kWithConstants)
    add(entry.name, {ExpressionUse::kGuarded, entry.arguments, {}});
  for (const ReasonEntry& entry : kRefusals) add(entry.name, {ExpressionUse::kRefused, 0, entry.reason});
  return table;
}

const RuleTable& Table() {
  static const RuleTable table = MakeTable();
  return table;
}

}  // namespace

ExpressionRule RuleOfFunction(std::string_view name, const std::vector<std::string_view>& argument_types) {
  std::string signature(name);
  signature += '(';
  for (std::size_t i = 0; i < argument_types.size(); ++i) {
    if (i > 0) signature += ',';
    signature += argument_types[i];
  }
  signature += ')';
  const RuleTable& table = Table();
  for (const std::string& key : {signature, std::string(name)})
    if (const auto found = table.find(key); found != table.end()) return found->second;
  for (std::size_t length = name.size(); length > 0; --length)
    if (const auto found = table.find(std::string(name.substr(0, length)) + "*"); found != table.end())
      return found->second;
  return {ExpressionUse::kRefused, 0, kNotListed};
}

}  // namespace privacy_score
