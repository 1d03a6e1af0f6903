/* SPDX-License-Identifier: MIT */
/* The tuner gp as a part of another: its registration under another name, and
 * not exported; and what it made of the results. */
#include "auto/parts.h"

#include <math.h>

#undef TP_EXPORT
#define TP_EXPORT TP_EXTERN_C
#define tunepipe_tuner parts_gp
#include "gp/plugin.c"

double
parts_gp_noise(const void *gp)
{
    const struct gp_story *s =
        &((const struct gp_tuner *)gp)->several->gp->story;

    return s->n_modelled > 0 ? s->noise[0] : NAN;
}
