/* SPDX-License-Identifier: MIT */
#include "wrapper/options.h"

#include "trial/files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_MAX 1000000000000L

static int
refuse(const char *what, const char *value)
{
    fprintf(
        stderr,
        TRIAL_WRAPPER_PROGRAM
        ": %s '%s'; usage: " TRIAL_WRAPPER_PROGRAM
        " --dir TRIAL_DIR --cwd DIR --grace-ms N --adopt-ms N "
        "[--lease FIFO] [--alive FILE] [--node NAME] [--cgroup FOLDER] [--limit-bytes N] "
        "[--output-bytes N] [--synced 0|1] -- PROGRAM ARGUMENT...\n",
        what, value);
    return -1;
}

static bool
parse_ms(const char *text, long *out)
{
    char *end;

    errno = 0;
    *out = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 &&
           *out <= MS_MAX;
}

static bool
parse_bytes(const char *text, long long *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static int
parse_one(struct options *o, const char *name, const char *value)
{
    if (strcmp(name, "--dir") == 0)
        o->dir = value;
    else if (strcmp(name, "--cwd") == 0)
        o->cwd = value;
    else if (strcmp(name, "--lease") == 0)
        o->lease = value;
    else if (strcmp(name, "--node") == 0)
        o->node = value;
    else if (strcmp(name, "--alive") == 0)
        o->alive = value;
    else if (strcmp(name, "--grace-ms") == 0)
        return parse_ms(value, &o->grace_ms)
                   ? 0
                   : refuse("--grace-ms: expected 0 to 10^12, not", value);
    else if (strcmp(name, "--adopt-ms") == 0)
        return parse_ms(value, &o->adopt_ms)
                   ? 0
                   : refuse("--adopt-ms: expected 0 to 10^12, not", value);
    else if (strcmp(name, "--cgroup") == 0)
        o->cgroup = value;
    else if (strcmp(name, "--limit-bytes") == 0)
        return parse_bytes(value, &o->limit_bytes)
                   ? 0
                   : refuse("--limit-bytes: expected 0 to 2^63-1, not", value);
    else if (strcmp(name, "--synced") == 0)
        return parse_bytes(value, &o->synced)
                   ? 0
                   : refuse("--synced: expected 0 or 1, not", value);
    else if (strcmp(name, "--output-bytes") == 0)
        return parse_bytes(value, &o->output_bytes)
                   ? 0
                   : refuse("--output-bytes: expected 0 to 2^63-1, not", value);
    else
        return refuse("unknown option", name);
    return 0;
}

int
options_parse(struct options *options, int argc, char **argv)
{
    int i = 1;

    *options = (struct options){.grace_ms = -1, .adopt_ms = -1};
    for (; i < argc && strcmp(argv[i], "--") != 0; i += 2) {
        if (i + 1 == argc || strcmp(argv[i + 1], "--") == 0)
            return refuse("no value behind", argv[i]);
        if (parse_one(options, argv[i], argv[i + 1]) != 0)
            return -1;
    }
    if (options->dir == NULL)
        return refuse("missing", "--dir");
    if (options->cwd == NULL)
        return refuse("missing", "--cwd");
    if (options->grace_ms < 0)
        return refuse("missing", "--grace-ms");
    if (options->adopt_ms < 0)
        return refuse("missing", "--adopt-ms");
    if (i + 1 >= argc)
        return refuse("missing", "-- PROGRAM");
    options->program = argv + i + 1;
    return 0;
}
