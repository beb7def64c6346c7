/*
 * end_user_labels.hpp - the labels that label_end_user() has given.
 *
 * They decide whether a statement may read at all, so they do not come with the model, which is loaded when the worker
 * has made one: each process reads the table itself, and again once it has changed.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

enum class EndUserLabel : char { kNone, kExempt, kDpOnly };

// Whether any end user of this database has one. May read the table.
bool AnyEndUserLabelled();

// The label of an end user of a role. May read the table.
EndUserLabel LabelOfEndUser(Oid role, const char* end_user);

// What is known may be out of date: the table is read again. Never raises.
void ForgetEndUserLabels();

}  // namespace privacy_score
