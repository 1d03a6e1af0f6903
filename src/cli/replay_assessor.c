/* SPDX-License-Identifier: MIT */
/* tunepipe replay LOG --assessor NAME */
#include "cli/replay_modes.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
#include "replay/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- for people ---- */

static void
write_stop(const struct whatif_stop *s, char text[64])
{
    char value[NUMBER_TEXT_MAX];

    number_format(s->value, value);
    snprintf(text, 64, "stopped at step %zu (%s)", s->step, value);
}

static void
write_recorded(const struct whatif_trial *t, char text[64])
{
    char value[NUMBER_TEXT_MAX];

    number_format(t->final, value);
    if (t->really.stops)
        write_stop(&t->really, text);
    else
        snprintf(text, 64, "%s%s%s",
                 t->ended ? command_event_name(t->event) : "had not ended",
                 t->has_final ? " " : "", t->has_final ? value : "");
}

static void
print_trial(FILE *out, const struct whatif_trial *t)
{
    char recorded[64], then[64] = "the same", saves[64] = "";

    write_recorded(t, recorded);
    if (t->then.stops) {
        write_stop(&t->then, then);
        if (t->then.arrival == t->really.arrival)
            snprintf(then, sizeof then, "the same");
        else
            snprintf(saves, sizeof saves, "%zu steps, %.1f s", t->saved_steps,
                     t->saved_s);
    } else if (t->unknown) {
        snprintf(then, sizeof then, "goes on: unknown");
    }
    visible_printf(out, "%s%-12s %-8s %6zu  %-34s %-34s %s\n",
                   t->open ? "~" : " ", t->job, t->id, t->steps, recorded, then,
                   saves);
}

static void
print_best(FILE *out, const struct whatif *w)
{
    char value[NUMBER_TEXT_MAX];

    if (w->best == NULL) {
        visible_printf(out, "best trial: no trial has a final result\n");
        return;
    }
    number_format(w->best->final, value);
    visible_printf(out, "best trial: %s (%s, to %s): ", w->best->job, value,
                   w->maximize ? "maximize" : "minimize");
    if (!w->best->then.stops) {
        visible_printf(out, "survives\n");
        return;
    }
    visible_printf(out, "would be stopped at step %zu", w->best->then.step);
    if (w->best_left != NULL) {
        number_format(w->best_left->final, value);
        visible_printf(out, "; the best that survives: %s (%s)",
                       w->best_left->job, value);
    }
    fputc('\n', out);
}

static void
print_limits(FILE *out, const struct whatif *w)
{
    if (w->against)
        replay_print_against(out, "assessor", w->maximize, "--assessor-args ",
                             "'");
    if (w->unknown > 0)
        visible_printf(
            out,
            "the log cannot tell: %zu trials that were really stopped "
            "would go on; what would have come is unknown\n",
            w->unknown);
    if (w->first != 0)
        visible_printf(
            out,
            "the first other decision is at command %" PRIu64
            ", on trial %s: the %zu trials given out behind it (~) might "
            "have been others, as the tuner goes by results\n",
            w->first, w->first_trial->job, w->open);
}

static void
print_table(FILE *out, const struct whatif *w)
{
    visible_printf(out, " %-12s %-8s %6s  %-34s %-34s %s\n", "trial", "id",
                   "steps", "recorded", "then", "saves");
    for (size_t i = 0; i < w->n; i++)
        print_trial(out, &w->trials[i]);
    visible_printf(out, "assessor: %s\n", w->assessor);
    visible_printf(
        out,
        "would stop %zu of %zu trials (recorded: %zu; %zu of them at the "
        "same step)\n",
        w->stopped_then, w->n, w->stopped_really, w->stopped_same);
    visible_printf(out,
                   "saves %zu of %zu recorded steps and %.1f s of trials\n",
                   w->saved_steps, w->steps, w->saved_s);
    print_best(out, w);
    print_limits(out, w);
}

/* ---- for programs ---- */

static void
add_stop(struct buf *out, const char *key, const struct whatif_stop *s)
{
    buf_printf(out, ", \"%s\": ", key);
    if (!s->stops) {
        buf_add_text(out, "null");
        return;
    }
    buf_printf(out, "{\"step\": %zu, \"value\": ", s->step);
    json_write_number(out, s->value);
    buf_printf(out, ", \"command\": %" PRIu64 ", \"time_us\": %" PRId64 "}",
               s->arrival, s->time_us);
}

static void
add_job(struct buf *out, const char *key, const struct whatif_trial *t)
{
    buf_printf(out, ", \"%s\": ", key);
    json_write_text(out, t == NULL ? NULL : t->job);
}

static void
add_trial(struct buf *out, const struct whatif_trial *t)
{
    buf_add_text(out, "{\"trial\": ");
    json_write_string(out, t->job, strlen(t->job));
    buf_printf(out,
               ", \"parameter_id\": %s, \"steps\": %zu, \"event\": ", t->id,
               t->steps);
    buf_printf(out, t->ended ? "\"%s\"" : "null", command_event_name(t->event));
    buf_add_text(out, ", \"final\": ");
    json_write_number(out, t->has_final ? t->final : NAN);
    add_stop(out, "recorded", &t->really);
    add_stop(out, "then", &t->then);
    buf_printf(out, ", \"saved_steps\": %zu, \"saved_s\": ", t->saved_steps);
    json_write_number(
        out, t->then.stops ? (double)(t->end_us - t->then.time_us) / 1e6 : 0);
    buf_printf(out, ", \"unknown\": %s, \"open\": %s}",
               t->unknown ? "true" : "false", t->open ? "true" : "false");
}

static int
print_json(FILE *out, const struct whatif *w, struct err *err)
{
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    buf_printf(&text,
               "{\"assessor\": %s, \"maximize\": %s, \"trials\": %zu, "
               "\"stopped\": %zu, \"stopped_recorded\": %zu, "
               "\"stopped_same\": %zu, \"steps\": %zu, \"saved_steps\": %zu, "
               "\"saved_s\": ",
               w->assessor, w->maximize ? "true" : "false", w->n,
               w->stopped_then, w->stopped_really, w->stopped_same, w->steps,
               w->saved_steps);
    json_write_number(&text, w->saved_s);
    add_job(&text, "best", w->best);
    buf_printf(&text, ", \"best_survives\": %s",
               w->best == NULL       ? "null"
               : w->best->then.stops ? "false"
                                     : "true");
    add_job(&text, "best_left", w->best_left);
    buf_printf(&text,
               ", \"unknown\": %zu, \"first_other\": %" PRIu64
               ", \"open\": %zu, \"list\": [",
               w->unknown, w->first, w->open);
    for (size_t i = 0; i < w->n; i++) {
        buf_add_text(&text, i == 0 ? "" : ", ");
        add_trial(&text, &w->trials[i]);
    }
    buf_add_text(&text, "]}\n");
    return replay_print_json(out, &text, err);
}

int
replay_assessor(const struct replay_words *w, const char *path,
                const struct plugin_paths *paths, const struct log *log,
                FILE *out, struct err *err)
{
    const char *args = w->assessor_args == NULL ? "{}" : w->assessor_args;
    struct json *doc = json_parse(args, strlen(args), JSON_UNIQUE, err);
    struct whatif_setup setup = {.path = path,
                                 .paths = paths,
                                 .log = log,
                                 .assessor = w->assessor,
                                 .until = w->until};
    struct whatif result;
    int rc;

    if (doc == NULL) {
        err->code = ERR_USAGE;
        return err_place(err, "--assessor-args");
    }
    setup.args = json_root(doc);
    rc = whatif_run(&setup, &result, err);
    if (rc == 0 && w->json)
        rc = print_json(out, &result, err);
    else if (rc == 0)
        print_table(out, &result);
    whatif_fini(&result);
    json_free(doc);
    return rc;
}
