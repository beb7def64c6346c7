/*
 * query_key.cpp - the walk that makes a QueryKey (see query_key.hpp).
 *
 * Each node writes its tag, the fields that the translation looks at, and its children, lists with their length; so
 * different trees write different words. It goes in the order of the server's walkers. What a branch leaves out must be
 * left out by the translation, too: whoever makes that look at another field adds it here.
 */
#include "backend/query/query_key.hpp"

#include "backend/query/described_columns.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/settings.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
}

namespace privacy_score {

namespace {

constexpr int kMostKeyWords = 4096;
constexpr int kMostParameters = 64;
constexpr int kMostDepth = 100;
constexpr int kMostComparisons = 64;

// One buffer a backend, made with the first key.
struct KeyBuffer {
  // Most keys are short: what comes last is hardly ever touched.
  OpExpr* comparisons[kMostComparisons];
  const Const* literals[kMostLiterals];
  uint32 words[kMostKeyWords];
};

class KeyWriter {
 public:
  explicit KeyWriter(KeyBuffer* buffer) : buffer_(buffer) {}

  bool WriteQuery(::Query* query);
  void Put(uint32 word) {
    if (word_count_ < kMostKeyWords) buffer_->words[word_count_] = word;
    ++word_count_;
    // Good enough to find an entry; equality is decided by the words.
    hash_ = (hash_ << 7 ^ hash_ >> 57 ^ word) * UINT64CONST(0x9e3779b97f4a7c15);
  }
  bool Fits() const { return word_count_ <= kMostKeyWords; }
  // Whether what an aggregate is taken over may depend on what two constants are.
  bool DependsOnConstants() const {
    return aggregates_ &&
           (comparison_count_ > kMostComparisons || DependOnConstants(buffer_->comparisons, comparison_count_));
  }
  uint64 hash() const { return hash_; }
  int word_count() const { return word_count_; }
  int literal_count() const { return literal_count_; }
  uint64 parameters() const { return parameters_; }

 private:
  bool Write(Node* node);
  bool WriteNode(Node* node);
  bool WriteList(List* list);
  bool WriteRange(::Query* query, RangeTblEntry* rte);
  bool WriteConst(const Const* constant);
  bool WriteParam(const Param* param);
  bool WriteOperator(const OpExpr* op);
  bool WriteArrayOperator(ScalarArrayOpExpr* op);
  bool WriteFunction(const FuncExpr* function);
  bool WriteAggregate(const Aggref* aggregate);
  bool WriteSubquery(const SubLink* link);
  void PutClauses(List* clauses);
  void PutColumns(const Bitmapset* columns);
  void PutName(const char* name);

  template <typename T>
  bool Expr(T* node) {
    return Write(reinterpret_cast<Node*>(node));
  }

  KeyBuffer* buffer_;
  uint64 hash_ = 0;
  int word_count_ = 0;
  int literal_count_ = 0;
  uint64 parameters_ = 0;
  int depth_ = 0;
  int comparison_count_ = 0;  // operators with a literal on one side
  bool aggregates_ = false;
};

// Sort and group clauses name a target.
void KeyWriter::PutClauses(List* clauses) {
  Put(static_cast<uint32>(list_length(clauses)));
  ListCell* cell;
  foreach (cell, clauses) Put(lfirst_node(SortGroupClause, cell)->tleSortGroupRef);
}

void KeyWriter::PutColumns(const Bitmapset* columns) {
  Put(static_cast<uint32>(bms_num_members(columns)));
  for (int column = -1; (column = bms_next_member(columns, column)) >= 0;) Put(static_cast<uint32>(column));
}

void KeyWriter::PutName(const char* name) {
  const Size length = strlen(name);
  Put(static_cast<uint32>(length));
  for (Size at = 0; at < length; at += sizeof(uint32)) {
    uint32 word = 0;
    memcpy(&word, name + at, Min(sizeof(uint32), length - at));
    Put(word);
  }
}

[[gnu::hot]] bool KeyWriter::Write(Node* node) {
  if (node == nullptr) {
    Put(0);
    return true;
  }
  if (++depth_ > kMostDepth || !Fits()) return false;
  const bool done = WriteNode(node);
  --depth_;
  return done;
}

[[gnu::hot]] bool KeyWriter::WriteList(List* list) {
  Put(static_cast<uint32>(list_length(list)));
  ListCell* cell;
  foreach (cell, list)
    if (!Write(static_cast<Node*>(lfirst(cell)))) return false;
  return true;
}

// How many constants an array has decides how many values a column is compared with.
bool IsArrayOfConstants(Node* node) {
  while (node != nullptr && IsA(node, RelabelType))
    node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
  return node != nullptr && !IsA(node, ArrayExpr) && !IsA(node, Param);
}

bool KeyWriter::WriteConst(const Const* constant) {
  Put(constant->constisnull ? 1 : 0);
  if (literal_count_ >= kMostLiterals) return false;
  buffer_->literals[literal_count_++] = constant;
  return true;
}

bool KeyWriter::WriteParam(const Param* param) {
  Put(static_cast<uint32>(param->paramkind));
  Put(static_cast<uint32>(param->paramid));
  if (param->paramkind == PARAM_SUBLINK) return true;
  if (param->paramkind != PARAM_EXTERN || param->paramid < 1 || param->paramid > kMostParameters) return false;
  parameters_ |= UINT64CONST(1) << (param->paramid - 1);
  return true;
}

bool KeyWriter::WriteOperator(const OpExpr* op) {
  Put(op->opno);
  const int literals = literal_count_;
  if (!WriteList(op->args)) return false;
  if (literal_count_ > literals) {
    if (comparison_count_ < kMostComparisons) buffer_->comparisons[comparison_count_] = const_cast<OpExpr*>(op);
    ++comparison_count_;
  }
  return true;
}

bool KeyWriter::WriteArrayOperator(ScalarArrayOpExpr* op) {
  Put(op->opno);
  return !IsArrayOfConstants(static_cast<Node*>(lsecond(op->args))) && WriteList(op->args);
}

bool KeyWriter::WriteFunction(const FuncExpr* function) {
  Put(function->funcid);
  Put(static_cast<uint32>(function->funcformat) << 2U | static_cast<uint32>(TimePartOf(function)));
  return function->funcid != F_UNNEST_ANYARRAY && WriteList(function->args);
}

bool KeyWriter::WriteAggregate(const Aggref* aggregate) {
  Put(aggregate->aggfnoid);
  aggregates_ = true;
  if (!WriteList(aggregate->aggdirectargs) || !WriteList(aggregate->args)) return false;
  PutClauses(aggregate->aggorder);
  return Expr(aggregate->aggfilter);
}

bool KeyWriter::WriteSubquery(const SubLink* link) {
  Put(static_cast<uint32>(link->subLinkType));
  return link->subLinkType != MULTIEXPR_SUBLINK && Write(link->testexpr) && Write(link->subselect);
}

// False for a node that is not known.
[[gnu::hot]] bool KeyWriter::WriteNode(Node* node) {
  Put(static_cast<uint32>(nodeTag(node)));
  switch (nodeTag(node)) {
    case T_List:
      return WriteList(reinterpret_cast<List*>(node));
    case T_Query:
      return WriteQuery(reinterpret_cast<::Query*>(node));
    case T_TargetEntry: {
      const auto* target = reinterpret_cast<TargetEntry*>(node);
      Put(static_cast<uint32>(target->resno) << 1U | (target->resjunk ? 1U : 0U));
      Put(target->ressortgroupref);
      return Expr(target->expr);
    }
    case T_Var: {
      const auto* var = reinterpret_cast<Var*>(node);
      Put(static_cast<uint32>(var->varno));
      Put(static_cast<uint32>(static_cast<uint16>(var->varattno)) << 16U | var->varlevelsup);
      return var->varlevelsup <= PG_UINT16_MAX;
    }
    case T_Const:
      return WriteConst(reinterpret_cast<Const*>(node));
    case T_Param:
      return WriteParam(reinterpret_cast<Param*>(node));
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
      return WriteOperator(reinterpret_cast<OpExpr*>(node));
    case T_ScalarArrayOpExpr:
      return WriteArrayOperator(reinterpret_cast<ScalarArrayOpExpr*>(node));
    case T_BoolExpr:
      Put(static_cast<uint32>(reinterpret_cast<BoolExpr*>(node)->boolop));
      return WriteList(reinterpret_cast<BoolExpr*>(node)->args);
    case T_FuncExpr:
      return WriteFunction(reinterpret_cast<FuncExpr*>(node));
    case T_Aggref:
      return WriteAggregate(reinterpret_cast<Aggref*>(node));
    case T_WindowFunc: {
      const auto* window = reinterpret_cast<WindowFunc*>(node);
      Put(window->winfnoid);
      return WriteList(window->args) && Expr(window->aggfilter);
    }
    case T_SubLink:
      return WriteSubquery(reinterpret_cast<SubLink*>(node));
    case T_FieldSelect: {
      const auto* select = reinterpret_cast<FieldSelect*>(node);
      Put(static_cast<uint32>(select->fieldnum));
      return Expr(select->arg);
    }
    case T_RelabelType:
      Put(static_cast<uint32>(reinterpret_cast<RelabelType*>(node)->relabelformat));
      return Expr(reinterpret_cast<RelabelType*>(node)->arg);
    case T_CoerceViaIO: {
      // Its functions are those of the two types.
      const auto* cast = reinterpret_cast<CoerceViaIO*>(node);
      Put(static_cast<uint32>(cast->coerceformat));
      Put(cast->resulttype);
      if (!Expr(cast->arg)) return false;
      Put(exprType(reinterpret_cast<const Node*>(cast->arg)));
      return true;
    }
    case T_ArrayExpr:
      return WriteList(reinterpret_cast<ArrayExpr*>(node)->elements);
    case T_RowExpr:
      return WriteList(reinterpret_cast<RowExpr*>(node)->args);
    case T_RowCompareExpr: {
      const auto* comparison = reinterpret_cast<RowCompareExpr*>(node);
      Put(static_cast<uint32>(list_length(comparison->opnos)));
      ListCell* cell;
      foreach (cell, comparison->opnos) Put(lfirst_oid(cell));
      return WriteList(comparison->largs) && WriteList(comparison->rargs);
    }
    case T_CaseExpr: {
      const auto* expression = reinterpret_cast<CaseExpr*>(node);
      return Expr(expression->arg) && WriteList(expression->args) && Expr(expression->defresult);
    }
    case T_CaseWhen:
      return Expr(reinterpret_cast<CaseWhen*>(node)->expr) && Expr(reinterpret_cast<CaseWhen*>(node)->result);
    case T_CaseTestExpr:
    case T_SQLValueFunction:
      return true;
    case T_CoalesceExpr:
      return WriteList(reinterpret_cast<CoalesceExpr*>(node)->args);
    case T_MinMaxExpr:
      return WriteList(reinterpret_cast<MinMaxExpr*>(node)->args);
    case T_NullTest:
      return Expr(reinterpret_cast<NullTest*>(node)->arg);
    case T_BooleanTest:
      return Expr(reinterpret_cast<BooleanTest*>(node)->arg);
    case T_CollateExpr:
      return Expr(reinterpret_cast<CollateExpr*>(node)->arg);
    case T_RangeTblRef:
      Put(static_cast<uint32>(reinterpret_cast<RangeTblRef*>(node)->rtindex));
      return true;
    case T_JoinExpr: {
      const auto* join = reinterpret_cast<JoinExpr*>(node);
      return Write(join->larg) && Write(join->rarg) && Write(join->quals);
    }
    case T_FromExpr:
      return WriteList(reinterpret_cast<FromExpr*>(node)->fromlist) && Write(reinterpret_cast<FromExpr*>(node)->quals);
    case T_SetOperationStmt: {
      const auto* operation = reinterpret_cast<SetOperationStmt*>(node);
      Put(static_cast<uint32>(operation->op) << 1U | (operation->all ? 1U : 0U));
      return Write(operation->larg) && Write(operation->rarg);
    }
    case T_CommonTableExpr: {
      const auto* cte = reinterpret_cast<CommonTableExpr*>(node);
      PutName(cte->ctename);
      return Write(cte->ctequery);
    }
    default:
      return false;
  }
}

[[gnu::hot]] bool KeyWriter::WriteRange(::Query* query, RangeTblEntry* rte) {
  Put(static_cast<uint32>(rte->rtekind));
  if (rte->securityQuals != NIL) return false;
  switch (rte->rtekind) {
    case RTE_RELATION:
      Put(rte->relid);
      PutColumns(InsertedColumns(query, rte));
      PutColumns(UpdatedColumns(query, rte));
      return rte->tablesample == nullptr && !DescribesColumns(rte->relid);
    case RTE_SUBQUERY:
      return Expr(rte->subquery);
    case RTE_JOIN:
      return WriteList(rte->joinaliasvars);
    case RTE_CTE:
      PutName(rte->ctename);
      Put(rte->ctelevelsup);
      return true;
    case RTE_VALUES:
      return WriteList(rte->values_lists);
    case RTE_RESULT:
      return true;
    default:
      return false;
  }
}

[[gnu::hot]] bool KeyWriter::WriteQuery(::Query* query) {
  if (query->commandType == CMD_UTILITY || query->commandType == CMD_NOTHING || IsMerge(query->commandType))
    return false;
  if (query->onConflict != nullptr || query->withCheckOptions != NIL) return false;
  Put(static_cast<uint32>(query->commandType) << 2U | (query->hasDistinctOn ? 1U : 0U) |
      (query->distinctClause != NIL ? 2U : 0U));
  if (query->distinctClause != NIL) aggregates_ = true;
  Put(static_cast<uint32>(query->resultRelation));
  if (!WriteList(query->targetList) || !WriteList(query->returningList) || !Expr(query->jointree) ||
      !Write(query->setOperations) || !Write(query->havingQual) || !Write(query->limitOffset) ||
      !Write(query->limitCount))
    return false;
  PutClauses(query->groupClause);
  PutClauses(query->sortClause);
  if (query->hasDistinctOn) PutClauses(query->distinctClause);
  ListCell* cell;
  Put(static_cast<uint32>(list_length(query->windowClause)));
  foreach (cell, query->windowClause) {
    const auto* window = lfirst_node(WindowClause, cell);
    PutClauses(window->partitionClause);
    PutClauses(window->orderClause);
    Put(static_cast<uint32>(window->frameOptions));
    if (!Write(window->startOffset) || !Write(window->endOffset)) return false;
  }
  if (!WriteList(query->cteList)) return false;
  Put(static_cast<uint32>(list_length(query->rtable)));
  foreach (cell, query->rtable)
    if (!WriteRange(query, lfirst_node(RangeTblEntry, cell))) return false;
  return Fits();
}

}  // namespace

uint64 ps_keys_begun = 0;

[[gnu::hot]] bool MakeQueryKey(::Query* query, QueryKey* key) {
  static KeyBuffer* buffer = nullptr;
  ++ps_keys_begun;
  if (buffer == nullptr) buffer = static_cast<KeyBuffer*>(MemoryContextAlloc(TopMemoryContext, sizeof(KeyBuffer)));
  check_stack_depth();
  KeyWriter writer(buffer);
  writer.Put(GetUserId());
  writer.Put(ps_settings.ignore_catalogs ? 1 : 0);
  if (!writer.WriteQuery(query) || writer.DependsOnConstants()) return false;
  *key = {writer.hash(),    buffer->words,          writer.word_count(),
          buffer->literals, writer.literal_count(), writer.parameters()};
  return true;
}

}  // namespace privacy_score
