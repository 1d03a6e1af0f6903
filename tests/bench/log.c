/* SPDX-License-Identifier: MIT */
/* log BUILD: what the command log costs, by sync policy, beside a dispatcher
 * without one in the same run; how large it is, and how fast it is read again.
 * Prints lines `NAME NUMBER` for scripts/bench.
 *
 * DESIGN.  The runs take turns, and of each policy the best one counts.  CPU
 * time is judged: what else the machine does moves the wall clock more than
 * the log does. */
#include "child.h"
#include "folder.h"
#include "stream.h"

#include "core/clock.h"
#include "core/file.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS 5
#define TRIALS 100 /* beside each other */
#define STEPS 50

/* NULL: without a log. */
static const char *const policies[] = {NULL, "none", "interval", "always"};
#define N_POLICIES (sizeof policies / sizeof *policies)

struct load {
    const char *name;
    uint64_t batches; /* of TRIALS * STEPS metrics */
    uint64_t pings;
};

static const struct load loads[] = {{"metrics", 100, 0}, {"pings", 0, 1000000}};
#define N_LOADS (sizeof loads / sizeof *loads)

struct figures {
    int64_t wall_ns, cpu_ns;
    uint64_t log_bytes, wire_bytes, messages;
    int64_t replay_ns;
};

struct bench {
    char *program, *work, *folder, *log, *errors;
};

static void
bench_init(struct bench *b, const char *build)
{
    struct err err;

    b->program = folder_file(build, "tunepipe");
    b->work = folder_file(build, "bench");
    b->folder = folder_file(b->work, "logged");
    b->log = folder_file(b->folder, "command.log");
    b->errors = folder_file(b->work, "errors.txt");
    if (file_make_folder(b->work, &err) != 0) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(1);
    }
}

static void
bench_fini(struct bench *b)
{
    free(b->program);
    free(b->work);
    free(b->folder);
    free(b->log);
    free(b->errors);
}

static void
start(const struct bench *b, const char *policy, struct child *c)
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
                          policy != NULL ? "--dir" : NULL,
                          b->folder,
                          "--sync",
                          policy,
                          NULL};

    child_start(c, argv, b->errors);
}

static int64_t
time_replay(const struct bench *b)
{
    const char *argv[] = {b->program, "replay", b->log, "--verify", NULL};
    struct child c;
    char bytes[256];
    int64_t begin = clock_monotonic_ns();

    child_start(&c, argv, b->errors);
    while (read(c.from, bytes, sizeof bytes) > 0)
        continue;
    child_finish(&c);
    return clock_monotonic_ns() - begin;
}

/* One session; only what is between two markers is measured. */
static struct figures
run(const struct bench *b, const struct load *load, const char *policy)
{
    struct figures f = {0};
    struct stream stream;
    struct child c;
    uint64_t before = 0;

    folder_remove(b->folder);
    stream_init(&stream);
    start(b, policy, &c);
    stream_space(&stream);
    stream_completed(&stream, TRIALS, STEPS);
    stream_marker(&stream, true);
    child_play(&c, &stream);
    stream_clear(&stream);
    if (load->batches > 0)
        stream_running(&stream, load->batches, TRIALS, STEPS, false);
    for (uint64_t i = 0; i < load->pings; i++)
        stream_ping(&stream);
    stream_marker(&stream, true);
    if (policy != NULL)
        before = folder_bytes(b->folder, ".log");
    f.messages = load->pings > 0 ? load->pings : stream.metrics;
    f.wire_bytes = stream.bytes.len;
    f.wall_ns = -clock_monotonic_ns();
    f.cpu_ns = -child_cpu_ns(&c);
    child_play(&c, &stream);
    f.cpu_ns += child_cpu_ns(&c);
    f.wall_ns += clock_monotonic_ns();
    stream_fini(&stream);
    child_finish(&c);
    if (policy != NULL) {
        f.log_bytes = folder_bytes(b->folder, ".log") - before;
        f.replay_ns = time_replay(b);
    }
    folder_remove(b->folder);
    return f;
}

static void
keep_best(struct figures *best, struct figures f)
{
    struct figures old = *best;

    *best = f;
    if (old.wall_ns == 0)
        return;
    if (old.wall_ns < f.wall_ns)
        best->wall_ns = old.wall_ns;
    if (old.cpu_ns < f.cpu_ns)
        best->cpu_ns = old.cpu_ns;
    if (old.replay_ns < f.replay_ns)
        best->replay_ns = old.replay_ns;
}

static void
print_load(const struct load *load, const struct figures *best)
{
    const struct figures *logged = &best[2]; /* at the default policy */
    double n = (double)best[0].messages;

    for (size_t i = 0; i < N_POLICIES; i++) {
        const char *policy = policies[i] != NULL ? policies[i] : "off";

        printf("log.%s.%s.rate %.0f\n", load->name, policy,
               n * 1e9 / (double)best[i].wall_ns);
        printf("log.%s.%s.cpu %.3f\n", load->name, policy,
               (double)best[i].cpu_ns / 1000 / n);
        printf("log.%s.%s.ratio %.3f\n", load->name, policy,
               (double)best[0].wall_ns / (double)best[i].wall_ns);
        printf("log.%s.%s.cpu-ratio %.3f\n", load->name, policy,
               (double)best[0].cpu_ns / (double)best[i].cpu_ns);
    }
    printf("log.%s.bytes %.1f\n", load->name, (double)logged->log_bytes / n);
    printf("log.%s.wire-bytes %.1f\n", load->name,
           (double)logged->wire_bytes / n);
    printf("log.%s.replay %.0f\n", load->name,
           n * 1e9 / (double)logged->replay_ns);
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    struct bench b;

    if (argc != 2) {
        fprintf(stderr, "usage: log BUILD\n");
        return 2;
    }
    bench_init(&b, argv[1]);
    for (size_t i = 0; i < N_LOADS; i++) {
        struct figures best[N_POLICIES] = {{0}};

        for (int k = 0; k < RUNS; k++)
            for (size_t p = 0; p < N_POLICIES; p++)
                keep_best(&best[p], run(&b, &loads[i], policies[p]));
        print_load(&loads[i], best);
    }
    bench_fini(&b);
    return 0;
}
