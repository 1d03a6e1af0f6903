/* SPDX-License-Identifier: MIT */
#include "replay/described.h"

#include "core/buf.h"
#include "json.h"

#include <string.h>

char *
described(struct buf *text, bool maximize, bool *against)
{
    struct json *doc = json_parse(text->data, text->len, JSON_STRICT, NULL);
    struct jval args, mode;
    const char *word;

    *against = doc != NULL && jval_get(json_root(doc), "arguments", &args) &&
               jval_get(args, "optimize_mode", &mode) &&
               jval_string(mode, &word, NULL) &&
               (strcmp(word, "minimize") == 0) == maximize;
    if (doc == NULL) {
        buf_fini(text);
        return NULL;
    }
    json_free(doc);
    return buf_take(text);
}
