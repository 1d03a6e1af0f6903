/* SPDX-License-Identifier: MIT */
#include "replay/play_state.h"

#include "json.h"

#include <string.h>

/* The frame's payload with the id that the program gave, or, of an EN, with
 * the TR that it sent. */
static void
rename_trial(const struct play *p, const struct script_step *step,
             struct jval object, struct buf *out)
{
    const struct play_trial *t = &p->trials[step->trial];
    bool end = memcmp(step->code, "EN", 2) == 0;
    struct jval_iter it = jval_iter(object);
    const char *sep = "{";

    while (jval_next(&it)) {
        buf_add_text(out, sep);
        json_write_string(out, it.key, strlen(it.key));
        buf_add_text(out, ": ");
        if (end && strcmp(it.key, "hyper_params") == 0)
            json_write_string(out, t->payload, t->len);
        else if (!end && strcmp(it.key, "parameter_id") == 0)
            buf_add_text(out, t->id);
        else
            jval_write(it.value, out);
        sep = ", ";
    }
    buf_add_char(out, '}');
}

static bool
is_as_recorded(const struct play *p, const struct script_step *step)
{
    const struct script_answer *a;
    const struct play_trial *t;

    if (step->trial == SCRIPT_NONE)
        return true;
    a = p->recorded[CMD_NEW_TRIAL][step->trial];
    t = &p->trials[step->trial];
    if (memcmp(step->code, "EN", 2) == 0)
        return a->len == t->len && memcmp(a->payload, t->payload, t->len) == 0;
    return strcmp(a->key, t->id) == 0;
}

void
play_send(struct play *p, const struct script_step *step)
{
    struct json *doc =
        is_as_recorded(p, step)
            ? NULL
            : json_parse(step->payload, step->len, JSON_NAN, NULL);
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    if (doc != NULL && jval_type(json_root(doc)) == JSON_OBJECT)
        rename_trial(p, step, json_root(doc), &text);
    else
        buf_add(&text, step->payload, step->len);
    program_send_frame(&p->program, step->code, text.len > 0 ? text.data : "",
                       text.len);
    p->failed = p->failed || text.failed;
    p->report->sent++;
    buf_fini(&text);
    json_free(doc);
}
