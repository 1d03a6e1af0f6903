/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "manager/pareto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct objectives *
read_objectives(const char *more)
{
    struct err err = {0};
    struct objectives *of;
    char text[500];

    snprintf(text, sizeof text,
             "{\"objectives\": [{\"name\": \"acc\", \"direction\": "
             "\"maximize\", \"reference\": 0}, {\"name\": \"ms\", "
             "\"direction\": \"minimize\", \"reference\": 10}]%s}",
             more);
    of = objectives_read(text, &err);
    CHECK_STR(err.text, "");
    return of;
}

static bool
add(struct pareto *p, const char *trial, const char *values)
{
    struct objective_values v;

    CHECK(pareto_read(p->of, values, &v));
    return pareto_add(p, trial, 0, &v, NULL);
}

/* The trials in order, the knee with a star. */
static void
check_front(const struct pareto *p, const char *want)
{
    size_t *order = pareto_order(p), knee = pareto_knee(p);
    struct buf text;

    buf_init(&text, 1000);
    for (size_t i = 0; i < p->n; i++)
        buf_printf(&text, "%s%s%s", i > 0 ? " " : "", p->points[order[i]].trial,
                   order[i] == knee ? "*" : "");
    CHECK_STR(buf_text(&text), want);
    buf_fini(&text);
    free(order);
}

TEST(manager_pareto_keeps_what_nothing_dominates)
{
    struct objectives *of = read_objectives("");
    struct pareto p = {.of = of};

    CHECK(add(&p, "a", "{\"acc\": 0.5, \"ms\": 5}"));
    CHECK(pareto_hypervolume(&p) == 2.5);
    CHECK(!add(&p, "b", "{\"acc\": 0.5, \"ms\": 5}"));
    CHECK(!add(&p, "c", "{\"acc\": 0.4, \"ms\": 6}"));
    CHECK_EQ(pareto_since(&p), 2);
    CHECK(add(&p, "d", "{\"acc\": 0.75, \"ms\": 8, \"x\": null}"));
    CHECK(pareto_hypervolume(&p) == 3);
    CHECK(add(&p, "e", "{\"acc\": 0.6, \"ms\": 4.5}"));
    check_front(&p, "d e");
    CHECK(add(&p, "f", "{\"acc\": 0.25, \"ms\": 1}"));
    check_front(&p, "d e* f");
    CHECK(add(&p, "g", "{\"acc\": 2, \"ms\": 11}")); /* beyond the reference */
    CHECK_EQ(pareto_since(&p), 1);
    CHECK_STR(p.grew_by, "f");
    pareto_fini(&p);
    objectives_free(of);
}

TEST(manager_pareto_has_what_is_within_limits_before_what_is_not)
{
    struct objectives *of =
        read_objectives(", \"resultConstraints\": [\"size <= 8\"]");
    struct pareto p = {.of = of};

    CHECK(add(&p, "a", "{\"acc\": 0.5, \"ms\": 5, \"size\": 16}"));
    CHECK(add(&p, "b", "{\"acc\": 0.1, \"ms\": 9, \"size\": 12}"));
    check_front(&p, "b");
    CHECK(pareto_hypervolume(&p) == 0);
    CHECK(!add(&p, "c", "{\"acc\": 0.5, \"ms\": 1, \"size\": null}"));
    CHECK(add(&p, "d", "{\"acc\": 0.05, \"ms\": 9, \"size\": 8}"));
    check_front(&p, "d");
    CHECK(p.points[0].v.violation == 0 && p.grew == 4);
    pareto_fini(&p);
    objectives_free(of);
}

TEST(manager_pareto_compares_the_greatest_budget)
{
    struct objectives *of = read_objectives("");
    struct objective_values good = {.values = {1, 1}}, bad = {.values = {0, 9}};
    struct pareto p = {.of = of};

    CHECK(pareto_add(&p, "a", 1, &good, NULL));
    CHECK(pareto_add(&p, "b", 3, &bad, NULL));
    CHECK(!pareto_add(&p, "c", 1, &good, NULL));
    check_front(&p, "b");
    pareto_fini(&p);
    objectives_free(of);
}

TEST(manager_pareto_reads_only_whole_results)
{
    static const char *const not [] = {"null",
                                       "{}",
                                       "{\"acc\": 1}",
                                       "{\"acc\": 1, \"ms\": null}",
                                       "{\"acc\": NaN, \"ms\": 1}",
                                       "{\"acc\": \"1\", \"ms\": 1}",
                                       "3"};
    struct objectives *of = read_objectives("");
    struct objective_values v;

    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (pareto_read(of, not [i], &v))
            CHECK_STR(not [i], "");
    objectives_free(of);
}

/* Against a walk over all pairs. */
TEST(manager_pareto_finds_the_same_in_any_order)
{
    struct objectives *of = read_objectives("");
    struct pareto p = {.of = of};
    struct objective_values all[200], near = {.values = {1, 1}};
    unsigned state = 7;
    double volume = 0;
    size_t n = 0;

    for (size_t i = 0; i < 200; i++) {
        for (size_t k = 0; k < 2; k++) {
            state = state * 1103515245u + 12345u;
            all[i].values[k] = (double)(state >> 16 & 31);
        }
        all[i].violation = 0;
        volume += pareto_gain(&p, 0, &all[i]);
        pareto_add(&p, "x", 0, &all[i], NULL);
        CHECK(volume == pareto_hypervolume(&p)); /* whole numbers */
    }
    CHECK(pareto_gain(&p, -1, &all[0]) == 0);
    CHECK(pareto_gain(&p, 1, &near) == 9);
    for (size_t i = 0; i < 200; i++) {
        bool on = true;

        for (size_t k = 0; k < 200; k++)
            on = on && !objectives_dominates(of, &all[k], &all[i]) &&
                 !(k < i && all[k].values[0] == all[i].values[0] &&
                   all[k].values[1] == all[i].values[1]);
        n += on;
    }
    CHECK_EQ(p.n, n);
    pareto_fini(&p);
    objectives_free(of);
}
