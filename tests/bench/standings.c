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
    "usage: standings MODE 'TRIALS ...' BASELINE FIGURES FILE...\n"
    "                 [--peers FILE...]\n"
    "MODE is seq, or par:N; what is shown is added to FIGURES, too.\n";

struct report {
    struct runs runs;
    const char *mode, *trials, *baseline;
    FILE *figures;
};

static double
ratio(double log_ratio)
{
    return num_pow(10, log_ratio);
}

static void
print_interval(const struct standing *s)
{
    char interval[32] = "-";

    if (!s->paired) {
        printf("\n");
        return;
    }
    if (s->against.has_interval)
        snprintf(interval, sizeof interval, "[%.3f, %.3f]",
                 ratio(s->against.low), ratio(s->against.high));
    printf("  %8.3f %18s   %zu/%zu/%zu\n", ratio(s->against.shift), interval,
           s->against.wins, s->against.ties, s->against.losses);
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
        fprintf(r->figures, "%s.ratio %.4g\n", name, ratio(s->against.shift));
    if (!s->paired || !s->against.has_interval)
        return;
    fprintf(r->figures, "%s.low %.4g\n", name, ratio(s->against.low));
    fprintf(r->figures, "%s.high %.4g\n", name, ratio(s->against.high));
}

static bool
has_family(const struct table *t, size_t family)
{
    for (size_t p = 0; p < t->n_pairs; p++)
        if (t->family[p] == family)
            return true;
    return false;
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
    const char *name =
        family == TABLE_ALL ? "all" : r->runs.families.text[family];

    printf("\n%s, %s, after %zu trials\n", name, r->mode, trials);
    printf("  %-28s %5s %6s %9s  %8s %18s   %s\n", "", "runs", "rank", "regret",
           "ratio", "95 %", "w/t/l");
    for (size_t s = 0; s < solvers->n; s++) {
        struct standing st;

        if (!table_standing(t, family, s, base, &st))
            continue;
        printf("  %-28s %5zu ", solvers->text[s], st.n);
        if (isnan(st.rank))
            printf("%6s", "-");
        else
            printf("%6.2f", st.rank);
        printf(" %9.4f", st.regret);
        print_interval(&st);
        print_figures(r, name, trials, solvers->text[s], &st);
    }
}

static bool
is_peer(const char *solver)
{
    return strncmp(solver, "peer/", 5) == 0;
}

static void
print_ratio(const struct table *t, size_t solver, size_t against)
{
    const struct paired *p;
    struct standing st;
    char mark = ' ';

    if (solver == against ||
        !table_standing(t, TABLE_ALL, solver, against, &st) || !st.paired) {
        printf("      -");
        return;
    }
    p = &st.against;
    if (p->has_interval && p->high < 0)
        mark = '<';
    if (p->has_interval && p->low > 0)
        mark = '>';
    printf(" %5.2f%c", ratio(p->shift), mark);
}

/* Each of ours (the row) against each other. */
static void
print_matrix(const struct report *r, const struct table *t, size_t trials)
{
    const struct names *solvers = &r->runs.solvers;

    printf("\nregret of the row / of the column, all, %s, after %zu trials\n"
           "(< or > where the 95 %% interval leaves out 1)\n  %-28s",
           r->mode, trials, "");
    for (size_t k = 0; k < solvers->n; k++)
        if (table_has(t, k))
            printf("   %4zu", k + 1);
    printf("\n");
    for (size_t s = 0; s < solvers->n; s++) {
        if (!table_has(t, s))
            continue;
        printf("  %3zu %-24s", s + 1, solvers->text[s]);
        for (size_t k = 0; k < solvers->n && !is_peer(solvers->text[s]); k++)
            if (table_has(t, k))
                print_ratio(t, s, k);
        printf("\n");
    }
}

static int
print_table(const struct report *r, size_t trials)
{
    struct table t;

    if (table_init(&t, &r->runs, trials, "random") != 0) {
        fprintf(stderr, "standings: out of memory\n");
        return -1;
    }
    for (size_t f = 0; f < r->runs.families.n; f++)
        if (has_family(&t, f))
            print_family(r, &t, trials, f);
    if (t.n_pairs > 0) {
        print_family(r, &t, trials, TABLE_ALL);
        print_matrix(r, &t, trials);
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
    int rc = 1;

    if (argc < 6) {
        fputs(usage, stderr);
        return 2;
    }
    r = (struct report){
        .mode = argv[1], .trials = argv[2], .baseline = argv[3]};
    runs_init(&r.runs);
    r.figures = fopen(argv[4], "ae");
    if (r.figures == NULL)
        perror(argv[4]);
    else if (read_files(&r, &argv[5]) == 0)
        rc = print_tables(&r);
    if (rc == 0)
        print_errors(&r);
    if (r.figures != NULL && fclose(r.figures) != 0)
        rc = 1;
    runs_fini(&r.runs);
    return rc;
}
