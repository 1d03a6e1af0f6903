/* SPDX-License-Identifier: MIT */
/* A filter that answers ask wrongly, one way each. */
#include "tunepipe/filter.h"

#include "base.h"

static const struct tp_arg args[] = {
    {"how", TP_ARG_INT, 0, NULL, 0, 5, NULL, "in which way"},
    {"optimize_mode", TP_ARG_STRING, 1, "null", 0, 0, "maximize|minimize",
     "not looked at"},
};

static int
ask(void *vself, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    static double elsewhere[1];
    struct base *self = vself;
    int rc = next->ask(next->ctx, id, out);

    switch (self->number) {
    case 0:
        out->x = elsewhere;
        return rc;
    case 1:
        out->label = "";
        return rc;
    case 2:
        out->x[0] = -1.0 / 0.0;
        return rc;
    case 3:
        return 99;
    case 4:
        return TP_ERR;
    case 5: /* asks again, which is right */
        return next->ask(next->ctx, id, out);
    }
    return rc;
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,  .name = "misfilter",   .doc = "answers wrongly",
    .version = 1,    .args = TP_ARGS(args), .create = base_create,
    .destroy = free, .config = base_config, .ask = ask,
};
TP_REGISTER_FILTER(filter)
