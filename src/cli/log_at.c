/* SPDX-License-Identifier: MIT */
#include "cli/log_at.h"

#include "cli/log_print.h"
#include "cli/verb.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
#include "plugin/paths.h"
#include "replay/standing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define INPUT_SHOWN 60   /* bytes of the input's payload */
#define PENDING_SHOWN 10 /* inputs of each worker */

/* ---- for people ---- */

static void
print_trial(const struct standing_trial *t, FILE *out)
{
    char value[NUMBER_TEXT_MAX];

    visible_printf(out, "  %-12s %-12s ",
                   t->parameter == NULL ? "-" : t->parameter,
                   t->job == NULL ? "-" : t->job);
    if (t->has_latest) {
        number_format(t->latest.value, value);
        visible_printf(out, "%s at step %" PRIu64, value, t->latest.step);
    } else {
        fputs(t->job == NULL ? "not heard of" : "no intermediate value", out);
    }
    if (t->attempt > 0)
        visible_printf(out, ", attempt %" PRIu64, t->attempt);
    if (t->told)
        fputs(", its result is known", out);
    if (t->stopped)
        fputs(", stopped", out);
    if (!t->out)
        fputs(", not the tuner's", out);
    fputc('\n', out);
}

static void
print_pending(const char *who, const struct standing_list *list, FILE *out)
{
    visible_printf(out, "%-11s ", who);
    if (list->n == 0)
        fputs("no answer was still to be written\n", out);
    for (size_t i = 0; i < list->n; i++) {
        const struct standing_pending *p = &list->at[i];

        if (i > 0)
            visible_printf(out, "%12s", "");
        if (i == PENDING_SHOWN) {
            visible_printf(out, "and to %zu more\n", list->n - i);
            break;
        }
        visible_printf(
            out, "%" PRIu64 " answer%s to %s %" PRIu64 " not yet written\n",
            p->frames, p->frames == 1 ? "" : "s",
            p->code[0] == '\0' ? "input" : p->code, p->cause);
    }
}

static void
print_owed(const struct standing *s, FILE *out)
{
    fputs("owed        ", out);
    if (s->n_owed == 0)
        fputs("nothing", out);
    for (size_t i = 0; i < s->n_owed; i++) {
        visible_printf(out, "%s%" PRIu64, i > 0 ? ", " : "", s->owed[i].first);
        if (s->owed[i].count > 1)
            visible_printf(out, " to %" PRIu64,
                           s->owed[i].first + s->owed[i].count - 1);
    }
    fputc('\n', out);
}

static void
print_plain(const struct standing *s, FILE *out)
{
    char when[LOG_TIME_MAX];
    size_t n_out = 0;

    for (size_t i = 0; i < s->n_trials; i++)
        n_out += s->trials[i].out;
    visible_printf(out, "at          command %" PRIu64, s->at);
    if (s->time_us > 0)
        visible_printf(
            out, ", %s: %.*s%s", log_time(s->time_us, when), INPUT_SHOWN,
            s->input == NULL ? "of a program" : s->input,
            s->input != NULL && strlen(s->input) > INPUT_SHOWN ? "..." : "");
    visible_printf(out, "\nspace       %s\n", s->has_space ? "set" : "not set");
    visible_printf(out, "next id     %" PRIu64 "\n", s->next_id);
    visible_printf(out,
                   "trials      %zu out, %" PRIu64 " finished, %" PRIu64
                   " ended without a result; %" PRIu64 " stopped so far\n",
                   n_out, s->finished, s->resultless, s->kills);
    if (s->n_trials > 0)
        visible_printf(out, "  %-12s %-12s latest\n", "parameter_id", "trial");
    for (size_t i = 0; i < s->n_trials; i++)
        print_trial(&s->trials[i], out);
    print_owed(s, out);
    print_pending("tuner", &s->pending[0], out);
    print_pending("assessor", &s->pending[1], out);
}

/* ---- JSON ---- */

static void
add_trial(struct json_writer *w, const struct standing_trial *t)
{
    json_open_object(w, NULL);
    json_add_text(w, "parameter_id", t->parameter);
    json_add_text(w, "trial_job_id", t->job);
    json_add_unsigned(w, "attempt", t->attempt);
    json_add_bool(w, "out", t->out);
    json_add_bool(w, "told", t->told);
    json_add_bool(w, "stopped", t->stopped);
    if (json_open_object_if(w, "latest", t->has_latest)) {
        json_add_unsigned(w, "step", t->latest.step);
        json_add_number(w, "value", t->latest.value);
        json_close(w);
    }
    json_close(w);
}

static void
add_pending(struct json_writer *w, const char *who,
            const struct standing_list *list)
{
    json_open_array(w, who);
    for (size_t i = 0; i < list->n; i++) {
        json_open_object(w, NULL);
        json_add_unsigned(w, "command", list->at[i].cause);
        json_add_text(w, "code", list->at[i].code);
        json_add_unsigned(w, "answers", list->at[i].frames);
        json_close(w);
    }
    json_close(w);
}

static void
print_json(const struct standing *s, FILE *out)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    w = json_begin_object(&text);
    json_add_unsigned(&w, "at", s->at);
    json_add_integer(&w, "time_us", s->time_us);
    json_add_text(&w, "input", s->input);
    json_add_bool(&w, "space", s->has_space);
    json_add_unsigned(&w, "next_id", s->next_id);
    json_add_unsigned(&w, "finished", s->finished);
    json_add_unsigned(&w, "resultless", s->resultless);
    json_add_unsigned(&w, "stopped", s->kills);
    json_open_array(&w, "trials");
    for (size_t i = 0; i < s->n_trials; i++)
        add_trial(&w, &s->trials[i]);
    json_close(&w);
    json_open_array(&w, "owed");
    for (size_t i = 0; i < s->n_owed; i++) {
        json_open_object(&w, NULL);
        json_add_unsigned(&w, "first", s->owed[i].first);
        json_add_unsigned(&w, "count", s->owed[i].count);
        json_close(&w);
    }
    json_close(&w);
    json_open_object(&w, "pending");
    add_pending(&w, "tuner", &s->pending[0]);
    add_pending(&w, "assessor", &s->pending[1]);
    json_end(&w);
    fprintf(out, "%s\n", buf_text(&text));
    buf_fini(&text);
}

/* What plugins print must not reach our own output. */
static FILE *
own_stdout(struct err *err)
{
    int fd = verb_shield_stdout(err);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (fd >= 0 && out == NULL)
        err_errno(err, ERR_SYSTEM, "standard output");
    return out;
}

static int
print(const struct standing *s, bool json, FILE *out, struct err *err)
{
    if (json)
        print_json(s, out);
    else
        print_plain(s, out);
    if (ferror(out) || fflush(out) != 0)
        return err_set(err, ERR_SYSTEM, "cannot write to stdout");
    return 0;
}

int
log_at(const char *log, uint64_t at, const char *plugin_path, bool json,
       struct err *err)
{
    struct log silent = {.fd = -1, .most = LOG_ERROR, .name = "tunepipe"};
    FILE *out = own_stdout(err);
    struct plugin_paths *paths =
        out == NULL ? NULL : plugin_paths_new(plugin_path, err);
    struct standing_setup setup = {log, at, paths, &silent};
    struct standing s = {0};
    int rc = paths == NULL ? -1 : standing_run(&setup, &s, err);

    if (rc == 0)
        rc = print(&s, json, out, err);
    standing_fini(&s);
    plugin_paths_free(paths);
    if (out != NULL)
        fclose(out);
    return rc;
}
