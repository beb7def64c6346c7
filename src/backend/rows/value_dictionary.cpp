/*
 * value_dictionary.cpp - see value_dictionary.hpp.
 */
#include "backend/rows/value_dictionary.hpp"

extern "C" {
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
}

#include <cmath>
#include <limits>

#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

constexpr Size kLeastBlock = 64 * 1024;  // of which small pieces are cut
constexpr uint64 kFirstCapacity = 64;    // of the hash table
constexpr uint64 kAlwaysWindow = 65536;  // integers at most so far apart are entries of the array, however few

// A node of the tree of an ordered type.
struct OrderedValue {
  RBTNode node;
  Datum value;
  uint32 code;
};

// Memory for good, or null and `full` beyond the limit. Contents undefined.
void* TakeMemory(ValueDictionary* dictionary, Size bytes) {
  DictionaryMemory* memory = dictionary->memory;
  bytes = MAXALIGN(bytes);
  dictionary->bytes += bytes;
  if (static_cast<Size>(memory->end - memory->next) < bytes) {
    const Size block = Max(bytes, kLeastBlock);
    if (MemoryContextMemAllocated(memory->context, false) + block > memory->limit) {
      memory->full = true;
      return nullptr;
    }
    auto* fresh =
        static_cast<char*>(MemoryContextAllocExtended(memory->context, block, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM));
    if (fresh == nullptr) {
      memory->full = true;
      return nullptr;
    }
    if (block > kLeastBlock) return fresh;
    memory->next = fresh;
    memory->end = fresh + block;
  }
  char* piece = memory->next;
  memory->next += bytes;
  return piece;
}

uint32 HashInteger(int64 integer) {
  auto mixed = static_cast<uint64>(integer);
  mixed = (mixed ^ (mixed >> 33)) * UINT64CONST(0xff51afd7ed558ccd);
  mixed = (mixed ^ (mixed >> 33)) * UINT64CONST(0xc4ceb9fe1a85ec53);
  return static_cast<uint32>(mixed >> 32);
}

// Doubles the hash table; false when that does not fit.
bool DoubleTable(ValueDictionary* dictionary) {
  const uint64 capacity = dictionary->capacity == 0 ? kFirstCapacity : 2 * dictionary->capacity;
  auto* slots = static_cast<ValueSlot*>(TakeArray(dictionary, sizeof(ValueSlot) * capacity));
  if (slots == nullptr) return false;
  for (uint64 i = 0; i < dictionary->capacity; ++i) {
    const ValueSlot& slot = dictionary->slots[i];
    if (slot.next_code == 0) continue;
    uint64 at = slot.hash & (capacity - 1);
    while (slots[at].next_code != 0) at = (at + 1) & (capacity - 1);
    slots[at] = slot;
  }
  if (dictionary->slots != nullptr) pfree(dictionary->slots);
  dictionary->slots = slots;
  dictionary->capacity = capacity;
  return true;
}

// The code of the value with that hash for which `same(slot)` holds; else a new one, for which `fill(slot)` keeps the
// value and returns false when it does not fit.
template <typename Same, typename Fill>
uint32 FindOrAdd(ValueDictionary* dictionary, uint32 hash, Same same, Fill fill) {
  if (4 * (dictionary->used + 1) > 3 * dictionary->capacity && !DoubleTable(dictionary)) return 0;
  const uint64 mask = dictionary->capacity - 1;
  uint64 at = hash & mask;
  for (; dictionary->slots[at].next_code != 0; at = (at + 1) & mask)
    if (dictionary->slots[at].hash == hash && same(&dictionary->slots[at])) return dictionary->slots[at].next_code - 1;
  ValueSlot* slot = &dictionary->slots[at];
  if (!fill(slot)) return 0;
  slot->hash = hash;
  slot->next_code = ++dictionary->codes;
  ++dictionary->used;
  return slot->next_code - 1;
}

// Widens the array of integers so that it holds this one, when what has been seen lies close enough together for it.
void WidenWindow(ValueDictionary* dictionary, int64 integer) {
  const auto value = static_cast<uint64>(integer);
  const auto low = static_cast<uint64>(dictionary->span == 0 ? integer : dictionary->low);
  const bool below = dictionary->span > 0 && integer < dictionary->low;
  const uint64 needed = below ? low + dictionary->span - value : value - low + 1;
  const uint64 most = Max(kAlwaysWindow, 4 * static_cast<uint64>(dictionary->codes));
  if (needed == 0 || needed > most) return;
  uint64 span = 1024;
  while (span < needed) span *= 2;
  // Free memory decides too: an array that does not fit is no reason to give up.
  const bool was_full = dictionary->memory->full;
  auto* window = static_cast<uint32*>(TakeArray(dictionary, sizeof(uint32) * span));
  dictionary->memory->full = was_full;
  if (window == nullptr) return;
  const uint64 fresh_low = below ? low + dictionary->span - span : low;
  if (dictionary->span > 0) {
    memcpy(window + (low - fresh_low), dictionary->window, sizeof(uint32) * dictionary->span);
    pfree(dictionary->window);
  }
  dictionary->window = window;
  dictionary->span = span;
  dictionary->low = static_cast<int64>(fresh_low);
  // Integers that the hash table has and the array now reaches.
  for (uint64 i = 0; i < dictionary->capacity; ++i) {
    const ValueSlot& slot = dictionary->slots[i];
    const uint64 at = static_cast<uint64>(slot.integer) - fresh_low;
    if (slot.next_code != 0 && at < span) window[at] = slot.next_code;
  }
}

uint32 CodeOfInteger(ValueDictionary* dictionary, int64 integer) {
  return FindOrAdd(
      dictionary, HashInteger(integer), [=](const ValueSlot* slot) { return slot->integer == integer; },
      [=](ValueSlot* slot) {
        slot->integer = integer;
        return true;
      });
}

uint32 CodeOfWindowed(ValueDictionary* dictionary, int64 integer) {
  uint64 at = static_cast<uint64>(integer) - static_cast<uint64>(dictionary->low);
  if (at >= dictionary->span) {
    WidenWindow(dictionary, integer);
    at = static_cast<uint64>(integer) - static_cast<uint64>(dictionary->low);
    if (at >= dictionary->span) return CodeOfInteger(dictionary, integer);
  }
  if (dictionary->window[at] == 0) dictionary->window[at] = ++dictionary->codes;
  return dictionary->window[at] - 1;
}

// NaN is one value and so is 0; other numbers are equal when their bits are.
int64 BitsOfFloat(const ValueDictionary* dictionary, Datum value) {
  double number = dictionary->length == 4 ? static_cast<double>(DatumGetFloat4(value)) : DatumGetFloat8(value);
  if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
  if (number == 0) return 0;
  int64 bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

uint32 CodeOfBytes(ValueDictionary* dictionary, const char* bytes, Size count) {
  return FindOrAdd(
      dictionary, hash_bytes(reinterpret_cast<const unsigned char*>(bytes), static_cast<int>(count)),
      [=](const ValueSlot* slot) {
        uint32 length;
        memcpy(&length, slot->bytes, sizeof length);
        return length == count && memcmp(slot->bytes + sizeof length, bytes, count) == 0;
      },
      [=](ValueSlot* slot) {
        const auto length = static_cast<uint32>(count);
        auto* copy = static_cast<char*>(TakeMemory(dictionary, sizeof length + count));
        if (copy == nullptr) return false;
        memcpy(copy, &length, sizeof length);
        memcpy(copy + sizeof length, bytes, count);
        slot->bytes = copy;
        return true;
      });
}

// Keeps a value of the type; false when it does not fit.
bool KeepValue(ValueDictionary* dictionary, Datum value, Datum* kept) {
  *kept = value;
  if (dictionary->by_value) return true;
  const Size bytes = datumGetSize(value, false, dictionary->length);
  void* copy = TakeMemory(dictionary, bytes);
  if (copy == nullptr) return false;
  memcpy(copy, DatumGetPointer(value), bytes);
  *kept = PointerGetDatum(copy);
  return true;
}

uint32 CodeOfHashed(ValueDictionary* dictionary, Datum value) {
  const uint32 hash = DatumGetUInt32(FunctionCall1Coll(&dictionary->hash, dictionary->collation, value));
  return FindOrAdd(
      dictionary, hash,
      [=](const ValueSlot* slot) {
        return DatumGetBool(FunctionCall2Coll(&dictionary->equal, dictionary->collation, slot->value, value));
      },
      [=](ValueSlot* slot) { return KeepValue(dictionary, value, &slot->value); });
}

int CompareOrdered(const RBTNode* a, const RBTNode* b, void* arg) {
  auto* dictionary = static_cast<ValueDictionary*>(arg);
  return DatumGetInt32(FunctionCall2Coll(&dictionary->compare, dictionary->collation,
                                         reinterpret_cast<const OrderedValue*>(a)->value,
                                         reinterpret_cast<const OrderedValue*>(b)->value));
}

uint32 CodeOfOrdered(ValueDictionary* dictionary, Datum value) {
  OrderedValue wanted = {};
  wanted.value = value;
  auto* found = reinterpret_cast<OrderedValue*>(rbt_find(dictionary->tree, &wanted.node));
  if (found != nullptr) return found->code;
  dictionary->spare = static_cast<RBTNode*>(TakeMemory(dictionary, sizeof(OrderedValue)));
  if (dictionary->spare == nullptr || !KeepValue(dictionary, value, &wanted.value)) return 0;
  wanted.code = dictionary->codes++;
  bool fresh;
  rbt_insert(dictionary->tree, &wanted.node, &fresh);
  return wanted.code;
}

// How values are told apart whose equality is the given function.
ValueDictionary::Way WayOf(Oid equal, Oid collation, bool has_hash) {
  switch (equal) {
    case F_BOOLEQ:
    case F_CHAREQ:
    case F_INT2EQ:
    case F_INT4EQ:
    case F_INT8EQ:
    case F_OIDEQ:
    case F_XIDEQ:
    case F_XID8EQ:
    case F_CIDEQ:
    case F_DATE_EQ:
    case F_TIME_EQ:
    case F_TIMESTAMP_EQ:
    case F_TIMESTAMPTZ_EQ:
    case F_CASH_EQ:
    case F_PG_LSN_EQ:
    case F_ENUM_EQ:
      return ValueDictionary::kInteger;
    case F_FLOAT4EQ:
    case F_FLOAT8EQ:
      return ValueDictionary::kFloat;
    case F_TEXTEQ:
      if (get_collation_isdeterministic(collation)) return ValueDictionary::kText;
      break;
    case F_BPCHAREQ:
      if (get_collation_isdeterministic(collation)) return ValueDictionary::kPadded;
      break;
    case F_NAMEEQ:
      if (get_collation_isdeterministic(collation)) return ValueDictionary::kName;
      break;
    case F_BYTEAEQ:
    case F_BITEQ:
    case F_VARBITEQ:
    case F_NETWORK_EQ:
      return ValueDictionary::kText;
    case F_UUID_EQ:
    case F_MACADDR_EQ:
    case F_MACADDR8_EQ:
      return ValueDictionary::kFixed;
    default:
      break;
  }
  return has_hash ? ValueDictionary::kHashed : ValueDictionary::kOrdered;
}

}  // namespace

void* TakeArray(ValueDictionary* dictionary, Size bytes) {
  DictionaryMemory* memory = dictionary->memory;
  dictionary->bytes += bytes;
  void* array = nullptr;
  if (MemoryContextMemAllocated(memory->context, false) + bytes <= memory->limit)
    array = MemoryContextAllocExtended(memory->context, bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
  if (array == nullptr) memory->full = true;
  return array;
}

bool CanTellApart(Oid type) {
  const TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC | TYPECACHE_CMP_PROC);
  return OidIsValid(entry->eq_opr) && (OidIsValid(entry->hash_proc) || OidIsValid(entry->cmp_proc));
}

void RaiseValuesFull(const char* of) {
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("the distinct values of %s do not fit into maintenance_work_mem", of),
                  errhint("Set maintenance_work_mem to more than %d MB.", maintenance_work_mem / 1024)));
  pg_unreachable();
}

ValueDictionary* NewValueDictionary(DictionaryMemory* memory, Oid type, Oid collation) {
  if (!CanTellApart(type)) elog(ERROR, "type %u cannot be grouped", type);
  const TypeCacheEntry* entry =
      lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO | TYPECACHE_HASH_PROC_FINFO | TYPECACHE_CMP_PROC_FINFO);
  const bool has_hash = OidIsValid(entry->hash_proc);
  const Oid equal = entry->eq_opr_finfo.fn_oid;
  if (!MayExecute(equal, GetUserId())) aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(equal));
  InvokeFunctionExecuteHook(equal);
  MemoryContext outer = MemoryContextSwitchTo(memory->context);
  auto* dictionary = static_cast<ValueDictionary*>(palloc0(sizeof(ValueDictionary)));
  dictionary->way = WayOf(equal, collation, has_hash);
  dictionary->by_value = entry->typbyval;
  dictionary->length = entry->typlen;
  dictionary->memory = memory;
  dictionary->collation = collation;
  // Copies: the functions may keep something of their own, and the type's entry may be rebuilt meanwhile.
  fmgr_info_copy(&dictionary->equal, const_cast<FmgrInfo*>(&entry->eq_opr_finfo), memory->context);
  if (has_hash) {
    fmgr_info_copy(&dictionary->hash, const_cast<FmgrInfo*>(&entry->hash_proc_finfo), memory->context);
  } else {
    fmgr_info_copy(&dictionary->compare, const_cast<FmgrInfo*>(&entry->cmp_proc_finfo), memory->context);
  }
  if (dictionary->way == ValueDictionary::kOrdered)
    dictionary->tree = rbt_create(
        sizeof(OrderedValue), CompareOrdered, [](RBTNode*, const RBTNode*, void*) {},
        [](void* arg) { return static_cast<ValueDictionary*>(arg)->spare; }, nullptr, dictionary);
  MemoryContextSwitchTo(outer);
  return dictionary;
}

uint32 CodeOfAnyValue(ValueDictionary* dictionary, Datum value, bool null) {
  if (null) {
    if (dictionary->next_null == 0) dictionary->next_null = ++dictionary->codes;
    return dictionary->next_null - 1;
  }
  switch (dictionary->way) {
    case ValueDictionary::kInteger:
      return CodeOfWindowed(dictionary, IntegerOf(dictionary, value));
    case ValueDictionary::kFloat:
      return CodeOfInteger(dictionary, BitsOfFloat(dictionary, value));
    case ValueDictionary::kName: {
      const char* name = NameStr(*DatumGetName(value));
      return CodeOfBytes(dictionary, name, strnlen(name, NAMEDATALEN));
    }
    case ValueDictionary::kFixed:
      return CodeOfBytes(dictionary, DatumGetPointer(value), static_cast<Size>(dictionary->length));
    case ValueDictionary::kText:
    case ValueDictionary::kPadded: {
      const struct varlena* text = pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(value)));
      const char* bytes = VARDATA_ANY(text);
      Size count = VARSIZE_ANY_EXHDR(text);
      if (dictionary->way == ValueDictionary::kPadded)
        while (count > 0 && bytes[count - 1] == ' ') --count;
      return CodeOfBytes(dictionary, bytes, count);
    }
    case ValueDictionary::kHashed:
    case ValueDictionary::kOrdered:
      break;
  }
  // Kept values must not point to somewhere else, and short headers would be copied at each comparison.
  if (dictionary->length == -1)
    value = PointerGetDatum(pg_detoast_datum(reinterpret_cast<struct varlena*>(DatumGetPointer(value))));
  return dictionary->way == ValueDictionary::kHashed ? CodeOfHashed(dictionary, value)
                                                     : CodeOfOrdered(dictionary, value);
}

}  // namespace privacy_score
