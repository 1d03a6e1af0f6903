/* SPDX-License-Identifier: MIT */
/* The metric decoder, which reads without a tree, held against a plain one
 * made with json.h, over generated payloads: valid ones and ones with changed
 * bytes.  The generator is deterministic. */
#include "t.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 2000

struct random {
    uint64_t state;
};

static unsigned
below(struct random *r, unsigned n)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(r->state >> 33) % n;
}

static const char *
pick(struct random *r, const char *const *from, size_t n)
{
    return from[below(r, (unsigned)n)];
}

#define PICK(r, ...)                            \
    pick(r, (const char *const[]){__VA_ARGS__}, \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void
put_value(struct random *r, struct buf *out)
{
    const char *inner =
        PICK(r, "0.93", "0.36772196667414725", "1e-05", "NaN", "-Infinity",
             "true", "false", "null", "[1, 2]", "{\"default\": 0.16, \"x\": 0}",
             "{\"default\": \"1\"}", "{\"a\": {\"default\": 1}}", "\"text\"",
             "", "abc", " 7 ", "-0.0", "{\"default\": NaN}", "1 1",
             "{\"default\": 1, \"default\": null}");

    if (below(r, 8) == 0)
        buf_add_text(out, inner);
    else
        json_write_string(out, inner, strlen(inner));
}

static void
put_member(struct random *r, struct buf *out, unsigned which)
{
    static const char *const keys[] = {
        "parameter_id", "trial_job_id", "type", "sequence",
        "value",        "attempt",      "sync", "other"};

    json_write_string(out, keys[which], strlen(keys[which]));
    buf_add_text(out, PICK(r, ": ", ":", " : ", ":\t"));
    switch (which) {
    case 0:
        buf_add_text(out,
                     PICK(r, "0", "3", "17", "5", "6", "7", "8", "9", "10",
                          "11", "12", "13", "14", "null", "\"0-3_1_5\"", "-1",
                          "1.5", "\"\\u00e9\"", "-0", "\"\"", "true"));
        break;
    case 1:
        buf_add_text(out, PICK(r, "\"ExCBx\"", "\"Z1Lxd\"", "\"A\"",
                               "\"a\\\"b\\u00e9\"", "\"\"", "7", "\"b\"",
                               "\"iLchw\"", "\"dBm74\"", "null"));
        break;
    case 2:
        buf_add_text(out, PICK(r, "\"PERIODICAL\"", "\"PERIODICAL\"",
                               "\"FINAL\"", "\"FINAL\"", "\"FINALE\"",
                               "\"REQUEST_PARAMETER\"", "null"));
        break;
    case 3:
    case 5:
        buf_add_text(out, PICK(r, "0", "1", "120", "3", "4", "5", "4294967296",
                               "-1", "2.0", "null", "\"0\""));
        break;
    case 4:
        put_value(r, out);
        break;
    case 6:
        buf_add_text(out, PICK(r, "true", "false", "null", "0"));
        break;
    case 7:
        buf_add_text(out, PICK(r, "{}", "[[],{\"type\":\"FINAL\"}]", "\"x\"",
                               "1e5", "NaN"));
        break;
    }
}

static void
generate(struct random *r, struct buf *out)
{
    bool tidy = below(r, 6) > 0;

    buf_clear(out);
    buf_add_char(out, '{');
    for (unsigned i = 0; i < 5 || (!tidy && i < 5 + below(r, 4)); i++) {
        if (i > 0)
            buf_add_text(out, PICK(r, ", ", ",", " ,\n"));
        put_member(r, out, tidy ? i : below(r, 8));
    }
    buf_add_text(out, PICK(r, "}\n", "}", "} ", "}", "}\n", "}x"));
}

static void
mutate(struct random *r, struct buf *b)
{
    static const char bytes[] = "{}[]\",:\\ud0e19-.+tfnNI\n\x01\x80\xc3\xa9 ";
    size_t at = below(r, (unsigned)b->len);

    if (below(r, 3) == 0)
        memmove(b->data + at, b->data + at + 1, --b->len - at);
    else
        b->data[at] = bytes[below(r, sizeof bytes - 1)];
}

/* The slow decoder.  1: decoded; 0: an error; -1: left undecided, because the
 * tree refuses what a decoder that skips does not look at. */
static int
slow_value(struct jval value, struct metric *m)
{
    struct json *inner = NULL;
    const char *text;
    bool flag;
    size_t len;
    struct err err;

    m->has_value = false;
    if (jval_string(value, &text, &len)) {
        inner = json_parse(text, len, JSON_NAN, &err);
        if (inner == NULL)
            return strstr(err.text, "beyond") == NULL ? 1 : -1;
        value = json_root(inner);
    }
    if (jval_type(value) == JSON_OBJECT)
        m->has_value = jval_get(value, "default", &value);
    else
        m->has_value = true;
    if (m->has_value && jval_bool(value, &flag))
        m->value = flag;
    else if (m->has_value)
        m->has_value = jval_number(value, &m->value);
    json_free(inner);
    return 1;
}

static int
slow_parameter(struct jval root, struct metric *m, char *label)
{
    const char *text;
    struct jval v;

    if (!jval_get(root, "parameter_id", &v) || jval_type(v) == JSON_NULL)
        return 1;
    if (jval_string(v, &text, NULL)) {
        m->parameter.kind = PARAMETER_LABEL;
        snprintf(label, TEXT_MAX, "%s", text);
        return 1;
    }
    m->parameter.kind = PARAMETER_NUMBER;
    return jval_uint(v, &m->parameter.number);
}

static int
slow_number(struct jval root, const char *key, uint64_t *out, bool *given)
{
    struct jval v;

    *given = jval_get(root, key, &v) && jval_type(v) != JSON_NULL;
    return !*given || jval_uint(v, out);
}

static int
slow_fields(struct jval root, struct metric *m, char *job, char *label)
{
    struct jval v;
    const char *text;
    size_t len;
    bool given;

    if (!jval_get(root, "type", &v) || !jval_string(v, &text, NULL))
        return 0;
    if (strcmp(text, "PERIODICAL") == 0)
        m->type = METRIC_PERIODICAL;
    else if (strcmp(text, "FINAL") == 0)
        m->type = METRIC_FINAL;
    else if (strcmp(text, "REQUEST_PARAMETER") == 0)
        m->type = METRIC_REQUEST;
    else
        return 0;
    if (!jval_get(root, "trial_job_id", &v) || !jval_string(v, &text, &len) ||
        len == 0 || strlen(text) != len)
        return 0;
    snprintf(job, TEXT_MAX, "%s", text);
    if (!slow_parameter(root, m, label) ||
        !slow_number(root, "attempt", &m->attempt, &given) ||
        !slow_number(root, "sequence", &m->sequence, &given) ||
        (m->type == METRIC_PERIODICAL && !given))
        return 0;
    if (jval_get(root, "sync", &v) && jval_type(v) != JSON_NULL &&
        !jval_bool(v, &m->sync))
        return 0;
    return jval_get(root, "value", &v) ? slow_value(v, m) : 1;
}

static int
slow_decode(const struct buf *payload, struct metric *m, char *job, char *label)
{
    struct err err;
    struct json *doc = json_parse(payload->data, payload->len, JSON_NAN, &err);
    int result;

    *m = (struct metric){0};
    if (doc == NULL)
        return strstr(err.text, "beyond") == NULL &&
                       strstr(err.text, "u0000") == NULL
                   ? 0
                   : -1;
    result = jval_type(json_root(doc)) == JSON_OBJECT
                 ? slow_fields(json_root(doc), m, job, label)
                 : 0;
    json_free(doc);
    return result;
}

static void
show(const char *what, const struct buf *payload)
{
    printf("# %s: %.*s\n", what, (int)payload->len, payload->data);
}

static bool
same(const struct metric *a, const struct metric *b, const char *job,
     const char *label)
{
    return strcmp(a->job, job) == 0 && a->type == b->type &&
           a->parameter.kind == b->parameter.kind &&
           (a->parameter.kind != PARAMETER_LABEL ||
            strcmp(a->parameter.label, label) == 0) &&
           (a->parameter.kind != PARAMETER_NUMBER ||
            a->parameter.number == b->parameter.number) &&
           a->sequence == b->sequence && a->attempt == b->attempt &&
           a->sync == b->sync && a->has_value == b->has_value &&
           (!a->has_value || a->value == b->value ||
            (isnan(a->value) && isnan(b->value)));
}

static int
compare(const struct buf *payload)
{
    struct frame f = {
        .code = "ME", .payload = payload->data, .len = payload->len};
    struct command *cmd = command_decode(&f, 1, NULL);
    char job[TEXT_MAX], label[TEXT_MAX];
    struct metric m;
    int want = slow_decode(payload, &m, job, label);

    if (want >= 0 && (want == 1) != (cmd != NULL))
        show(want == 1 ? "refused" : "accepted", payload);
    CHECK(want < 0 || (want == 1) == (cmd != NULL));
    if (want == 1 && !same(&cmd->metric, &m, job, label)) {
        show("differs", payload);
        CHECK(!"the two decoders differ");
    }
    command_free(cmd);
    return want;
}

TEST(command_metric_decoder_agrees_with_the_tree)
{
    struct random r = {42};
    struct buf payload;
    int decoded = 0, refused = 0, undecided = 0;

    buf_init(&payload, 10000);
    for (int i = 0; i < 60000; i++) {
        int changes = i % 4 == 0 ? i / 4 % 3 : 0, want;

        generate(&r, &payload);
        while (changes-- > 0)
            mutate(&r, &payload);
        want = compare(&payload);
        decoded += want == 1;
        refused += want == 0;
        undecided += want < 0;
    }
    CHECK(decoded > 10000 && refused > 5000 && undecided < 600);
    buf_fini(&payload);
}
