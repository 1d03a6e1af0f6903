/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "control/control.h"
#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tunepipe machine retry NAME [DIR]\n"
    "\n"
    "About the machines that trials of a running experiment run on.\n"
    "\n"
    "  retry NAME   trials may run there again, which was left out, as trials\n"
    "               kept failing there or it could not run any; `tunepipe\n"
    "               status` names it and says why\n"
    "\n"
    "DIR is the folder that `tunepipe run` printed; without it the newest in\n"
    "./tunepipe-experiments.\n"
    "\n"
    "Exit status: 0 done; 1 it is not left out, or nobody runs the experiment;\n"
    "2 usage; 3 DIR is no experiment's folder.\n"
    "\n"
    "Example: tunepipe machine retry n3\n";

static int
retry(const char *folder, const void *words, struct err *err)
{
    const char *const *name = words;
    struct json_writer w;
    struct buf request;
    int rc;

    buf_init(&request, CONTROL_LINE_MAX);
    w = json_begin_object(&request);
    json_add_text(&w, "command", "retry_machine");
    json_add_text(&w, "machine", *name);
    json_close(&w);
    rc = buf_check(&request, "the machine's name", err);
    if (rc == 0)
        rc = target_tell(folder, buf_text(&request), err);
    buf_fini(&request);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct err err = {0};
    const char *name;

    if (options_parse(NULL, 0, NULL, &argc, argv, &err) != 0)
        return verb_fail("machine", &err);
    if (argc < 3 || strcmp(argv[1], "retry") != 0) {
        err_set(&err, ERR_USAGE,
                "expected retry and a machine's name, such as retry n3%s%.100s",
                argc > 1 ? ", got " : "", argc > 1 ? argv[1] : "");
        return verb_fail("machine", &err);
    }
    name = argv[2];
    return target_run("machine", argc - 2, argv + 2, retry, &name);
}

const struct verb verb_machine = {
    .name = "machine",
    .summary = "let trials run again on a machine that was left out",
    .help = help,
    .run = run,
    .operand = "retry FOLDER",
};
