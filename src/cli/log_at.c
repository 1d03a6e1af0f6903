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
add_text(struct buf *out, const char *key, const char *text)
{
    buf_printf(out, "\"%s\": ", key);
    json_write_text(out, text);
}

static const char *
truth(bool yes)
{
    return yes ? "true" : "false";
}

static void
add_trial(struct buf *out, const struct standing_trial *t)
{
    buf_add_char(out, '{');
    add_text(out, "parameter_id", t->parameter);
    buf_add_text(out, ", ");
    add_text(out, "trial_job_id", t->job);
    buf_printf(out,
               ", \"attempt\": %" PRIu64 ", \"out\": %s, \"told\": %s, "
               "\"stopped\": %s, \"latest\": ",
               t->attempt, truth(t->out), truth(t->told), truth(t->stopped));
    if (t->has_latest) {
        buf_printf(out, "{\"step\": %" PRIu64 ", \"value\": ", t->latest.step);
        json_write_number(out, t->latest.value);
        buf_add_text(out, "}}");
    } else {
        buf_add_text(out, "null}");
    }
}

static void
add_pending(struct buf *out, const char *who, const struct standing_list *list)
{
    buf_printf(out, "\"%s\": [", who);
    for (size_t i = 0; i < list->n; i++)
        buf_printf(out,
                   "%s{\"command\": %" PRIu64 ", \"code\": \"%s\", "
                   "\"answers\": %" PRIu64 "}",
                   i > 0 ? ", " : "", list->at[i].cause, list->at[i].code,
                   list->at[i].frames);
    buf_add_char(out, ']');
}

static void
print_json(const struct standing *s, FILE *out)
{
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    buf_printf(&text, "{\"at\": %" PRIu64 ", \"time_us\": %" PRId64 ", ", s->at,
               s->time_us);
    add_text(&text, "input", s->input);
    buf_printf(&text,
               ", \"space\": %s, \"next_id\": %" PRIu64
               ", \"finished\": %" PRIu64 ", \"resultless\": %" PRIu64
               ", \"stopped\": %" PRIu64 ", \"trials\": [",
               truth(s->has_space), s->next_id, s->finished, s->resultless,
               s->kills);
    for (size_t i = 0; i < s->n_trials; i++) {
        buf_add_text(&text, i > 0 ? ", " : "");
        add_trial(&text, &s->trials[i]);
    }
    buf_add_text(&text, "], \"owed\": [");
    for (size_t i = 0; i < s->n_owed; i++)
        buf_printf(&text, "%s{\"first\": %" PRIu64 ", \"count\": %" PRIu64 "}",
                   i > 0 ? ", " : "", s->owed[i].first, s->owed[i].count);
    buf_add_text(&text, "], \"pending\": {");
    add_pending(&text, "tuner", &s->pending[0]);
    buf_add_text(&text, ", ");
    add_pending(&text, "assessor", &s->pending[1]);
    buf_add_text(&text, "}}\n");
    fputs(buf_text(&text), out);
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
