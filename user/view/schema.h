/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON Schema (draft 2020-12) of a report in json: user/doc/report.schema.json. */
#ifndef VIEW_SCHEMA_H
#define VIEW_SCHEMA_H

#include "base/str.h"

void schema_add(struct strbuf *out);

#endif
