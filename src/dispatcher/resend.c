/* SPDX-License-Identifier: MIT */
#include "dispatcher/resend.h"

#include "core/pack.h"
#include "json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys: "T" and a parameter_id; "K" (to be stopped), "P" (to be paused)
 * or "F" (to be finished) and a trial_job_id ---- */

/* The key of a kept frame, as it was put together in r->key, *len long; NULL:
 * there was no memory for it. */
static const char *
key_text(struct resend *r, size_t *len)
{
    const char *key = buf_text(&r->key);

    r->failed = r->failed || r->key.failed;
    *len = strlen(key);
    return r->key.failed ? NULL : key;
}

static bool
make_key(struct resend *r, const char *kind, const char *text)
{
    buf_clear(&r->key);
    buf_add_text(&r->key, kind);
    buf_add_text(&r->key, text);
    return true;
}

static bool
make_parameter_key(struct resend *r, const struct parameter_id *id)
{
    switch (id->kind) {
    case PARAMETER_NUMBER:
        buf_clear(&r->key);
        buf_printf(&r->key, "T%" PRIu64, id->number);
        return true;
    case PARAMETER_LABEL:
        return make_key(r, "T\"", id->label);
    case PARAMETER_NONE:
        break;
    }
    return false;
}

/* Puts the key of an outbound frame into r->key; false: the frame is not kept.
 * A DT that releases a checkpoint is not: nothing depends on it. */
static bool
make_written_key(struct resend *r, const struct emission *e)
{
    if (e->code == CMD_NEW_TRIAL)
        return make_parameter_key(r, &e->parameter);
    if (e->job == NULL)
        return false;
    if (e->code == CMD_KILL_TRIAL)
        return make_key(r, "K", e->job);
    return e->decision != TRIAL_RELEASE &&
           make_key(r, e->decision == TRIAL_PAUSE ? "P" : "F", e->job);
}

/* ---- the list ---- */

static void
unlink_one(struct resend *r, struct emission *e)
{
    *(e->previous != NULL ? &e->previous->next : &r->first) = e->next;
    *(e->next != NULL ? &e->next->previous : &r->last) = e->previous;
    r->trials -= e->code == CMD_NEW_TRIAL;
    emission_free(e);
}

/* Drops the frame whose key is in r->key. */
static void
drop_frame(struct resend *r)
{
    size_t len;
    const char *key = key_text(r, &len);
    struct emission *e = key == NULL ? NULL : map_remove(&r->by_key, key, len);

    if (e != NULL)
        unlink_one(r, e);
}

/* Keeps a copy of the frame under the key in r->key, unless there is one;
 * returns whether it did. */
static bool
keep_frame(struct resend *r, const struct emission *e)
{
    size_t len;
    const char *key = key_text(r, &len);
    struct emission *kept;

    if (key == NULL || map_get(&r->by_key, key, len) != NULL)
        return false;
    kept = emission_copy(e);
    if (kept == NULL || map_put(&r->by_key, key, len, kept) != 0) {
        r->failed = true;
        free(kept);
        return false;
    }
    kept->previous = r->last;
    *(r->last != NULL ? &r->last->next : &r->first) = kept;
    r->last = kept;
    r->trials += e->code == CMD_NEW_TRIAL;
    return true;
}

void
resend_init(struct resend *r)
{
    *r = (struct resend){0};
    buf_init(&r->key, SIZE_MAX / 2);
}

void
resend_fini(struct resend *r)
{
    while (r->first != NULL)
        unlink_one(r, r->first);
    map_fini(&r->by_key);
    buf_fini(&r->key);
}

/* ---- what goes out, what comes in ---- */

static bool
is_kept(const struct emission *e)
{
    return e->sender != SENDER_ROUTER &&
           (e->code == CMD_NEW_TRIAL || e->code == CMD_KILL_TRIAL ||
            e->code == CMD_DECIDE_TRIAL);
}

void
resend_written(struct resend *r, const struct emission *e)
{
    if (is_kept(e) && make_written_key(r, e))
        keep_frame(r, e);
}

static bool
make_note_key(struct resend *r, struct jval note)
{
    const char *text;
    struct parameter_id id;
    struct jval v;

    if (!jval_get(note, "event", &v) || !jval_string(v, &text, NULL) ||
        strcmp(text, "started") != 0 || !jval_get(note, "parameter_id", &v))
        return false;
    if (jval_uint(v, &id.number))
        id = parameter_named(id.number, NULL);
    else if (jval_string(v, &text, NULL))
        id = parameter_named(0, text);
    else
        return false;
    return make_parameter_key(r, &id);
}

void
resend_command(struct resend *r, const struct command *cmd)
{
    static const char *const kinds[] = {"K", "P", "F"};

    if (cmd->code == CMD_NOTE && make_note_key(r, json_root(cmd->document)))
        drop_frame(r);
    if (cmd->code != CMD_TRIAL_END)
        return;
    if (make_parameter_key(r, &cmd->end.hint))
        drop_frame(r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        make_key(r, kinds[i], cmd->end.job);
        drop_frame(r);
    }
}

/* ---- packed ---- */

/* The codes of kept frames; a saved state has them by their place here. */
static const enum command_code codes[] = {CMD_NEW_TRIAL, CMD_KILL_TRIAL,
                                          CMD_DECIDE_TRIAL};
#define N_CODES (sizeof codes / sizeof *codes)

static uint64_t
number_of(enum command_code code)
{
    uint64_t i = 0;

    while (i + 1 < N_CODES && codes[i] != code)
        i++;
    return i;
}

void
resend_save(const struct resend *r, struct buf *out)
{
    pack_u64(out, r->by_key.count);
    for (const struct emission *e = r->first; e != NULL; e = e->next) {
        pack_u64(out, e->sender == SENDER_ASSESSOR);
        pack_u64(out, number_of(e->code));
        pack_u64(out, e->cause);
        pack_bytes(out, e->payload, e->len);
    }
}

int
resend_load(struct resend *r, struct unpack *in)
{
    size_t n = unpack_count(in, 4 * sizeof(uint64_t));
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < n && !in->failed; i++) {
        struct emission e = {.code = CMD_NEW_TRIAL};
        uint64_t code;

        e.sender = unpack_bool(in) ? SENDER_ASSESSOR : SENDER_DEFAULT;
        code = unpack_u64(in);
        if (code < N_CODES)
            e.code = codes[code];
        e.cause = unpack_u64(in);
        e.payload = unpack_bytes(in, &e.len);
        if (in->failed || code >= N_CODES || emission_read(&e, &text) != 0 ||
            !make_written_key(r, &e) || !keep_frame(r, &e))
            unpack_fail(in);
    }
    buf_fini(&text);
    return in->failed ? -1 : 0;
}
