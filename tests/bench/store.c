/* SPDX-License-Identifier: MIT */
/* store BUILD [TRIALS]: what it costs to make a database of an experiment, to
 * bring it up to date, to show a page of it and to export it, beside `wc -l` of
 * the same files and the mere parsing of their lines.  Prints lines
 * `NAME NUMBER` for scripts/bench.
 *
 * DESIGN.  The experiment is made of bytes: trials of three parameters, each
 * with four reports, its log in segments as the dispatcher makes them. */
#include "folder.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log_policy.h"
#include "json.h"
#include "log/record.h"
#include "log/segments.h"

#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define REPORTS 4
#define BYTES_MAX ((size_t)1 << 30)
#define TIMES 5 /* of the short ones; the best counts */

extern char **environ;

struct bench {
    char *program, *folder;
    struct buf log, results;
    uint64_t number, segment, trials;
    int64_t now_us;
    int64_t parse_ns; /* of all payloads and lines that are JSON */
};

static void
put(const struct bench *b, const char *name, const struct buf *bytes)
{
    char *path = folder_file(b->folder, name);
    struct err err;

    if (file_write(path, bytes->data, bytes->len, &err) != 0)
        child_die(err.text);
    free(path);
}

static void
put_text(const struct bench *b, const char *name, const char *text)
{
    struct buf bytes;

    buf_init(&bytes, BYTES_MAX);
    buf_add_text(&bytes, text);
    put(b, name, &bytes);
    buf_fini(&bytes);
}

/* ---- the experiment ---- */

static void
rotate(struct bench *b)
{
    struct segment_head head;
    char name[64];
    struct buf next;

    if (segment_head_read(b->log.data, b->log.len, &head, NULL) != 0)
        child_die("the head of a segment");
    snprintf(name, sizeof name, "command.%" PRIu64 ".log", b->segment++);
    put(b, name, &b->log);
    buf_init(&next, BYTES_MAX);
    head.number = b->segment;
    head.arrival = head.frames = b->number;
    head.bytes = b->log.len;
    segment_head_write(&head, b->now_us, &next);
    buf_fini(&b->log);
    b->log = next;
}

static void
parse(struct bench *b, const char *text, size_t len)
{
    int64_t begun = clock_monotonic_ns();

    json_free(json_parse(text, len, JSON_STRICT, NULL));
    b->parse_ns += clock_monotonic_ns() - begun;
}

static void tell(struct bench *b, enum record_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void
tell(struct bench *b, enum record_kind kind, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (kind == RECORD_IN)
        b->number++;
    record_encode(&b->log, kind, b->number, b->now_us += 100, text,
                  (size_t)len);
    parse(b, text + 2, (size_t)len - 2);
}

static void
make_trial(struct bench *b, uint64_t i)
{
    double value = (double)(i * 7919 % b->trials) / 1000;
    char parameters[160];

    snprintf(parameters, sizeof parameters,
             "{\"lr\": %.17g, \"units\": %" PRIu64 ", \"kind\": \"kind%d\"}",
             value / 3, i % 512, (int)(i % 7));
    tell(b, RECORD_IN, "GE1");
    tell(b, RECORD_TUNER,
         "TR{\"parameter_id\": %" PRIu64 ", \"parameter_source\": "
         "\"algorithm\", \"parameters\": %s, \"parameter_index\": 0}",
         i, parameters);
    tell(b, RECORD_IN,
         "NT{\"event\": \"started\", \"trial_job_id\": \"%05" PRIu64
         "\", \"parameter_id\": %" PRIu64 ", \"attempt\": 0, \"pid\": 1}",
         i, i);
    for (int k = 0; k < REPORTS; k++)
        tell(b, RECORD_IN,
             "ME{\"parameter_id\": %" PRIu64 ", \"trial_job_id\": \"%05" PRIu64
             "\", \"type\": \"%s\", \"sequence\": %d, \"value\": \"%.17g\", "
             "\"attempt\": 0}",
             i, i, k + 1 < REPORTS ? "PERIODICAL" : "FINAL",
             k + 1 < REPORTS ? k : 0, value + k);
    tell(b, RECORD_IN,
         "NT{\"event\": \"exited\", \"trial_job_id\": \"%05" PRIu64
         "\", \"parameter_id\": %" PRIu64 ", \"attempt\": 0, \"status\": "
         "\"exited 0\"}",
         i, i);
    tell(b, RECORD_IN,
         "EN{\"trial_job_id\": \"%05" PRIu64 "\", \"event\": \"SUCCEEDED\", "
         "\"hyper_params\": \"{\\\"parameter_id\\\": %" PRIu64 "}\"}",
         i, i);
    buf_printf(&b->results,
               "{\"trial\": \"%05" PRIu64 "\", \"parameter_id\": %" PRIu64
               ", \"seed\": 1, \"status\": \"succeeded\", \"value\": %.17g, "
               "\"latest\": %.17g, \"duration_s\": %.3f, \"why\": \"\", "
               "\"ended_by\": \"itself\", \"intermediates\": 3, "
               "\"parameters\": %s}\n",
               i, i, value + REPORTS - 1, value, (double)(i % 977) / 10,
               parameters);
}

static void
parse_results(struct bench *b)
{
    const char *at = b->results.data, *end = at + b->results.len;

    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));

        parse(b, at, (size_t)(next - at));
        at = next + 1;
    }
}

static void
make_experiment(struct bench *b)
{
    b->segment = 1;
    b->now_us = 1700000000000000;
    record_write_version(&b->log);
    record_encode(&b->log, RECORD_HEAD, 0, b->now_us, "{\"seed\": 1}", 11);
    for (uint64_t i = 0; i < b->trials; i++) {
        make_trial(b, i);
        if (b->log.len >= SEGMENT_SIZE_DEFAULT)
            rotate(b);
    }
    put(b, "command.log", &b->log);
    put(b, "results.jsonl", &b->results);
    parse_results(b);
    put_text(b, "search_space.json", "{\"lr\": {}, \"units\": {}}");
    put_text(b, "config.yml", "");
    put_text(b, "experiment.json",
             "{\"id\": \"bench\", \"name\": \"bench\", \"config\": \"\", "
             "\"optimize_mode\": \"minimize\", \"mode_from\": \"\", "
             "\"seed\": 1}");
}

/* ---- what is measured ---- */

struct cost {
    double wall_s, cpu_s, peak_mib;
};

static struct cost
run(const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    int64_t begun = clock_monotonic_ns();
    struct rusage usage;
    struct cost cost;
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    errno = posix_spawnp(&pid, argv[0], &actions, NULL,
                         (char *const *)(uintptr_t)argv, environ);
    if (errno != 0 || wait4(pid, &status, 0, &usage) != pid)
        child_die(argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "bench: %s %s failed\n", argv[0], argv[1]);
        exit(1);
    }
    cost.wall_s = (double)(clock_monotonic_ns() - begun) / 1e9;
    cost.cpu_s =
        (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
        (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    cost.peak_mib = (double)usage.ru_maxrss / 1024;
    return cost;
}

static struct cost
best(const char *const *argv)
{
    struct cost least = run(argv);

    for (int i = 1; i < TIMES; i++) {
        struct cost c = run(argv);

        if (c.wall_s < least.wall_s)
            least = c;
    }
    return least;
}

static void
measure(const struct bench *b)
{
    const char *p = b->program, *d = b->folder;
    struct cost lines = best((const char *const[]){
        "sh", "-c", "cat \"$0\"/*.log \"$0\"/*.jsonl | wc -l", d, NULL});
    struct cost files = best((const char *const[]){
        p, "show", d, "--sort", "value", "--page", "2", NULL});
    struct cost csv = run((const char *const[]){p, "export", d, "--csv", NULL});
    struct cost metrics = run(
        (const char *const[]){p, "export", d, "--csv", "--intermediate", NULL});
    struct cost made =
        run((const char *const[]){p, "index", d, "--rebuild", NULL});
    struct cost again = best((const char *const[]){p, "index", d, NULL});
    struct cost page = best((const char *const[]){
        p, "show", d, "--sort", "value", "--page", "2", NULL});
    struct cost last = best((const char *const[]){
        p, "show", d, "--sort", "duration", "--page", "1900", NULL});
    double parsed = (double)b->parse_ns / 1e9;

    printf("store.lines.seconds %g\n", lines.wall_s);
    printf("store.parsed.seconds %g\n", parsed);
    printf("store.index.seconds %g\n", made.wall_s);
    printf("store.index.ratio %g\n", made.cpu_s / parsed);
    printf("store.index.peak %g\n", made.peak_mib);
    printf("store.again.ms %g\n", again.wall_s * 1e3);
    printf("store.page.ms %g\n", page.wall_s * 1e3);
    printf("store.last.ms %g\n", last.wall_s * 1e3);
    printf("store.files.ms %g\n", files.wall_s * 1e3);
    printf("store.csv.seconds %g\n", csv.wall_s);
    printf("store.csv.ratio %g\n", csv.cpu_s / parsed);
    printf("store.metrics.seconds %g\n", metrics.wall_s);
    printf("store.metrics.rate %g\n",
           (double)(b->trials * REPORTS) / metrics.wall_s);
}

static void
clean(const struct bench *b)
{
    static const char *const names[] = {"results.jsonl", "search_space.json",
                                        "config.yml", "experiment.json",
                                        "results.db"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = folder_file(b->folder, names[i]);

        unlink(path);
        free(path);
    }
    folder_remove(b->folder);
}

int
main(int argc, char **argv)
{
    struct bench b = {.trials =
                          argc > 2 ? strtoull(argv[2], NULL, 10) : 100000};
    struct err err;

    if (argc < 2 || b.trials == 0) {
        fprintf(stderr, "usage: store BUILD [TRIALS]\n");
        return 2;
    }
    b.program = folder_file(argv[1], "tunepipe");
    b.folder = folder_file(argv[1], "bench/store");
    buf_init(&b.log, BYTES_MAX);
    buf_init(&b.results, BYTES_MAX);
    clean(&b);
    if (file_make_folder(b.folder, &err) != 0)
        child_die(err.text);
    make_experiment(&b);
    buf_fini(&b.log);
    buf_fini(&b.results);
    measure(&b);
    clean(&b);
    free(b.program);
    free(b.folder);
    return 0;
}
