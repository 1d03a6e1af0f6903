/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/verb.h"

#include "config/schema.h"
#include "core/buf.h"
#include "core/err.h"

#include <stdio.h>

#define SCHEMA_MAX ((size_t)1 << 20)

static const char help[] =
    "usage: tunepipe schema\n"
    "\n"
    "Prints the JSON Schema (draft 2020-12) of a configuration: every key with\n"
    "its type and what it is for, those of NNI v1 as deprecated.  An editor\n"
    "that knows it completes and checks while you write:\n"
    "\n"
    "  # yaml-language-server: $schema=experiment.schema.json\n"
    "\n"
    "`tunepipe run --dry-run` checks more, and says more of what is wrong.\n"
    "\n"
    "Exit status: 0 done; 1 it could not be printed; 2 usage.\n"
    "\n"
    "Example: tunepipe schema > experiment.schema.json\n";

static int
schema(int argc, char **argv)
{
    struct err err = {0};
    struct buf out;
    int status = EXIT_DONE;

    if (options_parse(NULL, 0, NULL, &argc, argv, &err) != 0)
        return verb_fail("schema", &err);
    if (argc != 1) {
        err_set(&err, ERR_USAGE, "expected nothing else; see --help");
        return verb_fail("schema", &err);
    }
    buf_init(&out, SCHEMA_MAX);
    schema_write(&out);
    if (buf_check(&out, "the schema", &err) != 0)
        status = verb_fail("schema", &err);
    else
        fputs(buf_text(&out), stdout);
    buf_fini(&out);
    return verb_printed("schema", status);
}

const struct verb verb_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of a configuration",
    .help = help,
    .run = schema,
};
