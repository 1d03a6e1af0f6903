/* SPDX-License-Identifier: MIT */
#include "space/space.h"

#include "core/err.h"
#include "space/dims.h"

#include <stdlib.h>

void
space_free(struct space *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->dim[i].elements);
        free(s->dim[i].subs);
    }
    free(s->dim);
    free(s->tp);
    buf_fini(&s->texts);
    json_free(s->document);
    free(s);
}

const struct tp_space *
space_dims(const struct space *s)
{
    return &s->shared;
}

int
space_make_whole(struct space *s, struct err *err)
{
    if (s->n == 0 || s->dim[0].end != s->n)
        return err_set(err, ERR_CONFIG,
                       "search space: has %s, expected a single one of type "
                       "choice, whose values are complete parameter sets",
                       s->n == 0 ? "no parameter" : "several parameters");
    if (s->tp[0].kind != TP_CHOICE || s->dim[0].nested)
        return err_set(err, ERR_CONFIG,
                       "%s._type: is %s%s, expected choice, whose values are "
                       "complete parameter sets",
                       s->tp[0].name, s->dim[0].nested ? "nested " : "",
                       space_kinds[s->tp[0].kind - 1].name);
    s->tp[0].flags |= TP_DIM_WHOLE;
    return 0;
}

void
space_write(const struct space *s, struct buf *out)
{
    jval_write(json_root(s->document), out);
}

bool
space_is_active(const struct space *s, const double *x, size_t i)
{
    for (; s->tp[i].parent != TP_NO_PARENT; i = s->tp[i].parent)
        if (!dim_is_chosen(s, x, i))
            return false;
    return true;
}
