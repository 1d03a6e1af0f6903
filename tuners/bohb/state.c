/* SPDX-License-Identifier: MIT */
#include "bohb/state.h"

#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>

void
model_save(const struct model *m, const struct tp_sink *sink)
{
    size_t n_dims = m->prior.n_dims;

    for (size_t i = 0; i < m->n_levels; i++) {
        const struct model_level *l = &m->levels[i];

        tp_put_u64(sink, l->n);
        for (size_t k = 0; k < l->n; k++) {
            tp_put_u64(sink, l->results[k].n);
            tp_put_f64(sink, l->results[k].loss);
            tp_put_f64s(sink, l->x + k * n_dims, n_dims);
        }
    }
}

static const char *
load_result(struct model *m, size_t level, double *x,
            const struct tp_source *source)
{
    struct model_result r;

    if (tp_get_u64(source, &r.n) != TP_OK ||
        tp_get_f64(source, &r.loss) != TP_OK ||
        tp_get_f64s(source, x, m->prior.n_dims) != TP_OK)
        return "a saved result is cut off";
    if (isnan(r.loss) || !prior_holds(&m->prior, x))
        return "a saved result is none of this search space";
    if (model_learn(m, level, r.n, x, m->options.maximize ? -r.loss : r.loss,
                    false) != 0)
        return "out of memory";
    return NULL;
}

const char *
model_load(struct model *m, const struct tp_source *source)
{
    const char *wrong = NULL;
    double *x = calloc(m->prior.n_dims + 1, sizeof *x);

    if (x == NULL)
        return "out of memory";
    for (size_t i = 0; wrong == NULL && i < m->n_levels; i++) {
        uint64_t n = 0;

        if (tp_get_u64(source, &n) != TP_OK)
            wrong = "the saved results are cut off";
        while (wrong == NULL && n-- > 0)
            wrong = load_result(m, i, x, source);
    }
    free(x);
    return wrong;
}
