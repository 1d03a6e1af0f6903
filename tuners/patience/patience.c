/* SPDX-License-Identifier: MIT */
#include "patience/patience.h"

#include <math.h>

/* Where the first best of values[from..to-1] is, NaN left out; `to`: none. */
static size_t
best_at(const struct patience *p, const double *values, size_t from, size_t to)
{
    size_t best = to;

    for (size_t i = from; i < to; i++) {
        double v = values[i];

        if (!isnan(v) &&
            (best == to || (p->maximize ? v > values[best] : v < values[best])))
            best = i;
    }
    return best;
}

struct patience_verdict
patience_assess(const struct patience *p, const double *values, size_t n)
{
    struct patience_verdict v = {.before = NAN, .after = NAN};
    size_t old, last, now;

    if (n <= p->patience || n < p->start_step)
        return v;
    old = n - p->patience;
    v.judged = true;
    now = best_at(p, values, old, n);
    v.after = now < n ? values[now] : (double)NAN;
    last = best_at(p, values, 0, old);
    if (last == old)
        return v; /* nothing that could have become better */
    v.before = values[last];
    v.at = last + 1;
    v.stop = p->maximize ? !(v.after > v.before + p->min_delta)
                         : !(v.after < v.before - p->min_delta);
    return v;
}
