/* SPDX-License-Identifier: MIT */
/* start BUILD: how long the dispatcher takes to be there, and how much memory
 * it holds after many trials.  Prints lines `NAME NUMBER` for scripts/bench. */
#include "child.h"
#include "stream.h"

#include "core/clock.h"
#include "core/file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNS 51
#define MEMORY_RUNS 5
#define BATCH 10 /* trials beside each other */
#define STEPS 10

struct setup {
    const char *name;
    bool assessor;
};

static const struct setup setups[] = {
    {"random", false},
    {"medianstop", true},
};
#define N_SETUPS (sizeof setups / sizeof *setups)

struct places {
    char *program, *work, *errors;
};

static void
start(const struct places *at, const struct setup *setup, struct child *c)
{
    const char *words[] = {
        at->program,
        "dispatch",
        "--quiet",
        "--seed",
        "1",
        "--tuner",
        "random",
        setup->assessor ? "--assessor" : NULL,
        "medianstop",
        "--assessor-args",
        "{\"optimize_mode\":\"maximize\"}",
        NULL,
    };

    child_start(c, words, at->errors);
}

/* ---- time ---- */

static int
compare(const void *va, const void *vb)
{
    double a = *(const double *)va, b = *(const double *)vb;

    return (a > b) - (a < b);
}

static double
time_once(const struct places *at, const struct setup *setup, double *cpu_ms)
{
    struct stream stream;
    struct child c;
    int64_t ns;

    stream_init(&stream);
    stream_space(&stream);
    ns = -clock_monotonic_ns();
    start(at, setup, &c);
    child_feed(&c, stream.bytes.data, stream.bytes.len);
    child_await_initialized(&c, 1);
    ns += clock_monotonic_ns();
    *cpu_ms = (double)child_cpu_ns(&c) / 1e6;
    child_finish(&c);
    stream_fini(&stream);
    return (double)ns / 1e6;
}

static void
time_start(const struct places *at, const struct setup *setup)
{
    double wall[RUNS], cpu[RUNS];

    for (int i = 0; i < RUNS; i++)
        wall[i] = time_once(at, setup, &cpu[i]);
    qsort(wall, RUNS, sizeof *wall, compare);
    qsort(cpu, RUNS, sizeof *cpu, compare);
    printf("start.%s.min %.2f\n", setup->name, wall[0]);
    printf("start.%s.median %.2f\n", setup->name, wall[RUNS / 2]);
    printf("start.%s.max %.2f\n", setup->name, wall[RUNS - 1]);
    printf("start.%s.cpu %.2f\n", setup->name, cpu[RUNS / 2]);
}

/* ---- memory ---- */

/* A burst gives buffers the size that they have from then on: else the first
 * one shows as growth wherever it happens to come. */
static void
fill_buffers(struct stream *s)
{
    for (int i = 0; i < 50000; i++) {
        buf_add_text(&s->payload, "no matter");
        stream_ping(s);
    }
}

/* Plays until so many trials have succeeded. */
static void
play_until(struct child *c, struct stream *s, const struct setup *setup,
           uint64_t from, uint64_t to)
{
    for (uint64_t done = from; done < to; done += BATCH) {
        stream_completed(s, BATCH, STEPS);
        child_play(c, s);
        stream_clear(s);
    }
    stream_marker(s, setup->assessor);
    child_play(c, s);
    stream_clear(s);
}

static const uint64_t points[] = {10, 1000, 10000}; /* trials */
#define N_POINTS (sizeof points / sizeof *points)

struct memory {
    uint64_t proportional[N_POINTS];
    double grown; /* between the last two points, of its own */
};

static struct memory
memory_once(const struct places *at, const struct setup *setup)
{
    struct memory m;
    uint64_t done = 0;
    struct stream stream;
    struct child c;

    stream_init(&stream);
    start(at, setup, &c);
    stream_space(&stream);
    fill_buffers(&stream);
    for (size_t i = 0; i < N_POINTS; i++) {
        /* What it shares depends on who else runs; what grows is its own. */
        m.grown = -(double)child_memory(&c, "smaps_rollup", "Private_Dirty");
        play_until(&c, &stream, setup, done, points[i]);
        done = points[i];
        m.proportional[i] = child_memory(&c, "smaps_rollup", "Pss");
    }
    m.grown += (double)child_memory(&c, "smaps_rollup", "Private_Dirty");
    child_finish(&c);
    stream_fini(&stream);
    return m;
}

/* A worker that is kept waiting for a processor lets its queue grow: of some
 * runs the one that grew least shows what is kept. */
static void
measure_memory(const struct places *at, const struct setup *setup)
{
    struct memory best = memory_once(at, setup);
    double trials = (double)(points[N_POINTS - 1] - points[N_POINTS - 2]);

    for (int run = 1; run < MEMORY_RUNS; run++) {
        struct memory m = memory_once(at, setup);

        if (m.grown < best.grown)
            best = m;
    }
    for (size_t i = 0; i < N_POINTS; i++)
        printf("memory.%s.%d %.2f\n", setup->name, (int)points[i],
               (double)best.proportional[i] / 1048576);
    printf("memory.%s.trial %.1f\n", setup->name, best.grown / trials);
    printf("memory.%s.step %.1f\n", setup->name, best.grown / trials / STEPS);
}

int
main(int argc, char **argv)
{
    struct places at;
    struct err err;

    if (argc != 2) {
        fprintf(stderr, "usage: start BUILD\n");
        return 2;
    }
    at.program = file_join(argv[1], "tunepipe");
    at.work = file_join(argv[1], "bench");
    at.errors = file_join(argv[1], "bench/errors.txt");
    if (at.program == NULL || at.work == NULL || at.errors == NULL ||
        file_make_folder(at.work, &err) != 0)
        child_die(argv[1]);
    for (size_t i = 0; i < N_SETUPS; i++)
        time_start(&at, &setups[i]);
    for (size_t i = 0; i < N_SETUPS; i++)
        measure_memory(&at, &setups[i]);
    free(at.program);
    free(at.work);
    free(at.errors);
    return 0;
}
