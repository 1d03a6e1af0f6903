/* SPDX-License-Identifier: MIT */
/* nni BUILD: `tunepipe -m nni` in the scenarios in which NNI's dispatcher was
 * measured (nni_figures.h), started as NNI's manager starts it, its command
 * log and dispatcher.log kept.  Prints both, and how many times better the
 * figure is.
 *
 * Of RUNS runs the median counts, as of NNI's. */
#include "child.h"
#include "folder.h"
#include "nni_figures.h"
#include "nni_stream.h"
#include "stream.h"
#include "tools/nnistart.h"

#include "core/clock.h"
#include "core/file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNS 5
#define STARTS 21
#define ASKS 31
#define KILLS 51
#define PINGS 20000
#define LOOP_TRIALS 300
#define COUNT(table) (sizeof(table) / sizeof *(table))

struct bench {
    char *program, *work, *errors, *folder;
    struct child c;
    struct stream s;
};

static int
compare(const void *va, const void *vb)
{
    double a = *(const double *)va, b = *(const double *)vb;

    return (a > b) - (a < b);
}

static double
median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return x[n / 2];
}

static double
seconds(int64_t since)
{
    return (double)(clock_monotonic_ns() - since) / 1e9;
}

/* ---- one session ---- */

static void
begin(struct bench *b, const char *tuner, const char *args, bool assessor)
{
    char config[512];
    const char *words[] = {b->program, "-m", "nni", "--exp_params", NULL, NULL};

    snprintf(config, sizeof config,
             "{\"tuner\":{\"name\":\"%s\",\"classArgs\":%s}%s}", tuner, args,
             assessor ? ",\"assessor\":{\"name\":\"Medianstop\",\"classArgs\":"
                        "{\"optimize_mode\":\"maximize\"}}"
                      : "");
    words[4] = nni_base64(config);
    stream_init(&b->s);
    nni_space(&b->s);
    child_spawn(&b->c, words, b->errors, true);
    free((char *)(uintptr_t)words[4]);
    child_feed(&b->c, b->s.bytes.data, b->s.bytes.len);
    child_await_initialized(&b->c, 1);
    stream_clear(&b->s);
}

static void
play(struct bench *b)
{
    stream_step(&b->s);
    child_play(&b->c, &b->s);
    stream_clear(&b->s);
}

/* What was written goes, and its answers come: how long that takes. */
static double
time_play(struct bench *b)
{
    int64_t since = clock_monotonic_ns();

    play(b);
    return seconds(since);
}

static void
end(struct bench *b)
{
    stream_add(&b->s, "TE");
    child_feed(&b->c, b->s.bytes.data, b->s.bytes.len);
    child_finish(&b->c);
    stream_fini(&b->s);
    folder_remove(b->folder);
    if (file_make_folder(b->folder, NULL) != 0)
        child_die(b->folder);
}

/* ---- what is printed ---- */

static void
head(const char *title, const char *unit)
{
    printf("\n%s\n  %-40s %12s %12s %10s\n", title, unit, "NNI 2.7", "tunepipe",
           "times");
    fflush(stdout);
}

/* `less` is better, or more. */
static void
row(const char *text, double nni, double ours, bool less)
{
    printf("  %-40s %12.4g %12.4g %10.0f\n", text, nni, ours,
           less ? nni / ours : ours / nni);
    fflush(stdout);
}

/* ---- scenarios ---- */

static void
measure_starts(struct bench *b)
{
    double wall[COUNT(nni_starts)], cpu[COUNT(nni_starts)];
    double mb[COUNT(nni_starts)];
    char text[64];

    for (size_t i = 0; i < COUNT(nni_starts); i++) {
        double w[STARTS], c[STARTS];

        for (size_t k = 0; k < STARTS; k++) {
            int64_t since = clock_monotonic_ns();

            begin(b, nni_starts[i].tuner, "{}", nni_starts[i].assessor);
            w[k] = seconds(since) * 1e3;
            c[k] = (double)child_cpu_ns(&b->c) / 1e6;
            mb[i] = (double)child_memory(&b->c, "status", "VmHWM") / 1e6;
            end(b);
        }
        wall[i] = median(w, STARTS);
        cpu[i] = median(c, STARTS);
    }
    head("From spawn to ID", "ms; CPU, ms; peak memory, MB");
    for (size_t i = 0; i < COUNT(nni_starts); i++) {
        snprintf(text, sizeof text, "%s%s", nni_starts[i].tuner,
                 nni_starts[i].assessor ? " and Medianstop" : "");
        row(text, nni_starts[i].seconds * 1e3, wall[i], true);
        row("  CPU", nni_starts[i].cpu * 1e3, cpu[i], true);
        row("  memory", nni_starts[i].mb, mb[i], true);
    }
}

static double
pings_once(struct bench *b)
{
    double took;

    begin(b, "Random", "{}", false);
    for (int i = 0; i < PINGS; i++)
        stream_ping(&b->s);
    stream_request(&b->s, 1);
    took = time_play(b);
    end(b);
    return PINGS / took;
}

/* The last of them is so bad that its KI tells that all were handled. */
static double
metrics_once(struct bench *b, uint64_t completed, uint64_t running,
             uint64_t steps)
{
    double took;

    begin(b, "Random", "{}", true);
    stream_completed(&b->s, completed, steps);
    stream_request(&b->s, running + 1);
    play(b);
    for (uint64_t step = 0; step < steps; step++)
        for (uint64_t i = 0; i < running; i++)
            stream_report(&b->s, b->s.next_id + i, step,
                          stream_value(CURVE_GOOD, i, step));
    stream_report(&b->s, b->s.next_id + running, 0, -1000);
    b->s.kills++;
    took = time_play(b);
    end(b);
    return (double)(running * steps + 1) / took;
}

static double
kill_once(struct bench *b)
{
    double ms[KILLS];

    begin(b, "Random", "{}", true);
    stream_completed(&b->s, 10, 20);
    stream_request(&b->s, KILLS);
    play(b);
    for (size_t i = 0; i < KILLS; i++) {
        stream_report(&b->s, b->s.next_id++, 0, -1000);
        b->s.kills++;
        ms[i] = time_play(b) * 1e3;
    }
    end(b);
    return median(ms, KILLS);
}

/* GE, ten PERIODICAL, FINAL, EN: one after the other, and the next. */
static double
loop_once(struct bench *b, const char *tuner)
{
    double took = 0;

    begin(b, tuner, "{}", true);
    for (int i = 0; i < LOOP_TRIALS; i++) {
        stream_completed(&b->s, 1, 10);
        took += time_play(b);
    }
    end(b);
    return LOOP_TRIALS * 13 / took;
}

static double
stop_once(struct bench *b)
{
    int64_t since;
    double took;

    begin(b, "Random", "{}", false);
    since = clock_monotonic_ns();
    end(b);
    took = seconds(since) * 1e3;
    return took;
}

static void
measure_messages(struct bench *b)
{
    double x[RUNS];
    char text[64];

    head("Messages", "a second");
    for (size_t k = 0; k < RUNS; k++)
        x[k] = pings_once(b);
    row("pings, 20,000 at once", nni_pings, median(x, RUNS), false);
    for (size_t i = 0; i < COUNT(nni_metrics); i++) {
        for (size_t k = 0; k < RUNS; k++)
            x[k] = metrics_once(b, nni_metrics[i].completed,
                                nni_metrics[i].running, nni_metrics[i].steps);
        snprintf(text, sizeof text, "PERIODICAL, %d completed, %d with %d",
                 (int)nni_metrics[i].completed, (int)nni_metrics[i].running,
                 (int)nni_metrics[i].steps);
        row(text, nni_metrics[i].rate, median(x, RUNS), false);
    }
    for (size_t i = 0; i < COUNT(nni_loops); i++) {
        for (size_t k = 0; k < RUNS; k++)
            x[k] = loop_once(b, nni_loops[i].tuner);
        snprintf(text, sizeof text, "trial after trial, %s and Medianstop",
                 nni_loops[i].tuner);
        row(text, nni_loops[i].rate, median(x, RUNS), false);
    }
    head("Latency", "ms");
    for (size_t k = 0; k < RUNS; k++)
        x[k] = kill_once(b);
    row("a bad metric to its KI", nni_kill_ms, median(x, RUNS), true);
    for (size_t k = 0; k < RUNS; k++)
        x[k] = stop_once(b);
    row("TE to the end, idle", nni_stop_ms, median(x, RUNS), true);
}

/* ---- suggestions ---- */

/* With so many finished trials. */
static double
ask_ms(struct bench *b, uint64_t trials)
{
    double ms[ASKS];

    while (b->s.next_id < trials) {
        stream_request(&b->s, 1);
        play(b);
        nni_finish_trial(&b->s);
    }
    play(b);
    for (size_t i = 0; i < ASKS; i++) {
        stream_request(&b->s, 1);
        ms[i] = time_play(b) * 1e3;
        nni_finish_trial(&b->s);
    }
    play(b);
    return median(ms, ASKS);
}

/* A request behind it tells when all were taken. */
static void
import(struct bench *b, size_t i, uint64_t trials)
{
    char text[64];
    double ms;

    b->s.payload.max = STREAM_MAX;
    nni_import(&b->s, trials);
    stream_request(&b->s, 1);
    ms = time_play(b) * 1e3;
    nni_finish_trial(&b->s);
    snprintf(text, sizeof text, "%s, importing %d at once",
             nni_suggestions[i].tuner, (int)trials);
    if (nni_suggestions[i].import_ms > 0)
        row(text, nni_suggestions[i].import_ms, ms, true);
}

static void
measure_tuner(struct bench *b, size_t i)
{
    const char *tuner = nni_suggestions[i].tuner;
    char text[64];
    double ms;

    begin(b, tuner, nni_suggestions[i].args, false);
    for (size_t k = 0; k < NNI_POINTS; k++) {
        if (k + 1 == NNI_POINTS) { /* imported, in a session of its own */
            end(b);
            begin(b, tuner, nni_suggestions[i].args, false);
            import(b, i, nni_points[k]);
        }
        ms = ask_ms(b, k + 1 == NNI_POINTS ? 0 : nni_points[k]);
        snprintf(text, sizeof text, "%s, after %d trials", tuner,
                 (int)nni_points[k]);
        row(text, nni_suggestions[i].ms[k], ms, true);
    }
    snprintf(text, sizeof text, "%s, memory then, MB", tuner);
    row(text, nni_suggestions[i].mb,
        (double)child_memory(&b->c, "status", "VmRSS") / 1e6, true);
    end(b);
}

int
main(int argc, char **argv)
{
    struct bench b = {0};
    struct err err;
    char *log;

    if (argc != 2) {
        fprintf(stderr, "usage: nni BUILD\n");
        return 2;
    }
    b.program = folder_file(argv[1], "tunepipe");
    b.work = folder_file(argv[1], "bench");
    b.errors = folder_file(b.work, "errors.txt");
    b.folder = folder_file(b.work, "checkpoint");
    log = folder_file(b.work, "dispatcher.log");
    if (file_make_folder(b.work, &err) != 0 ||
        file_make_folder(b.folder, &err) != 0)
        child_die(argv[1]);
    setenv("NNI_CHECKPOINT_DIRECTORY", b.folder, 1);
    setenv("NNI_LOG_DIRECTORY", b.work, 1);
    nni_environment();
    measure_starts(&b);
    measure_messages(&b);
    head("From GE to TR, nothing else in flight", "ms");
    for (size_t i = 0; i < COUNT(nni_suggestions); i++)
        measure_tuner(&b, i);
    folder_remove(b.folder);
    unlink(log);
    free(log);
    free(b.program);
    free(b.work);
    free(b.errors);
    free(b.folder);
    return 0;
}
