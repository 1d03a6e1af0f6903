/* SPDX-License-Identifier: MIT */
#include "replay/resend.h"

#include "core/buf.h"
#include "frame.h"
#include "json.h"
#include "record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys: "T" and a parameter_id, "K" and a trial_job_id ---- */

static char *
key_of_parameter(const struct parameter_id *id)
{
    struct buf key;

    if (id->kind == PARAMETER_NONE)
        return NULL;
    buf_init(&key, SIZE_MAX / 2);
    if (id->kind == PARAMETER_NUMBER)
        buf_printf(&key, "T%" PRIu64, id->number);
    else
        buf_printf(&key, "T\"%s", id->label);
    return buf_take(&key);
}

static char *
key_of_job(const char *job)
{
    struct buf key;

    buf_init(&key, SIZE_MAX / 2);
    buf_printf(&key, "K%s", job);
    return buf_take(&key);
}

/* The key of the parameter_id in an object; NULL: it has none. */
static char *
key_in(struct jval object)
{
    struct parameter_id id = {.kind = PARAMETER_NUMBER};
    const char *label;
    struct jval v;

    if (!jval_get(object, "parameter_id", &v))
        return NULL;
    if (jval_uint(v, &id.number))
        return key_of_parameter(&id);
    if (!jval_string(v, &label, NULL))
        return NULL;
    id = (struct parameter_id){PARAMETER_LABEL, 0, (char *)(uintptr_t)label};
    return key_of_parameter(&id);
}

/* ---- the list ---- */

static void
unlink_one(struct resend *r, struct resent *one)
{
    *(one->older != NULL ? &one->older->newer : &r->first) = one->newer;
    *(one->newer != NULL ? &one->newer->older : &r->last) = one->older;
    r->trials -= one->emission.code == CMD_NEW_TRIAL;
    free(one->key);
    free(one);
}

/* Takes key. */
static void
forget(struct resend *r, char *key)
{
    struct resent *one =
        key == NULL ? NULL : map_remove(&r->by_key, key, strlen(key));

    if (one != NULL)
        unlink_one(r, one);
    free(key);
}

/* Takes key; the emission is copied. */
static void
keep(struct resend *r, char *key, const struct emission *e)
{
    struct resent *one = key == NULL ? NULL : malloc(sizeof *one + e->len);

    if (one == NULL || map_get(&r->by_key, key, strlen(key)) != NULL ||
        map_put(&r->by_key, key, strlen(key), one) != 0) {
        r->failed = r->failed || one == NULL;
        free(key);
        free(one);
        return;
    }
    *one = (struct resent){.older = r->last, .key = key, .emission = *e};
    memcpy(one->text, e->payload, e->len);
    one->emission.payload = one->text;
    *(r->last != NULL ? &r->last->newer : &r->first) = one;
    r->last = one;
    r->trials += e->code == CMD_NEW_TRIAL;
}

void
resend_fini(struct resend *r)
{
    while (r->first != NULL)
        unlink_one(r, r->first);
    map_fini(&r->by_key);
}

/* ---- records ---- */

static void
take_answer(struct resend *r, const struct record *record, enum sender sender)
{
    struct emission e = {.sender = sender, .cause = record->number};
    struct json *doc;
    const char *job;

    if (record->len < 2 || command_find(record->payload, &e.code) == NULL ||
        (e.code != CMD_NEW_TRIAL && e.code != CMD_KILL_TRIAL))
        return;
    e.payload = record->payload + 2;
    e.len = record->len - 2;
    doc = json_parse(e.payload, e.len, JSON_STRICT, NULL);
    if (doc == NULL)
        return;
    if (e.code == CMD_NEW_TRIAL)
        keep(r, key_in(json_root(doc)), &e);
    else if (jval_string(json_root(doc), &job, NULL))
        keep(r, key_of_job(job), &e);
    json_free(doc);
}

static void
take_note(struct resend *r, const struct command *note)
{
    struct jval root = json_root(note->document), v;
    const char *event;

    if (jval_get(root, "event", &v) && jval_string(v, &event, NULL) &&
        strcmp(event, "started") == 0)
        forget(r, key_in(root));
}

static void
take_end(struct resend *r, const struct command *end)
{
    forget(r, key_of_parameter(&end->end.hint));
    forget(r, key_of_job(end->end.job));
}

static void
take_command(struct resend *r, const struct record *record)
{
    struct frame frame = {.payload = record->payload + 2};
    enum command_code code;
    struct command *cmd;

    if (record->len < 2 || command_find(record->payload, &code) == NULL ||
        (code != CMD_NOTE && code != CMD_TRIAL_END))
        return;
    memcpy(frame.code, record->payload, 2);
    frame.len = record->len - 2;
    cmd = command_decode(&frame, record->number, NULL);
    if (cmd == NULL)
        return;
    if (code == CMD_NOTE)
        take_note(r, cmd);
    else
        take_end(r, cmd);
    command_free(cmd);
}

void
resend_record(struct resend *r, const struct record *record)
{
    if (record->kind == RECORD_IN)
        take_command(r, record);
    else if (record->kind == RECORD_TUNER)
        take_answer(r, record, SENDER_DEFAULT);
    else if (record->kind == RECORD_ASSESSOR)
        take_answer(r, record, SENDER_ASSESSOR);
}
