/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a case writes. */
static struct buf out;
static struct json_writer w;

static void start(struct json_writer (*begin)(struct buf *))
{
    buf_init(&out, 1000);
    w = begin(&out);
}

/* Checks what was written, and that it is JSON, and frees it. */
static void
wrote(const char *want)
{
    struct json *doc = json_parse(want, strlen(want), JSON_STRICT, NULL);

    CHECK(!out.failed);
    CHECK_STR(buf_text(&out), want);
    CHECK(doc != NULL);
    json_free(doc);
    buf_fini(&out);
}

/* Checks that the writing failed, and frees it. */
static void
failed(void)
{
    CHECK(out.failed);
    buf_fini(&out);
}

TEST(json_writer_places_commas_at_every_depth)
{
    start(json_begin_object);
    json_add_text(&w, "a", "x");
    json_open_array(&w, "b");
    json_add_unsigned(&w, NULL, 1);
    json_open_object(&w, NULL);
    json_add_bool(&w, "c", true);
    json_add_bool(&w, "d", false);
    json_close(&w);
    json_open_array(&w, NULL);
    json_add_integer(&w, NULL, 2);
    json_close(&w);
    json_add_unsigned(&w, NULL, 3);
    json_close(&w);
    json_add_raw(&w, "e", "{\"f\": 4}");
    json_close(&w);
    wrote("{\"a\": \"x\", \"b\": [1, {\"c\": true, \"d\": false}, [2], 3],"
          " \"e\": {\"f\": 4}}");
}

TEST(json_writer_empty_objects_and_arrays)
{
    start(json_begin_object);
    json_close(&w);
    wrote("{}");
    start(json_begin);
    json_open_array(&w, NULL);
    json_close(&w);
    wrote("[]");
    start(json_begin);
    json_open_array(&w, NULL);
    json_open_object(&w, NULL);
    json_close(&w);
    json_open_array(&w, NULL);
    json_close(&w);
    json_open_object(&w, NULL);
    json_open_object(&w, "");
    json_close(&w);
    json_close(&w);
    json_close(&w);
    wrote("[{}, [], {\"\": {}}]");
}

TEST(json_writer_null_in_the_place_of_an_object)
{
    start(json_begin_object);
    CHECK(!json_open_object_if(&w, "a", false));
    CHECK(json_open_object_if(&w, "b", true));
    json_open_array(&w, "c");
    json_end(&w); /* three of them */
    wrote("{\"a\": null, \"b\": {\"c\": []}}");
    start(json_begin_object);
    json_close(&w);
    json_end(&w); /* nothing is left to close */
    wrote("{}");
}

TEST(json_writer_values_of_every_kind)
{
    start(json_begin);
    json_open_array(&w, NULL);
    json_add_integer(&w, NULL, INT64_MIN);
    json_add_integer(&w, NULL, INT64_MAX);
    json_add_integer(&w, NULL, 0);
    json_add_unsigned(&w, NULL, UINT64_MAX);
    json_add_number(&w, NULL, 1);
    json_add_number(&w, NULL, 1e-5);
    json_add_number(&w, NULL, (double)NAN);
    json_add_number(&w, NULL, -(double)INFINITY);
    json_add_text(&w, NULL, NULL);
    json_add_raw(&w, NULL, NULL);
    json_add_unsigned_if(&w, NULL, false, 1);
    json_add_unsigned_if(&w, NULL, true, 1);
    json_add_string(&w, NULL, "abc", 2);
    buf_printf(json_value(&w, NULL), "%.3f", 0.5);
    json_close(&w);
    wrote("[-9223372036854775808, 9223372036854775807, 0, "
          "18446744073709551615, 1.0, 1e-05, null, null, null, null, "
          "null, 1, \"ab\", 0.500]");
}

TEST(json_writer_escapes_keys_and_texts)
{
    static const char bytes[] =
        "a\"\\\n\x01\x7f\xc3\xa9\xf0\x9f\x98\x80\xff\0z";
    static const char want[] =
        "\"a\\\"\\\\\\n\\u0001\\u007f\\u00e9\\ud83d\\ude00\\ufffd";
    char text[400];

    start(json_begin_object);
    json_add_text(&w, bytes, bytes);
    json_add_string(&w, "nul", bytes, sizeof bytes - 1);
    json_close(&w);
    snprintf(text, sizeof text, "{%s\": %s\", \"nul\": %s\\u0000z\"}", want,
             want, want);
    wrote(text);
}

TEST(json_writer_style_is_the_callers)
{
    start(json_begin);
    json_separate(&w, ",", ":");
    json_open_object(&w, NULL);
    json_add_unsigned(&w, "a", 1);
    json_open_array(&w, "b");
    json_add_unsigned(&w, NULL, 2);
    json_add_unsigned(&w, NULL, 3);
    json_close(&w);
    json_separate(&w, ",\n ", ":");
    json_add_text(&w, "c", "d");
    json_close(&w);
    wrote("{\"a\":1,\"b\":[2,3],\n \"c\":\"d\"}");
}

TEST(json_writer_goes_on_with_an_object)
{
    start(json_begin_object);
    json_close(&w);
    w = json_reopen_object(&out);
    json_add_unsigned(&w, "a", 1);
    json_close(&w);
    w = json_reopen_object(&out);
    json_add_unsigned(&w, "b", 2);
    json_close(&w);
    wrote("{\"a\": 1, \"b\": 2}");
    start(json_begin);
    json_add_raw(&w, NULL, "[1]");
    json_reopen_object(&out);
    failed();
    start(json_begin);
    json_reopen_object(&out);
    failed();
}

TEST(json_writer_depth_is_limited)
{
    start(json_begin);
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        if (i % 2 == 0)
            json_open_array(&w, NULL);
        else
            json_open_object(&w, NULL);
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        json_close(&w);
    CHECK(!out.failed);
    CHECK_EQ(out.len, 2 * JSON_DEPTH_MAX);
    CHECK(memcmp(buf_text(&out) + JSON_DEPTH_MAX - 4, "[{[{}]}]", 8) == 0);
    buf_fini(&out);
    start(json_begin);
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        json_open_array(&w, NULL);
    CHECK(!out.failed);
    json_open_array(&w, NULL);
    failed();
    start(json_begin_object);
    json_close(&w);
    CHECK(!out.failed);
    json_close(&w); /* nothing is open */
    failed();
}

/* However little room there is, the failure sticks. */
TEST(json_writer_tells_of_want_of_room)
{
    static const char want[] = "{\"key\": \"text\", \"list\": [1, null]}";

    for (size_t max = 0; max <= sizeof want - 1; max++) {
        buf_init(&out, max);
        w = json_begin_object(&out);
        json_add_text(&w, "key", "text");
        json_open_array(&w, "list");
        json_add_unsigned(&w, NULL, 1);
        json_add_text(&w, NULL, NULL);
        json_close(&w);
        json_close(&w);
        CHECK_EQ(out.failed, max < sizeof want - 1);
        CHECK_STR(buf_text(&out), out.failed ? "" : want);
        buf_fini(&out);
    }
}
