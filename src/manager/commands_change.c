/* SPDX-License-Identifier: MIT */
/* What changes a running experiment as a whole. */
#include "manager/commands_table.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/coordinator.h"
#include "manager/imports.h"
#include "manager/state.h"

#define DURATION_MAX_MS                                   \
    864000000000u /* 10,000 days, as in the configuration \
                   */

struct changes {
    uint64_t concurrency, max_trials, max_ms; /* 0: as it is */
};

static int
refuse(const char *key, uint64_t most, struct jval v, struct err *err)
{
    struct buf shown;

    buf_init(&shown, CONTROL_LINE_MAX);
    jval_write(v, &shown);
    err_set(err, ERR_INPUT,
            "%s: expected an integer from 1 to %llu, not %.100s", key,
            (unsigned long long)most, buf_text(&shown));
    buf_fini(&shown);
    return -1;
}

static int
read_change(struct jval request, const char *key, uint64_t most, uint64_t *out,
            struct err *err)
{
    struct jval v;

    if (!jval_get(request, key, &v))
        return 0;
    if (!jval_uint(v, out) || *out == 0 || *out > most)
        return refuse(key, most, v, err);
    return 0;
}

static int
read_changes(struct jval request, struct changes *c, struct err *err)
{
    if (read_change(request, "concurrency", INT32_MAX, &c->concurrency, err) !=
            0 ||
        read_change(request, "max_trials", INT64_MAX, &c->max_trials, err) !=
            0 ||
        read_change(request, "max_duration_ms", DURATION_MAX_MS, &c->max_ms,
                    err) != 0)
        return -1;
    if (c->concurrency == 0 && c->max_trials == 0 && c->max_ms == 0)
        return err_set(err, ERR_INPUT,
                       "expected concurrency, max_trials or max_duration_ms");
    return 0;
}

static void
say(struct manager *m, const struct changes *c)
{
    struct buf line;

    buf_init(&line, 400);
    if (c->concurrency > 0)
        buf_printf(&line, " concurrency %llu",
                   (unsigned long long)c->concurrency);
    if (c->max_trials > 0)
        buf_printf(&line, " max-trials %llu",
                   (unsigned long long)c->max_trials);
    if (c->max_ms > 0)
        buf_printf(&line, " max-duration %g s", (double)c->max_ms / 1e3);
    progress_say(&m->progress, "tunepipe: updated:%s", buf_text(&line));
    buf_fini(&line);
}

int
commands_update(struct manager *m, struct jval request, struct buf *reply,
                struct err *err)
{
    struct changes c = {0};

    if (read_changes(request, &c, err) != 0 ||
        (c.concurrency > 0 && coordinator_resize(m, c.concurrency, err) != 0) ||
        coordinator_limit(m, c.max_trials, (int64_t)c.max_ms, err) != 0)
        return -1;
    say(m, &c);
    buf_add_text(reply, "{}");
    return 0;
}

int
commands_pause(struct manager *m, struct jval request, struct buf *reply,
               struct err *err)
{
    bool before = m->scheduler.paused;

    (void)request;
    if (coordinator_pause(m, err) != 0)
        return -1;
    if (!before)
        progress_say(&m->progress, "tunepipe: paused: no trial is started");
    buf_printf(reply, "{\"running\": %llu}", (unsigned long long)m->n_running);
    return 0;
}

int
commands_continue(struct manager *m, struct jval request, struct buf *reply,
                  struct err *err)
{
    bool before = m->scheduler.paused;

    (void)request;
    if (coordinator_continue(m, err) != 0)
        return -1;
    if (before)
        progress_say(&m->progress, "tunepipe: goes on");
    buf_add_text(reply, "{}");
    return 0;
}

/* As Ctrl-C, and twice for "now"; said again it changes nothing more. */
int
commands_stop(struct manager *m, struct jval request, struct buf *reply,
              struct err *err)
{
    bool now = false;
    struct jval v;

    if (jval_get(request, "now", &v) && !jval_bool(v, &now))
        return err_set(err, ERR_INPUT, "now: expected true or false, not %s",
                       jval_type_name(v));
    if (m->interrupts == 0)
        manager_interrupt(m);
    if (now && m->interrupts == 1)
        manager_interrupt(m);
    buf_printf(reply, "{\"running\": %llu}", (unsigned long long)m->n_running);
    return 0;
}

int
commands_import(struct manager *m, struct jval request, struct buf *reply,
                struct err *err)
{
    uint64_t n;

    (void)request;
    if (m->phase != PHASE_RUNNING || m->end_known)
        return err_set(err, ERR_INPUT,
                       "the experiment asks for no more trials");
    if (imports_accept(&m->exchange, m->folder.path, &n, err) != 0)
        return -1;
    buf_printf(reply, "{\"trials\": %llu}", (unsigned long long)n);
    return 0;
}
