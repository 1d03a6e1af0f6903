/* SPDX-License-Identifier: MIT */
/* messages BUILD: what a message costs the dispatcher, beside programs that do
 * less with the same bytes.  Prints lines `NAME NUMBER` for scripts/bench.
 *
 * DESIGN.  The clock of the child's process is read when a marker before the
 * measured bytes has come back, and again when one behind them has, so that
 * neither start nor warm-up counts.  Readers and dispatcher take turns, and of
 * each the best run of RUNS counts: whatever else the machine does only adds.
 * Requests and ends of the trials are measured with their metrics, but only
 * metrics are counted as messages: the figures err on the dear side.
 * Instructions are counted by valgrind on two streams of different length;
 * the difference is what the additional messages cost. */
#include "child.h"
#include "folder.h"
#include "readers.h"
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

#define RUNS 3
#define TRIALS 100 /* beside each other */
#define STEPS 50
#define NNI_RATE 1900.0 /* metrics a second, measured */

struct scenario {
    const char *name;
    uint64_t completed; /* trials, before */
    uint64_t batches;   /* of TRIALS * STEPS metrics */
    uint64_t pings;
    bool half;    /* of the trials are stopped */
    bool log;     /* keep a command log */
    bool compare; /* with readers of the same bytes */
    int runs;
};

static const struct scenario scenarios[] = {
    {"metrics", 100, 200, 0, false, false, true, RUNS},
    {"metrics-log", 100, 200, 0, false, true, false, RUNS},
    {"metrics-half", 100, 250, 0, true, false, false, RUNS},
    {"metrics-100k", 100000, 200, 0, false, false, false, 1},
    {"pings", 100, 0, 1000000, false, false, true, RUNS},
    {"pings-log", 100, 0, 1000000, false, true, false, RUNS},
};
#define N_SCENARIOS (sizeof scenarios / sizeof *scenarios)

struct cost {
    int64_t wall_ns, cpu_ns;
    uint64_t peak_bytes;
};

struct bench {
    const char *self;
    char *program;
    char *work;   /* a folder for our files */
    char *folder; /* of an experiment, in it */
    char *log;    /* valgrind's, in it */
    char *errors; /* the child's stderr, in it */
    bool count;   /* run children under valgrind */
};

static void
bench_init(struct bench *b, const char *self, const char *build)
{
    struct err err;

    *b = (struct bench){.self = self};
    b->program = folder_file(build, "tunepipe");
    b->work = folder_file(build, "bench");
    b->folder = folder_file(b->work, "experiment");
    b->log = folder_file(b->work, "valgrind.log");
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

/* ---- children ---- */

/* Appends to the words of argv, which ends in NULLs. */
static void
add_word(const char **argv, const char *word)
{
    while (*argv != NULL)
        argv++;
    *argv = word;
}

#define WORDS_MAX 32

static void
start(const struct bench *b, struct child *c, const char *const *words)
{
    const char *argv[WORDS_MAX] = {NULL};
    char log[4096];

    if (b->count) {
        snprintf(log, sizeof log, "--log-file=%s", b->log);
        add_word(argv, "valgrind");
        add_word(argv, "--tool=callgrind");
        add_word(argv, "--callgrind-out-file=/dev/null");
        add_word(argv, log);
    }
    while (*words != NULL)
        add_word(argv, *words++);
    child_start(c, argv, b->errors);
}

static void
start_dispatcher(const struct bench *b, const struct scenario *s,
                 struct child *c)
{
    const char *words[WORDS_MAX / 2] = {
        b->program,
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
    };

    if (s->log) {
        add_word(words, "--dir");
        add_word(words, b->folder);
    }
    start(b, c, words);
}

static void
build_measured(const struct scenario *s, struct stream *stream)
{
    if (s->batches > 0)
        stream_running(stream, s->batches, TRIALS, STEPS, s->half);
    for (uint64_t i = 0; i < s->pings; i++)
        stream_ping(stream);
    stream_marker(stream, true);
}

/* Plays it all.  The stream is left holding the measured part. */
static struct cost
run_dispatcher(const struct bench *b, const struct scenario *s,
               struct stream *stream)
{
    struct child c;
    struct cost cost;

    start_dispatcher(b, s, &c);
    stream_space(stream);
    for (uint64_t done = 0; done < s->completed; done += TRIALS) {
        stream_completed(stream, TRIALS, STEPS);
        child_play(&c, stream);
        stream_clear(stream);
    }
    stream_marker(stream, true);
    child_play(&c, stream);
    stream_clear(stream);
    build_measured(s, stream);
    cost = (struct cost){-clock_monotonic_ns(), -child_cpu_ns(&c), 0};
    child_play(&c, stream);
    cost.cpu_ns += child_cpu_ns(&c);
    cost.wall_ns += clock_monotonic_ns();
    cost.peak_bytes = child_memory(&c, "status", "VmHWM");
    child_finish(&c);
    if (s->log)
        folder_remove(b->folder);
    return cost;
}

static struct cost
run_reader(const struct bench *b, const struct reader *r,
           const struct stream *stream)
{
    const char *words[] = {b->self, "--read", r->name, NULL};
    struct child c;
    struct cost cost;

    start(b, &c, words);
    child_await_initialized(&c, 1);
    cost = (struct cost){-clock_monotonic_ns(), -child_cpu_ns(&c), 0};
    child_feed(&c, stream->bytes.data, stream->bytes.len);
    child_close(&c);
    child_await_initialized(&c, 2);
    cost.cpu_ns += child_cpu_ns(&c);
    cost.wall_ns += clock_monotonic_ns();
    child_finish(&c);
    return cost;
}

/* ---- time ---- */

static void
keep_best(struct cost *best, struct cost cost)
{
    if (best->wall_ns == 0 || cost.wall_ns < best->wall_ns)
        best->wall_ns = cost.wall_ns;
    if (best->cpu_ns == 0 || cost.cpu_ns < best->cpu_ns)
        best->cpu_ns = cost.cpu_ns;
    if (cost.peak_bytes > best->peak_bytes)
        best->peak_bytes = cost.peak_bytes;
}

static double
micros(struct cost cost, uint64_t n)
{
    return (double)cost.cpu_ns / 1000 / (double)n;
}

static void
print_costs(const struct scenario *s, struct cost cost,
            const struct cost *readers_cost, uint64_t n)
{
    double rate = (double)n * 1e9 / (double)cost.wall_ns;

    printf("%s.rate %.0f\n", s->name, rate);
    printf("%s.cpu %.3f\n", s->name, micros(cost, n));
    printf("%s.peak %.1f\n", s->name, (double)cost.peak_bytes / 1048576);
    printf("%s.nni %.0f\n", s->name, rate / NNI_RATE);
    for (size_t i = 0; s->compare && i < N_READERS; i++) {
        printf("%s.%s.cpu %.3f\n", s->name, readers[i].name,
               micros(readers_cost[i], n));
        printf("%s.%s.ratio %.2f\n", s->name, readers[i].name,
               (double)cost.cpu_ns / (double)readers_cost[i].cpu_ns);
    }
    fflush(stdout);
}

static void
time_scenario(const struct bench *b, const struct scenario *s)
{
    struct cost best = {0}, readers_best[N_READERS] = {{0}};
    uint64_t n = 0;

    for (int run = 0; run < s->runs; run++) {
        struct stream stream;

        stream_init(&stream);
        keep_best(&best, run_dispatcher(b, s, &stream));
        for (size_t i = 0; s->compare && i < N_READERS; i++)
            keep_best(&readers_best[i], run_reader(b, &readers[i], &stream));
        n = s->pings > 0 ? s->pings : stream.metrics;
        stream_fini(&stream);
    }
    print_costs(s, best, readers_best, n);
}

/* ---- instructions ---- */

/* What valgrind counted in the child that ended last. */
static uint64_t
read_count(const struct bench *b)
{
    char line[256];
    const char *at;
    uint64_t n = 0;
    FILE *f = fopen(b->log, "re");

    if (f == NULL)
        child_die(b->log);
    while (fgets(line, sizeof line, f) != NULL) {
        at = strstr(line, "Collected : ");
        if (at != NULL)
            sscanf(at, "Collected : %" SCNu64, &n);
    }
    fclose(f);
    unlink(b->log);
    return n;
}

/* [0] is the dispatcher's, then each reader's. */
static void
count_once(const struct bench *b, const struct scenario *s,
           uint64_t out[1 + N_READERS], uint64_t *n)
{
    struct stream stream;

    stream_init(&stream);
    run_dispatcher(b, s, &stream);
    out[0] = read_count(b);
    for (size_t i = 0; s->compare && i < N_READERS; i++) {
        run_reader(b, &readers[i], &stream);
        out[1 + i] = read_count(b);
    }
    *n = s->pings > 0 ? s->pings : stream.metrics;
    stream_fini(&stream);
}

static void
count_scenario(const struct bench *b, const struct scenario *s)
{
    struct scenario once = *s, twice = *s;
    uint64_t few[1 + N_READERS], many[1 + N_READERS], n_few, n_many;
    double n;

    once.batches = s->batches > 0 ? 4 : 0;
    once.pings = s->pings > 0 ? 20000 : 0;
    twice.batches = once.batches * 2;
    twice.pings = once.pings * 2;
    count_once(b, &once, few, &n_few);
    count_once(b, &twice, many, &n_many);
    n = (double)(n_many - n_few);
    printf("%s.instructions %.0f\n", s->name, (double)(many[0] - few[0]) / n);
    for (size_t i = 0; s->compare && i < N_READERS; i++) {
        double reads = (double)(many[1 + i] - few[1 + i]);

        printf("%s.%s.instructions %.0f\n", s->name, readers[i].name,
               reads / n);
        printf("%s.%s.instructions-ratio %.2f\n", s->name, readers[i].name,
               (double)(many[0] - few[0]) / reads);
    }
    fflush(stdout);
}

static bool
has_valgrind(void)
{
    static const char *const argv[] = {"valgrind", "--version", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status, rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    rc = posix_spawnp(&pid, argv[0], &actions, NULL,
                      (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc == 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int
main(int argc, char **argv)
{
    struct bench b;

    if (argc == 3 && strcmp(argv[1], "--read") == 0)
        return reader_main(argv[2]);
    if (argc != 2) {
        fprintf(stderr, "usage: messages BUILD\n");
        return 2;
    }
    bench_init(&b, argv[0], argv[1]);
    folder_remove(b.folder);
    for (size_t i = 0; i < N_SCENARIOS; i++)
        time_scenario(&b, &scenarios[i]);
    b.count = has_valgrind();
    for (size_t i = 0; b.count && i < N_SCENARIOS; i++)
        if (scenarios[i].completed <= 100)
            count_scenario(&b, &scenarios[i]);
    bench_fini(&b);
    return 0;
}
