/* SPDX-License-Identifier: MIT */
/* guard BUILD LOG: how many instructions some fixed scenarios take, counted by
 * callgrind, as lines `NAME NUMBER` for scripts/bench-guard.  LOG is the one
 * that is replayed.
 *
 * The counts are of whole runs: of the same bytes, read in whatever portions
 * and by threads in whatever turn, which moves them by a part of a percent. */
#include "child.h"
#include "stream.h"

#include "core/file.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 20

struct guard {
    char *program, *work, *counts, *errors;
    const char *log;
};

/* ---- what is played ---- */

static void
play_metrics(struct stream *s)
{
    stream_space(s);
    stream_completed(s, 100, 50);
    stream_marker(s, true);
    stream_running(s, 4, 100, 50, true);
    stream_marker(s, true);
}

static void
play_pings(struct stream *s)
{
    stream_space(s);
    for (int i = 0; i < 100000; i++)
        stream_ping(s);
    stream_request(s, 1);
    stream_step(s);
}

static void
play_requests(struct stream *s)
{
    static const char *const dims[] = {
        "\"_type\":\"uniform\",\"_value\":[0,1]",
        "\"_type\":\"quniform\",\"_value\":[0,10,0.5]",
        "\"_type\":\"loguniform\",\"_value\":[0.0001,1]",
        "\"_type\":\"qloguniform\",\"_value\":[1,1000,1]",
        "\"_type\":\"normal\",\"_value\":[0,1]",
        "\"_type\":\"qnormal\",\"_value\":[5,2,0.1]",
        "\"_type\":\"lognormal\",\"_value\":[0,1]",
        "\"_type\":\"qlognormal\",\"_value\":[1,1,0.5]",
        "\"_type\":\"randint\",\"_value\":[0,100]",
        "\"_type\":\"choice\",\"_value\":[\"a\",\"b\",\"c\"]"};

    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
        buf_printf(&s->payload, "%c\"d%zu\":{%s}", i == 0 ? '{' : ',', i,
                   dims[i]);
    buf_add_char(&s->payload, '}');
    stream_add(s, "IN");
    for (int i = 0; i < 30; i++) {
        stream_request(s, 100);
        stream_step(s);
    }
}

static void
play_start(struct stream *s)
{
    stream_space(s);
    stream_step(s);
}

/* Twenty suggestions behind a hundred results. */
static void
play_asks(struct stream *s)
{
    stream_space(s);
    stream_completed(s, 100, 1);
    stream_request(s, 20);
    stream_step(s);
}

/* One trial after the other, each with a result before the next is asked for.
 */
static void
play_trials(struct stream *s)
{
    stream_space(s);
    for (; s->next_id < 100; s->next_id++) {
        double value = (double)(s->next_id * s->next_id % 101) / 101;

        stream_request(s, 1);
        stream_step(s);
        stream_metric(s, "FINAL", s->next_id, 0, value);
        stream_end(s, s->next_id, "SUCCEEDED");
    }
    stream_step(s);
}

/* Suggestions behind 10,000 imported results. */
static void
play_import(struct stream *s)
{
    stream_space(s);
    for (int i = 0; i < 10000; i++)
        buf_printf(&s->payload,
                   "%s{\"parameter\":{\"batch_size\":%d,\"hidden_size\":%d,"
                   "\"lr\":%g,\"momentum\":%g},\"value\":%g}",
                   i == 0 ? "[" : ",", 16 << i % 4, 128 << i / 4 % 4,
                   1e-4 * (1 + i * 57 % 997), i * 31 % 1009 / 1009.0,
                   i * 71 % 1013 / 1013.0);
    buf_add_char(&s->payload, ']');
    stream_add(s, "FD");
    stream_request(s, 30);
    stream_step(s);
}

static const struct scenario {
    const char *name;
    void (*play)(struct stream *); /* NULL: replays */
    const char *tuner, *assessor;
} scenarios[] = {
    {"metrics", play_metrics, "random", "medianstop"},
    {"pings", play_pings, "random", NULL},
    {"requests", play_requests, "random", NULL},
    {"replay", NULL, NULL, NULL},
    {"start", play_start, "random", NULL},
    {"smac", play_asks, "smac", NULL},
    {"gp", play_trials, "gp", NULL},
    {"tpe", play_asks, "tpe", NULL},
    {"tpe_import", play_import, "tpe", NULL},
};
#define N_SCENARIOS (sizeof scenarios / sizeof *scenarios)

/* ---- counting ---- */

static uint64_t
read_count(const struct guard *g)
{
    char line[256];
    const char *at;
    uint64_t n = 0;
    FILE *f = fopen(g->counts, "re");

    if (f == NULL)
        child_die(g->counts);
    while (fgets(line, sizeof line, f) != NULL) {
        at = strstr(line, "Collected : ");
        if (at != NULL)
            sscanf(at, "Collected : %" SCNu64, &n);
    }
    fclose(f);
    unlink(g->counts);
    if (n == 0)
        child_die("no count of instructions");
    return n;
}

/* Appends words, which end in a NULL. */
static void
add_words(const char **argv, const char *const *words)
{
    while (*argv != NULL)
        argv++;
    while (*words != NULL)
        *argv++ = *words++;
}

static uint64_t
count(const struct guard *g, const struct scenario *s)
{
    const char *argv[WORDS_MAX] = {"valgrind", "--tool=callgrind",
                                   "--callgrind-out-file=/dev/null"};
    const char *dispatch[] = {g->program, "dispatch", "--quiet", "--seed",
                              "1",        "--tuner",  s->tuner,  NULL};
    const char *replay[] = {g->program, "replay", g->log, "--verify", NULL};
    const char *assessor[] = {"--assessor", s->assessor, "--assessor-args",
                              "{\"optimize_mode\":\"maximize\"}", NULL};
    char log[4096];
    const char *to_log[] = {log, NULL};
    struct stream stream;
    struct child c;

    snprintf(log, sizeof log, "--log-file=%s", g->counts);
    add_words(argv, to_log);
    add_words(argv, s->play == NULL ? replay : dispatch);
    if (s->assessor != NULL)
        add_words(argv, assessor);
    stream_init(&stream);
    child_start(&c, argv, g->errors);
    if (s->play != NULL) {
        s->play(&stream);
        child_play(&c, &stream);
        child_await_initialized(&c, 1);
    }
    child_finish(&c);
    stream_fini(&stream);
    return read_count(g);
}

int
main(int argc, char **argv)
{
    struct guard g;
    struct err err;

    if (argc != 3) {
        fprintf(stderr, "usage: guard BUILD LOG\n");
        return 2;
    }
    g.program = file_join(argv[1], "tunepipe");
    g.work = file_join(argv[1], "bench");
    g.counts = file_join(argv[1], "bench/callgrind.log");
    g.errors = file_join(argv[1], "bench/errors.txt");
    g.log = argv[2];
    if (g.program == NULL || g.work == NULL || g.counts == NULL ||
        g.errors == NULL || file_make_folder(g.work, &err) != 0)
        child_die(argv[1]);
    for (size_t i = 0; i < N_SCENARIOS; i++) {
        printf("%s %" PRIu64 "\n", scenarios[i].name, count(&g, &scenarios[i]));
        fflush(stdout);
    }
    free(g.program);
    free(g.work);
    free(g.counts);
    free(g.errors);
    return 0;
}
