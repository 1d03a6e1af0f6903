/* SPDX-License-Identifier: MIT */
#include "dispatcher/resend.h"

#include "core/pack.h"
#include "json.h"
#include "scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys: "T" and a parameter_id; "K" (to be stopped), "P" (to be paused)
 * or "F" (to be finished) and a trial_job_id ---- */

/* What stands in r->key, *len long; NULL: no memory for it. */
static const char *
key_text(struct resend *r, size_t *len)
{
    const char *key = buf_text(&r->key);

    r->failed = r->failed || r->key.failed;
    *len = strlen(key);
    return r->key.failed ? NULL : key;
}

static void
begin_key(struct resend *r, const char *kind)
{
    buf_clear(&r->key);
    buf_add_text(&r->key, kind);
}

static bool
make_number_key(struct resend *r, uint64_t number)
{
    buf_clear(&r->key);
    buf_printf(&r->key, "T%" PRIu64, number);
    return true;
}

static bool
make_text_key(struct resend *r, const char *kind, const char *text)
{
    begin_key(r, kind);
    buf_add_text(&r->key, text);
    return true;
}

static bool
make_parameter_key(struct resend *r, const struct parameter_id *id)
{
    switch (id->kind) {
    case PARAMETER_NUMBER:
        return make_number_key(r, id->number);
    case PARAMETER_LABEL:
        return make_text_key(r, "T\"", id->label);
    case PARAMETER_NONE:
        break;
    }
    return false;
}

static bool
make_token_key(struct resend *r, const char *kind, const struct scan_token *t)
{
    begin_key(r, kind);
    if (t->escaped)
        scan_unescape(t, &r->key);
    else
        buf_add(&r->key, t->text, t->len);
    return true;
}

/* Of a DT; false: it releases a checkpoint, of which nothing depends. */
static bool
make_decision_key(struct resend *r, const struct emission *e)
{
    struct json *doc = json_parse(e->payload, e->len, JSON_STRICT, NULL);
    enum trial_decision decision = TRIAL_RELEASE;
    const char *job = NULL, *word = NULL;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "trial_job_id", &v))
        jval_string(v, &job, NULL);
    if (doc != NULL && jval_get(json_root(doc), "decision", &v) &&
        jval_string(v, &word, NULL))
        trial_decision_find(word, &decision);
    if (job != NULL && decision != TRIAL_RELEASE)
        make_text_key(r, decision == TRIAL_PAUSE ? "P" : "F", job);
    json_free(doc);
    return job != NULL && decision != TRIAL_RELEASE;
}

/* Of what is written: `{"parameter_id": 17, ...`, as command_write_trial()
 * begins, and a text alone.  False: it has none. */
static bool
make_written_key(struct resend *r, const struct emission *e)
{
    static const char head[] = "{\"parameter_id\": ";
    bool trial = e->code == CMD_NEW_TRIAL;
    struct scan s = {e->payload, e->len, 0, JSON_STRICT, NULL};
    struct scan_token t;
    uint64_t number;

    if (e->code == CMD_DECIDE_TRIAL)
        return make_decision_key(r, e);
    if (trial)
        s.at = sizeof head - 1;
    if (e->len <= s.at || (trial && memcmp(e->payload, head, s.at) != 0))
        return false;
    t = scan_next(&s);
    if (t.type == SCAN_STRING)
        return make_token_key(r, trial ? "T\"" : "K", &t);
    return trial && t.type == SCAN_NUMBER && scan_uint(&t, &number) &&
           make_number_key(r, number);
}

/* ---- the list ---- */

static void
unlink_one(struct resend *r, struct resent *one)
{
    *(one->older != NULL ? &one->older->newer : &r->first) = one->newer;
    *(one->newer != NULL ? &one->newer->older : &r->last) = one->older;
    r->trials -= one->emission.code == CMD_NEW_TRIAL;
    free(one);
}

/* What has the key that was made. */
static void
forget(struct resend *r)
{
    size_t len;
    const char *key = key_text(r, &len);
    struct resent *one = key == NULL ? NULL : map_remove(&r->by_key, key, len);

    if (one != NULL)
        unlink_one(r, one);
}

/* Under the key that was made, unless there is one; false: it was not. */
static bool
keep(struct resend *r, const struct emission *e)
{
    size_t len;
    const char *key = key_text(r, &len);
    struct resent *one;

    if (key == NULL || map_get(&r->by_key, key, len) != NULL)
        return false;
    one = malloc(sizeof *one + e->len);
    if (one == NULL || map_put(&r->by_key, key, len, one) != 0) {
        r->failed = true;
        free(one);
        return false;
    }
    *one = (struct resent){.older = r->last, .emission = *e};
    memcpy(one->text, e->payload, e->len);
    one->emission.payload = one->text;
    *(r->last != NULL ? &r->last->newer : &r->first) = one;
    r->last = one;
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
        keep(r, e);
}

static bool
make_note_key(struct resend *r, struct jval note)
{
    const char *text;
    uint64_t number;
    struct jval v;

    if (!jval_get(note, "event", &v) || !jval_string(v, &text, NULL) ||
        strcmp(text, "started") != 0 || !jval_get(note, "parameter_id", &v))
        return false;
    if (jval_uint(v, &number))
        return make_number_key(r, number);
    return jval_string(v, &text, NULL) && make_text_key(r, "T\"", text);
}

void
resend_command(struct resend *r, const struct command *cmd)
{
    static const char *const kinds[] = {"K", "P", "F"};

    if (cmd->code == CMD_NOTE && make_note_key(r, json_root(cmd->document)))
        forget(r);
    if (cmd->code != CMD_TRIAL_END)
        return;
    if (make_parameter_key(r, &cmd->end.hint))
        forget(r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        make_text_key(r, kinds[i], cmd->end.job);
        forget(r);
    }
}

/* ---- packed ---- */

/* By what they are packed as. */
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
    for (const struct resent *one = r->first; one != NULL; one = one->newer) {
        const struct emission *e = &one->emission;

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

    for (size_t i = 0; i < n && !in->failed; i++) {
        struct emission e = {SENDER_DEFAULT, 0, CMD_NEW_TRIAL, NULL, 0};
        uint64_t code;

        if (unpack_bool(in))
            e.sender = SENDER_ASSESSOR;
        code = unpack_u64(in);
        if (code < N_CODES)
            e.code = codes[code];
        e.cause = unpack_u64(in);
        e.payload = unpack_bytes(in, &e.len);
        if (in->failed || code >= N_CODES || !make_written_key(r, &e) ||
            !keep(r, &e))
            unpack_fail(in);
    }
    return in->failed ? -1 : 0;
}
