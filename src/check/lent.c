/* SPDX-License-Identifier: MIT */
#include "check/lent.h"

#include <stdlib.h>
#include <string.h>

static size_t
size_of(const struct tp_history *h)
{
    return h->n * sizeof *h->values;
}

bool
lent_begin(struct lent *l, const struct tp_history *const *living, size_t n,
           void **slots)
{
    *l = (struct lent){.n = n};
    l->copies = calloc(n + (n == 0), sizeof *l->copies);
    l->list = calloc(n + (n == 0), sizeof *l->list);
    if (l->copies == NULL || l->list == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        double *values = malloc(size_of(living[i]) + 1);

        l->copies[i] = *living[i];
        l->copies[i]._struct_size = sizeof l->copies[i];
        l->copies[i].values = values;
        if (values == NULL)
            return false;
        if (living[i]->n > 0)
            memcpy(values, living[i]->values, size_of(living[i]));
        if (slots != NULL)
            l->copies[i].slot = &slots[i];
        l->list[i] = &l->copies[i];
    }
    return true;
}

bool
lent_end(struct lent *l, const struct tp_history *const *living)
{
    bool same = true;

    for (size_t i = 0; l->copies != NULL && i < l->n; i++) {
        const double *values = l->copies[i].values;

        if (values != NULL && living[i]->n > 0 &&
            memcmp(values, living[i]->values, size_of(living[i])) != 0)
            same = false;
        free((void *)(uintptr_t)values);
    }
    free(l->copies);
    free(l->list);
    return same;
}
