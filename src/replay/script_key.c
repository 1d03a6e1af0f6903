/* SPDX-License-Identifier: MIT */
#include "replay/script.h"

#include "core/buf.h"
#include "json.h"

#include <inttypes.h>
#include <string.h>

#define KEY_MAX ((size_t)1 << 20)

static char *
copy_json(struct jval v)
{
    struct buf text;

    buf_init(&text, KEY_MAX);
    jval_write(v, &text);
    return buf_take(&text);
}

char *
script_key(enum command_code code, const char *payload, size_t len)
{
    bool has_id = code == CMD_NEW_TRIAL || code == CMD_NO_MORE;
    bool has_job = code == CMD_KILL_TRIAL || code == CMD_DECIDE_TRIAL ||
                   code == CMD_ACKNOWLEDGE;
    struct json *doc =
        has_id || has_job ? json_parse(payload, len, JSON_NAN, NULL) : NULL;
    struct jval v;
    const char *text;
    char *key = NULL;

    if (doc == NULL)
        return NULL;
    v = json_root(doc);
    if (has_id)
        key = jval_get(v, "parameter_id", &v) ? copy_json(v) : NULL;
    else if ((code == CMD_KILL_TRIAL ||
              jval_get(json_root(doc), "trial_job_id", &v)) &&
             jval_string(v, &text, NULL))
        key = strdup(text);
    json_free(doc);
    return key;
}

bool
script_pauses(enum command_code code, const char *payload, size_t len)
{
    static const char word[] = "\"decision\": \"pause\"}";
    size_t n = sizeof word - 1;

    return code == CMD_DECIDE_TRIAL && len >= n &&
           memcmp(payload + len - n, word, n) == 0;
}

char *
script_parameter_key(const struct parameter_id *id)
{
    struct buf key;

    buf_init(&key, KEY_MAX);
    if (id->kind == PARAMETER_NONE)
        buf_add_text(&key, "null");
    else if (id->kind == PARAMETER_LABEL)
        json_write_string(&key, id->label, strlen(id->label));
    else
        buf_printf(&key, "%" PRIu64, id->number);
    return buf_take(&key);
}
