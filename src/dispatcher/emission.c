/* SPDX-License-Identifier: MIT */
#include "dispatcher/emission.h"

#include "core/buf.h"
#include "frame.h"
#include "json.h"
#include "log/snapshot.h"
#include "log/writer.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* Slots of the lock file and parts of a snapshot go by sender. */
_Static_assert((int)SENDER_DEFAULT == (int)LOCKFILE_DEFAULT &&
                   (int)SENDER_ASSESSOR == (int)LOCKFILE_ASSESSOR,
               "slots go by sender");
_Static_assert((int)SENDER_DEFAULT == (int)SNAPSHOT_TUNER &&
                   (int)SENDER_ASSESSOR == (int)SNAPSHOT_ASSESSOR &&
                   (int)SENDER_ROUTER == (int)SNAPSHOT_ROUTER,
               "parts go by sender");

/* ---- fields -> bytes ---- */

static void
write_trial(struct emission *e, struct buf *out)
{
    command_write_trial(out, e->gives);
    e->parameter = parameter_named(e->gives->id, e->gives->label);
    e->gives = NULL;
}

static void
write_acknowledge(const struct emission *e, struct buf *out)
{
    if (e->ends)
        command_write_acknowledge_end(out, e->job);
    else
        command_write_acknowledge(out, e->job, e->number, e->decision);
}

int
emission_encode(struct emission *e, bool extensions, struct buf *payload)
{
    buf_clear(payload);
    if (e->code == CMD_ACKNOWLEDGE)
        write_acknowledge(e, payload);
    else if (e->code == CMD_NEW_TRIAL)
        write_trial(e, payload);
    else if (e->code == CMD_KILL_TRIAL)
        command_write_kill(payload, e->job);
    else if (e->code == CMD_DECIDE_TRIAL)
        command_write_decide(payload, e->job, e->decision);
    else if (e->code == CMD_NO_MORE)
        command_write_no_more(payload, e->parameter.number, e->parameter.label,
                              e->reason, e->units, extensions);
    else if (e->code == CMD_INITIALIZED)
        command_write_initialized(payload, e->number, extensions);
    e->payload = payload->data;
    e->len = payload->len;
    return payload->failed ? -1 : 0;
}

/* ---- bytes -> fields ---- */

/* Reads a TR's parameter_id: {"parameter_id": 17, ..., as command_write_trial()
 * begins.  The parameters behind it may be long, and nobody needs them here. */
static void
read_trial(struct emission *e, struct buf *text)
{
    static const char key[] = "parameter_id";
    struct scan s = {e->payload, e->len, 0, JSON_STRICT, NULL};
    struct scan_token t;
    uint64_t number;

    if (scan_next(&s).type != SCAN_OPEN_OBJECT)
        return;
    t = scan_next(&s);
    if (t.type != SCAN_STRING || t.len != sizeof key - 1 ||
        memcmp(t.text, key, t.len) != 0 || scan_next(&s).type != SCAN_COLON)
        return;
    t = scan_next(&s);
    if (t.type == SCAN_STRING) {
        scan_unescape(&t, text);
        e->parameter = parameter_named(0, buf_text(text));
    } else if (t.type == SCAN_NUMBER && scan_uint(&t, &number)) {
        e->parameter = parameter_named(number, NULL);
    }
}

/* Reads the job of a KI, which is a text, or of a DT, which is an object, and
 * the DT's decision. */
static void
read_decision(struct emission *e, struct buf *text)
{
    struct json *doc = json_parse(e->payload, e->len, JSON_STRICT, NULL);
    const char *job, *word;
    struct jval root, v;

    if (doc == NULL)
        return;
    v = root = json_root(doc);
    if ((e->code == CMD_KILL_TRIAL || jval_get(root, "trial_job_id", &v)) &&
        jval_string(v, &job, NULL)) {
        buf_add_text(text, job);
        e->job = buf_text(text);
    }
    e->decision = TRIAL_RELEASE; /* a DT without a decision counts as the one
                                    that nobody waits for */
    if (e->code == CMD_DECIDE_TRIAL && jval_get(root, "decision", &v) &&
        jval_string(v, &word, NULL))
        trial_decision_find(word, &e->decision);
    json_free(doc);
}

int
emission_read(struct emission *e, struct buf *text)
{
    buf_clear(text);
    if (e->code == CMD_NEW_TRIAL)
        read_trial(e, text);
    else if (e->code == CMD_KILL_TRIAL || e->code == CMD_DECIDE_TRIAL)
        read_decision(e, text);
    return text->failed ? -1 : 0;
}

int
emission_of_record(const struct record *record, struct emission *e,
                   struct buf *text)
{
    *e = (struct emission){
        .cause = record->number,
        .sender = record->kind == RECORD_TUNER      ? SENDER_DEFAULT
                  : record->kind == RECORD_ASSESSOR ? SENDER_ASSESSOR
                                                    : SENDER_ROUTER};
    if (record->len < 2 || command_find(record->payload, &e->code) == NULL)
        return -1;
    e->payload = record->payload + 2;
    e->len = record->len - 2;
    return emission_read(e, text);
}

/* ---- whole ones ---- */

/* Copies the text to *at, and moves *at behind it; NULL stays NULL. */
static char *
copy_text(const char *text, char **at)
{
    size_t size = text == NULL ? 0 : strlen(text) + 1;
    char *copy = *at;

    if (text == NULL)
        return NULL;
    memcpy(copy, text, size);
    *at += size;
    return copy;
}

static void
part_free(struct buf *part)
{
    if (part != NULL)
        buf_fini(part);
    free(part);
}

struct emission *
emission_copy(const struct emission *e)
{
    const char *label = e->parameter.label;
    size_t texts = (label == NULL ? 0 : strlen(label) + 1) +
                   (e->job == NULL ? 0 : strlen(e->job) + 1);
    struct emission *copy = malloc(sizeof *copy + texts + e->len);
    char *at;

    if (copy == NULL) {
        part_free(e->part);
        return NULL;
    }
    at = (char *)(copy + 1);
    *copy = *e;
    copy->parameter.label = copy_text(label, &at);
    copy->job = copy_text(e->job, &at);
    copy->payload = at;
    if (e->len > 0)
        memcpy(at, e->payload, e->len);
    copy->next = copy->previous = NULL;
    return copy;
}

void
emission_free(struct emission *e)
{
    if (e == NULL)
        return;
    part_free(e->part);
    free(e);
}

void
emission_record(const struct emission *e, struct logwriter *log)
{
    static const enum record_kind kinds[] = {
        [SENDER_DEFAULT] = RECORD_TUNER,
        [SENDER_ASSESSOR] = RECORD_ASSESSOR,
        [SENDER_ROUTER] = RECORD_ROUTER,
    };
    struct frame frame = {.payload = e->payload, .len = e->len};

    memcpy(frame.code, command_info(e->code)->code, sizeof frame.code);
    logwriter_frame(log, kinds[e->sender], e->cause, &frame);
}
