/* SPDX-License-Identifier: MIT */
/* A tuner built with the headers of a later release: its tables are longer. */
#include "base.h"

struct newer_arg {
    struct tp_arg now;
    const char *unit;
};

struct newer_tuner {
    struct tp_tuner now;
    void (*unheard_of)(void);
    const char *text;
};

static const struct newer_arg args[] = {
    {{"first", TP_ARG_INT, 0, "1", 0, 0, NULL, "the first"}, "apples"},
    {{"second", TP_ARG_STRING, 0, "\"b\"", 0, 0, NULL, "the second"}, "pears"},
};

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct base *self = vself;

    if (n != 2 || values[0].integer != 1 || values[1].text[0] != 'b')
        return tp_error(self->host, "wrong arguments");
    return TP_OK;
}

static const struct newer_tuner tuner = {
    {
        sizeof tuner,
        TP_TUNER_MAGIC,
        TP_ABI,
        .name = "newer",
        .doc = "has longer tables",
        .version = 7,
        .args = &args[0].now,
        .n_args = 2,
        .arg_size = sizeof args[0],
        .create = base_create,
        .destroy = free,
        .config = config,
        .ask = base_ask,
        .tell = tp_tell_nothing,
    },
    .text = "later releases",
};
TP_REGISTER_TUNER(tuner.now)
