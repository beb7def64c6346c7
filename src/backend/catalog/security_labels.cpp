/*
 * security_labels.cpp - see security_labels.hpp.
 *
 * A label takes effect at commit: what watches is told of roles, the worker and what sessions remember of columns.
 */
#include "backend/catalog/security_labels.hpp"

extern "C" {
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
}

#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/relation_concerns.hpp"
#include "backend/state/label_names.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

namespace {

// Called by the server for every SECURITY LABEL FOR privacy_score; raises when the label cannot be.
void ps_check_label(const ObjectAddress* object, const char* label) {
  if (object->classId == AuthIdRelationId) {
    if (!superuser())
      ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to label a role"),
                      errhint("Only a superuser decides which roles are watched.")));
    if (label != nullptr && strcmp(label, kWatchedLabel) != 0 && strcmp(label, kExemptLabel) != 0 &&
        strcmp(label, kDpOnlyLabel) != 0 && strcmp(label, kGatewayLabel) != 0)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" is not a label of roles", label),
                      errhint("Labels of roles are 'watched', 'gateway', 'exempt' and 'dp only'.")));
    if (label != nullptr && strcmp(label, kWatchedLabel) == 0) {
      if (!AnyLabelledWatched())
        ereport(NOTICE,
                (errmsg("from now on only roles that are labelled \"watched\" are watched"),
                 errhint("privacy_score.role_status(role) tells of each role; without such a label all are watched "
                         "but superusers.")));
      WarnUnlessPreloaded();
    }
    NoteRoleLabelChange();
    return;
  }
  if (object->classId != RelationRelationId || object->objectSubId == 0)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("privacy_score labels columns and roles only"),
                    errhint("Use SECURITY LABEL FOR privacy_score ON COLUMN or ON ROLE.")));
  if (label != nullptr && strcmp(label, "identifier") != 0 && strcmp(label, "quasi-identifier") != 0 &&
      strcmp(label, "sensitive") != 0 && strcmp(label, kPublicLabel) != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" is not a label of columns", label),
                    errhint("Labels of columns are 'identifier', 'quasi-identifier', 'sensitive' and 'public'.")));
  if (label != nullptr && strcmp(label, kPublicLabel) == 0)
    RequireOrigins(object->objectId, static_cast<AttrNumber>(object->objectSubId));
  ForgetStaleRelations();
  if (label != nullptr && !ProtectedEntry(FindRelation(object->objectId)))
    ereport(NOTICE, (errmsg("the label has no effect yet: \"%s\" is not protected", get_rel_name(object->objectId)),
                     errhint("privacy_score.protect() protects a relation.")));
  // Whether a copy's column is public is part of what sessions remember of it.
  CacheInvalidateRelcacheByRelid(object->objectId);
  ConcernRelation(object->objectId);
  NoteDeclaration();
}

}  // namespace

void RegisterLabels() { register_label_provider(kLabelProvider, ps_check_label); }

const char* ColumnLabel(Oid relation, AttrNumber column) {
  ObjectAddress address;
  ObjectAddressSubSet(address, RelationRelationId, relation, column);
  return GetSecurityLabel(&address, kLabelProvider);
}

}  // namespace privacy_score
