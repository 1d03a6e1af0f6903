/* SPDX-License-Identifier: MIT */
/* ask - what asking and telling a tuner costs, against the number of finished
 * trials: tables, beside what others were measured to take. */
#include "search/cost.h"

#include "core/err.h"
#include "core/number.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define N_MAX 1000000
#define COLUMNS_MAX 12
#define TUNERS_MAX 32

static const char usage[] =
    "usage: ask PROGRAM PLUGINS 'TUNER ...' 'N ...' FIGURES [--count]\n"
    "--count: instructions, too, with valgrind.\n";

struct row {
    const char *name;
    struct cost cells[COLUMNS_MAX];
};

struct bench {
    const char *program, *plugins;
    size_t n[COLUMNS_MAX], n_columns;
    struct row rows[TUNERS_MAX];
    size_t n_rows;
    FILE *figures;
    bool count;
};

/* What others were measured to do in the same space, November 2026, see
 * README.md here: milliseconds to ask (median), MB resident. */
static const struct peer {
    const char *name;
    struct {
        size_t n;
        double ask_ms, resident_mb;
    } at[5];
} peers[] = {
    {"Optuna 5.0 rc, TPE",
     {{10, 9.40, 44},
      {100, 7.13, 45},
      {1000, 20.3, 53},
      {3000, 67.6, 70},
      {10000, 170, 127}}},
    {"NNI 2.10, TPE (pipe)",
     {{10, 1.57, 91},
      {100, 4.98, 92},
      {1000, 15.0, 94},
      {3000, 44.1, 101},
      {10000, 190, 122}}},
    {"hyperopt 0.3, TPE",
     {{10, 4.32, 85},
      {100, 29.3, 86},
      {1000, 79.3, 90},
      {3000, 225, 100},
      {10000, 1060, 134}}},
    {"cmaes 0.13",
     {{10, 0.127, 75},
      {100, 0.0748, 76},
      {1000, 0.163, 76},
      {3000, 0.081, 76},
      {10000, 0.0758, 76}}},
};

#define N_PEERS (sizeof peers / sizeof peers[0])

/* ---- the tables ---- */

/* What failed with few trials is not tried with more. */
static void
measure(const struct bench *b, struct row *row)
{
    struct err err;
    size_t i = 0;

    fprintf(stderr, "measuring: %s\n", row->name);
    while (i < b->n_columns &&
           cost_measure(b->program, b->plugins, row->name, b->n[i], b->count,
                        &row->cells[i], &err) == 0)
        i++;
    if (i == b->n_columns)
        return;
    fprintf(stderr, "ask: %s, %zu trials: %s\n", row->name, b->n[i], err.text);
    for (i++; i < b->n_columns; i++)
        row->cells[i] = cost_unknown;
}

static void
head(const struct bench *b, const char *title)
{
    printf("\n%-32s", title);
    for (size_t i = 0; i < b->n_columns; i++)
        printf(" %9zu", b->n[i]);
    printf("\n");
}

static void
number(double v)
{
    if (isnan(v))
        printf(" %9s", "-");
    else
        printf(v < 10 ? " %9.3f" : v < 1000 ? " %9.1f" : " %9.0f", v);
}

static void
peer_rows(const struct bench *b, bool resident)
{
    for (size_t p = 0; p < N_PEERS; p++) {
        printf("  %-30s", peers[p].name);
        for (size_t i = 0; i < b->n_columns; i++) {
            double v = NAN;

            for (size_t k = 0; k < 5; k++)
                if (peers[p].at[k].n == b->n[i])
                    v = resident ? peers[p].at[k].resident_mb
                                 : peers[p].at[k].ask_ms;
            number(v);
        }
        printf("\n");
    }
}

#define MEMBER(m) offsetof(struct cost, m)

static double
member(const struct cost *c, size_t offset)
{
    double v;

    memcpy(&v, (const char *)c + offset, sizeof v);
    return v;
}

static const struct column {
    const char *title, *figure;
    size_t member;
    double unit;
    int peers; /* 1: their time, 2: their memory */
} tables[] = {
    {"tell and ask, ms", "cycle-us", MEMBER(cycle_us), 1e3, 1},
    {"  CPU time, us", "cpu-us", MEMBER(cpu_us), 1, 0},
    {"  instructions", "instructions", MEMBER(instructions), 1, 0},
    {"ask, 64 at once, CPU us", "batch-us", MEMBER(batch_us), 1, 0},
    {"tell alone, CPU us", "tell-us", MEMBER(tell_us), 1, 0},
    {"resident, MB", "resident", MEMBER(resident), 1e6, 2},
};

static void
print_table(const struct bench *b, const struct column *t)
{
    head(b, t->title);
    for (size_t r = 0; r < b->n_rows; r++) {
        const struct row *row = &b->rows[r];

        printf("  %-30s", row->name);
        for (size_t i = 0; i < b->n_columns; i++) {
            double v = member(&row->cells[i], t->member);

            number(v / t->unit);
            if (!isnan(v))
                fprintf(b->figures, "ask.%s.%zu.%s %.6g\n", row->name, b->n[i],
                        t->figure, v);
        }
        printf("\n");
    }
    if (t->peers > 0)
        peer_rows(b, t->peers == 2);
}

/* More than with the trials of the column before, for each more. */
static void
print_memory(const struct bench *b)
{
    head(b, "bytes for each trial more");
    for (size_t r = 0; r < b->n_rows; r++) {
        const struct cost *cells = b->rows[r].cells;

        printf("  %-30s", b->rows[r].name);
        for (size_t i = 0; i < b->n_columns; i++) {
            double v = NAN;

            if (i > 0 && b->n[i] >= b->n[i - 1] + 1000)
                v = (cells[i].resident - cells[i - 1].resident) /
                    (double)(b->n[i] - b->n[i - 1]);
            number(v);
            if (!isnan(v))
                fprintf(b->figures, "ask.%s.%zu.trial-bytes %.1f\n",
                        b->rows[r].name, b->n[i], v);
        }
        printf("\n");
    }
}

static int
parse(struct bench *b, char *tuners, char *numbers)
{
    char *rest = NULL;
    uint64_t n;

    for (char *w = strtok_r(tuners, " ", &rest); w != NULL;
         w = strtok_r(NULL, " ", &rest))
        if (b->n_rows < TUNERS_MAX)
            b->rows[b->n_rows++].name = w;
    for (char *w = strtok_r(numbers, " ", &rest); w != NULL;
         w = strtok_r(NULL, " ", &rest)) {
        if (!number_parse_u64(w, strlen(w), &n) || n == 0 || n > N_MAX ||
            b->n_columns == COLUMNS_MAX) {
            fprintf(stderr,
                    "ask: %s: expected at most %d numbers of 1 ... "
                    "%d\n",
                    w, COLUMNS_MAX, N_MAX);
            return -1;
        }
        b->n[b->n_columns++] = (size_t)n;
    }
    return 0;
}

int
main(int argc, char **argv)
{
    struct bench b = {0};

    if (argc < 6) {
        fputs(usage, stderr);
        return 2;
    }
    b.program = argv[1];
    b.plugins = argv[2];
    b.count = argc > 6 && strcmp(argv[6], "--count") == 0;
    b.figures = fopen(argv[5], "ae");
    if (b.figures == NULL) {
        perror(argv[5]);
        return 1;
    }
    if (parse(&b, argv[3], argv[4]) != 0)
        return 2;
    for (size_t r = 0; r < b.n_rows; r++)
        measure(&b, &b.rows[r]);
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        if (b.count || tables[t].member != MEMBER(instructions))
            print_table(&b, &tables[t]);
    print_memory(&b);
    return fclose(b.figures) != 0;
}
