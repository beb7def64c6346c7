/*
 * private_classes.cpp - see private_classes.hpp.
 *
 * Levels are decided from the bottom up. A sub-select of persons exports the columns that tell them apart as further
 * targets. A WITH query of persons is put in place of each of its references.
 */
#include "backend/private_sql/private_classes.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include <initializer_list>

#include "backend/dp/dp_persons.hpp"
#include "backend/private_sql/private_allowed.hpp"
#include "backend/private_sql/private_functions.hpp"
#include "backend/private_sql/private_persons.hpp"
#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_split.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/private_sql/private_values.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/server/compat_query.hpp"

namespace privacy_score {

namespace {

// A whole query while it is looked at.
struct Classing {
  List* levels;
};

// What a level turned out to be. Of persons: the targets, by number, that tell them apart.
struct LevelClass {
  bool persons;
  Oid home;
  List* columns;
  bool one_row_a_person;
  List* relations;
  const Node* key;  // that makes a group of each person; null: none does
};

LevelClass ClassLevel(::Query* query, Classing* classing);

const char* const kSeparate = "Aggregate the rows of persons in a query of their own, and join the answers.";

// --- WITH queries ----------------------------------------------------------------------------------------------------

struct Inlining {
  const CommonTableExpr* with;
  Index depth;
};

// Puts a WITH query in place of each of its references, at any depth.
bool InlineReferences(Node* node, void* context) {
  auto* inlining = static_cast<Inlining*>(context);
  if (node == nullptr) return false;
  if (IsA(node, Query)) {
    ++inlining->depth;
    (void)WalkQuery(AsQuery(node), InlineReferences, context);
    --inlining->depth;
    return false;
  }
  if (IsA(node, RangeTblEntry)) {
    auto* rte = castNode(RangeTblEntry, node);
    if (rte->rtekind != RTE_CTE || rte->ctelevelsup != inlining->depth ||
        strcmp(rte->ctename, inlining->with->ctename) != 0)
      return false;
    ::Query* subquery = CopyTree(AsQuery(inlining->with->ctequery));
    if (inlining->depth > 0)
      IncrementVarSublevelsUp(reinterpret_cast<Node*>(subquery), static_cast<int>(inlining->depth), 1);
    rte->rtekind = RTE_SUBQUERY;
    rte->subquery = subquery;
    rte->security_barrier = false;
    rte->ctename = nullptr;
    rte->ctelevelsup = 0;
    rte->self_reference = false;
    rte->coltypes = rte->coltypmods = rte->colcollations = NIL;
    return false;
  }
  return WalkChildren(node, InlineReferences, context);
}

bool HasPlaceholder(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(AsQuery(node), HasPlaceholder, context);
  if (IsA(node, RangeTblEntry)) return LevelOfPlaceholder(castNode(RangeTblEntry, node)) >= 0;
  return WalkChildren(node, HasPlaceholder, context);
}

void ClassWithQueries(::Query* query, Classing* classing) {
  List* kept = NIL;
  const ListCell* cell;
  foreach (cell, query->cteList) {
    auto* with = lfirst_node(CommonTableExpr, cell);
    auto* own = AsQuery(with->ctequery);
    auto* copy = CopyTree(own);
    if (with->cterecursive && QueryReadsProtected(own))
      RefusePrivately(reinterpret_cast<Node*>(with), "a recursive WITH query reads rows of persons", kSeparate);
    const LevelClass found = ClassLevel(own, classing);
    if (found.persons) {
      Inlining inlining = {with, 0};
      with->ctequery = reinterpret_cast<Node*>(copy);
      (void)WalkQuery(query, InlineReferences, &inlining);
    } else {
      kept = lappend(kept, with);
    }
  }
  query->cteList = kept;
}

// Other WITH queries are public; where a level reads rows of persons they are put in place, too, so that its private
// part is whole.
void InlinePublicWith(::Query* query) {
  List* kept = NIL;
  const ListCell* cell;
  foreach (cell, query->cteList) {
    auto* with = lfirst_node(CommonTableExpr, cell);
    const auto* own = AsQuery(with->ctequery);
    if (with->cterecursive || own->commandType != CMD_SELECT || HasPlaceholder(with->ctequery, nullptr)) {
      kept = lappend(kept, with);
      continue;
    }
    Inlining inlining = {with, 0};
    (void)WalkQuery(query, InlineReferences, &inlining);
  }
  query->cteList = kept;
}

// --- sub-selects in expressions --------------------------------------------------------------------------------------

bool ClassSubLinks(Node* node, void* context) {
  if (node == nullptr || IsA(node, Query) || IsA(node, RangeTblEntry)) return false;
  if (IsA(node, SubLink)) {
    auto* link = castNode(SubLink, node);
    if (ClassLevel(AsQuery(link->subselect), static_cast<Classing*>(context)).persons)
      RefusePrivately(node, "a sub-select in an expression returns rows of persons",
                      "Aggregate in the sub-select, or ask for a count with the condition in its WHERE.");
  }
  return WalkChildren(node, ClassSubLinks, context);
}

void ClassExpressions(::Query* query, Classing* classing) {
  (void)ClassSubLinks(reinterpret_cast<Node*>(query->targetList), classing);
  (void)ClassSubLinks(reinterpret_cast<Node*>(query->jointree), classing);
  (void)ClassSubLinks(query->havingQual, classing);
  (void)ClassSubLinks(query->limitCount, classing);
  (void)ClassSubLinks(query->limitOffset, classing);
}

// --- FROM ------------------------------------------------------------------------------------------------------------

struct FromSearch {
  ::Query* query;
  Classing* classing;
  List* sources;  // PersonSource
};

void AddPersons(FromSearch* search, int index, const PersonItem* item) {
  auto* source = static_cast<PersonSource*>(palloc(sizeof(PersonSource)));
  *source = {index, *item};
  search->sources = lappend(search->sources, source);
}

Node* ColumnOf(::Query* query, int index, AttrNumber number) {
  const RangeTblEntry* rte = rt_fetch(index, query->rtable);
  if (rte->rtekind == RTE_SUBQUERY)
    return reinterpret_cast<Node*>(
        makeVarFromTargetEntry(index, list_nth_node(TargetEntry, rte->subquery->targetList, number - 1)));
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(rte->relid, number, &type, &modifier, &collation);
  return reinterpret_cast<Node*>(makeVar(index, number, type, modifier, collation, 0));
}

// Raises unless equal persons are made of the same bytes, by which they are told apart: months and days of an interval
// may equal hours, texts one another by collation, several times without a zone one with it.
void RequireApart(Node* column, Oid home, AttrNumber at_home) {
  const Oid type = getBaseType(exprType(column));
  Oid type_at_home;
  int32 modifier;
  Oid collation_at_home;
  get_atttypetypmodcoll(home, at_home, &type_at_home, &modifier, &collation_at_home);
  bool apart = CanBeKey(type) || type == BYTEAOID || type == OIDOID || type == INETOID || type == MACADDROID;
  if (TypeCategory(type) == TYPCATEGORY_DATETIME) apart = apart && type == getBaseType(type_at_home);
  for (const Oid collation : {exprCollation(column), collation_at_home})
    apart = apart && (!OidIsValid(collation) || get_collation_isdeterministic(collation));
  if (!apart)
    RefusePrivately(
        nullptr,
        psprintf("persons of \"%s\" cannot be told apart by type %s", get_rel_name(home), format_type_be(type)),
        "Have them told apart by a number, a text of a deterministic collation, a uuid or a date.");
}

// A relation that is protected: a home, or one whose subject refers to one.
void TakeRelation(FromSearch* search, int index, const RangeTblEntry* rte) {
  if (!TreeIsProtected(rte->relid)) return;
  const char* name = get_rel_name(rte->relid);
  const Oid home = HomeOfPersons(rte->relid);
  if (!OidIsValid(home))
    RefusePrivately(nullptr, psprintf("relation \"%s\" has rows of persons that are at home nowhere", name),
                    "Name the relation that protect() has declared, not a part or a copy of it; its subject needs a "
                    "foreign key to a relation with one row a person.");
  if (rte->tablesample != nullptr)
    RefusePrivately(nullptr, "rows of persons are not sampled", "Leave TABLESAMPLE away.");
  PersonItem item = {home, NIL, false, list_make1_oid(rte->relid), NIL, NIL, NIL, NIL};
  const List* columns = PersonColumns(rte->relid, &item.one_row_a_person);
  bool unique_at_home;
  const List* at_home = PersonColumns(home, &unique_at_home);
  const ListCell* cell;
  const ListCell* home_cell;
  forboth(cell, columns, home_cell, at_home) {
    Node* column = ColumnOf(search->query, index, static_cast<AttrNumber>(lfirst_int(cell)));
    RequireApart(column, home, static_cast<AttrNumber>(lfirst_int(home_cell)));
    item.columns = lappend(item.columns, column);
  }
  AddPersons(search, index, &item);
}

void TakeSubSelect(FromSearch* search, int index, RangeTblEntry* rte) {
  const LevelClass level = ClassLevel(rte->subquery, search->classing);
  if (!level.persons) return;
  PersonItem item = {level.home, NIL, level.one_row_a_person, level.relations, NIL, NIL, NIL, NIL};
  const ListCell* cell;
  foreach (cell, level.columns) {
    // The columns that were exported are new ones.
    const int number = lfirst_int(cell);
    while (number > list_length(rte->eref->colnames))
      rte->eref->colnames = lappend(rte->eref->colnames, makeString(pstrdup("person")));
    item.columns = lappend(item.columns, ColumnOf(search->query, index, static_cast<AttrNumber>(number)));
  }
  AddPersons(search, index, &item);
}

// Looks at each item once.
void TakeItems(Node* node, FromSearch* search) {
  if (node == nullptr) return;
  if (IsA(node, FromExpr)) {
    const ListCell* cell;
    foreach (cell, castNode(FromExpr, node)->fromlist) TakeItems(static_cast<Node*>(lfirst(cell)), search);
    return;
  }
  if (IsA(node, JoinExpr)) {
    TakeItems(castNode(JoinExpr, node)->larg, search);
    TakeItems(castNode(JoinExpr, node)->rarg, search);
    return;
  }
  const int index = castNode(RangeTblRef, node)->rtindex;
  RangeTblEntry* rte = rt_fetch(index, search->query->rtable);
  if (rte->rtekind == RTE_RELATION)
    TakeRelation(search, index, rte);
  else if (rte->rtekind == RTE_SUBQUERY)
    TakeSubSelect(search, index, rte);
}

// --- levels ----------------------------------------------------------------------------------------------------------

// UNION and its like.
LevelClass ClassSetOperation(::Query* query, Classing* classing) {
  const ListCell* cell;
  foreach (cell, query->rtable) {
    auto* rte = lfirst_node(RangeTblEntry, cell);
    if (rte->rtekind == RTE_SUBQUERY && ClassLevel(rte->subquery, classing).persons)
      RefusePrivately(nullptr, "a set operation is over rows of persons", "Aggregate within each part of it.");
  }
  ClassExpressions(query, classing);
  return {};
}

// The number of the target that is a column of persons: the query's own, so that it is known by either, or a new one.
int NumberOfTarget(::Query* query, const void* column) {
  const ListCell* cell;
  foreach (cell, query->targetList) {
    const auto* target = lfirst_node(TargetEntry, cell);
    if (!target->resjunk && equal(target->expr, column)) return target->resno;
  }
  const int number = list_length(query->targetList) + 1;
  query->targetList =
      lappend(query->targetList, makeTargetEntry(reinterpret_cast<::Expr*>(CopyNode(column)),
                                                 static_cast<AttrNumber>(number), pstrdup("person"), false));
  return number;
}

// A level whose rows are persons'.
LevelClass ExportPersons(::Query* query, const PersonItem* item, const List* columns, bool one_row_a_person) {
  if (query->limitCount != nullptr || query->limitOffset != nullptr)
    RefusePrivately(query->limitCount != nullptr ? query->limitCount : query->limitOffset,
                    "LIMIT chooses among rows of persons",
                    "Aggregate them, such as SELECT count(*) ... or with GROUP BY: LIMIT works on the answer.");
  if (query->hasWindowFuncs)
    RefusePrivately(nullptr, "a window function reads rows of several persons",
                    "Aggregate with GROUP BY, and use windows over the answer.");
  if (query->hasTargetSRFs)
    RefusePrivately(nullptr, "a set-returning function multiplies rows of persons", "Leave it away.");
  if (query->rowMarks != NIL) RefusePrivately(nullptr, "rows of persons cannot be locked", "Leave FOR UPDATE away.");
  if (item->null_side != NIL) RefuseLostRows();
  LevelClass level = {true, item->home, NIL, one_row_a_person, item->relations, nullptr};
  query->sortClause = NIL;
  const ListCell* cell;
  foreach (cell, columns) level.columns = lappend_int(level.columns, NumberOfTarget(query, lfirst(cell)));
  return level;
}

bool IsKey(const Var* column, const List* keys) {
  const ListCell* cell;
  foreach (cell, keys)
    if (IsColumn(static_cast<const Node*>(lfirst(cell)), column)) return true;
  return false;
}

bool AreKeys(const List* columns, const List* keys) {
  const ListCell* cell;
  foreach (cell, columns)
    if (!IsKey(lfirst_node(Var, cell), keys)) return false;
  return true;
}

// The columns of persons by which a level groups, if these make a group of each person; NIL: they do not.
List* PersonsAmongKeys(const ::Query* query, const PersonItem* item) {
  if (query->groupingSets != NIL) return NIL;
  List* keys = NIL;
  const ListCell* cell;
  foreach (cell, GroupingTargets(query)) keys = lappend(keys, lfirst_node(TargetEntry, cell)->expr);
  foreach (cell, item->same) {
    auto* columns = static_cast<List*>(lfirst(cell));
    if (AreKeys(columns, keys)) return columns;
  }
  foreach (cell, item->held) {
    const auto* columns = static_cast<const List*>(lfirst(cell));
    if (AreKeys(columns, keys))
      RefusePrivately(static_cast<Node*>(list_nth(keys, 0)),
                      "GROUP BY makes a group of each person, and one of nobody's rows",
                      "Group by the columns of the relation whose rows the outer join keeps.");
  }
  return NIL;
}

// Whether keys, of which one set of columns tells persons apart, make one group of each: all are columns of these, or
// of items with one row a person.
bool KeysFollowPersons(const ::Query* query, const PersonItem* item, const List* columns) {
  Bitmapset* single = nullptr;
  const ListCell* cell;
  foreach (cell, item->single_items) single = bms_add_member(single, lfirst_int(cell));
  foreach (cell, GroupingTargets(query)) {
    auto* key = reinterpret_cast<Node*>(lfirst_node(TargetEntry, cell)->expr);
    if (!list_member(columns, key) && !bms_is_subset(EntriesNamedBy(key), single)) return false;
  }
  return true;
}

// A level that aggregates the rows of each person. It stays a part of the level around it, where a row of it depends on
// rows of one person only: she changes her own rows there, and no others.
LevelClass ExportGroups(::Query* query, const PersonItem* item, const List* columns) {
  if (query->hasDistinctOn || (query->distinctClause != NIL && (query->groupClause != NIL || query->hasAggs)))
    RefusePrivately(nullptr, "DISTINCT is over rows of several persons", "Use DISTINCT over the answer.");
  const bool one_row = item->one_row_a_person || KeysFollowPersons(query, item, columns);
  const auto* key = static_cast<const Node*>(linitial(columns));
  const ListCell* cell;
  foreach (cell, GroupingTargets(query))
    if (equal(lfirst_node(TargetEntry, cell)->expr, key))
      key = reinterpret_cast<const Node*>(lfirst_node(TargetEntry, cell)->expr);
  NeutralizeGroupEntry(query);
  query->targetList = reinterpret_cast<List*>(BoundSums(reinterpret_cast<Node*>(query->targetList), nullptr));
  query->havingQual = BoundSums(query->havingQual, nullptr);
  LevelClass level = ExportPersons(query, item, columns, one_row);
  level.key = key;
  return level;
}

LevelClass ClassLevel(::Query* query, Classing* classing) {
  check_stack_depth();
  CHECK_FOR_INTERRUPTS();
  if (query->commandType != CMD_SELECT) {
    if (QueryReadsProtected(query))
      RefusePrivately(nullptr, "a statement that writes reads rows of persons", kSeparate);
    return {};
  }
  if (!QueryReadsProtected(query)) return {};
  ClassWithQueries(query, classing);
  if (query->setOperations != nullptr) return ClassSetOperation(query, classing);
  FromSearch search = {query, classing, NIL};
  TakeItems(reinterpret_cast<Node*>(query->jointree), &search);
  if (search.sources == NIL) {
    ClassExpressions(query, classing);
    return {};
  }
  const PersonItem item = JoinPersons(query, search.sources);
  InlinePublicWith(query);
  ClassExpressions(query, classing);
  if (!Aggregates(query)) return ExportPersons(query, &item, item.columns, item.one_row_a_person);
  FlattenAliases(query);
  const List* persons = PersonsAmongKeys(query, &item);
  if (persons != NIL) return ExportGroups(query, &item, persons);
  PrivateLevel* level = SplitLevel(query, &item, list_length(classing->levels));
  classing->levels = lappend(classing->levels, level);
  RequireAllowedPart(level);
  return {};
}

}  // namespace

List* AnswerLevels(::Query* query) {
  Classing classing = {NIL};
  if (query->commandType != CMD_SELECT) {
    const ListCell* cell;
    foreach (cell, query->rtable) {
      auto* rte = lfirst_node(RangeTblEntry, cell);
      if (rte->rtekind == RTE_SUBQUERY && query->commandType == CMD_INSERT &&
          ClassLevel(rte->subquery, &classing).persons)
        RefusePrivately(nullptr, "the statement would write rows of persons", "Aggregate them.");
    }
    return classing.levels;
  }
  const LevelClass level = ClassLevel(query, &classing);
  if (level.persons && level.key != nullptr)
    RefusePrivately(level.key, "GROUP BY makes a group of each person",
                    "Group by what several persons share, or aggregate these groups again.");
  if (level.persons)
    RefusePrivately(nullptr, "the query would return rows of persons",
                    "Aggregate them, such as SELECT count(*) ... or with GROUP BY.");
  return classing.levels;
}

}  // namespace privacy_score
