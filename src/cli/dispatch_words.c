/* SPDX-License-Identifier: MIT */
#include "cli/dispatch_words.h"

#include "config/configuration.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/problems.h"
#include "dispatcher/logvoid.h"
#include "frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OF(member) offsetof(struct dispatch_words, member)
const struct option dispatch_options[DISPATCH_N_OPTIONS] = {
    {"config", OPTION_TEXT, OF(config), "FILE"},
    {"tuner", OPTION_TEXT, OF(tuner), "TUNER"},
    {"tuner-args", OPTION_TEXT, OF(tuner_args), "JSON"},
    {"filter", OPTION_LIST, OF(filters), "NAME[:JSON]"},
    {"assessor", OPTION_TEXT, OF(assessor), "ASSESSOR"},
    {"assessor-args", OPTION_TEXT, OF(assessor_args), "JSON"},
    {"seed", OPTION_TEXT, OF(seed_text), "N"},
    {"dir", OPTION_TEXT, OF(folder), "FOLDER"},
    {"sync", OPTION_TEXT, OF(sync_text), "none|interval:MS|always"},
    {"segment-size", OPTION_SIZE, OF(segment_size), "SIZE"},
    {"old-segments", OPTION_TEXT, OF(old_text), "keep|compress|drop"},
    {"resume", OPTION_FLAG, OF(resume), NULL},
    {"skip", OPTION_LIST, OF(skips), "t:N|a:N"},
    {"in-fd", OPTION_UINT, OF(in_fd), "N"},
    {"out-fd", OPTION_UINT, OF(out_fd), "N"},
    {"connect", OPTION_TEXT, OF(connect), "unix:PATH"},
    {"listen", OPTION_TEXT, OF(listen), "unix:PATH"},
    {"digits", OPTION_TEXT, OF(digits_text), "14|6|detect"},
    {"extensions", OPTION_FLAG, OF(extensions), NULL},
    {"nni", OPTION_FLAG, OF(nni), NULL},
    {"direction", OPTION_TEXT, OF(direction), "minimize|maximize"},
    {"early-stopped", OPTION_TEXT, OF(early_stopped), "ignore|latest|best"},
    {"on-error", OPTION_TEXT, OF(on_error), "skip|fail"},
    {"ask-error", OPTION_TEXT, OF(ask_error), "refuse|prior"},
    {"max-payload", OPTION_SIZE, OF(max_payload), "SIZE"},
    {"max-queued", OPTION_SIZE, OF(max_queued), "SIZE"},
    {"grace", OPTION_DURATION, OF(grace_ms), "DURATION"},
    {"plugin-path", OPTION_TEXT, OF(plugin_path), "FOLDERS"},
    {"debug", OPTION_FLAG, OF(debug), NULL},
    {"quiet", OPTION_FLAG, OF(quiet), NULL},
};
#undef OF

/* All that answers depend on is in the log. */
static int
check_resume(const struct dispatch_words *w, struct err *err)
{
    const struct {
        const char *name;
        bool given;
    } settled[] = {
        {"config", w->config != NULL},
        {"tuner", w->tuner != NULL},
        {"tuner-args", w->tuner_args != NULL},
        {"filter", w->filters.n > 0},
        {"assessor", w->assessor != NULL},
        {"assessor-args", w->assessor_args != NULL},
        {"seed", w->seed_text != NULL},
        {"direction", w->direction != NULL},
        {"early-stopped", w->early_stopped != NULL},
        {"on-error", w->on_error != NULL},
        {"ask-error", w->ask_error != NULL},
        {"extensions", w->extensions},
        {"nni", w->nni},
    };

    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (settled[i].given)
            return err_set(err, ERR_USAGE,
                           "--%s: not with --resume: the log has it",
                           settled[i].name);
    return 0;
}

/* Where the manager is. */
static int
parse_channel(struct dispatch_words *w, struct err *err)
{
    bool socket = w->connect != NULL || w->listen != NULL;

    if (socket && (w->in_fd != UINT64_MAX || w->out_fd != UINT64_MAX))
        return err_set(err, ERR_USAGE,
                       "--in-fd, --out-fd: not with --connect or --listen");
    if (w->connect != NULL && w->listen != NULL)
        return err_set(err, ERR_USAGE, "--connect: not with --listen");
    w->in_fd = w->in_fd == UINT64_MAX ? 0 : w->in_fd;
    w->out_fd = w->out_fd == UINT64_MAX ? 1 : w->out_fd;
    if (w->in_fd > 65535 || w->out_fd > 65535)
        return err_set(err, ERR_USAGE,
                       "--in-fd, --out-fd: expected at most "
                       "65535");
    return 0;
}

static int
parse_digits(struct dispatch_words *w, struct err *err)
{
    const struct {
        const char *word;
        int digits;
    } words[] = {{"14", FRAME_DIGITS},
                 {"6", FRAME_DIGITS_OLD},
                 {"detect", FRAME_DIGITS_DETECT}};

    w->digits = w->connect != NULL || w->listen != NULL ? FRAME_DIGITS_DETECT
                                                        : FRAME_DIGITS;
    if (w->digits_text == NULL)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(w->digits_text, words[i].word) == 0) {
            w->digits = words[i].digits;
            return 0;
        }
    return err_set(err, ERR_USAGE,
                   "--digits: expected 14, 6 or detect, got '%s'",
                   w->digits_text);
}

/* No answer depends on these. */
static int
parse_log_words(struct dispatch_words *w, struct err *err)
{
    if (w->sync_text != NULL &&
        sync_policy_parse(w->sync_text, &w->sync, err) != 0)
        return err_place(err, "--sync");
    if (w->old_text != NULL &&
        old_segments_parse(w->old_text, &w->old, err) != 0)
        return err_place(err, "--old-segments");
    return 0;
}

int
dispatch_words_read(struct dispatch_words *w, int argc, char **argv,
                    struct err *err)
{
    if (options_parse(dispatch_options, DISPATCH_N_OPTIONS, w, &argc, argv,
                      err) != 0)
        return -1;
    if (argc > 1)
        return err_set(err, ERR_USAGE, "unexpected word '%s'; see --help",
                       argv[1]);
    if (parse_channel(w, err) != 0 || parse_log_words(w, err) != 0 ||
        parse_digits(w, err) != 0)
        return -1;
    if (w->resume && w->folder == NULL)
        return err_set(err, ERR_USAGE, "--resume: expected --dir DIR, too");
    w->unbegun = w->resume && logvoid_left(w->folder);
    w->resume = w->resume && !w->unbegun;
    if (w->resume)
        return check_resume(w, err);
    if (w->skips.n > 0 && !w->unbegun)
        return err_set(err, ERR_USAGE, "--skip: only with --resume");
    if (w->config == NULL && w->tuner == NULL)
        w->tuner = EXPERIMENT_TUNER;
    if (w->nni && w->extensions)
        return err_set(err, ERR_USAGE,
                       "--nni: not with --extensions, which NNI's managers do "
                       "not speak");
    if (w->direction != NULL && !experiment_is_direction(w->direction))
        return err_set(err, ERR_USAGE,
                       "--direction: expected minimize or maximize, got '%s'",
                       w->direction);
    w->has_seed = w->seed_text != NULL;
    if (w->has_seed &&
        (!number_parse_u64(w->seed_text, strlen(w->seed_text), &w->seed) ||
         w->seed > INT64_MAX))
        return err_set(err, ERR_USAGE,
                       "--seed: expected an integer from 0 to %" PRId64
                       ", got '%s'",
                       INT64_MAX, w->seed_text);
    return 0;
}

/* A plugin's name or file; of a Python class, the program that runs it. */
static const char *
name_of(const struct algorithm *a)
{
    if (a->class_name != NULL)
        return "exec";
    return a->plugin != NULL ? a->plugin : a->name;
}

/* Where they were not given as words. */
static void
take_algorithms(struct dispatch_words *w, const struct experiment *x)
{
    if (w->tuner == NULL) {
        w->tuner = name_of(&x->tuner);
        if (x->tuner.class_name != NULL)
            w->tuner_class = &x->tuner;
        if (w->tuner_args == NULL)
            w->tuner_args = x->tuner.args;
    }
    if (w->assessor == NULL && x->assessor.line != 0) {
        w->assessor = name_of(&x->assessor);
        if (x->assessor.class_name != NULL)
            w->assessor_class = &x->assessor;
        if (w->assessor_args == NULL)
            w->assessor_args = x->assessor.args;
    }
}

int
dispatch_words_config(struct dispatch_words *w, struct experiment **out,
                      struct err *err)
{
    struct problems problems;
    struct experiment *x;

    if (w->config == NULL)
        return 0;
    problems_init(&problems);
    x = experiment_read(w->config, EXPERIMENT_DISPATCH, &problems, NULL, err);
    if (x == NULL && problems.count > 1)
        fputs(buf_text(&problems.lines), stderr);
    problems_fini(&problems);
    *out = x;
    if (x == NULL)
        return -1;
    take_algorithms(w, x);
    if (!w->has_seed && x->has_seed) {
        w->seed = x->seed;
        w->has_seed = true;
    }
    if (w->sync_text == NULL)
        w->sync = x->sync;
    if (w->segment_size == SIZE_MAX)
        w->segment_size = (size_t)x->segments.size;
    if (w->old_text == NULL)
        w->old = x->segments.old;
    if (w->early_stopped == NULL)
        w->early_stopped = early_stopped_name(x->early_stopped);
    return 0;
}
