/*
 * private_persons.cpp - see private_persons.hpp.
 *
 * FROM is looked at as a tree of outer joins; what is joined by inner joins between two of them, and by commas, is one
 * list of factors, for any condition above may tie any two of them. A condition holds for all rows of a factor that
 * matter when it stands with the factors or above, up to the outer join whose partner side they are on: there it is
 * that join's ON.
 */
#include "backend/private_sql/private_persons.hpp"

extern "C" {
#include "access/stratnum.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

#include "backend/private_sql/private_multiplicity.hpp"
#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/server/compat_query.hpp"

namespace privacy_score {

namespace {

// Columns that tell the persons of a part of FROM apart. `kept`: no outer join makes them NULL.
struct Anchor {
  const PersonSource* source;
  bool kept;
};

// A part of FROM.
struct Side {
  Bitmapset* items;
  List* anchors;         // NIL: no rows of persons
  Bitmapset* null_side;  // items that public rows may lack
};

struct Joining {
  ::Query* query;
  const List* sources;
  bool within_partners;  // on the side of an outer join whose rows may be missing
};

const char* const kTie = "Join them on equal persons, such as ON a.patient_id = b.patient_id.";

Side SideOf(Joining* joining, Node* node, List* quals);

List* ConjunctsOf(const Joining* joining, Node* quals) {
  if (quals == nullptr) return NIL;
  return make_ands_implicit(reinterpret_cast<::Expr*>(WithoutAliases(joining->query, CopyNode(quals))));
}

// --- equal persons ---------------------------------------------------------------------------------------------------

Node* BareColumn(Node* node) {
  while (IsA(node, RelabelType)) node = reinterpret_cast<Node*>(castNode(RelabelType, node)->arg);
  return node;
}

bool IsBareColumn(Node* node, const Node* column) {
  return IsColumn(BareColumn(node), castNode(Var, const_cast<Node*>(column)));
}

// Whether a condition says that two columns are equal, by the equality of unique keys, which hash joins can use.
bool Equates(Node* condition, const Node* a, const Node* b) {
  if (!IsA(condition, OpExpr)) return false;
  const auto* call = castNode(OpExpr, condition);
  if (list_length(call->args) != 2) return false;
  auto* left = static_cast<Node*>(linitial(call->args));
  auto* right = static_cast<Node*>(lsecond(call->args));
  if (!(IsBareColumn(left, a) && IsBareColumn(right, b)) && !(IsBareColumn(left, b) && IsBareColumn(right, a)))
    return false;
  const TypeCacheEntry* entry = lookup_type_cache(getBaseType(exprType(a)), TYPECACHE_BTREE_OPFAMILY);
  return OidIsValid(entry->btree_opf) &&
         get_op_opfamily_strategy(call->opno, entry->btree_opf) == BTEqualStrategyNumber &&
         op_hashjoinable(call->opno, exprType(left)) &&
         (!OidIsValid(call->inputcollid) || get_collation_isdeterministic(call->inputcollid));
}

bool AreTied(const List* quals, const List* some, const List* others) {
  const ListCell* cell;
  const ListCell* other_cell;
  foreach (cell, some) {
    foreach (other_cell, others) {
      const PersonItem* a = &static_cast<Anchor*>(lfirst(cell))->source->item;
      const PersonItem* b = &static_cast<Anchor*>(lfirst(other_cell))->source->item;
      if (list_length(a->columns) != list_length(b->columns)) continue;
      bool all = true;
      for (int i = 0; all && i < list_length(a->columns); ++i) {
        bool one = false;
        const ListCell* qual;
        foreach (qual, quals)
          one = one || Equates(static_cast<Node*>(lfirst(qual)), static_cast<Node*>(list_nth(a->columns, i)),
                               static_cast<Node*>(list_nth(b->columns, i)));
        all = one;
      }
      if (all) return true;
    }
  }
  return false;
}

void RequireTied(const List* quals, const List* some, const List* others) {
  if (!AreTied(quals, some, others)) RefusePrivately(nullptr, "a query level joins rows of different persons", kTie);
}

// --- rows that may be missing ----------------------------------------------------------------------------------------

struct Nulling {
  const Bitmapset* items;
};

Node* PutNulls(Node* node, void* context) {
  if (node == nullptr || IsA(node, Query)) return node;
  if (IsA(node, Var)) {
    const auto* var = castNode(Var, node);
    if (var->varlevelsup == 0 && bms_is_member(var->varno, static_cast<Nulling*>(context)->items))
      return reinterpret_cast<Node*>(makeNullConst(var->vartype, var->vartypmod, var->varcollid));
  }
  return MutateChildren(node, PutNulls, context);
}

// An expression where the columns of these items are NULL, as far as it can be computed then.
Node* WithNulls(Node* expression, const Bitmapset* items) {
  Nulling nulling = {items};
  return eval_const_expressions(nullptr, PutNulls(CopyNode(expression), &nulling));
}

bool IsNullConst(const Node* node) { return IsA(node, Const) && castNode(Const, const_cast<Node*>(node))->constisnull; }

// Whether a condition does not hold where rows of these items are missing.
bool FailsWithout(Node* condition, const Bitmapset* items) {
  Node* value = WithNulls(condition, items);
  return IsA(value, Const) &&
         (castNode(Const, value)->constisnull || !DatumGetBool(castNode(Const, value)->constvalue));
}

bool Names(Node* expression, const Bitmapset* items) { return bms_overlap(EntriesNamedBy(expression), items); }

bool AnyFailsWithout(const List* quals, const Bitmapset* items) {
  const ListCell* cell;
  foreach (cell, quals)
    if (FailsWithout(static_cast<Node*>(lfirst(cell)), items)) return true;
  return false;
}

// What is left of the items that public rows may lack once these conditions hold.
Bitmapset* NullSideUnder(const List* quals, Bitmapset* null_side) {
  bool inner = false;
  const ListCell* cell;
  foreach (cell, quals) {
    auto* condition = static_cast<Node*>(lfirst(cell));
    if (!Names(condition, null_side)) continue;
    if (!FailsWithout(condition, null_side)) RefuseLostRows();
    inner = true;
  }
  return inner ? nullptr : null_side;
}

// --- the tree --------------------------------------------------------------------------------------------------------

void CollectFactors(const Joining* joining, Node* node, List** factors, List** quals) {
  if (IsA(node, FromExpr)) {
    const auto* from = castNode(FromExpr, node);
    const ListCell* cell;
    foreach (cell, from->fromlist) CollectFactors(joining, static_cast<Node*>(lfirst(cell)), factors, quals);
    *quals = list_concat(*quals, ConjunctsOf(joining, from->quals));
  } else if (IsA(node, JoinExpr) && castNode(JoinExpr, node)->jointype == JOIN_INNER) {
    const auto* join = castNode(JoinExpr, node);
    CollectFactors(joining, join->larg, factors, quals);
    CollectFactors(joining, join->rarg, factors, quals);
    *quals = list_concat(*quals, ConjunctsOf(joining, join->quals));
  } else {
    *factors = lappend(*factors, node);
  }
}

// Adds to the first of these sides with persons all that are tied to it; raises when one is not.
void TieAll(List* sides, const List* quals, Side* all) {
  List* open = NIL;
  const ListCell* cell;
  foreach (cell, sides) {
    auto* side = static_cast<Side*>(lfirst(cell));
    all->items = bms_add_members(all->items, side->items);
    all->null_side = bms_add_members(all->null_side, side->null_side);
    if (side->anchors != NIL) open = lappend(open, side);
  }
  while (open != NIL) {
    Side* next = all->anchors == NIL ? static_cast<Side*>(linitial(open)) : nullptr;
    foreach (cell, open)
      if (next == nullptr && AreTied(quals, all->anchors, static_cast<Side*>(lfirst(cell))->anchors))
        next = static_cast<Side*>(lfirst(cell));
    if (next == nullptr) RequireTied(quals, all->anchors, static_cast<Side*>(linitial(open))->anchors);
    all->anchors = list_concat(all->anchors, next->anchors);
    open = list_delete_ptr(open, next);
  }
}

Side SideOfFactors(Joining* joining, Node* node, List* quals) {
  List* factors = NIL;
  List* own = NIL;
  CollectFactors(joining, node, &factors, &own);
  List* hold = list_concat_copy(quals, own);
  List* sides = NIL;
  const ListCell* cell;
  foreach (cell, factors) {
    auto* side = static_cast<Side*>(palloc0(sizeof(Side)));
    *side = SideOf(joining, static_cast<Node*>(lfirst(cell)), hold);
    sides = lappend(sides, side);
  }
  Side all = {};
  TieAll(sides, hold, &all);
  all.null_side = NullSideUnder(own, all.null_side);
  return all;
}

// Partners without which a row of the other side stays.
Side PartnersOf(Joining* joining, Node* node, List* quals) {
  const bool before = joining->within_partners;
  joining->within_partners = true;
  Side side = SideOf(joining, node, quals);
  joining->within_partners = before;
  return side;
}

bool HasSources(const Joining* joining, Node* node) {
  if (IsA(node, JoinExpr))
    return HasSources(joining, castNode(JoinExpr, node)->larg) || HasSources(joining, castNode(JoinExpr, node)->rarg);
  const ListCell* cell;
  if (IsA(node, FromExpr)) {
    foreach (cell, castNode(FromExpr, node)->fromlist)
      if (HasSources(joining, static_cast<Node*>(lfirst(cell)))) return true;
    return false;
  }
  foreach (cell, joining->sources)
    if (static_cast<PersonSource*>(lfirst(cell))->index == castNode(RangeTblRef, node)->rtindex) return true;
  return false;
}

// Public rows that stay without rows of persons: what these are joined with becomes an inner join.
Side SideOfPublicOuter(Joining* joining, JoinExpr* join, Node* kept, Node* partners, List* quals) {
  if (joining->within_partners) RefuseLostRows();
  List* on = ConjunctsOf(joining, join->quals);
  Side all = SideOf(joining, kept, quals);
  const Side persons = SideOf(joining, partners, list_concat_copy(quals, on));
  if (persons.null_side != nullptr) RefuseLostRows();
  MakeJoinInner(joining->query, join);
  all.items = bms_union(all.items, persons.items);
  all.anchors = persons.anchors;
  all.null_side = bms_copy(persons.items);
  return all;
}

Side SideOfOuter(Joining* joining, JoinExpr* join, List* quals) {
  Node* kept = join->jointype == JOIN_RIGHT ? join->rarg : join->larg;
  Node* partners = join->jointype == JOIN_RIGHT ? join->larg : join->rarg;
  if (HasSources(joining, partners) && (join->jointype == JOIN_FULL || !HasSources(joining, kept)))
    return join->jointype == JOIN_FULL ? (RefuseLostRows(), Side{})
                                       : SideOfPublicOuter(joining, join, kept, partners, quals);
  if (join->jointype == JOIN_FULL && HasSources(joining, kept)) RefuseLostRows();
  List* on = ConjunctsOf(joining, join->quals);
  Side all = SideOf(joining, kept, quals);
  const Side others = PartnersOf(joining, partners, on);
  if (others.anchors != NIL) RequireTied(list_concat_copy(quals, on), all.anchors, others.anchors);
  // What depends on rows that may be missing is missing with them, or counts for nothing.
  const bool follows = all.null_side != nullptr && Names(reinterpret_cast<Node*>(on), all.null_side);
  if (follows && !AnyFailsWithout(on, all.null_side)) RefuseLostRows();
  all.items = bms_union(all.items, others.items);
  if (follows) all.null_side = bms_union(all.null_side, others.items);
  const ListCell* cell;
  foreach (cell, others.anchors) {
    auto* anchor = static_cast<Anchor*>(palloc(sizeof(Anchor)));
    *anchor = {static_cast<Anchor*>(lfirst(cell))->source, false};
    all.anchors = lappend(all.anchors, anchor);
  }
  return all;
}

Side SideOf(Joining* joining, Node* node, List* quals) {
  check_stack_depth();
  if (IsA(node, JoinExpr) && castNode(JoinExpr, node)->jointype != JOIN_INNER)
    return SideOfOuter(joining, castNode(JoinExpr, node), quals);
  if (!IsA(node, RangeTblRef)) return SideOfFactors(joining, node, quals);
  const int index = castNode(RangeTblRef, node)->rtindex;
  Side side = {bms_make_singleton(index), NIL, nullptr};
  const ListCell* cell;
  foreach (cell, joining->sources) {
    auto* source = static_cast<PersonSource*>(lfirst(cell));
    if (source->index != index) continue;
    auto* anchor = static_cast<Anchor*>(palloc(sizeof(Anchor)));
    *anchor = {source, true};
    side.anchors = list_make1(anchor);
  }
  return side;
}

bool CollectInner(Node* node, void* context) {
  if (node == nullptr || IsA(node, Query)) return false;
  if (IsA(node, JoinExpr) && castNode(JoinExpr, node)->jointype == JOIN_INNER) {
    auto** joins = static_cast<Bitmapset**>(context);
    *joins = bms_add_member(*joins, castNode(JoinExpr, node)->rtindex);
  }
  return WalkChildren(node, CollectInner, context);
}

// Public rows are known without those that they may lack only where they do not depend on these.
void RequireNoLateral(const ::Query* query, const Side* all) {
  for (int index = -1; (index = bms_next_member(all->items, index)) >= 0;)
    if (!bms_is_member(index, all->null_side) && rt_fetch(index, query->rtable)->lateral) RefuseLostRows();
}

}  // namespace

void RefuseLostRows() {
  RefusePrivately(nullptr, "an outer join keeps rows that are no person's beside rows of persons",
                  "Join with JOIN, with LEFT JOIN from the rows of persons to the others, or from public rows where "
                  "all groups are of these.");
}

PersonItem JoinPersons(::Query* query, List* sources) {
  const auto* first = static_cast<PersonSource*>(linitial(sources));
  PersonItem joined = {first->item.home, NIL, false, NIL, NIL, NIL, NIL, NIL};
  const ListCell* cell;
  foreach (cell, sources) {
    const PersonItem* item = &static_cast<PersonSource*>(lfirst(cell))->item;
    if (item->home != joined.home)
      RefusePrivately(nullptr,
                      psprintf("a query level reads persons of two kinds: of \"%s\" and of \"%s\"",
                               get_rel_name(joined.home), get_rel_name(item->home)),
                      "Aggregate each in a query of its own, and join the answers.");
    joined.relations = list_concat_unique_oid(joined.relations, item->relations);
  }
  Bitmapset* inner = nullptr;
  (void)CollectInner(reinterpret_cast<Node*>(query->jointree), &inner);
  Joining joining = {query, sources, false};
  const Side all = SideOf(&joining, reinterpret_cast<Node*>(query->jointree), NIL);
  if (all.null_side != nullptr) RequireNoLateral(query, &all);
  foreach (cell, all.anchors) {
    const auto* anchor = static_cast<Anchor*>(lfirst(cell));
    List** lists = anchor->kept ? &joined.same : &joined.held;
    *lists = lappend(*lists, anchor->source->item.columns);
    if (anchor->kept && anchor->source->item.one_row_a_person)
      joined.single_items = lappend_int(joined.single_items, anchor->source->index);
    joined.one_row_a_person = joined.one_row_a_person || (anchor->kept && anchor->source->item.one_row_a_person &&
                                                          KeepsRowsSingle(query, anchor->source->index));
  }
  joined.columns = static_cast<List*>(linitial(joined.same));
  for (int index = -1; (index = bms_next_member(all.null_side, index)) >= 0;)
    joined.null_side = lappend_int(joined.null_side, index);
  Bitmapset* now_inner = nullptr;
  (void)CollectInner(reinterpret_cast<Node*>(query->jointree), &now_inner);
  now_inner = bms_difference(now_inner, inner);
  for (int join = -1; (join = bms_next_member(now_inner, join)) >= 0;) ForgetOuterJoin(query, join);
  return joined;
}

static Bitmapset* NullSideOf(const PersonItem* item) {
  Bitmapset* items = nullptr;
  const ListCell* cell;
  foreach (cell, item->null_side) items = bms_add_member(items, lfirst_int(cell));
  return items;
}

void RequirePublicKey(const PersonItem* item, Node* key) {
  if (item->null_side == NIL || !Names(key, NullSideOf(item))) return;
  RefusePrivately(key, "an outer join keeps public rows, and groups are made by rows of persons",
                  "Group by columns of the public rows, or join with JOIN.");
}

void RequireNullWithout(const PersonItem* item, const Aggref* aggregate, PrivateAggregate kind, Node* value) {
  if (item->null_side == NIL || (value == nullptr && kind == PrivateAggregate::kCountPersons)) return;
  if (value != nullptr) {
    Node* missing = WithNulls(value, NullSideOf(item));
    if (IsNullConst(missing)) return;
    // Zeros change no sum.
    if (kind == PrivateAggregate::kSum && IsA(missing, Const)) {
      const auto* zero = castNode(Const, missing);
      Oid output;
      bool varlena;
      getTypeOutputInfo(zero->consttype, &output, &varlena);
      char* end;
      const char* text = OidOutputFunctionCall(output, zero->constvalue);
      if (strtod(text, &end) == 0 && end != text && *end == '\0') return;
    }
  }
  RefusePrivately(reinterpret_cast<const Node*>(aggregate),
                  "an outer join keeps public rows, which this aggregate counts, too",
                  "Aggregate a column of the rows of persons, such as count(visit_id) in the place of count(*).");
}

}  // namespace privacy_score
