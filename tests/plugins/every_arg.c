/* SPDX-License-Identifier: MIT */
/* A tuner with an argument of each type, which logs what it got. */
#include "base.h"

static const struct tp_arg args[] = {
    {"count", TP_ARG_INT, 0, "20", 1, 100, NULL, "an integer"},
    {"net.rate", TP_ARG_DOUBLE, 1, "0.5", 0, 1, NULL, "a number, nested"},
    {"on", TP_ARG_BOOL, 0, "true", 0, 0, NULL, "a bool"},
    {"net.deep.mode", TP_ARG_STRING, 0, "\"best\"", 0, 0, "best|mean|worst",
     "a word, nested deeper"},
    {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL, "a seed"},
    {"path", TP_ARG_STRING, 1, "null", 0, 0, NULL, "any text"},
};

static int
config(void *vself, const struct tp_value *v, size_t n)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "%zu: %d %g %d %s %s %s", n,
           (int)v[0].integer, v[1].number, (int)v[2].integer, v[3].text,
           v[4].is_null ? "no seed" : "a seed",
           v[5].is_null ? "(null)" : v[5].text);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("every_arg", "logs its arguments"),
    .args = TP_ARGS(args),
    .config = config,
    .ask = base_ask,
};
TP_REGISTER_TUNER(tuner)
