/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/verb.h"

#include "client/remote.h"
#include "client/value.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "json.h"
#include "trial/report.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tunepipe tell DIR TRIAL VALUE...\n"
    "       tunepipe tell DIR TRIAL --intermediate VALUE...\n"
    "       tunepipe tell DIR TRIAL --failed [WHY]\n"
    "       tunepipe tell DIR TRIAL --ended\n"
    "\n"
    "Tells a study what came out of a trial that `tunepipe ask` gave.  DIR is\n"
    "the study's folder, TRIAL the trial's number, VALUE a number, NaN,\n"
    "Infinity, -Infinity, or an object in JSON that has the number as\n"
    "\"default\"; of a study with objectives they are named, as in\n"
    "accuracy=0.97 ms=12.  With status 0 it is kept, whatever dies now.  A trial\n"
    "is told once.\n"
    "\n"
    "  --intermediate  an intermediate result, behind which it may go on: waits\n"
    "                  until it is judged; status 0 is go on, else the trial\n"
    "                  should end: 7 is stop, 8 is pause, 9 is finish (this was\n"
    "                  its result), and then tell it --ended\n"
    "  --failed        it has failed; WHY is a line of text\n"
    "  --ended         it has ended without a result\n"
    "\n"
    "Exit status: 0 it is kept; 1 there is no such trial, it has ended, VALUE is\n"
    "none, or the server cannot be started; 2 usage; 3 DIR is no study; 5 the\n"
    "command log is damaged; 7, 8, 9 (--intermediate) it should stop, pause,\n"
    "finish.\n"
    "\n"
    "Example: tunepipe tell digits 3 0.97\n";

struct words {
    bool ended, failed, intermediate;
};

static const struct option options[] = {
    {"ended", OPTION_FLAG, offsetof(struct words, ended), NULL},
    {"failed", OPTION_FLAG, offsetof(struct words, failed), NULL},
    {"intermediate", OPTION_FLAG, offsetof(struct words, intermediate), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* What a trial is told by the answer to its intermediate result. */
static int
status_of(struct jval answer)
{
    static const int statuses[] = {
        [REPORT_GO] = EXIT_DONE,
        [REPORT_STOP] = EXIT_STOP,
        [REPORT_PAUSE] = EXIT_PAUSE,
        [REPORT_FINISH] = EXIT_FINISH,
    };
    const char *word = jval_text_of(answer, "stop");

    for (int i = REPORT_STOP; i <= REPORT_FINISH; i++)
        if (strcmp(word, report_answer_word((enum report_answer)i)) == 0)
            return statuses[i];
    return EXIT_DONE;
}

static void
hear(void *ctx, struct remote_answer *answer)
{
    (void)ctx, (void)answer; /* there is one request, which is waited for */
}

/* An exit status; -1. */
static int
tell(const char *folder, const char *request, struct err *err)
{
    struct json *doc = NULL;
    struct remote remote;
    struct jval answer;
    int status = -1;

    if (remote_open(&remote, folder, NULL, hear, NULL, err) != 0)
        return -1;
    if (remote_ask(&remote, request, &doc, &answer, err) == 0)
        status = status_of(answer);
    json_free(doc);
    remote_close(&remote, false);
    return status;
}

/* Adds a value, or several by name. */
static int
add_value(struct json_writer *j, char **words, size_t n, struct err *err)
{
    bool by_name =
        n > 1 || (words[0][0] != '{' && strchr(words[0], '=') != NULL);
    char *json =
        by_name ? report_value((const char *const *)words, n, err) : NULL;
    int rc = by_name && json == NULL
                 ? -1
                 : value_add_text(j, "value", by_name ? json : words[0], err);

    free(json);
    return rc;
}

/* The request of TRIAL [VALUE...], from these n words. */
static int
write_request(const struct words *w, char **argv, size_t n, struct buf *out,
              struct err *err)
{
    struct json_writer j = json_begin_object(out);
    uint64_t trial;
    int rc = 0;

    if (!number_parse_u64(argv[0], strlen(argv[0]), &trial))
        return err_set(err, ERR_USAGE,
                       "'%s': expected a trial's number, such as 00003",
                       argv[0]);
    json_add_text(&j, "command", w->intermediate ? "report" : "tell");
    json_add_unsigned(&j, "trial", trial);
    if (w->failed)
        json_add_text(&j, "failed", argv[1] != NULL ? argv[1] : "");
    else if (!w->ended)
        rc = add_value(&j, argv + 1, n - 1, err);
    if (rc != 0)
        return -1;
    json_close(&j);
    return buf_check(out, "the request", err);
}

static int
check_words(const struct words *w, int argc, struct err *err)
{
    int least = w->ended || w->failed ? 3 : 4;
    int most = w->ended ? 3 : w->failed ? 4 : INT_MAX;

    if (w->ended + w->failed + w->intermediate > 1)
        return err_set(err, ERR_USAGE,
                       "give one of --intermediate, --failed and --ended");
    if (argc < least || argc > most)
        return err_set(err, ERR_USAGE, "expected DIR TRIAL%s; see --help",
                       w->ended    ? ""
                       : w->failed ? " [WHY]"
                                   : " VALUE...");
    return 0;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    struct buf request;
    int status = -1;

    buf_init(&request, CONTROL_LINE_MAX);
    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) == 0 &&
        check_words(&w, argc, &err) == 0 &&
        write_request(&w, argv + 2, (size_t)argc - 2, &request, &err) == 0)
        status = tell(argv[1], buf_text(&request), &err);
    buf_fini(&request);
    return status < 0 ? verb_fail("tell", &err) : status;
}

const struct verb verb_tell = {
    .name = "tell",
    .summary = "tell a study what came out of a trial",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
