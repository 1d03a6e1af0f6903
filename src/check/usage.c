/* SPDX-License-Identifier: MIT */
/* What a plugin uses up: memory, open files, CPU time. */
#include "check/job.h"

#include "check/spaces.h"
#include "core/buf.h"
#include "plugin/loader.h"
#include "space/space.h"

#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIVES_WARM 100
#define LIVES 1000
#define LIVES_MORE 5000 /* when memory has grown */
#define LEAK_BYTES 16   /* a life: the least that malloc can lose */

/* The sanitizers' allocators have it. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* Bytes in use; 0: not known. */
static size_t
bytes_in_use(void)
{
    if (__sanitizer_get_current_allocated_bytes != NULL)
        return __sanitizer_get_current_allocated_bytes();
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
#else
    return 0;
#endif
}

/* Files or threads of this process. */
static size_t
count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    size_t n = 0;

    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        closedir(d);
    return n;
}

static void
judge_leaks(const struct job *job, double a_life, int lives)
{
    if (bytes_in_use() == 0)
        child_find(job->page, CHECK_WARNING,
                   "this C library does not say how much memory is in use");
    else if (a_life >= LEAK_BYTES)
        child_find(job->page, CHECK_FAILED,
                   "%.0f bytes are lost from each create to destroy: free in "
                   "destroy what the object holds, in ended a trial's slot "
                   "(-fsanitize=address says where it came from)",
                   a_life);
    else
        child_find(job->page, CHECK_OK, "%d lives, no growth", lives);
}

/* 0: that many went by; *growth, in bytes a life. */
static int
live_on(const struct job *job, int lives, double *growth)
{
    size_t before = bytes_in_use();

    for (int i = 0; i < lives; i++)
        if (job_live(job, NULL) != 0)
            return -1;
    *growth = ((double)bytes_in_use() - (double)before) / lives;
    return 0;
}

/* What is lost goes on growing.  What malloc keeps of what was freed, and
 * counts as used (glibc's tcache), may grow through some thousand lives. */
void
job_leaks(const struct job *job)
{
    size_t files, threads;
    double growth;
    int lives = LIVES;

    if (live_on(job, LIVES_WARM, &growth) != 0)
        return;
    files = count_entries("/proc/self/fd");
    threads = count_entries("/proc/self/task");
    if (live_on(job, LIVES - LIVES_WARM, &growth) != 0)
        return;
    while (growth >= LEAK_BYTES && lives < LIVES_MORE) {
        if (live_on(job, LIVES, &growth) != 0)
            return;
        lives += LIVES;
    }
    judge_leaks(job, growth, lives);
    if (count_entries("/proc/self/fd") > files)
        child_find(job->page, CHECK_FAILED,
                   "files stay open after destroy: close them there");
    if (count_entries("/proc/self/task") > threads)
        child_find(job->page, CHECK_FAILED,
                   "threads run on after destroy: join them there");
}

/* Results after which a call is timed, and how many calls are averaged. */
static const struct {
    uint64_t results, window;
} marks[] = {{10, 10}, {1000, 100}, {10000, 100}};
#define N_MARKS (sizeof marks / sizeof *marks)
#define CPU_MAX 20.0 /* seconds: what goes on longer is told as slow */

struct pace {
    double us[N_MARKS]; /* of one ask with its tell, or of one assess */
    size_t n;           /* marks reached */
    double begun, window_begun;
};

static double
cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Before result i (from 0); false: enough. */
static bool
pace_go_on(struct pace *p, uint64_t i)
{
    double now = cpu_seconds();

    if (i == 0)
        p->begun = now;
    if (i == marks[p->n].results) {
        p->us[p->n] =
            (now - p->window_begun) * 1e6 / (double)marks[p->n].window;
        p->n++;
    }
    if (p->n == N_MARKS || now - p->begun > CPU_MAX)
        return false;
    if (i == marks[p->n].results - marks[p->n].window)
        p->window_begun = now;
    return true;
}

/* A result; a tuner that gives no point is told one from elsewhere. */
static void
one_result(struct calls *c, uint64_t id)
{
    double value = sin((double)id);
    double *x;

    if (calls_ask(c, id, &x) == TP_OK) {
        calls_tell(c, id, x, TP_RESULT_FINAL, value);
        calls_ended(c, id, x, TP_ENDED_SUCCEEDED);
    } else {
        calls_tell_foreign(c, id, TP_RESULT_IMPORTED);
    }
    free(x);
}

static void
pace_tuner(const struct job *job, struct calls *c, struct pace *p)
{
    int rc = TP_ERR;

    for (size_t i = 0; i < job->spaces->n && rc != TP_OK; i++)
        rc = calls_space(c, job->spaces->at[i].space);
    if (rc != TP_OK)
        return;
    for (uint64_t i = 0; pace_go_on(p, i) && !c->broken; i++)
        one_result(c, i);
}

/* Trials of a hundred values each. */
static void
pace_assessor(struct calls *c, struct pace *p)
{
    enum { STEPS = 100 };
    double values[STEPS];
    struct tp_history h = {0};
    void *slot = NULL;

    for (uint64_t i = 0; pace_go_on(p, i) && !c->broken; i++) {
        values[i % STEPS] = sin((double)i);
        h = (struct tp_history){.trial = i / STEPS,
                                .values = values,
                                .n = i % STEPS + 1,
                                .slot = &slot};
        calls_assess(c, &h);
        if (h.n < STEPS)
            continue;
        calls_trial_ended(c, &h, TP_TRIAL_SUCCEEDED);
        slot = NULL;
    }
}

/* Ten times the results may cost ten times as much, not a hundred. */
#define GROWTH_MAX 40.0
#define GROWTH_FROM_US 100.0 /* below, a call is fast whatever it grows by */

static void
judge_pace(const struct job *job, const struct pace *p)
{
    bool assessor = job->plugin->kind == PLUGIN_ASSESSOR;
    const char *call = assessor ? "assess" : "ask and tell";
    struct buf text;

    buf_init(&text, CHECK_TEXT_MAX);
    for (size_t i = 0; i < p->n; i++)
        buf_printf(&text, "%s%.1f us after %" PRIu64, i > 0 ? ", " : "",
                   p->us[i], marks[i].results);
    if (p->n == 0)
        child_find(job->page, CHECK_WARNING, "nothing could be timed");
    else if (p->n < N_MARKS)
        child_find(job->page, CHECK_WARNING,
                   "%s: %s results; %" PRIu64 " were not reached in %.0f s of "
                   "CPU time: long experiments will wait for it",
                   call, buf_text(&text), marks[p->n].results, CPU_MAX);
    else if (p->us[2] > GROWTH_FROM_US && p->us[2] > GROWTH_MAX * p->us[1])
        child_find(job->page, CHECK_WARNING,
                   "%s: %s results: grows like the square of the results, or "
                   "faster",
                   call, buf_text(&text));
    else
        child_find(job->page, CHECK_OK, "%s: %s results (CPU time)", call,
                   buf_text(&text));
    buf_fini(&text);
}

void
job_latency(const struct job *job)
{
    const struct calls_setup setup = {
        .plugin = job->plugin, .args = job->args, .seen = &job->page->seen};
    struct pace pace = {.n = 0};
    struct err err = {0};
    struct calls c;

    calls_open(&c, &setup);
    snprintf(c.place, sizeof c.place, "10,000 results in a row");
    if (!c.broken && job->plugin->kind == PLUGIN_ASSESSOR)
        pace_assessor(&c, &pace);
    else if (!c.broken)
        pace_tuner(job, &c, &pace);
    if (calls_close(&c, &err) != 0)
        child_find(job->page, CHECK_FAILED, "%s", err.text);
    else
        judge_pace(job, &pace);
}
