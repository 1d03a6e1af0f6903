/* SPDX-License-Identifier: MIT */
/* tpe with kernels for the latest results alone. */
#include "tpe/tpe.h"

#include "numerics/elementary.h"
#include "t.h"
#include "unit/tpe_help.h"

#include <math.h>

NOT_UNDER_TSAN;

static double
bowl(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (x[i] - 1) * (x[i] - 1);
    return sum;
}

static double
rosenbrock(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < n; i++) {
        double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];

        sum += 100 * a * a + b * b;
    }
    return sum;
}

/* Ends where its slopes are rough and a category and an integer are right. */
static double
rough(const double *x, size_t n)
{
    double sum = x[n - 1] == 2 ? 0 : 1;

    for (size_t i = 0; i + 2 < n; i++)
        sum += (x[i] - 1.5) * (x[i] - 1.5) + 1 - cos(9 * (x[i] - 1.5));
    return sum + 0.2 * fabs(x[n - 2] - 7);
}

#define U5 "{'_type': 'uniform', '_value': [-5, 5]}"
#define FIVE "{'a': " U5 ", 'b': " U5 ", 'c': " U5 ", 'd': " U5 ", 'e': " U5 "}"
#define ROUGH                                         \
    "{'a': " U5 ", 'b': " U5 ", 'c': " U5             \
    ", 'i': {'_type': 'randint', '_value': [0, 30]}," \
    " 'k': {'_type': 'choice', '_value': [0, 1, 2, 3]}}"

static double
log_best(double (*f)(const double *, size_t), const char *text, size_t kernels,
         uint64_t seed, size_t n)
{
    struct space *space = help_space(text);
    struct tpe_options options = help_options();
    struct tpe *t;
    double best = INFINITY, x[X_MAX];

    options.kernels = kernels;
    t = help_tpe(&options, space);
    for (uint64_t id = 0; id < n; id++) {
        double value;

        help_ask(t, space, seed, id, x);
        value = f(x, t->n_dims);
        CHECK(tpe_tell(t, id, x, TPE_FINAL, value, 0) == 0);
        best = value < best ? value : best;
    }
    tpe_free(t);
    space_free(space);
    return num_log(best + 1e-9) / num_log(10);
}

/* README.md, Cost: kernels of the latest 128 of 600 points are as good as of
 * all, on average over problems and seeds. */
TEST(tpe_is_as_good_with_the_latest_kernels_alone)
{
    static const struct {
        double (*f)(const double *, size_t);
        const char *space;
    } problems[] = {{bowl, FIVE}, {rosenbrock, FIVE}, {rough, ROUGH}};
    const size_t n = 600, few = 128;
    double sum = 0, squares = 0, count = 0, mean, error;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            double all =
                log_best(problems[i].f, problems[i].space, REST_MOST, seed, n);
            double some =
                log_best(problems[i].f, problems[i].space, few, seed, n);

            sum += some - all;
            squares += (some - all) * (some - all);
            count++;
        }
    mean = sum / count;
    error = sqrt((squares / count - mean * mean) / count);
    printf("# latest %zu of %zu: log10 of the regret %+.3f +- %.3f\n", few, n,
           mean, 1.96 * error);
    CHECK(mean < 0.15);
}
