/* SPDX-License-Identifier: MIT */
#include "store/metric.h"

#include "command.h"
#include "json.h"

#include <math.h>
#include <string.h>

char *
metric_said(const struct metric *m, const char *payload, size_t len)
{
    const char *text;
    char *said = NULL;
    struct json *doc;
    struct jval v;

    /* The first brace is the payload's own. */
    if (m->has_value && isfinite(m->value) &&
        memchr(payload + 1, '{', len - 1) == NULL)
        return NULL;
    doc = json_parse(payload, len, JSON_NAN, NULL);
    if (doc != NULL && jval_get(json_root(doc), "value", &v) &&
        jval_string(v, &text, NULL))
        said = strdup(text);
    json_free(doc);
    return said;
}
