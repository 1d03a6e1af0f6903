/* SPDX-License-Identifier: MIT */
#include "replay/resumption.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/own.h"
#include "dispatcher/session.h"
#include "log/lock.h"
#include "log/log.h"
#include "log/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Reads an operand of --skip, as "t:17". */
static int
read_skip(struct resumption *r, const char *word, struct err *err)
{
    size_t i = r->resume.n_skips;
    uint64_t arrival;

    if ((word[0] != 't' && word[0] != 'a') || word[1] != ':' ||
        !number_parse_u64(word + 2, strlen(word + 2), &arrival) || arrival == 0)
        return err_set(err, ERR_USAGE,
                       "--skip: expected t:N or a:N with the number of a "
                       "command, got '%s'",
                       word);
    r->bars[i] = (struct replay_bar){
        word[0] == 't' ? SENDER_DEFAULT : SENDER_ASSESSOR, arrival};
    r->skips[i] = (struct dispatcher_skip){
        arrival, word[0] == 't' ? "xt it ended the dispatcher"
                                : "xa it ended the dispatcher"};
    r->resume.n_skips++;
    return 0;
}

/* Makes the line about the resumption, for people and the log. */
static void
word_it(struct resumption *r, const uint64_t at_work[2])
{
    static const char *const sides[] = {
        [SENDER_DEFAULT] = "tuner", [SENDER_ASSESSOR] = "assessor"};
    const struct replay_report *report = &r->recovery.report;
    struct buf *out = &r->words;

    buf_printf(out, "%" PRIu64 " commands on record, %zu answers derived",
               report->last, r->resume.n_missing);
    if (report->restored > 0)
        buf_printf(out, ", from the snapshot behind command %" PRIu64,
                   report->restored);
    if (report->torn_bytes > 0)
        buf_printf(out, ", %" PRIu64 " bytes cut from the end",
                   report->torn_bytes);
    for (int side = 0; side < 2; side++)
        if (at_work[side] == LOCKFILE_SAVING)
            buf_printf(out, ", the %s was being saved", sides[side]);
        else if (at_work[side] == LOCKFILE_LOADING)
            buf_printf(out, ", the %s was being loaded", sides[side]);
        else if (at_work[side] != 0)
            buf_printf(out, ", the %s was at command %" PRIu64, sides[side],
                       at_work[side]);
}

static int
recover(struct resumption *r, const char *path,
        const struct plugin_paths *paths, const uint64_t at_work[2],
        const struct log *say, struct err *err)
{
    struct recovery_setup setup = {
        .path = path,
        .paths = paths,
        .log = &r->log,
        .bars = r->bars,
        .n_bars = r->resume.n_skips,
        .say = say,
        .from_front = at_work[SENDER_DEFAULT] == LOCKFILE_LOADING ||
                      at_work[SENDER_ASSESSOR] == LOCKFILE_LOADING,
    };
    int rc = recovery_run(&setup, r->resume.log, &r->recovery, err);

    if (rc != 0 && err->code == ERR_INPUT) {
        err_place(err, "cannot go on, since the plugins answer otherwise than "
                       "they did");
        err->code = ERR_LOG;
    }
    return rc;
}

/* Opens the log for appending; nothing is made in a folder that has none. */
static int
open_log(struct resumption *r, const char *folder,
         const struct plugin_paths *paths, const struct log *log,
         uint64_t at_work[2], struct err *err)
{
    char *path = log_find_in(folder, err);
    int rc = -1;

    /* a log may name programs that are about to be started */
    if (path != NULL && own_check(path, 0, err) == 0)
        r->resume.log = logwriter_reopen(folder, NULL, at_work, err);
    if (r->resume.log != NULL)
        rc = recover(r, path, paths, at_work, log, err);
    free(path);
    return rc;
}

int
resumption_begin(struct resumption *r, const char *folder,
                 const char *const *skips, size_t n_skips,
                 const struct plugin_paths *paths, const struct log *log,
                 struct dispatcher_setup *setup, struct err *err)
{
    struct dispatcher_resume *resume = &r->resume;
    uint64_t at_work[2];

    buf_init(&r->words, 1024);
    for (size_t i = 0; i < n_skips; i++)
        if (read_skip(r, skips[i], err) != 0)
            return -1;
    r->log = *log;
    r->log.fd = -1;
    if (open_log(r, folder, paths, log, at_work, err) != 0)
        return -1;
    r->log.fd = log->fd;
    resume->missing = r->missing = pending_all(&r->recovery.rest.pending);
    resume->n_missing = r->recovery.rest.pending.frames;
    if (r->missing == NULL)
        return err_set(err, ERR_MEMORY, "recovery: out of memory");
    word_it(r, at_work);
    if (buf_check(&r->words, "recovery", err) != 0)
        return -1;
    log_info(log, "resumed: %s", buf_text(&r->words));
    for (int side = 0; side < 2; side++)
        resume->unsavable[side] = at_work[side] == LOCKFILE_SAVING;
    resume->head_sum = r->recovery.rest.head_sum;
    resume->left = r->recovery.rest.lost;
    resume->n_left = r->recovery.rest.n_lost;
    resume->words = buf_text(&r->words);
    resume->skips = r->skips;
    resume->arrivals = r->recovery.report.last;
    resume->frames = r->recovery.report.commands;
    resume->owed = r->recovery.owed;
    resume->trials = r->recovery.trials;
    resume->spaceless = r->recovery.spaceless;
    resume->session = r->recovery.rest.session;
    r->recovery.rest.session = NULL;
    setup->session.digits = r->recovery.rest.digits;
    setup->session.max_payload = r->recovery.rest.max_payload;
    setup->resume = resume;
    return 0;
}

void
resumption_fini(struct resumption *r)
{
    if (r->resume.session == NULL)
        logwriter_free(r->resume.log);
    recovery_fini(&r->recovery);
    buf_fini(&r->words);
    free(r->missing);
}
