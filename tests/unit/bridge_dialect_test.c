/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "bridge/dialect.h"
#include "core/buf.h"
#include "core/err.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What a message becomes: its frame, or the error after "?". */
static const char *
read_as(enum dialect *d, const char *text, size_t len, enum message *m)
{
    static struct buf out;
    struct err err = {0};

    buf_fini(&out);
    buf_init(&out, 1 << 20);
    *m = dialect_read(d, text, len, &out, &err);
    if (*m == MESSAGE_STRANGE) {
        CHECK_EQ(out.len, 0);
        buf_printf(&out, "?%s", err.text);
    }
    return buf_text(&out);
}

static void
expect(enum dialect d, const char *text, enum message m, const char *want)
{
    enum message got;
    const char *frame = read_as(&d, text, strlen(text), &got);

    CHECK_STR(frame, want);
    CHECK_EQ(got, m);
}

TEST(bridge_dialect_reads_what_3_0_sends)
{
    const enum dialect d = DIALECT_JSON;

    expect(d, "{\"type\":\"GE\",\"content\":\"2\"}", MESSAGE_FRAME,
           "GE000000000000012");
    expect(d, "{\"type\":\"TE\"}", MESSAGE_TERMINATE, "TE00000000000000");
    expect(d, "{\"type\":\"PI\",\"content\":null}", MESSAGE_FRAME,
           "PI00000000000000");
    expect(d,
           "{\"type\":\"IN\",\"content\":\"{\\\"x\\\":{\\\"_type\\\":"
           "\\\"choice\\\",\\\"_value\\\":[\\\"\xc3\xa4\\\"]}}\"}",
           MESSAGE_FRAME,
           "IN00000000000040{\"x\":{\"_type\":\"choice\",\"_value\":[\"\xc3\xa4"
           "\"]}}");
    expect(d, "{\"type\":\"_nop_\"}", MESSAGE_NOTHING, "");
    expect(d, "{\"type\":\"_bye_\",\"reason\":\"TE command\"}", MESSAGE_BYE,
           "");
}

TEST(bridge_dialect_reads_what_2_10_sends)
{
    const enum dialect d = DIALECT_PLAIN;

    expect(d, "GE2", MESSAGE_FRAME, "GE000000000000012");
    expect(d, "TE", MESSAGE_TERMINATE, "TE00000000000000");
    expect(d, "ME{}\n", MESSAGE_FRAME, "ME00000000000003{}\n");
    /* A payload may look like anything. */
    expect(d, "FD{\"type\":\"_bye_\"}", MESSAGE_FRAME,
           "FD00000000000016{\"type\":\"_bye_\"}");
}

TEST(bridge_dialect_is_told_by_the_first_message)
{
    enum dialect d = DIALECT_UNKNOWN;
    enum message m;

    CHECK_HAS(read_as(&d, "hello", 5, &m), "?a message of 5 bytes");
    CHECK_EQ(d, DIALECT_UNKNOWN);
    CHECK_HAS(read_as(&d, "", 0, &m), "?a message of 0 bytes");
    CHECK_EQ(d, DIALECT_UNKNOWN);
    read_as(&d, "IN{}", 4, &m);
    CHECK_EQ(d, DIALECT_PLAIN);
    /* And stays, whatever follows. */
    CHECK_HAS(read_as(&d, "{\"type\":\"TE\"}", 13, &m), "two capital letters");
    CHECK_EQ(d, DIALECT_PLAIN);
    d = DIALECT_UNKNOWN;
    read_as(&d, "{\"type\":\"TE\"}", 13, &m);
    CHECK_EQ(d, DIALECT_JSON);
    CHECK_HAS(read_as(&d, "TE", 2, &m), "a message of 2 bytes");
    CHECK_EQ(m, MESSAGE_STRANGE);
}

TEST(bridge_dialect_says_what_is_strange)
{
    static const struct {
        enum dialect d;
        const char *text, *said;
    } cases[] = {
        {DIALECT_JSON, "{\"type\":\"GE\"", "a message of 12 bytes that begins"},
        {DIALECT_JSON, "[]", "expected an object with a string `type`"},
        {DIALECT_JSON, "{}", "expected an object with a string `type`"},
        {DIALECT_JSON, "{\"type\":7}", "with a string `type`"},
        {DIALECT_JSON, "{\"type\":\"GEE\"}", "_nop_ or _bye_"},
        {DIALECT_JSON, "{\"type\":\"g\"}", "two capital letters"},
        {DIALECT_JSON, "{\"type\":\"_x_\"}", "two capital letters"},
        {DIALECT_JSON, "{\"type\":\"\"}", "two capital letters"},
        {DIALECT_PLAIN, "G", "two capital letters"},
        {DIALECT_PLAIN, "ge2", "two capital letters"},
        {DIALECT_PLAIN, "", "two capital letters"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum dialect d = cases[i].d;
        enum message m;
        const char *said =
            read_as(&d, cases[i].text, strlen(cases[i].text), &m);

        CHECK_EQ(m, MESSAGE_STRANGE);
        CHECK_HAS(said, cases[i].said);
    }
}

/* The dispatcher says its own line about a code it does not know. */
TEST(bridge_dialect_passes_unknown_codes_on)
{
    expect(DIALECT_JSON, "{\"type\":\"XX\",\"content\":\"a\"}", MESSAGE_FRAME,
           "XX00000000000001a");
    expect(DIALECT_PLAIN, "XXa", MESSAGE_FRAME, "XX00000000000001a");
    expect(DIALECT_JSON, "{\"type\":\"GE\",\"content\":2}", MESSAGE_FRAME,
           "GE000000000000012");
    expect(DIALECT_JSON, "{\"type\":\"FD\",\"content\":[{\"a\":1}]}",
           MESSAGE_FRAME, "FD00000000000010[{\"a\": 1}]");
}

static const char *
written(enum dialect d, const char *code, const char *payload)
{
    static struct buf out;

    buf_fini(&out);
    buf_init(&out, 1 << 20);
    dialect_write(d, &out, code, payload, strlen(payload));
    return buf_text(&out);
}

TEST(bridge_dialect_writes_as_the_python_client_does)
{
    CHECK_STR(written(DIALECT_JSON, "ID", ""),
              "{\"type\": \"ID\", \"content\": \"\"}");
    CHECK_STR(written(DIALECT_JSON, "KI", "\"FA12h\""),
              "{\"type\": \"KI\", \"content\": \"\\\"FA12h\\\"\"}");
    CHECK_STR(written(DIALECT_JSON, "ER", "\xc3\xa4\n\xff"),
              "{\"type\": \"ER\", \"content\": \"\\u00e4\\n\\ufffd\"}");
    CHECK_STR(written(DIALECT_PLAIN, "ID", ""), "ID");
    CHECK_STR(written(DIALECT_PLAIN, "KI", "\"FA12h\""), "KI\"FA12h\"");
}

/* What one side writes the other reads. */
TEST(bridge_dialect_reads_what_it_writes)
{
    static const char *const payloads[] = {
        "", "2", "{\"a\": \"\\u00e4 \\\"\"}", "\n\t\\", "\xf0\x9f\x98\x80",
    };

    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        enum dialect d = DIALECT_JSON;
        enum message m;
        char want[200], text[400];
        const char *frame;

        snprintf(text, sizeof text, "%s", written(d, "TR", payloads[i]));
        frame = read_as(&d, text, strlen(text), &m);
        snprintf(want, sizeof want, "TR%014zu%s", strlen(payloads[i]),
                 payloads[i]);
        CHECK_STR(frame, want);
    }
}

TEST(bridge_dialect_marks_frames_that_find_no_room)
{
    static const char text[] = "{\"type\":\"IN\",\"content\":\"0123456789\"}";
    enum dialect d = DIALECT_JSON;
    struct buf out;

    buf_init(&out, 20);
    CHECK_EQ(dialect_read(&d, text, sizeof text - 1, &out, NULL),
             MESSAGE_FRAME);
    CHECK(out.failed);
    CHECK_EQ(out.len, 0);
}
