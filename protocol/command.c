/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "decode.h"
#include "frame.h"
#include "json.h"
#include "quote.h"
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum payload {
    PAYLOAD_NOTHING,
    PAYLOAD_SPACE,
    PAYLOAD_COUNT,
    PAYLOAD_METRIC,
    PAYLOAD_END,
    PAYLOAD_IMPORT,
    PAYLOAD_CUSTOM,
    PAYLOAD_NOTE,
    PAYLOAD_OUTWARD,
};

static const struct command_info table[CMD_COUNT] = {
#define COMMAND(name, code, direction, queue, payload, doc) \
    [CMD_##name] = {#name, code, DIRECTION_##direction, QUEUE_##queue, doc},
#include "commands.def"
#undef COMMAND
};

static const enum payload payloads[CMD_COUNT] = {
#define COMMAND(name, code, direction, queue, payload, doc) \
    [CMD_##name] = PAYLOAD_##payload,
#include "commands.def"
#undef COMMAND
};

const struct command_info *
command_info(enum command_code code)
{
    return (unsigned)code < CMD_COUNT ? &table[code] : NULL;
}

const struct command_info *
command_find(const char code[2], enum command_code *out)
{
    for (int i = 0; i < CMD_COUNT; i++)
        if (table[i].code[0] == code[0] && table[i].code[1] == code[1]) {
            *out = (enum command_code)i;
            return &table[i];
        }
    return NULL;
}

struct command *
decode_new(size_t tail, char **at, struct err *err)
{
    struct command *cmd = malloc(sizeof *cmd + tail);

    if (cmd == NULL) {
        err_set(err, ERR_MEMORY, "out of memory for a command");
        return NULL;
    }
    memset(cmd, 0, sizeof *cmd);
    *at = (char *)(cmd + 1);
    return cmd;
}

/* Takes doc; NULL stays NULL. */
static struct command *
with_document(struct json *doc, struct err *err)
{
    char *tail;
    struct command *cmd = doc == NULL ? NULL : decode_new(0, &tail, err);

    if (cmd == NULL)
        json_free(doc);
    else
        cmd->document = doc;
    return cmd;
}

static struct command *
decode_nothing(const struct frame *frame, struct err *err)
{
    char *tail;

    (void)frame; /* a payload where none belongs does no harm */
    return decode_new(0, &tail, err);
}

static struct json *
parse(const struct frame *frame, unsigned flags, const char *what,
      struct err *err)
{
    if (frame->len > 0)
        return json_parse(frame->payload, frame->len, flags, err);
    err_set(err, ERR_INPUT, "byte 0: empty: expected %s", what);
    return NULL;
}

/* Takes doc; NULL unless its root is of that type. */
static struct json *
want_type(struct json *doc, enum json_type type, const char *what,
          struct err *err)
{
    if (doc == NULL || jval_type(json_root(doc)) == type)
        return doc;
    err_set(err, ERR_INPUT, "byte 0: expected %s, not %s", what,
            jval_type_name(json_root(doc)));
    json_free(doc);
    return NULL;
}

static struct command *
decode_space(const struct frame *frame, struct err *err)
{
    static const char what[] = "a search space, an object";
    struct json *doc = parse(frame, JSON_COMMENTS, what, err);

    return with_document(want_type(doc, JSON_OBJECT, what, err), err);
}

static bool
read_count(const struct frame *frame, uint64_t *n)
{
    size_t digits = 0;

    while (digits < frame->len && frame->payload[digits] >= '0' &&
           frame->payload[digits] <= '9')
        digits++;
    return digits > 0 && digits == frame->len &&
           number_parse_u64(frame->payload, digits, n) && *n > 0 &&
           *n <= COMMAND_REQUEST_MAX;
}

static struct command *
decode_count(const struct frame *frame, struct err *err)
{
    static const char got[] = "expected a count from 1 to 65536, got ";
    char shown[QUOTE_MAX] = "nothing", *tail;
    struct command *cmd;
    uint64_t n = 0;

    if (read_count(frame, &n)) {
        cmd = decode_new(0, &tail, err);
        if (cmd != NULL)
            cmd->request.count = n;
        return cmd;
    }
    if (frame->len > 0)
        quote_bytes(shown, frame->payload, frame->len);
    cmd = decode_new(sizeof got + QUOTE_MAX, &tail, err);
    if (cmd == NULL)
        return NULL;
    snprintf(tail, sizeof got + QUOTE_MAX, "%s%s", got, shown);
    cmd->request.problem = tail;
    return cmd;
}

/* Takes doc; NULL unless each element is an object. */
static struct json *
want_objects(struct json *doc, const char *what, struct err *err)
{
    size_t n = doc == NULL ? 0 : jval_count(json_root(doc));

    for (size_t i = 0; i < n; i++) {
        struct jval v = jval_at(json_root(doc), i);

        if (jval_type(v) == JSON_OBJECT)
            continue;
        err_set(err, ERR_INPUT, "element %zu: expected %s, an object, not %s",
                i, what, jval_type_name(v));
        json_free(doc);
        return NULL;
    }
    return doc;
}

static struct command *
decode_import(const struct frame *frame, struct err *err)
{
    static const char what[] = "an array of finished trials";
    struct json *doc = parse(frame, JSON_NAN, what, err);

    doc = want_type(doc, JSON_ARRAY, what, err);
    return with_document(want_objects(doc, "a finished trial", err), err);
}

/* A record, or the JSON inside the string that holds one. */
static int
add_record(struct buf *out, const struct scan *s, const struct scan_token *t,
           size_t index, struct err *err)
{
    size_t from = out->len;

    if (t->type != SCAN_STRING) {
        buf_add(out, s->text + t->at, s->at - t->at);
        return 0;
    }
    scan_unescape(t, out);
    if (buf_check(out, "the records", err) != 0)
        return -1;
    if (scan_check(buf_text(out) + from, out->len - from, JSON_NAN, err) == 0)
        return 0;
    return err_place(err, "element %zu, JSON in a string", index);
}

/* Makes one form of the three there are: an array of records, some of which
 * may be JSON in a string, or a single record.  The text is valid JSON. */
static int
unwrap_records(struct scan *s, struct buf *out, struct err *err)
{
    struct scan_token t = scan_next(s);
    bool array = t.type == SCAN_OPEN_ARRAY;

    buf_add_char(out, '[');
    if (array)
        t = scan_next(s);
    for (size_t i = 0; t.type != SCAN_CLOSE_ARRAY; i++) {
        scan_skip_from(s, t);
        if (add_record(out, s, &t, i, err) != 0)
            return -1;
        t = scan_next(s);
        if (t.type != SCAN_COMMA)
            break;
        buf_add_char(out, ',');
        t = scan_next(s);
    }
    buf_add_char(out, ']');
    return buf_check(out, "the records", err);
}

static struct command *
decode_custom(const struct frame *frame, struct err *err)
{
    static const char what[] = "an array of trial records";
    struct scan s = {frame->payload, frame->len, 0, JSON_NAN, NULL};
    struct json *doc = parse(frame, JSON_NAN, what, err);
    struct buf text;

    if (doc != NULL && jval_type(json_root(doc)) != JSON_OBJECT)
        doc = want_type(doc, JSON_ARRAY, what, err);
    if (doc == NULL)
        return NULL;
    json_free(doc); /* it was the check that the payload is JSON */
    buf_init(&text, frame->len + 2);
    doc = unwrap_records(&s, &text, err) != 0
              ? NULL
              : json_parse(buf_text(&text), text.len, JSON_NAN, err);
    buf_fini(&text);
    return with_document(want_objects(doc, "a trial record", err), err);
}

static struct command *
decode_note(const struct frame *frame, struct err *err)
{
    static const char what[] = "a note, an object";
    struct json *doc = parse(frame, JSON_STRICT, what, err);
    struct jval event;

    doc = want_type(doc, JSON_OBJECT, what, err);
    if (doc != NULL && (!jval_get(json_root(doc), "event", &event) ||
                        jval_type(event) != JSON_STRING)) {
        err_set(err, ERR_INPUT,
                "byte 0: expected an object with the key 'event', a string");
        json_free(doc);
        doc = NULL;
    }
    return with_document(doc, err);
}

static struct command *
refuse_outward(const struct frame *frame, struct err *err)
{
    err_set(err, ERR_INPUT,
            "%s goes from the dispatcher to the manager, never the other way",
            frame->code);
    return NULL;
}

static struct command *
refuse_unknown(const struct frame *frame, struct err *err)
{
    struct buf codes;
    char shown[QUOTE_MAX];

    buf_init(&codes, 200);
    for (int i = 0; i < CMD_COUNT; i++)
        if (table[i].direction != DIRECTION_OUT)
            buf_printf(&codes, " %s", table[i].code);
    err_set(err, ERR_INPUT, "unknown command %s: expected one of%s",
            quote_bytes(shown, frame->code, 2), buf_text(&codes));
    buf_fini(&codes);
    return NULL;
}

struct command *
command_decode(const struct frame *frame, uint64_t arrival, struct err *err)
{
    typedef struct command *decoder(const struct frame *, struct err *);
    static decoder *const decoders[] = {
        [PAYLOAD_NOTHING] = decode_nothing, [PAYLOAD_SPACE] = decode_space,
        [PAYLOAD_COUNT] = decode_count,     [PAYLOAD_METRIC] = decode_metric,
        [PAYLOAD_END] = decode_end,         [PAYLOAD_IMPORT] = decode_import,
        [PAYLOAD_CUSTOM] = decode_custom,   [PAYLOAD_NOTE] = decode_note,
        [PAYLOAD_OUTWARD] = refuse_outward,
    };
    enum command_code code;
    struct command *cmd;

    if (command_find(frame->code, &code) == NULL)
        return refuse_unknown(frame, err);
    cmd = decoders[payloads[code]](frame, err);
    if (cmd == NULL)
        return NULL;
    cmd->code = code;
    cmd->arrival = arrival;
    cmd->position = arrival;
    return cmd;
}

void
command_free(struct command *cmd)
{
    if (cmd == NULL)
        return;
    switch (payloads[cmd->code]) {
    case PAYLOAD_SPACE:
    case PAYLOAD_IMPORT:
    case PAYLOAD_CUSTOM:
    case PAYLOAD_NOTE:
        json_free(cmd->document);
        break;
    case PAYLOAD_END:
        parameter_clear(&cmd->end.parameter);
        break;
    case PAYLOAD_NOTHING:
    case PAYLOAD_COUNT:
    case PAYLOAD_METRIC:
    case PAYLOAD_OUTWARD:
        break;
    }
    for (size_t i = 0; i < cmd->n_runs; i++) {
        free(cmd->runs[i].job);
        parameter_clear(&cmd->runs[i].parameter);
    }
    free(cmd->runs);
    free(cmd);
}

struct parameter_id
parameter_named(uint64_t number, const char *label)
{
    return (struct parameter_id){label == NULL ? PARAMETER_NUMBER
                                               : PARAMETER_LABEL,
                                 label == NULL ? number : 0, (char *)label};
}

bool
parameter_equal(const struct parameter_id *a, const struct parameter_id *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case PARAMETER_NONE:
        return true;
    case PARAMETER_NUMBER:
        return a->number == b->number;
    case PARAMETER_LABEL:
        return strcmp(a->label, b->label) == 0;
    }
    return false;
}

int
parameter_copy(struct parameter_id *to, const struct parameter_id *from)
{
    *to = *from;
    if (from->label == NULL)
        return 0;
    to->label = strdup(from->label);
    if (to->label != NULL)
        return 0;
    to->kind = PARAMETER_NONE;
    return -1;
}

void
parameter_clear(struct parameter_id *p)
{
    free(p->label);
    *p = (struct parameter_id){.kind = PARAMETER_NONE};
}
