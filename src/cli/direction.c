/* SPDX-License-Identifier: MIT */
#include "cli/direction.h"

#include "config/experiment.h"
#include "core/err.h"
#include "nni/names.h"

#include <stdio.h>
#include <string.h>

/* Appends "; NNI's TPE would minimize", where NNI has it and a default. */
static void
add_default(enum plugin_kind kind, const struct algorithm *a, char *text,
            size_t size)
{
    const char *mode = a->name != NULL ? names_mode(kind, a->name) : NULL;
    size_t len = strlen(text);

    if (mode != NULL)
        snprintf(text + len, size - len, "%s NNI's %.64s would %s",
                 len == 0 ? "; untold," : " and", a->name, mode);
}

int
direction_check(const struct experiment *x, const char *file, struct err *err)
{
    char defaults[256] = "";

    if (experiment_direction(x) != NULL)
        return 0;
    add_default(PLUGIN_TUNER, &x->tuner, defaults, sizeof defaults);
    add_default(PLUGIN_ASSESSOR, &x->assessor, defaults, sizeof defaults);
    return err_set(err, ERR_CONFIG,
                   "%s: direction: nothing says which results are better: "
                   "expected 'direction: minimize' for the smaller ones or "
                   "'direction: maximize' for the larger ones%s",
                   file, defaults);
}
