/* SPDX-License-Identifier: MIT */
#include "space/place.h"

#include "core/buf.h"

#include <stdio.h>
#include <string.h>

/* Returns the length of what out holds. */
static size_t
put_place(const struct place *at, char out[PLACE_MAX])
{
    size_t len = 0;

    if (at->up != NULL) {
        len = put_place(at->up, out);
        snprintf(out + len, PLACE_MAX - len, "[%zu].", at->element);
        len += strlen(out + len);
    }
    snprintf(out + len, PLACE_MAX - len, "%s",
             at->key[0] == '\0' ? "\"\"" : at->key);
    return len + strlen(out + len);
}

const char *
place_text(const struct place *at, const char *part, char out[PLACE_MAX])
{
    size_t len = put_place(at, out);

    snprintf(out + len, PLACE_MAX - len, "%s", part);
    return out;
}

struct shown
shown(struct jval v)
{
    struct shown out;
    struct buf json;
    const char *text = NULL;
    size_t len = 0;

    if (jval_type(v) == JSON_ARRAY || jval_type(v) == JSON_OBJECT) {
        snprintf(out.text, sizeof out.text, "%s", jval_type_name(v));
        return out;
    }
    buf_init(&json, 512);
    if (jval_string(v, &text, &len) && len > 60) {
        json_write_string(&json, text, 56);
        snprintf(out.text, sizeof out.text, "%.64s...", buf_text(&json));
    } else {
        jval_write(v, &json);
        snprintf(out.text, sizeof out.text, "%.79s", buf_text(&json));
    }
    buf_fini(&json);
    return out;
}
