/* SPDX-License-Identifier: MIT */
/* The metric decoder, which reads without a tree, held against a plain one
 * made with json.h, over generated payloads: valid ones and ones with changed
 * bytes.  The generator is deterministic. */
#include "t.h"

#include "command.h"
#include "core/buf.h"
#include "frame.h"
#include "metric_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void
show(const char *what, const struct buf *payload)
{
    printf("# %s: %.*s\n", what, (int)payload->len, payload->data);
}

static int
compare(const struct buf *payload)
{
    struct frame f = {
        .code = "ME", .payload = payload->data, .len = payload->len};
    struct command *cmd = command_decode(&f, 1, NULL);
    char job[ORACLE_TEXT_MAX], label[ORACLE_TEXT_MAX];
    struct metric m;
    int want = oracle_decode(payload, &m, job, label);

    if (want >= 0 && (want == 1) != (cmd != NULL))
        show(want == 1 ? "refused" : "accepted", payload);
    CHECK(want < 0 || (want == 1) == (cmd != NULL));
    if (want == 1 && !oracle_same(&cmd->metric, &m, job, label)) {
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
