/* SPDX-License-Identifier: MIT */
/* dispatch_words.h - the command line of `tunepipe dispatch`, and what stands
 * in a configuration instead. */
#ifndef CLI_DISPATCH_WORDS_H
#define CLI_DISPATCH_WORDS_H

#include "cli/options.h"
#include "core/segment_policy.h"
#include "core/sync_policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct algorithm;
struct err;
struct experiment;

struct dispatch_words {
    const char *config, *tuner, *tuner_args, *assessor, *assessor_args;
    const char *direction; /* NULL: not given */
    const char *seed_text, *early_stopped, *on_error, *ask_error, *folder,
        *sync_text, *old_text, *plugin_path, *connect, *listen, *digits_text;
    /* The configuration's, where it is a Python class; its arguments stand in
     * tuner_args and assessor_args. */
    const struct algorithm *tuner_class, *assessor_class;
    struct option_list filters;
    uint64_t seed, in_fd, out_fd; /* UINT64_MAX: not given */
    int digits;                   /* may be FRAME_DIGITS_DETECT */
    size_t max_payload, max_queued, segment_size; /* SIZE_MAX: not given */
    struct sync_policy sync;
    enum old_segments old;
    int64_t grace_ms;
    bool extensions, nni, debug, quiet, has_seed, resume;
    bool unbegun; /* --resume where nothing is recorded: a new session */
    struct option_list skips;
};

#define DISPATCH_N_OPTIONS 30
extern const struct option dispatch_options[DISPATCH_N_OPTIONS];

/* *w has the defaults.  -1: err (ERR_USAGE) says which word is wrong. */
int dispatch_words_read(struct dispatch_words *w, int argc, char **argv,
                        struct err *err);
/* What stands in the configuration and not on the command line; *out is the
 * configuration, to be freed, or stays as it is. */
int dispatch_words_config(struct dispatch_words *w, struct experiment **out,
                          struct err *err);

#endif
