/* SPDX-License-Identifier: MIT */
/* standings - tables from the lines that quality wrote, and from lines of
 * other solvers on the same problems. */
#include "search/runs.h"
#include "search/table.h"

#include "core/err.h"
#include "core/number.h"
#include "numerics/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: standings MODE 'TRIALS ...' BASELINE OURS FIGURES FILE...\n"
    "                 [--peers FILE...]\n"
    "MODE is seq, or par:N; what is shown is added to FIGURES, too.\n";

#define LEVEL 0.05 /* of intervals */

struct report {
    struct runs runs;
    const char *mode, *trials, *baseline, *ours;
    FILE *figures;
    FILE *behind; /* where `ours` is */
};

static double
ratio(double log_ratio)
{
    return num_pow(10, log_ratio);
}

static void
print_interval(const struct paired *p)
{
    char interval[32] = "-";

    if (p->has_interval)
        snprintf(interval, sizeof interval, "[%.3f, %.3f]", ratio(p->low),
                 ratio(p->high));
    printf("  %8.3f %18s   %zu/%zu/%zu", ratio(p->shift), interval, p->wins,
           p->ties, p->losses);
}

static void
print_interval_figures(const struct report *r, const char *name,
                       const struct paired *p)
{
    fprintf(r->figures, "%s.ratio %.4g\n", name, ratio(p->shift));
    if (!p->has_interval)
        return;
    fprintf(r->figures, "%s.low %.4g\n", name, ratio(p->low));
    fprintf(r->figures, "%s.high %.4g\n", name, ratio(p->high));
}

static void
print_figures(const struct report *r, const char *family, size_t trials,
              const char *solver, const struct standing *s)
{
    char name[256];

    snprintf(name, sizeof name, "%s.%s.%zu.%s", r->mode, family, trials,
             solver);
    if (!isnan(s->rank))
        fprintf(r->figures, "%s.rank %.3f\n", name, s->rank);
    fprintf(r->figures, "%s.regret %.5g\n", name, s->regret);
    if (s->paired)
        print_interval_figures(r, name, &s->against);
}

static const char *
family_name(const struct report *r, size_t family)
{
    return family == TABLE_ALL ? "all" : r->runs.families.text[family];
}

/* The tuner that ratios are formed with; a peer where ours was not run. */
static size_t
find_baseline(const struct report *r)
{
    char peer[128];
    size_t at = names_find(&r->runs.solvers, r->baseline);

    if (at != SIZE_MAX)
        return at;
    snprintf(peer, sizeof peer, "peer/%s", r->baseline);
    return names_find(&r->runs.solvers, peer);
}

static void
print_family(const struct report *r, const struct table *t, size_t trials,
             size_t family)
{
    const struct names *solvers = &r->runs.solvers;
    size_t base = find_baseline(r);
    const char *name = family_name(r, family);

    printf("\n%s, %s, after %zu %s\n", name, r->mode, trials,
           strncmp(r->mode, "epochs", 6) == 0 ? "whole trials' worth of them"
                                              : "trials");
    printf("  %-32s %5s %6s %9s  %8s %18s   %s\n", "", "runs", "rank", "regret",
           "ratio", "95 %", "w/t/l");
    for (size_t s = 0; s < solvers->n; s++) {
        struct standing st;

        if (!table_standing(t, family, s, base, LEVEL, &st))
            continue;
        printf("  %3zu %-28s %5zu ", s + 1, solvers->text[s], st.n);
        if (isnan(st.rank))
            printf("%6s", "-");
        else
            printf("%6.2f", st.rank);
        printf(" %9.4f", st.regret);
        if (st.paired)
            print_interval(&st.against);
        printf("\n");
        print_figures(r, name, trials, solvers->text[s], &st);
    }
    printf("\n");
}

static bool
is_peer(const char *solver)
{
    return strncmp(solver, "peer/", 5) == 0;
}

/* `name` begins the names of the figures. */
static void
print_ratio(const struct report *r, const struct table *t, size_t family,
            size_t solver, size_t against, const char *name)
{
    const struct paired *p;
    struct standing st;
    char mark = ' ';

    if (solver == against ||
        !table_standing(t, family, solver, against, LEVEL, &st) || !st.paired) {
        printf("      -");
        return;
    }
    p = &st.against;
    if (p->has_interval && p->high < 0)
        mark = '<';
    if (p->has_interval && p->low > 0)
        mark = '>';
    printf(" %5.*f%c", p->shift < 2 ? 2 : 0, ratio(p->shift), mark);
    print_interval_figures(r, name, p);
}

/* Each of ours (the row) against each other. */
static void
print_matrix(const struct report *r, const struct table *t, size_t trials,
             size_t family)
{
    const struct names *solvers = &r->runs.solvers;
    char name[300];

    printf("  regret of the row / of the column, < or > where that is a "
           "difference\n  %-28s",
           "");
    for (size_t k = 0; k < solvers->n; k++)
        if (table_has(t, family, k))
            printf("   %4zu", k + 1);
    printf("\n");
    for (size_t s = 0; s < solvers->n; s++) {
        if (!table_has(t, family, s) || is_peer(solvers->text[s]))
            continue;
        printf("  %3zu %-24s", s + 1, solvers->text[s]);
        for (size_t k = 0; k < solvers->n; k++) {
            if (!table_has(t, family, k))
                continue;
            snprintf(name, sizeof name, "%s.%s.%zu.%s.vs.%s", r->mode,
                     family_name(r, family), trials, solvers->text[s],
                     solvers->text[k]);
            print_ratio(r, t, family, s, k, name);
        }
        printf("\n");
    }
}

/* `ours` against each other and each peer; their intervals, and where it is
 * behind, are Holm's for all of them together. */
static void
print_ours(const struct report *r, const struct table *t, size_t trials,
           size_t family)
{
    const struct names *solvers = &r->runs.solvers;
    size_t ours = names_find(solvers, r->ours), n = 0;
    size_t *other = calloc(solvers->n, sizeof *other);
    double *p = calloc(solvers->n, sizeof *p);
    double *level = calloc(solvers->n, sizeof *level);
    struct standing st;

    if (other == NULL || p == NULL || level == NULL) {
        fprintf(stderr, "standings: out of memory\n");
        exit(1);
    }
    for (size_t s = 0; s < solvers->n && ours != SIZE_MAX; s++)
        if (s != ours && table_standing(t, family, ours, s, LEVEL, &st) &&
            st.paired) {
            other[n] = s;
            p[n++] = st.against.p;
        }
    paired_holm(p, n, LEVEL, level);
    if (n > 0)
        printf("\n  %-32s %12s  %8s %18s   %s\n", r->ours, "p", "ratio",
               "95 % together", "w/t/l");
    for (size_t i = 0; i < n; i++) {
        table_standing(t, family, ours, other[i], level[i], &st);
        printf("  %3zu %-28s %12.2g", other[i] + 1, solvers->text[other[i]],
               p[i]);
        print_interval(&st.against);
        printf("\n");
        if (st.against.has_interval && st.against.low > 0)
            fprintf(r->behind, "behind: %s, %s, %zu, %s (%.2f)\n",
                    family_name(r, family), r->mode, trials,
                    solvers->text[other[i]], ratio(st.against.shift));
    }
    free(other);
    free(p);
    free(level);
}

static void
print_sections(const struct report *r, const struct table *t, size_t trials,
               size_t family)
{
    print_family(r, t, trials, family);
    print_matrix(r, t, trials, family);
    print_ours(r, t, trials, family);
}

static int
print_table(const struct report *r, size_t trials)
{
    struct table t;

    if (table_init(&t, &r->runs, trials, "random") != 0) {
        fprintf(stderr, "standings: out of memory\n");
        return -1;
    }
    for (size_t f = 0; f < r->runs.families.n; f++) {
        bool any = false;

        for (size_t s = 0; s < r->runs.solvers.n; s++)
            any = any || table_has(&t, f, s);
        if (!any)
            continue;
        print_sections(r, &t, trials, f);
    }
    if (t.n_pairs > 0) {
        print_sections(r, &t, trials, TABLE_ALL);
    } else {
        printf("\n%s, after %zu trials: nothing to compare\n", r->mode, trials);
    }
    table_fini(&t);
    return 0;
}

/* The last message of each of our solvers that failed. */
static void
print_errors(const struct report *r)
{
    for (size_t s = 0; s < r->runs.solvers.n; s++) {
        const struct run *last = NULL;
        size_t n = 0;

        for (size_t i = 0; i < r->runs.n; i++)
            if (r->runs.v[i].solver == s && !r->runs.v[i].peer &&
                r->runs.v[i].error != NULL) {
                last = &r->runs.v[i];
                n++;
            }
        if (n > 0)
            printf("%s: %zu runs failed, one of them on %s: %s\n",
                   r->runs.solvers.text[s], n,
                   r->runs.problems.text[last->problem], last->error);
    }
}

static int
read_files(struct report *r, char **files)
{
    bool peers = false;
    struct err err;

    for (; *files != NULL; files++) {
        if (strcmp(*files, "--peers") == 0) {
            peers = true;
            continue;
        }
        if (runs_read(&r->runs, *files, r->mode, peers, &err) != 0) {
            fprintf(stderr, "standings: %s\n", err.text);
            return -1;
        }
    }
    runs_sort(&r->runs);
    return 0;
}

static int
print_tables(const struct report *r)
{
    const char *at = r->trials;
    uint64_t trials;
    size_t len;

    for (; *(at += strspn(at, " ")) != '\0'; at += len) {
        len = strcspn(at, " ");
        if (!number_parse_u64(at, len, &trials) || trials == 0) {
            fprintf(stderr, "standings: not a number of trials: %s\n", at);
            return 2;
        }
        if (print_table(r, (size_t)trials) != 0)
            return 1;
    }
    return 0;
}

int
main(int argc, char **argv)
{
    struct report r;
    char *behind = NULL;
    size_t len;
    int rc = 1;

    if (argc < 7) {
        fputs(usage, stderr);
        return 2;
    }
    r = (struct report){.mode = argv[1],
                        .trials = argv[2],
                        .baseline = argv[3],
                        .ours = argv[4]};
    runs_init(&r.runs);
    r.figures = fopen(argv[5], "ae");
    r.behind = open_memstream(&behind, &len);
    if (r.figures == NULL || r.behind == NULL)
        perror(argv[5]);
    else if (read_files(&r, &argv[6]) == 0)
        rc = print_tables(&r);
    if (r.behind != NULL)
        fclose(r.behind);
    if (rc == 0)
        printf("\n%s", behind);
    if (rc == 0 && names_find(&r.runs.solvers, r.ours) != SIZE_MAX && len == 0)
        printf("%s is behind nobody by more than the interval\n", r.ours);
    if (rc == 0)
        print_errors(&r);
    free(behind);
    if (r.figures != NULL && fclose(r.figures) != 0)
        rc = 1;
    runs_fini(&r.runs);
    return rc;
}
