/* SPDX-License-Identifier: MIT */
#include "bohb/kde.h"

#include "batch.h"
#include "grow.h"
#include "normal.h"

#include <math.h>
#include <stdlib.h>

#define LOG_SQRT_2_PI 0x1.d67f1c864beb5p-1
#define REFERENCE 1.06
#define FEW_CELLS 64

int
kde_init(struct kde *k, const struct axis *axes, size_t n_dims)
{
    *k = (struct kde){.axes = axes, .n_dims = n_dims};
    k->dims = calloc(n_dims + 1, sizeof *k->dims);
    return k->dims != NULL ? 0 : -1;
}

void
kde_fini(struct kde *k)
{
    for (size_t j = 0; k->dims != NULL && j < k->n_dims; j++)
        free(k->dims[j].rows);
    free(k->dims);
    free(k->at);
    free(k->inside);
    free(k->sum);
    free(k->term);
    *k = (struct kde){.n_dims = 0};
}

static int
reserve(struct kde *k, size_t n)
{
    if (n <= k->room && k->at != NULL)
        return 0;
    if (grow_to(&k->at, n, k->n_dims * sizeof *k->at) != 0 ||
        grow_to(&k->inside, n, k->n_dims * sizeof *k->inside) != 0 ||
        grow_to(&k->sum, n + 1, sizeof *k->sum) != 0 ||
        grow_to(&k->term, n, sizeof *k->term) != 0)
        return -1;
    k->room = n;
    return 0;
}

static int
is_number(const struct axis *a)
{
    return a->kind == AXIS_RANGE || a->kind == AXIS_NORMAL;
}

static int
has_rows(const struct axis *a)
{
    return a->kind == AXIS_RANGE && a->n > 0 && a->n <= FEW_CELLS;
}

/* The root of the variance of what the points have in dimension j. */
static double
deviation(const struct kde *k, size_t j)
{
    double n = (double)k->dims[j].n, mean = 0, sum = 0;

    for (size_t i = 0; i < k->n; i++)
        if (!isnan(k->at[i * k->n_dims + j]))
            mean += k->at[i * k->n_dims + j];
    mean /= n;
    for (size_t i = 0; i < k->n; i++) {
        double away = k->at[i * k->n_dims + j] - mean;

        if (!isnan(away))
            sum += away * away;
    }
    return num_sqrt(sum / n);
}

static int
compare(const void *va, const void *vb)
{
    double a = *(const double *)va, b = *(const double *)vb;

    return (a > b) - (a < b);
}

/* The same of categories: of all pairs of points the share 1 - sum p^2
 * differs. */
static double
dispersion(const struct kde *k, size_t j)
{
    double *v = k->term, all = (double)k->dims[j].n, same = 0;
    size_t n = 0;

    for (size_t i = 0; i < k->n; i++)
        if (!isnan(k->at[i * k->n_dims + j]))
            v[n++] = k->at[i * k->n_dims + j];
    qsort(v, n, sizeof *v, compare);
    for (size_t i = 0, next = 0; i < n; i = next) {
        while (next < n && v[next] == v[i])
            next++;
        same += (double)(next - i) / all * ((double)(next - i) / all);
    }
    return num_sqrt((1 - same) / 2);
}

static void
set_width(struct kde *k, size_t j, double shrink, double min_width)
{
    const struct axis *a = &k->axes[j];
    struct kde_dim *d = &k->dims[j];
    double most = (a->n - 1) / a->n;

    d->width = is_number(a) ? deviation(k, j) : dispersion(k, j);
    d->width *= REFERENCE * shrink;
    if (is_number(a) && !(d->width >= 1 / ((double)d->n + 2)))
        d->width = 1 / ((double)d->n + 2);
    if (!(d->width >= min_width))
        d->width = min_width;
    if (is_number(a))
        return;
    if (d->width > most)
        d->width = most;
    d->hit = num_log(1 - d->width);
    d->miss = num_log(d->width / (a->n - 1));
}

/* What the kernels around the points have inside the range. */
static void
set_inside(struct kde *k, size_t j)
{
    double s = k->dims[j].width;

    for (size_t i = 0; i < k->n; i++) {
        double mu = k->at[i * k->n_dims + j];

        k->inside[i * k->n_dims + j] =
            k->axes[j].kind == AXIS_RANGE && !isnan(mu)
                ? num_log(num_normal_mass((0 - mu) / s, (1 - mu) / s))
                : 0;
    }
}

static int
fit_dim(struct kde *k, size_t j, double min_width)
{
    const struct axis *a = &k->axes[j];
    struct kde_dim *d = &k->dims[j];
    size_t n_rows = has_rows(a) ? (size_t)(a->n * a->n) : 0;

    d->n = 0;
    for (size_t i = 0; i < k->n; i++)
        d->n += !isnan(k->at[i * k->n_dims + j]);
    if (d->n == 0 || a->kind == AXIS_SINGLE)
        return 0;
    set_width(k, j, num_pow((double)d->n, -1.0 / (4 + (double)k->n_dims)),
              min_width);
    if (is_number(a))
        set_inside(k, j);
    if (n_rows > 0 && d->rows == NULL) {
        d->rows = calloc(n_rows, sizeof *d->rows);
        if (d->rows == NULL)
            return -1;
    }
    for (size_t i = 0; i < n_rows; i++)
        d->rows[i] = NAN;
    return 0;
}

int
kde_fit(struct kde *k, const double *const *points, size_t n, double min_width)
{
    if (reserve(k, n) != 0)
        return -1;
    k->n = n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k->n_dims; j++)
            k->at[i * k->n_dims + j] =
                isnan(points[i][j])
                    ? (double)NAN
                    : tpe_axis_place(&k->axes[j], points[i][j]).at;
    for (size_t j = 0; j < k->n_dims; j++)
        if (fit_dim(k, j, min_width) != 0)
            return -1;
    return 0;
}

/* The logarithm of a number's kernel around mu. */
static double
kernel(const struct kde_dim *d, double mu, double inside, struct place p)
{
    return tpe_axis_log_kernel(mu, d->width, p) - inside;
}

/* The same in a dimension of few cells, each pair of which is computed once.
 */
static double
cell_kernel(const struct kde *k, size_t j, size_t i, struct place p,
            size_t column)
{
    const struct axis *a = &k->axes[j];
    const struct kde_dim *d = &k->dims[j];
    double mu = k->at[i * k->n_dims + j];
    double *v =
        &d->rows[column * (size_t)a->n + (size_t)tpe_axis_column(a, mu)];

    if (isnan(*v))
        *v = kernel(d, mu, k->inside[i * k->n_dims + j], p);
    return *v;
}

/* term[i]: of dimension j, for the points that have it. */
static void
set_terms(struct kde *k, size_t j, struct place p)
{
    const struct axis *a = &k->axes[j];
    const struct kde_dim *d = &k->dims[j];
    const double *at = k->at + j, *inside = k->inside + j;
    double s = d->width, rest = -LOG_SQRT_2_PI - num_log(s);
    size_t column = has_rows(a) ? (size_t)tpe_axis_column(a, p.at) : 0;

    for (size_t i = 0; i < k->n; i++, at += k->n_dims, inside += k->n_dims) {
        double z = (p.at - *at) / s;

        if (isnan(*at))
            continue;
        if (a->kind == AXIS_CATEGORY)
            k->term[i] = *at == p.at ? d->hit : d->miss;
        else if (has_rows(a))
            k->term[i] = cell_kernel(k, j, i, p, column);
        else if (p.low < p.high)
            k->term[i] = kernel(d, *at, *inside, p);
        else
            k->term[i] = -0.5 * z * z + rest - *inside;
    }
}

/* The logarithm of the mean kernel of those that have dimension j. */
static double
mean_term(const struct kde *k, size_t j)
{
    double most = -INFINITY, sum = 0;

    for (size_t i = 0; i < k->n; i++)
        if (!isnan(k->at[i * k->n_dims + j]) && k->term[i] > most)
            most = k->term[i];
    for (size_t i = 0; i < k->n; i++)
        if (!isnan(k->at[i * k->n_dims + j]))
            sum += num_exp(k->term[i] - most);
    return most + num_log(sum / (double)k->dims[j].n);
}

double
kde_log_density(struct kde *k, const struct place *at)
{
    for (size_t i = 0; i <= k->n; i++)
        k->sum[i] = 0;
    for (size_t j = 0; j < k->n_dims; j++) {
        const struct axis *a = &k->axes[j];
        double others;

        if (isnan(at[j].at) || a->kind == AXIS_SINGLE)
            continue;
        others = tpe_axis_log_prior(a, at[j]);
        k->sum[k->n] += others;
        if (k->dims[j].n > 0)
            set_terms(k, j, at[j]);
        if (k->dims[j].n > 0 && k->dims[j].n < k->n)
            others = mean_term(k, j);
        for (size_t i = 0; i < k->n; i++)
            k->sum[i] += isnan(k->at[i * k->n_dims + j]) ? others : k->term[i];
    }
    return num_log_sum_exp(k->sum, k->n + 1) - num_log((double)k->n + 1);
}

static double
uniform(const struct kde_random *r, size_t b, uint32_t draw)
{
    return r->uniform(r->ctx, r->a, (uint32_t)b, r->draw + draw);
}

static size_t
index_of(double u, size_t n)
{
    size_t i = (size_t)(u * (double)n);

    return i < n ? i : n - 1;
}

/* The value of point i in dimension j, or if it lacks it, of one that has it;
 * NaN when none has. */
static double
value_near(const struct kde *k, const struct kde_random *r, size_t i, size_t j)
{
    double v = k->at[i * k->n_dims + j];
    size_t left;

    if (!isnan(v) || k->dims[j].n == 0)
        return v;
    left = index_of(uniform(r, k->n_dims + 1 + j, 0), k->dims[j].n);
    for (i = 0; isnan(k->at[i * k->n_dims + j]) || left-- > 0;)
        i++;
    return k->at[i * k->n_dims + j];
}

/* A coordinate near mu. */
static double
draw_near(const struct kde *k, const struct kde_random *r, size_t j, double mu,
          double factor)
{
    const struct axis *a = &k->axes[j];
    double u = uniform(r, j, 0), s = factor * k->dims[j].width;

    if (isnan(mu))
        return tpe_axis_draw_prior(a, u);
    if (a->kind == AXIS_CATEGORY)
        return u < 1 - k->dims[j].width
                   ? mu
                   : (double)index_of(uniform(r, j, 1), (size_t)a->n);
    if (a->kind == AXIS_NORMAL)
        return mu + s * num_normal_quantile(u > 0 ? u : 0x1p-54);
    return mu + s * num_truncated_normal_quantile(u, -mu / s, (1 - mu) / s);
}

void
kde_draw(const struct kde *k, const struct kde_random *r, double factor,
         double *x)
{
    size_t i = index_of(uniform(r, k->n_dims, 0), k->n);

    for (size_t j = 0; j < k->n_dims; j++) {
        const struct axis *a = &k->axes[j];
        double v;

        if (!tpe_axis_is_active(a, x)) {
            x[j] = NAN;
            continue;
        }
        if (a->kind == AXIS_SINGLE) {
            x[j] = a->at;
            continue;
        }
        v = draw_near(k, r, j, value_near(k, r, i, j), factor);
        if (a->kind == AXIS_RANGE)
            v = v < 0 ? 0 : v > 1 ? 1 : v;
        x[j] = tpe_axis_value(a, v);
    }
}
