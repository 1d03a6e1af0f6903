/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/options.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/logfile.h"
#include "json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char help[] =
    "usage: tunepipe log LOG [--json]\n"
    "\n"
    "Prints a command log (or the one in an experiment folder), a line a\n"
    "record: the number of the inbound command (for an answer: of its cause),\n"
    "the time, who sends it, code and payload.\n"
    "\n"
    "  <   from the manager        >t  from the tuner's worker\n"
    "  S   not (wholly) handled    >a  from the assessor's worker\n"
    "  M   all before is on disk   >r  from the router\n"
    "  H   head    E  end          R   the session goes on\n"
    "  <t  <a  !t  !a  of programs (`exec`)\n"
    "                              (all of it: PROTOCOL.md, \"The log\")\n"
    "\n"
    "  --json   one JSON object a line: {\"kind\", \"number\", \"time_us\",\n"
    "           \"offset\", \"payload\"}\n"
    "\n"
    "Example: tunepipe log tunepipe-experiments/digits-1 | less\n"
    "\n"
    "Exit status: 0 all printed; 1 not; 2 usage; 5 the log is damaged, or none.\n";

static void
print_plain(const struct record *r)
{
    time_t seconds = (time_t)(r->time_us / 1000000);
    struct tm tm;
    char when[32] = "?";

    if (localtime_r(&seconds, &tm) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    printf("%8" PRIu64 " %s.%06d %-2s ", r->number, when,
           (int)(r->time_us % 1000000), record_kind_text(r->kind));
    for (size_t i = 0; i < r->len; i++) {
        unsigned char c = (unsigned char)r->payload[i];

        if (c == '\n')
            fputs("\\n", stdout);
        else
            putchar(c < ' ' || c == 127 ? '?' : c);
    }
    putchar('\n');
}

static void
print_json(const struct record *r, uint64_t offset)
{
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    buf_printf(&out,
               "{\"kind\": \"%s\", \"number\": %" PRIu64
               ", \"time_us\": %" PRId64 ", \"offset\": %" PRIu64
               ", \"payload\": ",
               record_kind_text(r->kind), r->number, r->time_us, offset);
    json_write_string(&out, r->payload, r->len);
    buf_add_text(&out, "}\n");
    fputs(buf_text(&out), stdout);
    buf_fini(&out);
}

static int
print_all(struct logfile *file, bool json, struct err *err)
{
    struct record record;
    enum logfile_status status;

    while ((status = logfile_next(file, &record, err)) == LOGFILE_RECORD) {
        if (json)
            print_json(&record, logfile_offset(file));
        else
            print_plain(&record);
    }
    if (status == LOGFILE_TORN)
        fprintf(stderr,
                "tunepipe log: the log is cut off: %" PRIu64
                " bytes at its end are no whole record\n",
                logfile_torn(file));
    return status == LOGFILE_DAMAGED ? -1 : 0;
}

struct words {
    bool json;
};

static const struct option options[] = {
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct logfile *file;
    struct stat st;
    struct err err;
    char *path;
    int status = EXIT_DONE;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("log", &err);
    if (argc != 2) {
        err_set(&err, ERR_USAGE, "expected one log; see --help");
        return verb_fail("log", &err);
    }
    path = stat(argv[1], &st) == 0 && S_ISDIR(st.st_mode)
               ? file_join(argv[1], COMMANDLOG_NAME)
               : strdup(argv[1]);
    file = path == NULL ? NULL : logfile_open(path, &err);
    if (file == NULL || print_all(file, w.json, &err) != 0)
        status = verb_fail("log", &err);
    logfile_close(file);
    free(path);
    return verb_printed("log", status);
}

const struct verb verb_log = {
    .name = "log",
    .summary = "print a recorded session",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FILE",
};
