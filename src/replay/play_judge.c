/* SPDX-License-Identifier: MIT */
#include "replay/play_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
play_differ(struct play *p, const char *fmt, ...)
{
    char line[400];
    va_list ap;

    if (p->report->differences++ >= PLAY_LINES)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    buf_printf(&p->report->lines, "%s\n", line);
}

struct play_job *
play_job(struct play *p, const char *name)
{
    struct play_job *job = map_get(&p->jobs, name, strlen(name));

    if (job != NULL)
        return job;
    job = calloc(1, sizeof *job);
    if (job != NULL && map_put(&p->jobs, name, strlen(name), job) != 0) {
        free(job);
        job = NULL;
    }
    p->failed = p->failed || job == NULL;
    return job;
}

void
play_compare_id(struct play *p, enum command_code code, size_t n,
                const char *key)
{
    const struct script_answer *a;

    if (n >= p->report->counts[code].recorded)
        return; /* the count tells */
    a = p->recorded[code][n];
    if (key == NULL || a->key == NULL || strcmp(key, a->key) != 0)
        play_differ(p, "%s %zu: parameter_id %.100s recorded, %.100s came",
                    command_info(code)->code, n + 1,
                    a->key == NULL ? "none" : a->key,
                    key == NULL ? "none" : key);
}

static void
compare_counts(struct play *p)
{
    for (int code = 0; code < CMD_COUNT; code++) {
        const struct play_count *c = &p->report->counts[code];

        if (c->came < c->needed || c->came > c->recorded)
            play_differ(p, "%s: %zu recorded, %zu came",
                        command_info((enum command_code)code)->code,
                        c->recorded, c->came);
    }
}

static void
compare_kills(struct play *p)
{
    const struct script *s = &p->script;
    struct map_slot *slot;

    for (size_t i = 0; i < s->n_answers; i++) {
        const struct script_answer *a = &s->answers[i];
        struct play_job *job;

        if (a->code != CMD_KILL_TRIAL || a->key == NULL)
            continue;
        job = play_job(p, a->key);
        if (job == NULL)
            return;
        job->recorded = true;
        if (!job->killed && a->needed)
            play_differ(p, "trial '%.100s' is killed in the log alone", a->key);
    }
    for (size_t i = 0; i < p->jobs.n_slots; i++) {
        const struct play_job *job;

        slot = &p->jobs.slots[i];
        job = slot->key == NULL ? NULL : slot->value;
        if (job != NULL && job->killed && !job->recorded)
            play_differ(p, "trial '%.*s' is killed by the program alone",
                        (int)(slot->len < 100 ? slot->len : 100), slot->key);
    }
}

void
play_judge(struct play *p)
{
    const struct script *s = &p->script;

    if (p->at < s->n_steps && !p->silent)
        play_differ(p, "ended with %zu of %zu frames sent: %s", p->report->sent,
                    s->n_steps, p->report->how);
    compare_counts(p);
    if (p->at < s->n_steps)
        return;
    compare_kills(p);
    if ((s->terminates || s->ends_whole) &&
        strcmp(p->report->how, "exit status 0") != 0 && !p->silent)
        play_differ(p, "ended with %s", p->report->how);
}
