/* SPDX-License-Identifier: MIT */
#include "space/dims.h"
#include "space/space.h"

#include <string.h>

static int
kind_of(struct jval v, struct tp_element *out)
{
    bool truth;

    if (jval_bool(v, &truth)) {
        out->number = truth;
        return TP_ELEMENT_TRUTH;
    }
    if (jval_string(v, &out->text, NULL))
        return TP_ELEMENT_TEXT;
    return jval_number(v, &out->number) ? TP_ELEMENT_NUMBER : TP_ELEMENT_OTHER;
}

bool
space_element(const struct space *s, size_t i, uint64_t index,
              struct tp_element *out)
{
    struct jval v;

    if (i >= s->n || s->tp[i].kind != TP_CHOICE || index >= s->tp[i].n_choices)
        return false;
    v = jval_at(s->dim[i].list, (size_t)index);
    if (s->dim[i].nested)
        jval_get(v, "_name", &v);
    out->number = 0;
    out->text = NULL;
    out->kind = kind_of(v, out);
    return true;
}
