/* SPDX-License-Identifier: MIT */
/* A tuner that takes no space but one with a dimension called "good". */
#include "base.h"

#include <string.h>

static int
space(void *vself, const struct tp_space *s)
{
    struct base *self = vself;

    for (size_t i = 0; i < s->n_dims; i++)
        if (strcmp(TP_DIM(s, i)->name, "good") == 0)
            return TP_OK;
    return tp_error(self->host, "no dimension 'good'");
}

static const struct tp_tuner tuner = {
    BASE_TUNER("space_fails", "wants a dimension called good"),
    .space = space,
    .ask = base_ask,
};
TP_REGISTER_TUNER(tuner)
