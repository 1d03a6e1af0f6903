/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/log.h"
#include "core/number.h"
#include "core/own.h"
#include "core/visible.h"
#include "history/folder.h"
#include "json.h"
#include "log/log.h"
#include "plugin/paths.h"
#include "replay/fork.h"
#include "trial/files.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_MAX ((size_t)1 << 30)

/* Whether that is the folder of an experiment of `tunepipe run`. */
static bool
fork_folder_is_experiment(const char *folder)
{
    char *path = file_join(folder, FOLDER_EXPERIMENT);
    struct stat st;
    bool is = path != NULL && stat(path, &st) == 0;

    free(path);
    return is;
}

static int
read_part(const char *folder, const char *name, struct buf *out,
          struct err *err)
{
    char *path = file_join(folder, name);
    int rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : file_read(path, PART_MAX / 2, out, err);

    free(path);
    return rc;
}

static int
write_part(const char *folder, const char *name, const struct buf *text,
           struct err *err)
{
    char *path = file_join(folder, name);
    int rc = -1;

    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (buf_check(text, path, err) == 0)
        rc = file_write(path, text->len > 0 ? text->data : "", text->len, err);
    free(path);
    return rc;
}

static int
copy_part(const char *from, const char *to, const char *name, struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, PART_MAX);
    rc = read_part(from, name, &text, err);
    if (rc == 0)
        rc = write_part(to, name, &text, err);
    buf_fini(&text);
    return rc;
}

/* ---- experiment.json ---- */

static const char *
base_name(const char *path, size_t *len)
{
    size_t end = strlen(path), begin;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        continue;
    *len = end - begin;
    return path + begin;
}

/* Copies the keys that the command line of `run` gave, but for those that
 * changes replace. */
static void
copy_overrides(struct json_writer *w, struct jval old,
               const struct fork_changes *c)
{
    struct jval_iter it = jval_iter(old);

    json_open_object(w, "overrides");
    while (jval_next(&it))
        if (!(c->has_seed && strcmp(it.key, "seed") == 0) &&
            !((c->tuner != NULL || c->tuner_args.node != NULL) &&
              strcmp(it.key, "tuner") == 0))
            jval_write(it.value, json_value(w, it.key));
    json_close(w);
}

static void
write_experiment(struct jval old, const char *from, const char *to, uint64_t at,
                 uint64_t seed, const struct fork_changes *c, struct buf *out)
{
    struct jval_iter it = jval_iter(old);
    struct json_writer w = json_begin_object(out);
    const char *id;
    size_t len;

    id = base_name(to, &len);
    json_add_string(&w, "id", id, len);
    while (jval_next(&it)) {
        if (strcmp(it.key, "id") == 0 || strcmp(it.key, "pid") == 0 ||
            strncmp(it.key, "forked_", 7) == 0)
            continue;
        if (strcmp(it.key, "seed") == 0)
            json_add_unsigned(&w, it.key, seed);
        else if (strcmp(it.key, "overrides") == 0)
            copy_overrides(&w, it.value, c);
        else
            jval_write(it.value, json_value(&w, it.key));
    }
    json_add_text(&w, "forked_from", from);
    json_add_unsigned(&w, "forked_at", at);
    json_close(&w);
    buf_add_char(out, '\n');
}

static int
copy_experiment(const char *from, const char *to, uint64_t at, uint64_t seed,
                const struct fork_changes *c, struct err *err)
{
    struct json *doc = NULL;
    struct buf text, made;
    int rc;

    buf_init(&text, PART_MAX);
    buf_init(&made, PART_MAX);
    rc = read_part(from, FOLDER_EXPERIMENT, &text, err);
    if (rc == 0) {
        doc = json_parse(text.data, text.len, JSON_STRICT, err);
        rc = doc == NULL ? err_place(err, "%s/%s", from, FOLDER_EXPERIMENT) : 0;
    }
    if (rc == 0) {
        write_experiment(json_root(doc), from, to, at, seed, c, &made);
        rc = write_part(to, FOLDER_EXPERIMENT, &made, err);
    }
    json_free(doc);
    buf_fini(&text);
    buf_fini(&made);
    return rc;
}

/* ---- results.jsonl ---- */

static bool
had_ended(const struct fork_report *report, const char *line, size_t len)
{
    struct json *doc = json_parse(line, len, JSON_NAN, NULL);
    const char *trial;
    bool ended = false;
    struct jval v;

    if (doc != NULL && jval_get(json_root(doc), "trial", &v) &&
        jval_string(v, &trial, NULL))
        ended = map_get(&report->ended, trial, strlen(trial)) != NULL;
    json_free(doc);
    return ended;
}

/* Shares the checkpoints of an ended trial from which others may go on.  A
 * trial that did not end so is started anew, or is over. */
static int
share_checkpoints(const char *from, const char *to, struct jval line,
                  struct err *err)
{
    const char *trial = jval_text_of(line, "trial");
    char *all = file_join(to, TRIAL_CHECKPOINTS), *old = NULL, *new = NULL;
    uint64_t number;
    int rc = 0;

    if (strcmp(jval_text_of(line, "status"), "paused") == 0 &&
        number_parse_u64(trial, strlen(trial), &number) && all != NULL &&
        asprintf(&old, "%s/" TRIAL_CHECKPOINTS "/%s", from, trial) >= 0 &&
        access(old, F_OK) == 0) {
        new = file_join(all, trial);
        rc = new == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                         : file_make_folder(all, err);
        if (rc == 0 && folder_link(old, new, NULL) != 0) {
            folder_remove(new); /* no links there, or too many */
            rc = folder_copy(old, new, err);
        }
    }
    free(all);
    free(old);
    free(new);
    return rc;
}

static int
share_all(const char *from, const char *to, struct buf *results,
          struct err *err)
{
    const char *line = buf_text(results), *end;
    int rc = 0;

    for (; rc == 0 && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        struct json *doc =
            json_parse(line, (size_t)(end - line), JSON_NAN, NULL);

        if (doc != NULL)
            rc = share_checkpoints(from, to, json_root(doc), err);
        json_free(doc);
    }
    return rc;
}

/* Copies the results that the log knows of. */
static int
copy_results(const char *from, const char *to, const struct fork_report *report,
             struct err *err)
{
    struct buf text, kept;
    const char *line, *end;
    int rc;

    buf_init(&text, PART_MAX);
    buf_init(&kept, PART_MAX);
    rc = read_part(from, FOLDER_RESULTS, &text, err);
    line = buf_text(&text);
    for (; rc == 0 && (end = strchr(line, '\n')) != NULL; line = end + 1)
        if (had_ended(report, line, (size_t)(end - line)))
            buf_add(&kept, line, (size_t)(end - line) + 1);
    if (rc == 0)
        rc = write_part(to, FOLDER_RESULTS, &kept, err);
    if (rc == 0)
        rc = share_all(from, to, &kept, err);
    buf_fini(&text);
    buf_fini(&kept);
    return rc;
}

/* Fills `to`, which holds the new log, from `from`.  -1: err tells; what was
 * written stays. */
static int
fork_folder_copy(const char *from, const char *to, uint64_t at,
                 const struct fork_changes *c, const struct fork_report *report,
                 struct err *err)
{
    char *trials = file_join(to, FOLDER_TRIALS);
    int rc = trials == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                            : folder_make_roomy(trials, err);

    free(trials);
    if (rc != 0 || copy_part(from, to, FOLDER_CONFIG, err) != 0 ||
        copy_part(from, to, FOLDER_SPACE, err) != 0 ||
        copy_results(from, to, report, err) != 0)
        return -1;
    return copy_experiment(from, to, at, report->seed, c, err);
}

/* ---- the verb ---- */

static const char help[] =
    "usage: tunepipe fork [LOG] (--at N | --at-trial TRIAL) NEWDIR [CHANGES]\n"
    "\n"
    "Begins a new experiment at any moment of an old one: NEWDIR gets a log with\n"
    "the old one's records up to the input with arrival number N (tunepipe log\n"
    "shows the numbers), or up to a trial's end, so that everything goes on from\n"
    "there as if what came later had not been.  LOG is a command log, or an\n"
    "experiment's folder; then configuration, search space and the results so far\n"
    "are copied, too.  Without it the newest in ./tunepipe-experiments is forked.\n"
    "\n"
    "To go on: tunepipe resume NEWDIR, or tunepipe dispatch --resume --dir NEWDIR\n"
    "\n"
    "  --at N                  the last input that counts\n"
    "  --at-trial TRIAL        the same: the command (EN) that told of the end of\n"
    "                          that trial, by number, trial_job_id or\n"
    "                          parameter_id\n"
    "  --assessor NAME, --assessor-args JSON, --no-assessor\n"
    "                          another assessor, that takes the old one's place\n"
    "                          from the beginning; or none\n"
    "  --early-stopped ignore|latest|best, --on-error skip|fail,\n"
    "  --ask-error refuse|prior, --seed N, --tuner NAME, --tuner-args JSON\n"
    "                          as in tunepipe dispatch; allowed where they change\n"
    "                          none of the answers up to N (a seed or a tuner:\n"
    "                          before the first trial was given out)\n"
    "  --plugin-path DIRS      folders of plugins, separated by colons;\n"
    "                          a log names a plugin of yours, not its folder\n"
    "  --debug                 show the lines the handlers write\n"
    "\n"
    "Example: tunepipe fork digits-1 --at-trial 7 digits-1-other --assessor medianstop\n"
    "\n"
    "Exit status: 0 NEWDIR is there; 1 failed; 2 usage, or a change that would\n"
    "change the past; 3 a plugin cannot be loaded, or there is no experiment; 5\n"
    "the log is damaged, or NEWDIR has one.\n";

struct words {
    uint64_t at;
    const char *at_trial, *tuner, *tuner_args, *assessor, *assessor_args, *seed,
        *early_stopped, *on_error, *ask_error, *plugin_path;
    bool no_assessor, debug;
};

#define OF(member) offsetof(struct words, member)
static const struct option options[] = {
    {"at", OPTION_UINT, OF(at), "N"},
    {"at-trial", OPTION_TEXT, OF(at_trial), "TRIAL"},
    {"assessor", OPTION_TEXT, OF(assessor), "ASSESSOR"},
    {"assessor-args", OPTION_TEXT, OF(assessor_args), "JSON"},
    {"no-assessor", OPTION_FLAG, OF(no_assessor), NULL},
    {"early-stopped", OPTION_TEXT, OF(early_stopped), "ignore|latest|best"},
    {"on-error", OPTION_TEXT, OF(on_error), "skip|fail"},
    {"ask-error", OPTION_TEXT, OF(ask_error), "refuse|prior"},
    {"seed", OPTION_TEXT, OF(seed), "N"},
    {"tuner", OPTION_TEXT, OF(tuner), "TUNER"},
    {"tuner-args", OPTION_TEXT, OF(tuner_args), "JSON"},
    {"plugin-path", OPTION_TEXT, OF(plugin_path), "FOLDERS"},
    {"debug", OPTION_FLAG, OF(debug), NULL},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

static int
check_words(const struct words *w, struct err *err)
{
    if (w->at > 0 && w->at_trial != NULL)
        return err_set(err, ERR_USAGE, "expected --at or --at-trial, not both");
    if (w->at == 0 && w->at_trial == NULL)
        return err_set(err, ERR_USAGE,
                       "expected --at-trial TRIAL, or --at N, the arrival "
                       "number of the last input (see tunepipe log)");
    if (w->no_assessor && (w->assessor != NULL || w->assessor_args != NULL))
        return err_set(err, ERR_USAGE,
                       "--no-assessor: expected without --assessor and "
                       "--assessor-args");
    return 0;
}

/* Parses an option's JSON, *doc, from which the arguments are borrowed; nothing
 * where there is no text. */
static int
parse_args(const char *option, const char *text, struct json **doc,
           struct jval *out, struct err *err)
{
    if (text == NULL)
        return 0;
    *doc = json_parse(text, strlen(text), JSON_UNIQUE, err);
    if (*doc == NULL) {
        if (err->code == ERR_INPUT)
            err->code = ERR_USAGE;
        return err_place(err, "--%s", option);
    }
    *out = json_root(*doc);
    return 0;
}

static int
read_changes(const struct words *w, struct json *docs[2],
             struct fork_changes *c, struct err *err)
{
    *c = (struct fork_changes){.tuner = w->tuner,
                               .assessor = w->assessor,
                               .no_assessor = w->no_assessor,
                               .has_seed = w->seed != NULL,
                               .early_stopped = w->early_stopped,
                               .on_error = w->on_error,
                               .ask_error = w->ask_error};
    if (w->seed != NULL &&
        (!number_parse_u64(w->seed, strlen(w->seed), &c->seed) ||
         c->seed > INT64_MAX))
        return err_set(err, ERR_USAGE,
                       "--seed: expected an integer from 0 to %" PRId64
                       ", got '%s'",
                       INT64_MAX, w->seed);
    if (parse_args("tuner-args", w->tuner_args, &docs[0], &c->tuner_args,
                   err) != 0)
        return -1;
    return parse_args("assessor-args", w->assessor_args, &docs[1],
                      &c->assessor_args, err);
}

static void
tell(FILE *out, const struct fork_report *r, const char *from,
     const char *folder, bool experiment)
{
    visible_printf(out, "%s: %" PRIu64 " inputs and %" PRIu64 " answers",
                   folder, r->inputs, r->answers);
    if (r->unsent > 0)
        fprintf(out, "; %" PRIu64 " more follow when it goes on", r->unsent);
    visible_printf(out, "\nto go on: tunepipe %s %s\n",
                   experiment ? "resume" : "dispatch --resume --dir", folder);
    if (own_check(from, 0, NULL) != 0)
        visible_printf(
            out,
            "%s: others may have written it: look at %s before, whose "
            "commands would be run\n",
            from, experiment ? "the new config.yml" : "the new log's head");
}

/* Where the log lies in a place of its own, that of a new folder does so beside
 * it: *made. */
static int
follow_place(const char *from, const char *to, bool *made, struct err *err)
{
    char *place = log_place(from, err), *real = NULL;
    char *directory = place == NULL ? NULL : file_folder(place);
    int rc = place == NULL ? -1 : 0;

    *made = rc == 0 && strcmp(place, from) != 0 && access(to, F_OK) != 0;
    if (*made) {
        rc = file_make_folder(to, err);
        real = rc == 0 ? realpath(to, NULL) : NULL;
        if (rc == 0)
            rc = real == NULL || directory == NULL
                     ? err_errno(err, ERR_SYSTEM, "%s", to)
                     : log_place_make(real, directory, err);
    }
    free(real);
    free(directory);
    free(place);
    return rc;
}

static int
fork_it(const struct words *w, const char *from, const char *to, FILE *out,
        struct err *err)
{
    struct log log = {
        .fd = w->debug ? 2 : -1, .most = LOG_DEBUG, .name = "tunepipe"};
    bool experiment = fork_folder_is_experiment(from), placed = false;
    struct plugin_paths *paths = plugin_paths_new(w->plugin_path, err);
    char *path = log_find(from, err);
    struct json *docs[2] = {NULL, NULL};
    struct fork_report report = {0};
    struct fork_changes changes;
    struct fork_setup setup = {.path = path,
                               .folder = to,
                               .at = w->at,
                               .changes = &changes,
                               .paths = paths,
                               .log = &log};
    int rc = -1;

    if (path != NULL && paths != NULL &&
        (!experiment || follow_place(from, to, &placed, err) == 0) &&
        read_changes(w, docs, &changes, err) == 0 &&
        (w->at_trial == NULL ||
         fork_find_end(path, w->at_trial, &setup.at, err) == 0))
        rc = fork_run(&setup, &report, err);
    if (rc == 0 && experiment)
        rc = fork_folder_copy(from, to, setup.at, &changes, &report, err);
    if (rc == 0)
        tell(out, &report, from, to, experiment);
    if (rc != 0 && placed) {
        log_place_remove(to);
        rmdir(to);
    }
    fork_report_fini(&report);
    json_free(docs[0]);
    json_free(docs[1]);
    plugin_paths_free(paths);
    free(path);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    const char *from;
    char *newest = NULL;
    FILE *out;
    int rc;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0 ||
        target_before(argc, argv, true, "[LOG] NEWDIR, a log and a new folder",
                      &from, &err) != 0 ||
        check_words(&w, &err) != 0)
        return verb_fail("fork", &err);
    if (from == NULL)
        from = newest = target_folder("fork", NULL, &err);
    if (from == NULL)
        return verb_fail("fork", &err);
    out = verb_own_stdout(&err);
    if (out == NULL) {
        free(newest);
        return verb_fail("fork", &err);
    }
    rc = fork_it(&w, from, argv[argc - 1], out, &err);
    free(newest);
    if (fclose(out) != 0 && rc == 0)
        rc = err_errno(&err, ERR_SYSTEM, "cannot write to stdout");
    return rc == 0 ? EXIT_DONE : verb_fail("fork", &err);
}

const struct verb verb_fork = {
    .name = "fork",
    .summary = "begin a new experiment at a moment of an old one",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FILE",
};
