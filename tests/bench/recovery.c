/* SPDX-License-Identifier: MIT */
/* recovery BUILD: how long a dispatcher takes to go on with an experiment of
 * 100,000 trials, from a snapshot and, in the same run, from its log alone.
 * Prints lines `NAME NUMBER` for scripts/bench. */
#include "child.h"
#include "folder.h"
#include "stream.h"

#include "core/clock.h"
#include "core/file.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIALS 100000
#define STEPS 10
#define BATCH 1000 /* trials beside each other */
#define RUNS 3

struct bench {
    char *program, *work, *folder, *errors;
};

static void
record(const struct bench *b, const char *segment_size)
{
    const char *argv[] = {b->program,
                          "dispatch",
                          "--quiet",
                          "--seed",
                          "1",
                          "--tuner",
                          "random",
                          "--assessor",
                          "medianstop",
                          "--assessor-args",
                          "{\"optimize_mode\":\"maximize\"}",
                          "--dir",
                          b->folder,
                          "--segment-size",
                          segment_size,
                          NULL};
    struct stream stream;
    struct child c;

    folder_remove(b->folder);
    child_start(&c, argv, b->errors);
    stream_init(&stream);
    stream_space(&stream);
    for (int i = 0; i < TRIALS / BATCH; i++) {
        stream_completed(&stream, BATCH, STEPS);
        child_play(&c, &stream);
        stream_clear(&stream);
    }
    stream_marker(&stream, true);
    child_play(&c, &stream);
    stream_fini(&stream);
    child_finish(&c);
}

struct cost {
    int64_t wall_ns, cpu_ns;
};

/* From the start to the end that follows at once, since nobody writes. */
static struct cost
resume(const struct bench *b)
{
    const char *argv[] = {b->program, "dispatch", "--quiet", "--resume",
                          "--dir",    b->folder,  NULL};
    struct cost cost = {-clock_monotonic_ns(), 0};
    struct child c;
    siginfo_t info;

    child_start(&c, argv, b->errors);
    child_close(&c);
    if (waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT) != 0)
        child_die("waitid");
    cost.cpu_ns = child_cpu_ns(&c);
    cost.wall_ns += clock_monotonic_ns();
    child_finish(&c);
    return cost;
}

static struct cost
best_resume(const struct bench *b)
{
    struct cost best = resume(b);

    for (int i = 1; i < RUNS; i++) {
        struct cost c = resume(b);

        best.wall_ns = c.wall_ns < best.wall_ns ? c.wall_ns : best.wall_ns;
        best.cpu_ns = c.cpu_ns < best.cpu_ns ? c.cpu_ns : best.cpu_ns;
    }
    return best;
}

static void
measure(const struct bench *b, const char *name, const char *segment_size)
{
    const double commands = TRIALS * (STEPS + 2.0) + TRIALS / BATCH;
    struct cost cost;

    record(b, segment_size);
    cost = best_resume(b);
    printf("recovery.%s.seconds %.3f\n", name, (double)cost.wall_ns / 1e9);
    printf("recovery.%s.cpu %.3f\n", name, (double)cost.cpu_ns / 1e9);
    printf("recovery.%s.rate %.0f\n", name,
           commands * 1e9 / (double)cost.wall_ns);
    printf("recovery.%s.log-bytes %.1f\n", name,
           (double)folder_bytes(b->folder, ".log") / commands);
    printf("recovery.%s.snapshot-mb %.1f\n", name,
           (double)folder_bytes(b->folder, ".snapshot") / 1e6);
    fflush(stdout);
    folder_remove(b->folder);
}

int
main(int argc, char **argv)
{
    struct bench b;
    struct err err;

    if (argc != 2) {
        fprintf(stderr, "usage: recovery BUILD\n");
        return 2;
    }
    b.program = folder_file(argv[1], "tunepipe");
    b.work = folder_file(argv[1], "bench");
    b.folder = folder_file(b.work, "recovered");
    b.errors = folder_file(b.work, "errors.txt");
    if (file_make_folder(b.work, &err) != 0) {
        fprintf(stderr, "bench: %s\n", err.text);
        return 1;
    }
    measure(&b, "replayed", "0");
    measure(&b, "snapshot", "8388608");
    free(b.program);
    free(b.work);
    free(b.folder);
    free(b.errors);
    return 0;
}
