/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/visible.h"
#include "history/folder.h"
#include "json.h"
#include "manager/budget.h"
#include "manager/results.h"
#include "manager/trial.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID_FILE_MAX ((size_t)1 << 20)
#define CELLS_MAX ((size_t)1 << 30)
#define STATE_MAX 41

static const char help[] =
    "usage: tunepipe ls [FOLDER] [--json]\n"
    "\n"
    "Lists the experiments of a working folder, the newest first: state, trials\n"
    "that have ended, the best result and its trial, when it began and when it\n"
    "last changed, and the folder, which is the DIR of all other verbs.  FOLDER\n"
    "is where experiments lie, by default ./tunepipe-experiments.\n"
    "\n"
    "  running, paused  its manager lives: its process\n"
    "  finished         nothing is left to be done\n"
    "  interrupted      it ended before that, by a signal, or as is said in\n"
    "                   short: tunepipe resume goes on\n"
    "  died             its manager or the machine did: the same\n"
    "  forked           made by tunepipe fork, not started: the same\n"
    "  queued           made by tunepipe run --batch, its job has not begun\n"
    "  unreadable       its files are damaged\n"
    "\n"
    "  --json   {\"experiments\": [{\"experiment\", \"folder\", \"state\", \"pid\",\n"
    "           \"reason\", \"done\", \"max_trials\", \"optimize_mode\",\n"
    "           \"best\": {\"trial\", \"value\"}, \"began_s\", \"changed_s\"}, ...]};\n"
    "           null where there is none; times in seconds since 1970\n"
    "\n"
    "Exit status: 0; 1 not all listed; 2 usage; 3 FOLDER cannot be read, or is\n"
    "an experiment's.\n"
    "\n"
    "Example: tunepipe ls\n";

struct words {
    bool json;
};

static const struct option options[] = {
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* An experiment and what is told of it; `results` NULL: it cannot be read, as
 * err says. */
struct row {
    const struct target_entry *entry;
    struct results *results;
    struct err err;
    long pid; /* its manager's; 0: none lives */
    double changed_s;
};

static double
seconds_of(struct timespec t)
{
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* When the newest of the files was written that tell how it stands. */
static double
find_change(const struct target_entry *e)
{
    static const char *const names[] = {FOLDER_RESULTS, FOLDER_SUMMARY,
                                        FOLDER_BUDGET};
    double newest = seconds_of(e->began);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = file_join(e->path, names[i]);
        struct stat st;

        if (path != NULL && stat(path, &st) == 0 &&
            seconds_of(st.st_mtim) > newest)
            newest = seconds_of(st.st_mtim);
        free(path);
    }
    return newest;
}

static long
read_pid(const char *folder)
{
    char *path = file_join(folder, FOLDER_PID);
    struct buf text;
    long pid = 0;

    buf_init(&text, PID_FILE_MAX);
    if (path != NULL && file_read(path, 32, &text, NULL) == 0)
        pid = strtol(buf_text(&text), NULL, 10);
    buf_fini(&text);
    free(path);
    return pid;
}

static void
row_init(struct row *row, const struct target_entry *entry)
{
    *row = (struct row){.entry = entry, .changed_s = find_change(entry)};
    row->results = results_load(entry->path, RESULTS_COUNTS, &row->err);
    if (row->results != NULL && row->results->state == RESULTS_RUNNING)
        row->pid = read_pid(entry->path);
}

static const char *
state_of(const struct results *r)
{
    if (r == NULL)
        return "unreadable";
    switch (r->state) {
    case RESULTS_RUNNING:
        return r->paused ? "paused" : "running";
    case RESULTS_ENDED:
        return r->over ? "finished" : "interrupted";
    case RESULTS_DIED:
        return "died";
    case RESULTS_QUEUED:
        return "queued";
    case RESULTS_FORKED:
        return "forked";
    }
    return "";
}

static size_t
count_ended(const struct results *r)
{
    return r->n - r->n_ended[TRIAL_INTERRUPTED];
}

/* ---- JSON ---- */

static void
add_row(struct json_writer *w, const struct row *row)
{
    const struct results *r = row->results;
    const struct result *best = r != NULL ? results_best(r) : NULL;
    const char *name = strrchr(row->entry->path, '/');
    double value;

    json_open_object(w, NULL);
    json_add_text(w, "experiment",
                  r != NULL ? r->id : name + 1); /* WORKING/NAME */
    json_add_text(w, "folder", r != NULL ? r->folder : row->entry->path);
    json_add_text(w, "state", state_of(r));
    json_add_unsigned_if(w, "pid", row->pid > 0, (uint64_t)row->pid);
    json_add_text(w, "reason", r != NULL ? r->reason : row->err.text);
    json_add_unsigned_if(w, "done", r != NULL, r != NULL ? count_ended(r) : 0);
    json_add_unsigned_if(w, "max_trials", r != NULL && r->max_trials > 0,
                         r != NULL ? r->max_trials : 0);
    json_add_text(w, "optimize_mode",
                  r == NULL     ? NULL
                  : r->minimize ? "minimize"
                                : "maximize");
    if (r != NULL && r->objectives != NULL) {
        pareto_write_best(&r->front, SIZE_MAX, NULL, NULL, w);
        pareto_write_growth(&r->front, pareto_hypervolume(&r->front), w);
    } else if (json_open_object_if(w, "best", best != NULL)) {
        results_value(best, &value);
        json_add_text(w, "trial", best->trial);
        json_add_number(w, "value", value);
        json_close(w);
    }
    json_add_number(w, "began_s", seconds_of(row->entry->began));
    json_add_number(w, "changed_s", row->changed_s);
    json_close(w);
}

static int
print_json(const struct target_list *l, struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);
    struct row row;

    json_open_array(w, "experiments");
    for (size_t i = 0; i < l->n; i++) {
        row_init(&row, &l->items[i]);
        add_row(w, &row);
        results_free(row.results);
    }
    json_close(w);
    return verb_json_print(&line, stdout, err);
}

/* ---- the table ---- */

enum column { STATE, TRIALS, BEST, TRIAL, BEGAN, CHANGED, COLUMNS };

/* The cells are texts that end in a NUL, one behind the other in `text`. */
struct table {
    struct buf text;
    size_t width[COLUMNS];
};

static void
add_cell(struct table *t, enum column c, const char *text)
{
    if (strlen(text) > t->width[c])
        t->width[c] = strlen(text);
    buf_add(&t->text, text, strlen(text) + 1);
}

/* How long ago that was, as one number. */
static void
add_age(struct table *t, enum column c, double when_s)
{
    double s = (double)clock_realtime_ns() / 1e9 - when_s;
    char text[40];

    s = s < 0 ? 0 : s;
    if (s < 60)
        snprintf(text, sizeof text, "%.0fs ago", s);
    else if (s < 3600)
        snprintf(text, sizeof text, "%dm ago", (int)(s / 60));
    else if (s < 2 * 86400)
        snprintf(text, sizeof text, "%dh ago", (int)(s / 3600));
    else
        snprintf(text, sizeof text, "%.0fd ago", s / 86400);
    add_cell(t, c, text);
}

/* Writes the state or, of one that ended by itself with more to be done, why in
 * short. */
static void
write_state(const struct results *r, char *out, size_t size)
{
    const char *state = state_of(r), *reason;

    if (r != NULL && r->state == RESULTS_ENDED && !r->over &&
        r->reason != NULL) {
        reason = r->reason;
        if (reason[0] != '\0' && strncmp(reason, state, strlen(state)) != 0) {
            snprintf(out, size, "%.*s", (int)strcspn(reason, ":;("), reason);
            visible_line(out);
            return;
        }
    }
    snprintf(out, size, "%s", state);
}

static void
add_cells(struct table *t, const struct row *row)
{
    const struct results *r = row->results;
    const struct result *best = r != NULL ? results_best(r) : NULL;
    char state[STATE_MAX], trials[48] = "-", value[32] = "-", trial[24] = "-";
    double x;

    write_state(r, state, sizeof state);
    if (row->pid > 0)
        snprintf(state, sizeof state, "%s (%ld)", state_of(r), row->pid);
    if (r != NULL && r->max_trials > 0)
        snprintf(trials, sizeof trials, "%zu/%llu", count_ended(r),
                 (unsigned long long)r->max_trials);
    else if (r != NULL)
        snprintf(trials, sizeof trials, "%zu", count_ended(r));
    if (r != NULL && r->objectives != NULL) {
        snprintf(value, sizeof value, "front of %zu", r->front.n);
    } else if (best != NULL) {
        results_value(best, &x);
        snprintf(value, sizeof value, "%.6g", x);
        snprintf(trial, sizeof trial, "%s", best->trial);
        visible_line(trial);
    }
    add_cell(t, STATE, state);
    add_cell(t, TRIALS, trials);
    add_cell(t, BEST, value);
    add_cell(t, TRIAL, trial);
    add_age(t, BEGAN, seconds_of(row->entry->began));
    add_age(t, CHANGED, row->changed_s);
}

static void
print_row(const struct table *t, const char **cell, const char *path)
{
    struct buf line;

    buf_init(&line, CELLS_MAX);
    for (int c = 0; c < COLUMNS; c++, *cell += strlen(*cell) + 1)
        buf_printf(&line, c == TRIALS || c == BEST ? "%*s  " : "%-*s  ",
                   (int)t->width[c], *cell);
    visible_text(&line, path, strlen(path), SIZE_MAX);
    puts(buf_text(&line));
    buf_fini(&line);
}

static int
print_table(const struct target_list *l, struct err *err)
{
    static const char *const heads[COLUMNS] = {"STATE", "TRIALS", "BEST",
                                               "TRIAL", "BEGAN",  "CHANGED"};
    struct table t = {0};
    const char *cell;
    struct row row;
    int rc;

    buf_init(&t.text, CELLS_MAX);
    for (int c = 0; c < COLUMNS; c++)
        add_cell(&t, (enum column)c, heads[c]);
    for (size_t i = 0; i < l->n; i++) {
        row_init(&row, &l->items[i]);
        add_cells(&t, &row);
        results_free(row.results);
    }
    rc = buf_check(&t.text, "the table", err);
    cell = t.text.data;
    if (rc == 0)
        print_row(&t, &cell, "FOLDER");
    for (size_t i = 0; rc == 0 && i < l->n; i++)
        print_row(&t, &cell, l->items[i].path);
    buf_fini(&t.text);
    return rc;
}

/* ---- the verb ---- */

static int
list(const char *given, bool json, struct err *err)
{
    const char *working = given != NULL ? given : TARGET_USUAL;
    struct target_list l;
    int rc = 0;

    if (given != NULL && file_has(given, FOLDER_EXPERIMENT))
        return err_set(err, ERR_CONFIG,
                       "%s: is an experiment, expected the folder in which "
                       "experiments lie; its trials: tunepipe trial ls %s",
                       given, given);
    if (target_list_load(&l, working, err) != 0 &&
        !(given == NULL && err->number == ENOENT))
        rc = -1;
    if (rc == 0 && json)
        rc = print_json(&l, err);
    else if (rc == 0 && l.n > 0)
        rc = print_table(&l, err);
    else if (rc == 0)
        visible_printf(stderr, "tunepipe ls: no experiment in %s\n",
                       given != NULL ? given : "./" TARGET_USUAL);
    target_list_fini(&l);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    int rc = options_parse(options, N_OPTIONS, &w, &argc, argv, &err);

    if (rc == 0 && argc > 2)
        rc = err_set(&err, ERR_USAGE, "'%s': expected one folder; see --help",
                     argv[2]);
    if (rc == 0)
        rc = list(argc == 2 ? argv[1] : NULL, w.json, &err);
    return verb_printed("ls", rc == 0 ? EXIT_DONE : verb_fail("ls", &err));
}

const struct verb verb_ls = {
    .name = "ls",
    .summary = "list experiments: state, best result, when",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
