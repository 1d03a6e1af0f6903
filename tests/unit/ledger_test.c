/* SPDX-License-Identifier: MIT */
#include "dispatcher/ledger.h"

#include "t.h"

#include "core/buf.h"
#include "core/pack.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static void
write_key(const char *entry, struct buf *out)
{
    struct json *doc = json_parse(entry, strlen(entry), JSON_NAN, NULL);

    CHECK(doc != NULL);
    buf_clear(out);
    ledger_write_key(json_root(doc), out);
    json_free(doc);
}

TEST(ledger_knows_numbers_however_they_are_spelt)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"{\"parameter\":{\"a\":1,\"b\":[0.00001]},\"value\":\"1\"}",
         "{\"value\":1.0,\"parameter\":{\"b\":[1e-05],\"a\":1.0}}", true},
        {"{\"parameter\":{\"a\":-0.0},\"value\":NaN}",
         "{\"parameter\":{\"a\":0},\"value\":\"NaN\"}", true},
        {"{\"parameter\":{\"a\":\"1\"},\"value\":1}",
         "{\"parameter\":{\"a\":1},\"value\":1}", false},
        {"{\"parameter\":{\"a\":true},\"value\":1}",
         "{\"parameter\":{\"a\":1},\"value\":1}", false},
        {"{\"parameter\":{\"a\":null},\"value\":{\"default\":2,\"b\":3}}",
         "{\"parameter\":{\"a\":null},\"value\":\"{\\\"default\\\":2}\"}",
         true},
        {"{\"parameter\":{},\"value\":\"x\"}",
         "{\"parameter\":{},\"value\":\"y\"}", false},
        {"{\"parameter\":{}}", "{\"value\":1}", false},
    };
    struct buf a, b;

    buf_init(&a, 10000);
    buf_init(&b, 10000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_key(cases[i].a, &a);
        write_key(cases[i].b, &b);
        CHECK_EQ(strcmp(buf_text(&a), buf_text(&b)) == 0, cases[i].same);
    }
    buf_fini(&a);
    buf_fini(&b);
}

TEST(ledger_keys_are_short)
{
    char text[3][2000];
    struct buf keys[3];

    for (int i = 0; i < 3; i++) {
        size_t len = 0;

        for (int k = 0; k < 100; k++)
            len += (size_t)snprintf(
                text[i] + len, sizeof text[i] - len, "%s\"k%d\":%d",
                k == 0 ? "{" : ",", i == 1 ? 99 - k : k,
                (i == 1 ? 99 - k : k) + (i == 2 && k == 50));
        memmove(text[i] + 13, text[i], len);
        memcpy(text[i], "{\"parameter\":", 13);
        snprintf(text[i] + 13 + len, sizeof text[i] - 13 - len,
                 "},\"value\":1}");
        buf_init(&keys[i], 10000);
        write_key(text[i], &keys[i]);
        CHECK(keys[i].len <= LEDGER_KEY_MAX);
    }
    CHECK_STR(buf_text(&keys[1]), buf_text(&keys[0])); /* another order */
    CHECK(strcmp(buf_text(&keys[2]), buf_text(&keys[0])) != 0);
    for (int i = 0; i < 3; i++)
        buf_fini(&keys[i]);
}

TEST(ledger_comes_back)
{
    struct ledger l = {0}, back = {0};
    struct buf key, packed, again;
    struct unpack in;
    uint64_t id = 0;

    buf_init(&key, 10000);
    buf_init(&packed, 10000);
    buf_init(&again, 10000);
    write_key("{\"parameter\":{},\"value\":1}", &key);
    for (uint64_t i = 0; i < 20; i++) {
        char job[8];

        snprintf(job, sizeof job, "j%d", (int)i);
        CHECK_EQ(ledger_ran(&l, job, i), 0);
        CHECK_EQ(ledger_ran(&l, job, i + 1), 0); /* the first word counts */
        CHECK_EQ(ledger_import(&l, &key), 0);
    }
    ledger_save(&l, &packed);
    in = unpack_from(packed.data, packed.len);
    CHECK_EQ(ledger_load(&back, &in), 0);
    CHECK(unpack_done(&in));
    ledger_save(&back, &again);
    CHECK_EQ(again.len, packed.len);
    CHECK_EQ(memcmp(again.data, packed.data, again.len), 0);
    CHECK_EQ(ledger_imports(&back, &key), 20);
    CHECK(ledger_find(&back, "j7", &id) && id == 7);
    CHECK(!ledger_find(&back, "j77", &id));
    for (size_t len = 0; len < packed.len; len++) {
        struct ledger cut = {0};

        in = unpack_from(packed.data, len);
        CHECK_EQ(ledger_load(&cut, &in), -1);
        ledger_fini(&cut);
    }
    ledger_fini(&l);
    ledger_fini(&back);
    buf_fini(&key);
    buf_fini(&packed);
    buf_fini(&again);
}
