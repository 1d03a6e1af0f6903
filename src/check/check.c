/* SPDX-License-Identifier: MIT */
/* DESIGN.  The parent loads nothing: each check is a child that loads the
 * file, works and writes findings into memory it shares with the parent, which
 * adds how the child ended.  Answers and what the plugin prints go to files in
 * memory, which the parent compares and looks at in the end. */
#include "check/check.h"

#include "check/answers.h"
#include "check/job.h"
#include "check/spaces.h"
#include "core/clock.h"
#include "plugin/loader.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    void (*run)(const struct job *job);
    const char *needed; /* why the others say nothing new when it fails */
} checks[] = {
    {"load", job_load, "needs load"},
    {"conformance", job_conformance, "needs conformance"},
    {"saving", job_saving, NULL},
    {"extremes", job_extremes, NULL},
    {"surroundings", job_surroundings, NULL},
    {"leaks", job_leaks, NULL},
    {"latency", job_latency, NULL},
    {"determinism", job_determinism, NULL},
};
#define N_CHECKS (sizeof checks / sizeof *checks)
enum { CONFORMANCE = 1, SAVING = 2, DETERMINISM = 7 };

struct session {
    const char *file;
    const struct check_options *options;
    struct check_report *report;
    struct child_page *page;
    struct spaces spaces, extremes;
    int answers[2]; /* the first and the second time's */
    int output;
    size_t current; /* of checks */
    bool saves;     /* the check of that name found nothing */
};

const char *
check_verdict_name(enum check_verdict verdict)
{
    static const char *const names[] = {
        [CHECK_OK] = "ok",
        [CHECK_WARNING] = "warning",
        [CHECK_FAILED] = "FAILED",
        [CHECK_SKIPPED] = "skipped",
    };

    return names[verdict];
}

static void
add(struct check_report *r, const char *check, enum check_verdict verdict,
    const char *text)
{
    struct check_finding *f = &r->findings[r->n];

    if (r->n == CHECK_FINDINGS_MAX)
        return;
    r->n++;
    r->count[verdict]++;
    f->check = check;
    f->verdict = verdict;
    snprintf(f->text, sizeof f->text, "%s", text);
}

/* In the child. */
static void
work(void *ctx)
{
    struct session *s = ctx;
    struct child_page *page = s->page;
    struct err err = {0};
    struct plugin *p;
    struct job job = {.args = s->options->args,
                      .page = page,
                      .answers_fd = s->answers[s->current == DETERMINISM],
                      .spaces = &s->spaces,
                      .extremes = &s->extremes,
                      .saves = s->saves};

    if (s->current == DETERMINISM)
        job_displace();
    snprintf(page->seen.now, sizeof page->seen.now, "loading");
    p = plugin_load_file(s->file, PLUGIN_ANY, &err);
    page->seen.now[0] = '\0';
    if (p == NULL) {
        child_find(page, CHECK_FAILED, "%s", err.text);
        return;
    }
    snprintf(page->kind, sizeof page->kind, "%s", plugin_kind_name(p->kind));
    snprintf(page->name, sizeof page->name, "%s", p->name);
    job.plugin = p;
    checks[s->current].run(&job);
    plugin_unload(p);
}

/* All of a file in memory as text, to be freed; NULL: out of memory. */
static char *
read_all(int fd)
{
    struct stat st = {0};
    char *text = fstat(fd, &st) == 0 ? calloc(1, (size_t)st.st_size + 1) : NULL;

    if (text != NULL && pread(fd, text, (size_t)st.st_size, 0) < 0)
        text[0] = '\0';
    return text;
}

static void
compare(struct session *s)
{
    char *first = read_all(s->answers[0]), *second = read_all(s->answers[1]);
    struct err err = {0};

    if (first == NULL || second == NULL)
        child_find(s->page, CHECK_FAILED, "out of memory");
    else if (answers_compare(first, second, &err) != 0)
        child_find(
            s->page, CHECK_FAILED,
            "%s: no clock, address, environment, locale, fresh "
            "memory or who asks for reasons or scores may matter; for random "
            "numbers use the host's",
            err.text);
    else
        child_find(s->page, CHECK_OK,
                   "the same answers at other addresses, in another "
                   "environment, a second later");
    free(first);
    free(second);
}

/* Until another second has begun, also for time(), which lags by a tick: who
 * draws from the clock is found out. */
static void
wait_for_another_second(int64_t since_ns)
{
    const int64_t second = 1000000000, tick = 20000000;
    int64_t until = (since_ns / second + 1) * second + tick;

    for (;;) {
        int64_t left_ns = until - clock_realtime_ns();

        if (left_ns <= 0 || left_ns > 2 * second) /* or the clock was set */
            return;
        poll(NULL, 0, (int)(left_ns / 1000000) + 1);
    }
}

/* What was printed, as far as it shows. */
static void
judge_output(struct session *s)
{
    char *text = read_all(s->output);
    size_t len = text == NULL ? 0 : strcspn(text, "\n");

    s->page->n = 0;
    if (text == NULL || text[0] == '\0')
        child_find(s->page, CHECK_OK, "it prints nothing");
    else
        child_find(s->page, CHECK_WARNING,
                   "it prints '%.*s': use host->log(), stdout is the "
                   "protocol's and stderr the user's",
                   len < 100 ? (int)len : 100, text);
    free(text);
    add(s->report, "output", s->page->findings[0].verdict,
        s->page->findings[0].text);
}

/* Runs check i and takes its findings over. */
static int
run_one(struct session *s, size_t i, struct err *err)
{
    s->current = i;
    if (child_run(s->page, work, s, s->output, s->options->limit_ms, err) != 0)
        return -1;
    if (i == DETERMINISM && s->page->n == 0)
        compare(s);
    for (size_t k = 0; k < s->page->n; k++)
        add(s->report, checks[i].name, s->page->findings[k].verdict,
            s->page->findings[k].text);
    if (i == 0) {
        memcpy(s->report->kind, s->page->kind, sizeof s->report->kind);
        memcpy(s->report->name, s->page->name, sizeof s->report->name);
    }
    return 0;
}

static int
run_all(struct session *s, struct err *err)
{
    const char *needed = NULL; /* why the rest is skipped */
    int64_t first_ns = 0;
    char text[64];

    for (size_t i = 0; i < N_CHECKS; i++) {
        size_t failed = s->report->count[CHECK_FAILED];

        if (needed != NULL) {
            snprintf(text, sizeof text, "%s", needed);
            add(s->report, checks[i].name, CHECK_SKIPPED, text);
            continue;
        }
        if (i == DETERMINISM)
            wait_for_another_second(first_ns);
        if (run_one(s, i, err) != 0)
            return -1;
        if (i == SAVING)
            s->saves = s->report->count[CHECK_FAILED] == failed;
        if (i == CONFORMANCE)
            first_ns = clock_realtime_ns();
        if (checks[i].needed && s->report->count[CHECK_FAILED] > failed)
            needed = checks[i].needed;
    }
    judge_output(s);
    return 0;
}

int
check_plugin(const char *file, const struct check_options *options,
             struct check_report *out, struct err *err)
{
    struct session s = {.file = file, .options = options, .report = out};
    int rc = -1;

    memset(out, 0, sizeof *out);
    s.answers[0] = memfd_create("first answers", MFD_CLOEXEC);
    s.answers[1] = memfd_create("second answers", MFD_CLOEXEC);
    s.output = memfd_create("output", MFD_CLOEXEC);
    s.page = child_page_new(err);
    if (s.answers[0] < 0 || s.answers[1] < 0 || s.output < 0)
        err_errno(err, ERR_SYSTEM, "files in memory");
    else if (s.page != NULL && spaces_init(&s.spaces, err) == 0 &&
             spaces_init_extreme(&s.extremes, err) == 0)
        rc = run_all(&s, err);
    spaces_fini(&s.extremes);
    spaces_fini(&s.spaces);
    child_page_free(s.page);
    close(s.output);
    close(s.answers[1]);
    close(s.answers[0]);
    return rc;
}
