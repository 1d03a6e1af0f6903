/* SPDX-License-Identifier: MIT */
#include "check/job.h"

#include "check/assessor_orders.h"
#include "check/saving.h"
#include "check/spaces.h"
#include "check/surroundings.h"
#include "check/tuner_orders.h"
#include "core/buf.h"
#include "core/file.h"
#include "plugin/loader.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ANSWERS_MAX ((size_t)256 << 20)

void
job_load(const struct job *job)
{
    const struct plugin *p = job->plugin;

    if (p->version == 0)
        child_find(job->page, CHECK_WARNING,
                   ".version is 0: begin with 1 and raise it when its answers "
                   "change");
    if (p->doc[0] == '\0')
        child_find(job->page, CHECK_WARNING,
                   ".doc is empty: one line for `tunepipe tuners`");
    for (size_t i = 0; i < p->n_args; i++)
        if (p->args[i].doc == NULL || p->args[i].doc[0] == '\0')
            child_find(job->page, CHECK_WARNING,
                       "argument '%s' has no .doc: one line, with the unit",
                       p->args[i].name);
    if (job->page->n == 0)
        child_find(job->page, CHECK_OK, "%s %s, version %u, %zu arguments",
                   plugin_kind_name(p->kind), p->name, p->version, p->n_args);
}

/* All orders in all spaces; around a layer that does not always give a point,
 * in two of them. */
static int
run_spaces(const struct job *job, struct calls_setup *setup,
           enum inner_mood mood, struct err *err)
{
    const struct spaces *s = job->spaces;
    size_t n = mood == INNER_GIVES ? s->n : 2;

    setup->mood = mood;
    for (size_t i = 0; i < n; i++) {
        char title[160];

        snprintf(title, sizeof title, "%s%s%s%s", s->at[i].title,
                 mood == INNER_GIVES ? "" : ", ", inner_mood_text(mood),
                 setup->objectives ? ", two objectives" : "");
        if (tuner_orders(setup, title, s->at[i].space,
                         s->at[(i + 1) % s->n].space, err) != 0)
            return -1;
    }
    return 0;
}

static int
run_moods(const struct job *job, struct calls_setup *setup, struct err *err)
{
    int moods = job->plugin->kind == PLUGIN_FILTER ? INNER_MOODS : 1;

    for (int mood = 0; mood < moods; mood++)
        if (run_spaces(job, setup, (enum inner_mood)mood, err) != 0)
            return -1;
    if (!calls_takes_several(job->plugin))
        return 0;
    setup->objectives = true;
    return run_spaces(job, setup, INNER_GIVES, err);
}

static int
run_all(const struct job *job, bool asked, struct err *err)
{
    struct buf answers;
    struct calls_setup setup = {.plugin = job->plugin,
                                .args = job->args,
                                .seen = &job->page->seen,
                                .asked = asked,
                                .answers = &answers};
    int rc;

    buf_init(&answers, ANSWERS_MAX);
    if (job->plugin->kind == PLUGIN_ASSESSOR)
        rc = assessor_orders(&setup, err);
    else
        rc = run_moods(job, &setup, err);
    if (rc == 0)
        rc = buf_check(&answers, "answers", err);
    if (rc == 0)
        rc = file_write_all(job->answers_fd, answers.data, answers.len, err);
    buf_fini(&answers);
    return rc;
}

static void
judge_points(const struct job *job)
{
    const struct calls_seen *seen = &job->page->seen;

    if (seen->taken == 0)
        child_find(job->page, CHECK_WARNING,
                   "space refused every space tried, so that ask and tell were "
                   "not checked; it said: %s",
                   seen->refusal);
    else if (seen->points == 0)
        child_find(job->page, CHECK_WARNING,
                   "ask never gave a point (%" PRIu64
                   " times TP_LATER, %" PRIu64
                   " times TP_DONE), so that tell was not checked",
                   seen->laters, seen->dones);
    else if (seen->refused > 0)
        child_find(job->page, CHECK_OK,
                   "%" PRIu64 " points in the spaces it takes; it refuses "
                   "some: %s",
                   seen->points, seen->refusal);
    else
        child_find(job->page, CHECK_OK, "%" PRIu64 " points in %zu spaces%s",
                   seen->points, job->spaces->n,
                   job->plugin->kind == PLUGIN_FILTER
                       ? ", also around a tuner that waits, ends or fails"
                       : "");
}

void
job_conformance(const struct job *job)
{
    struct err err = {0};

    if (run_all(job, false, &err) != 0)
        child_find(job->page, CHECK_FAILED, "%s", err.text);
    else if (job->plugin->kind == PLUGIN_ASSESSOR)
        child_find(job->page, CHECK_OK, "%" PRIu64 " verdicts",
                   job->page->seen.verdicts);
    else
        judge_points(job);
}

void
job_saving(const struct job *job)
{
    const struct calls_seen *seen = &job->page->seen;
    struct calls_setup setup = {
        .plugin = job->plugin, .args = job->args, .seen = &job->page->seen};
    struct err err = {0};
    bool saves = saving_is_possible(job->plugin);
    int rc = saves ? saving_check(&setup, job->spaces, &err) : 0;

    setup.objectives = calls_takes_several(job->plugin);
    if (saves && setup.objectives && rc == 0)
        rc = saving_check(&setup, job->spaces, &err);

    if (!saves)
        child_find(job->page, CHECK_OK,
                   "it has no save and load: it is replayed from the beginning "
                   "when an experiment goes on, which takes longer");
    else if (rc != 0)
        child_find(job->page, CHECK_FAILED, "%s", err.text);
    else if (seen->loads == 0)
        child_find(job->page, CHECK_WARNING,
                   "nothing could be saved: space refused every space tried");
    else if (seen->damaged == 0)
        child_find(job->page, CHECK_OK,
                   "%" PRIu64 " times it was exchanged for a new one, with the "
                   "same answers; it saves nothing",
                   seen->loads);
    else
        child_find(job->page, CHECK_OK,
                   "%" PRIu64 " times loaded what was saved, up to %zu bytes, "
                   "with the same answers; %" PRIu64 " of %" PRIu64
                   " damaged states refused",
                   seen->loads, seen->state_max, seen->refused_states,
                   seen->damaged);
}

/* What is wrong there and no hang, no crash, may be as old as the plugin is. */
void
job_extremes(const struct job *job)
{
    struct calls_setup setup = {.plugin = job->plugin,
                                .args = job->args,
                                .seen = &job->page->seen,
                                .objectives = calls_takes_several(job->plugin),
                                .saving =
                                    job->saves ? CALLS_SAVED : CALLS_NOT_SAVED,
                                .saving_every = 5};
    const struct spaces *s = job->extremes;
    struct err err = {0};

    for (size_t i = 0; job->plugin->kind != PLUGIN_ASSESSOR && i < s->n; i++) {
        if (tuner_extreme(&setup, &s->at[i], &err) != 0)
            child_find(job->page, CHECK_WARNING, "%s", err.text);
    }
    if (job->plugin->kind == PLUGIN_ASSESSOR)
        child_find(job->page, CHECK_OK, "an assessor sees no search space");
    else if (job->page->n == 0)
        child_find(job->page, CHECK_OK, "%" PRIu64 " points in %zu spaces",
                   job->page->seen.points, s->n);
}

void
job_determinism(const struct job *job)
{
    struct err err = {0};

    if (run_all(job, true, &err) != 0)
        child_find(job->page, CHECK_FAILED, "the second time: %s", err.text);
}

/* Other addresses, other bytes in fresh memory, another environment. */
void
job_displace(void)
{
    void *taken[64];

    mallopt(M_PERTURB, 0x5a);
    if (mmap(NULL, 12345678, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED)
        return;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        taken[i] = malloc(24 + i * 112);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i += 2)
        free(taken[i]); /* holes; the other half is never freed */
    clearenv();
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    setenv("TZ", "Pacific/Chatham", 1);
    setenv("HOME", "/nonexistent", 1);
    setenv("OMP_NUM_THREADS", "3", 1);
    errno = EDOM;
}

int
job_live(const struct job *job, struct surroundings *watch)
{
    static const char tuner[] = "saaaFeFxPpaaaFeaFeaNediaFetaFe";
    static const char assessor[] = "0rrgr1rrn2rr0re1rf2rs3rrc4rrr";
    const struct calls_setup setup = {
        .plugin = job->plugin,
        .args = job->args,
        .seen = &job->page->seen,
        .objectives = calls_takes_several(job->plugin),
        .watch = watch,
        .saving = job->saves ? CALLS_SAVED : CALLS_NOT_SAVED,
        .saving_every = 10};
    const struct spaces *s = job->spaces;
    bool filter = job->plugin->kind == PLUGIN_FILTER;
    size_t second = filter ? 1 : 3; /* one in which points can repeat */
    struct err err = {0};
    int rc = 0;

    job->page->seen.taken = 0;
    if (job->plugin->kind == PLUGIN_ASSESSOR)
        rc = assessor_order(&setup, assessor, &err);
    for (size_t i = 0; job->plugin->kind != PLUGIN_ASSESSOR && i < s->n; i++) {
        rc = tuner_order(&setup, tuner, s->at[i].title, s->at[i].space,
                         s->at[i > 0 ? 0 : second].space, &err);
        if (rc != 0 || job->page->seen.taken > 0)
            break;
    }
    if (rc != 0)
        child_find(job->page, CHECK_FAILED, "%s", err.text);
    return rc;
}

void
job_surroundings(const struct job *job)
{
    struct surroundings *s = surroundings_new();
    const char *what, *by, *advice;

    if (job->plugin->changed_floats)
        child_find(job->page, CHECK_WARNING,
                   "loading it changes the floating-point environment: link it "
                   "without -ffast-math");
    if (s == NULL)
        child_find(job->page, CHECK_FAILED, "out of memory");
    else if (job_live(job, s) == 0)
        for (size_t i = 0;
             (what = surroundings_changed(s, i, &by, &advice)) != NULL; i++)
            child_find(job->page, CHECK_WARNING, "%s changes %s: %s", by, what,
                       advice);
    if (job->page->n == 0)
        child_find(job->page, CHECK_OK, "left as they were");
    surroundings_free(s);
}
