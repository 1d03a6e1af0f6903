/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "check/check.h"
#include "cli/options.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_MAX (1u << 20)
#define LIMIT_MS 60000

struct words {
    const char *args;
    int64_t limit_ms;
    bool json;
};

static const struct option options[] = {
    {"args", OPTION_TEXT, offsetof(struct words, args), "JSON"},
    {"timeout", OPTION_DURATION, offsetof(struct words, limit_ms), "TIME"},
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static void
write_json(const struct check_report *r, const char *file, struct buf *out)
{
    struct json_writer w = json_begin_object(out), finding;

    json_add_text(&w, "file", file);
    json_add_text(&w, "kind", r->kind);
    json_add_text(&w, "name", r->name);
    json_open_array(&w, "checks");
    json_separate(&w, ",", ": ");
    for (size_t i = 0; i < r->n; i++) {
        buf_add_text(json_value(&w, NULL), "\n  ");
        finding = json_begin_object(out);
        json_add_text(&finding, "check", r->findings[i].check);
        json_add_text(&finding, "verdict",
                      check_verdict_name(r->findings[i].verdict));
        json_add_text(&finding, "text", r->findings[i].text);
        json_close(&finding);
    }
    json_close(&w);
    json_separate(&w, ",\n ", ": ");
    json_add_unsigned(&w, "ok", r->count[CHECK_OK]);
    json_separate(&w, ", ", ": ");
    json_add_unsigned(&w, "warnings", r->count[CHECK_WARNING]);
    json_add_unsigned(&w, "failed", r->count[CHECK_FAILED]);
    json_close(&w);
    buf_add_char(out, '\n');
}

static void
write_text(const struct check_report *r, const char *file, struct buf *out)
{
    for (size_t i = 0; i < r->n; i++)
        buf_printf(out, "%-7s %s: %s\n",
                   check_verdict_name(r->findings[i].verdict),
                   r->findings[i].check, r->findings[i].text);
    buf_printf(out, "%s: %zu ok, %zu warnings, %zu failed\n",
               r->name[0] != '\0' ? r->name : file, r->count[CHECK_OK],
               r->count[CHECK_WARNING], r->count[CHECK_FAILED]);
}

static int
check(const char *file, const struct check_options *how, bool json, int fd)
{
    struct check_report *report = malloc(sizeof *report);
    struct err err = {0};
    struct buf out;
    int rc;

    buf_init(&out, OUTPUT_MAX);
    if (report == NULL)
        rc = err_set(&err, ERR_MEMORY, "out of memory");
    else
        rc = check_plugin(file, how, report, &err);
    if (rc == 0) {
        (json ? write_json : write_text)(report, file, &out);
        rc = file_write_all(fd, out.data, out.len, &err);
    }
    buf_fini(&out);
    if (rc == 0)
        rc = report->count[CHECK_FAILED] == 0 ? EXIT_DONE : EXIT_FAILED;
    else
        rc = verb_fail("plugin", &err);
    free(report);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {.limit_ms = LIMIT_MS};
    struct check_options how;
    struct err err = {0};
    int fd, status;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("plugin", &err);
    if (argc > 1 && strcmp(argv[1], "check") != 0)
        err_set(&err, ERR_USAGE, "unexpected '%s', expected: check FILE.so",
                argv[1]);
    else if (argc != 3)
        err_set(&err, ERR_USAGE, "expected: check FILE.so");
    if (err.code != ERR_NONE)
        return verb_fail("plugin", &err);
    if (access(argv[2], R_OK) != 0) {
        err_errno(&err, ERR_CONFIG, "%s", argv[2]);
        return verb_fail("plugin", &err);
    }
    fd = verb_shield_stdout(&err);
    if (fd < 0)
        return verb_fail("plugin", &err);
    how = (struct check_options){.args = w.args, .limit_ms = w.limit_ms};
    status = check(argv[2], &how, w.json, fd);
    close(fd);
    return status;
}

const struct verb verb_plugin = {
    .name = "plugin",
    .summary = "check a tuner, an assessor or a filter",
    .help =
        "usage: tunepipe plugin check FILE.so [--args JSON] [--timeout TIME]\n"
        "                             [--json]\n"
        "\n"
        "Runs everything against the plugin that its header promises: every\n"
        "kind of search space and order of calls (conformance), the same with\n"
        "what it saved, loaded (saving), the same calls a second time elsewhere\n"
        "(determinism), a thousand lives (leaks), ten thousand results\n"
        "(latency), what it changes around it or prints. Each check is a\n"
        "process of its own. It prints a line each, `ok`, `warning` or\n"
        "`FAILED`, that says which callback did what, when, and what to do.\n"
        "A filter is put around a tuner that samples the prior and at times has\n"
        "nothing now, ends or fails.\n"
        "\n"
        "  --args JSON     its arguments, an object; default: its defaults, and\n"
        "                  something for each that has none\n"
        "  --timeout TIME  for each check; default 60s\n"
        "  --json          the same as a JSON object\n"
        "\n"
        "`new-tuner NAME` (or `new-assessor`) makes a plugin to begin with.\n"
        "\n"
        "Exit status: 0 nothing FAILED; 1 something did; 2 usage; 3 the file\n"
        "cannot be read.\n"
        "\n"
        "Example: tunepipe plugin check ./mine.so\n",
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "check FILE",
    .run = run,
};
