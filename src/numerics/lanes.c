/* SPDX-License-Identifier: MIT */
#include "lanes.h"

#include "pair.h"

/* Kept in registers: four of them. */
struct lanes {
    pair a, b, c, d;
};

static inline struct lanes
lanes_load(const double *x)
{
    return (struct lanes){pair_load(x), pair_load(x + 2), pair_load(x + 4),
                          pair_load(x + 6)};
}

static inline void
lanes_store(double *x, struct lanes v)
{
    pair_store(x, v.a);
    pair_store(x + 2, v.b);
    pair_store(x + 4, v.c);
    pair_store(x + 6, v.d);
}

static inline struct lanes
lanes_sum(struct lanes x, struct lanes y)
{
    return (struct lanes){x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d};
}

static inline struct lanes
lanes_minus(struct lanes x, double y)
{
    return (struct lanes){x.a - y, x.b - y, x.c - y, x.d - y};
}

static inline struct lanes
lanes_product(struct lanes x, struct lanes y)
{
    return (struct lanes){x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d};
}

static inline struct lanes
lanes_scaled(struct lanes x, double f)
{
    return (struct lanes){x.a * f, x.b * f, x.c * f, x.d * f};
}

void
num_lanes_lower_solve(const double *l, size_t stride, size_t n, double *b)
{
    for (size_t i = 0; i < n; i++) {
        const double *row = l + i * stride;
        struct lanes sum = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};

        for (size_t k = 0; k < i; k++)
            sum = lanes_sum(
                sum, lanes_scaled(lanes_load(b + k * NUM_LANES), -row[k]));
        sum = lanes_sum(sum, lanes_load(b + i * NUM_LANES));
        lanes_store(b + i * NUM_LANES, lanes_scaled(sum, 1 / row[i]));
    }
}

void
num_lanes_upper_solve(const double *l, size_t stride, size_t n, double *b)
{
    for (size_t i = n; i-- > 0;) {
        const double *row = l + i * stride;
        struct lanes x =
            lanes_scaled(lanes_load(b + i * NUM_LANES), 1 / row[i]);

        lanes_store(b + i * NUM_LANES, x);
        for (size_t k = 0; k < i; k++)
            lanes_store(b + k * NUM_LANES,
                        lanes_sum(lanes_load(b + k * NUM_LANES),
                                  lanes_scaled(x, -row[k])));
    }
}

void
num_lanes_distance(const double *x, const double *weight, const double *c,
                   size_t n, double *out)
{
    struct lanes sum = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};

    for (size_t i = 0; i < n; i++) {
        struct lanes d = lanes_minus(lanes_load(c + i * NUM_LANES), x[i]);

        sum = lanes_sum(sum, lanes_scaled(lanes_product(d, d), weight[i]));
    }
    lanes_store(out, sum);
}

void
num_lanes_pull(const double *x, const double *c, const double *factor, size_t n,
               double *g)
{
    struct lanes f = lanes_load(factor);

    for (size_t i = 0; i < n; i++, c += NUM_LANES, g += NUM_LANES) {
        struct lanes d = lanes_minus(lanes_load(c), x[i]);

        lanes_store(g, lanes_sum(lanes_load(g), lanes_product(f, d)));
    }
}

void
num_lanes_spread(const double *x, const double *c, const double *factor,
                 size_t n, double *g)
{
    struct lanes f = lanes_load(factor);

    for (size_t i = 0; i < n; i++) {
        struct lanes d = lanes_minus(lanes_load(c + i * NUM_LANES), x[i]);
        pair sum;

        d = lanes_product(lanes_product(d, d), f);
        sum = (d.a + d.b) + (d.c + d.d);
        g[i] += sum[0] + sum[1];
    }
}

void
num_lanes_dot(const double *a, const double *b, size_t n, double *sum)
{
    struct lanes s = lanes_load(sum);

    for (size_t i = 0; i < n; i++)
        s = lanes_sum(s, lanes_scaled(lanes_load(b + i * NUM_LANES), a[i]));
    lanes_store(sum, s);
}

void
num_lanes_square(const double *b, size_t n, double *sum)
{
    struct lanes s = lanes_load(sum);

    for (size_t i = 0; i < n; i++) {
        struct lanes v = lanes_load(b + i * NUM_LANES);

        s = lanes_sum(s, lanes_product(v, v));
    }
    lanes_store(sum, s);
}
