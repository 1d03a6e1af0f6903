/* SPDX-License-Identifier: MIT */
/* Arguments of plugins: either problems or values; values stay in the ranges
 * of their table, and what is written of them gives the same again. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "plugin/arguments.h"

#include <math.h>
#include <string.h>

static const struct tp_arg table[] = {
    {"count", TP_ARG_INT, 0, "20", 1, 100, NULL, "an integer"},
    {"net.rate", TP_ARG_DOUBLE, 1, "0.5", 0, 1, NULL, "a number"},
    {"on", TP_ARG_BOOL, 0, "true", 0, 0, NULL, "a bool"},
    {"net.deep.mode", TP_ARG_STRING, 0, "\"best\"", 0, 0, "best|mean|worst",
     "a word"},
    {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL, "a seed"},
    {"path", TP_ARG_STRING, 1, "null", 0, 0, NULL, "any text"},
    {"any", TP_ARG_INT, 0, "-7", 0, 0, NULL, "any integer"},
    {"least", TP_ARG_DOUBLE, 0, "1", 1, INFINITY, NULL, "bounded below"},
};
#define N (sizeof table / sizeof *table)

static struct arguments *
parse(const char *text, size_t len, struct problems *problems)
{
    struct json *doc = json_parse(text, len, JSON_STRICT, NULL);
    struct arguments *a = NULL;

    if (doc != NULL) {
        a = arguments_parse(table, N, json_root(doc), "classArgs", problems);
        MUST((a == NULL) == (problems->count > 0));
    }
    json_free(doc);
    return a;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct problems problems;
    struct arguments *a, *b;
    struct buf once, again;
    uint64_t seed;

    problems_init(&problems);
    buf_init(&once, (size_t)1 << 24);
    buf_init(&again, (size_t)1 << 24);
    a = parse((const char *)data, size, &problems);
    if (a != NULL) {
        MUST(arguments_values(a) != NULL);
        arguments_seed(a, &seed);
        arguments_write(a, &once);
        b = parse(once.data, once.len, &problems);
        MUST(b != NULL);
        arguments_write(b, &again);
        MUST(once.len == again.len &&
             memcmp(once.data, again.data, once.len) == 0);
        arguments_free(b);
    }
    arguments_free(a);
    buf_fini(&once);
    buf_fini(&again);
    problems_fini(&problems);
    return 0;
}
