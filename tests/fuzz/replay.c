/* SPDX-License-Identifier: MIT */
/* Replay: whatever a log says, it ends, twice in the same way; what it
 * compared and counted is in the log. */
#include "fuzz.h"

#include "core/err.h"
#include "core/log.h"
#include "fuzz_file.h"
#include "fuzz_paths.h"
#include "log_mutator.h"
#include "replay/replay.h"

static int
run(const struct replay_setup *setup, struct replay_report *report,
    struct err *err)
{
    int rc;

    err_clear(err);
    rc = replay_run(setup, report, err);
    MUST(rc == 0 || (err->code != ERR_NONE && err->text[0] != '\0'));
    return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct log silent = {.fd = -1, .name = "tunepipe"};
    struct plugin_paths *paths = fuzz_paths_open();
    struct replay_setup setup = {.paths = paths, .log = &silent};
    struct replay_report a, b;
    struct fuzz_file at;
    struct err err, again;

    fuzz_file_write(&at, data, size);
    setup.path = at.path;
    MUST(run(&setup, &a, &err) == run(&setup, &b, &again));
    MUST(err.code == again.code && strcmp(err.text, again.text) == 0);
    MUST(a.commands == b.commands && a.causes == b.causes);
    MUST(a.frames == b.frames && a.uncompared == b.uncompared);
    MUST(a.unsent == b.unsent && a.ended == b.ended);
    MUST(a.torn_bytes == b.torn_bytes && a.torn_bytes <= size);
    MUST(a.causes <= a.frames);
    MUST(a.commands + a.frames + a.uncompared <= size);
    fuzz_file_remove(&at);
    plugin_paths_free(paths);
    return 0;
}
