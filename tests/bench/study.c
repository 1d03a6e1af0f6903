/* SPDX-License-Identifier: MIT */
/* study - how long one who asks for a trial and tells its result is kept, with
 * n trials told before: by the bare pipe of a dispatcher, by the library of
 * tunepipe/study.h, by `tunepipe ask` and `tunepipe tell`.  study.py beside it
 * is the same in Python; scripts/bench-study runs them and makes the table. */
#include "search/client.h"
#include "tunepipe/study.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/number.h"
#include "json.h"

#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CYCLES_MAX 10000

static const char usage[] =
    "usage: study pipe PROGRAM CYCLES 'N ...' SPACE OPTION...\n"
    "       study library|shell PROGRAM CYCLES 'N ...' CONFIG FOLDER\n"
    "Prints FIGURE NUMBER lines; OPTION: of tunepipe dispatch.\n";

extern char **environ;

/* Who asks and tells: its functions do not return where something fails. */
struct bench {
    const char *program;
    struct client *pipe;
    struct tp_study *study;
    const char *folder;
    int64_t calls[2 * CYCLES_MAX]; /* the shell's: ns of each */
    size_t n_calls;
};

__attribute__((noreturn, format(printf, 1, 2))) static void
die(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, format, words);
    fprintf(stderr, "\n");
    va_end(words);
    exit(1);
}

/* ---- the pipe ---- */

/* The whole file, to be freed. */
static char *
read_file(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = calloc(1, 1 << 16);

    if (f == NULL || text == NULL)
        die("%s: %m", path);
    if (fread(text, 1, (1 << 16) - 1, f) == 0)
        die("%s: is empty", path);
    fclose(f);
    return text;
}

static void
pipe_open(struct bench *b, char **argv)
{
    const char *words[32] = {b->program, "dispatch", "--quiet", "--extensions"};
    char *space = read_file(argv[0]);
    struct err err;

    for (size_t n = 4; *++argv != NULL && n < 31; n++)
        words[n] = *argv;
    b->pipe = client_open(words, &err);
    if (b->pipe == NULL || client_begin(b->pipe, space, &err) != 0)
        die("%s", err.text);
    free(space);
}

/* The result of a trial needs no answer: the next ask is behind it. */
static void
pipe_cycle(struct bench *b)
{
    struct jval parameters, x;
    struct json *doc;
    struct err err;
    uint64_t id;
    double value;

    if (client_request(b->pipe, 1, &err) != 0)
        die("%s", err.text);
    switch (client_trial(b->pipe, &id, &doc, &err)) {
    case 0:
        die("the tuner has no more trials");
    case 1:
        break;
    default:
        die("%s", err.text);
    }
    if (!jval_get(json_root(doc), "parameters", &parameters) ||
        !jval_get(parameters, "u0", &x) || !jval_double(x, &value))
        die("a trial without u0");
    client_result(b->pipe, id, value);
    json_free(doc);
}

/* ---- the library ---- */

static void
library_open(struct bench *b, char **argv)
{
    char why[300];

    if (tp_study_open(&b->study, argv[1], argv[0], why, sizeof why) != 0)
        die("%s", why);
    b->folder = argv[1];
}

static void
library_cycle(struct bench *b)
{
    struct tp_trial *trial;
    double value;

    if (tp_study_ask(b->study, &trial) != 0 ||
        tp_trial_double(trial, "u0", &value) != 0 ||
        tp_study_tell(b->study, tp_trial_number(trial), value) != 0)
        die("%s", tp_study_why(b->study));
    tp_trial_free(trial);
}

/* ---- the shell's verbs ---- */

/* Runs it to its end; what it printed is in `out`. */
static void
call(struct bench *b, const char *const *argv, char *out, size_t size)
{
    posix_spawn_file_actions_t actions;
    int64_t from = clock_monotonic_ns();
    int fds[2], status;
    size_t len = 0;
    ssize_t n;
    pid_t pid;

    if (pipe(fds) != 0)
        die("pipe: %m");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_addclose(&actions, fds[0]);
    posix_spawn_file_actions_addclose(&actions, fds[1]);
    if (posix_spawn(&pid, argv[0], &actions, NULL,
                    (char *const *)(uintptr_t)argv, environ) != 0)
        die("%s: cannot be started", argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    while (len < size - 1 && (n = read(fds[0], out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    out[len] = '\0';
    close(fds[0]);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        die("tunepipe %s failed", argv[1]);
    if (b->n_calls < sizeof b->calls / sizeof b->calls[0])
        b->calls[b->n_calls++] = clock_monotonic_ns() - from;
}

static void
shell_cycle(struct bench *b)
{
    char out[4096], number[NUMBER_TEXT_MAX], value[NUMBER_TEXT_MAX];
    const char *const ask[] = {b->program, "ask", b->folder, NULL};
    const char *const tell[] = {b->program, "tell", b->folder,
                                number,     value,  NULL};
    const char *at;
    double x;
    long n;

    call(b, ask, out, sizeof out);
    at = strstr(out, "\"u0\": ");
    if (at == NULL || sscanf(at + 6, "%lf", &x) != 1 ||
        sscanf(out, "{\"trial\": %ld", &n) != 1)
        die("tunepipe ask says: %s", out);
    snprintf(number, sizeof number, "%ld", n);
    number_format(x, value);
    call(b, tell, out, sizeof out);
}

/* ---- */

static int
order(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void
figures(const char *how, uint64_t n, const char *of, int64_t *ns, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += ns[i];
    qsort(ns, count, sizeof *ns, order);
    printf("study.%s.%" PRIu64 ".%srate %.6g\n", how, n, of,
           1e9 * (double)count / (double)sum);
    printf("study.%s.%" PRIu64 ".%smedian %.6g\n", how, n, of,
           (double)ns[count / 2] / 1e3);
    printf("study.%s.%" PRIu64 ".%s95th %.6g\n", how, n, of,
           (double)ns[count * 95 / 100] / 1e3);
}

static const struct way {
    const char *name, *figure;
    void (*open)(struct bench *, char **argv);
    void (*fill)(struct bench *), (*cycle)(struct bench *);
} ways[] = {
    {"pipe", "pipe", pipe_open, pipe_cycle, pipe_cycle},
    {"library", "c", library_open, library_cycle, library_cycle},
    {"shell", "shell", library_open, library_cycle, shell_cycle},
};

/* With n trials told, in order, the next ones are measured. */
static void
measure(struct bench *b, const struct way *way, size_t cycles, char *numbers)
{
    static int64_t ns[CYCLES_MAX];
    char *rest = NULL;
    uint64_t told = 0, n;

    for (char *w = strtok_r(numbers, " ", &rest); w != NULL;
         w = strtok_r(NULL, " ", &rest)) {
        if (!number_parse_u64(w, strlen(w), &n))
            die("%s: expected numbers of trials", w);
        for (; told < n; told++)
            way->fill(b);
        b->n_calls = 0;
        for (size_t i = 0; i < cycles; i++, told++) {
            int64_t from = clock_monotonic_ns();

            way->cycle(b);
            ns[i] = clock_monotonic_ns() - from;
        }
        figures(way->figure, n, "", ns, cycles);
        if (b->n_calls > 0)
            figures(way->figure, n, "call-", b->calls, b->n_calls);
    }
}

int
main(int argc, char **argv)
{
    static struct bench b;
    uint64_t cycles;
    struct err err;

    for (size_t i = 0; argc > 6 && i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(argv[1], ways[i].name) != 0 ||
            !number_parse_u64(argv[3], strlen(argv[3]), &cycles) ||
            cycles == 0 || cycles > CYCLES_MAX)
            continue;
        b.program = argv[2];
        ways[i].open(&b, &argv[5]);
        measure(&b, &ways[i], (size_t)cycles, argv[4]);
        tp_study_close(b.study);
        if (client_close(b.pipe, &err) != 0)
            die("%s", err.text);
        return 0;
    }
    fputs(usage, stderr);
    return 2;
}
