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
add_stop(struct json_writer *w, const char *key, const struct whatif_stop *s)
{
    if (!json_open_object_if(w, key, s->stops))
        return;
    json_add_unsigned(w, "step", s->step);
    json_add_number(w, "value", s->value);
    json_add_unsigned(w, "command", s->arrival);
    json_add_integer(w, "time_us", s->time_us);
    json_close(w);
}

static void
add_job(struct json_writer *w, const char *key, const struct whatif_trial *t)
{
    json_add_text(w, key, t == NULL ? NULL : t->job);
}

static void
add_trial(struct json_writer *w, const struct whatif_trial *t)
{
    json_open_object(w, NULL);
    json_add_text(w, "trial", t->job);
    json_add_raw(w, "parameter_id", t->id);
    json_add_unsigned(w, "steps", t->steps);
    json_add_text(w, "event", t->ended ? command_event_name(t->event) : NULL);
    json_add_number(w, "final", t->has_final ? t->final : NAN);
    add_stop(w, "recorded", &t->really);
    add_stop(w, "then", &t->then);
    json_add_unsigned(w, "saved_steps", t->saved_steps);
    json_add_number(w, "saved_s",
                    t->then.stops ? (double)(t->end_us - t->then.time_us) / 1e6
                                  : 0);
    json_add_bool(w, "unknown", t->unknown);
    json_add_bool(w, "open", t->open);
    json_close(w);
}

static int
print_json(FILE *out, const struct whatif *what, struct err *err)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    w = json_begin_object(&text);
    json_add_raw(&w, "assessor", what->assessor);
    json_add_bool(&w, "maximize", what->maximize);
    json_add_unsigned(&w, "trials", what->n);
    json_add_unsigned(&w, "stopped", what->stopped_then);
    json_add_unsigned(&w, "stopped_recorded", what->stopped_really);
    json_add_unsigned(&w, "stopped_same", what->stopped_same);
    json_add_unsigned(&w, "steps", what->steps);
    json_add_unsigned(&w, "saved_steps", what->saved_steps);
    json_add_number(&w, "saved_s", what->saved_s);
    add_job(&w, "best", what->best);
    if (what->best != NULL)
        json_add_bool(&w, "best_survives", !what->best->then.stops);
    else
        json_add_text(&w, "best_survives", NULL);
    add_job(&w, "best_left", what->best_left);
    json_add_unsigned(&w, "unknown", what->unknown);
    json_add_unsigned(&w, "first_other", what->first);
    json_add_unsigned(&w, "open", what->open);
    json_open_array(&w, "list");
    for (size_t i = 0; i < what->n; i++)
        add_trial(&w, &what->trials[i]);
    json_end(&w);
    buf_add_char(&text, '\n');
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
