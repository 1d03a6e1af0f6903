/* SPDX-License-Identifier: MIT */
#include "runner/slurm/bundle.h"

#include "agent/agent.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "runner/runner.h"
#include "runner/slurm/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* $1 where it is put, $2 to $4 our programs and Python package, $5 the code,
 * $6 what of that is left out.  Times are not of its content: the same code
 * has the same name. */
static const char make[] =
    "umask 077; cd -- \"$1\"; rm -rf ours new.tgz\n"
    "mkdir -p ours/" AGENT_PROGRAMS " ours/" AGENT_PYTHON "\n"
    "cp -- \"$2\" ours/" AGENT_PROGRAMS "/tunepipe\n"
    "cp -- \"$3\" ours/" AGENT_PROGRAMS "/\n"
    "[ -z \"$4\" ] || cp -R -- \"$4\" ours/" AGENT_PYTHON "/\n"
    "ignored=\n"
    "[ ! -f \"$5/.nniignore\" ] || ignored=--exclude-from=$5/.nniignore\n"
    "tar --create --file=new.tar --sort=name --numeric-owner --owner=0 "
    "--group=0 --mtime=@1 --exclude=__pycache__ --directory=ours " AGENT_OURS
    " --directory=\"$5\" --exclude-vcs --anchored --no-wildcards "
    "${6:+\"--exclude=./$6\"} --no-anchored --wildcards ${ignored:+\"$ignored\"} . "
    "|| [ $? = 1 ]\n"
    "name=$(sha256sum < new.tar | cut -c1-32)\n"
    "gzip -n -1 < new.tar > new.tgz; rm -rf ours new.tar\n"
    "rm -f node.*; mv new.tgz \"node.$name.tgz\"; echo \"$name\"";

/* $1 its name; what nobody has used for long goes. */
static const char enter[] =
    "all=${XDG_CACHE_HOME:-${HOME:?}/.cache}/tunepipe; to=$all/$1; shift\n"
    "if [ ! -d \"$to\" ]; then\n"
    "umask 077; mkdir -p \"$all\" && new=$(mktemp -d \"$to.XXXXXX\") || exit\n"
    "tar -xzf - -C \"$new\" || { rm -rf \"$new\"; exit 1; }\n"
    "mv -T \"$new\" \"$to\" 2>/dev/null || rm -rf \"$new\"\n"
    "fi\n"
    "touch \"$to\"\n"
    "find \"$all\" -mindepth 1 -maxdepth 1 -mtime +90 -exec rm -rf {} + "
    "2>/dev/null\n"
    "exec \"$to/" AGENT_PROGRAMS "/tunepipe\" \"$@\"";

/* The one that needs no library of the machine, where it was built. */
static char *
find_program(const char *folder)
{
    char *path = NULL;

    for (int i = 0; i < 2; i++) {
        if (asprintf(&path, "%s/%stunepipe-node", folder,
                     i == 0 ? "" : "../libexec/tunepipe/") < 0)
            return NULL;
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return file_join(folder, "tunepipe");
}

/* Of the code's folder the part that holds experiments; "": none. */
static const char *
find_experiments(const char *code, const char *experiment, char *within)
{
    size_t len = strlen(code);
    char *slash;

    if (strncmp(code, experiment, len) != 0 || experiment[len] != '/')
        return "";
    strcpy(within, experiment + len + 1);
    slash = strrchr(within, '/');
    if (slash != NULL)
        *slash = '\0';
    return within;
}

int
bundle_make(struct bundle *b, const char *folder, const char *experiment,
            const struct runner_setup *setup, struct err *err)
{
    struct jobs_command c = {0};
    char *program = find_program(setup->program_folder);
    char *wrapper = runner_wrapper(setup->program_folder, err);
    char *python = setup->python_folder != NULL
                       ? file_join(setup->python_folder, "tunepipe")
                       : NULL;
    char *within = malloc(strlen(experiment) + 1);
    struct buf said;
    int rc;

    buf_init(&said, 65536);
    if (wrapper == NULL || program == NULL || within == NULL) {
        rc = wrapper == NULL ? -1 : err_set(err, ERR_MEMORY, "out of memory");
    } else {
        jobs_add(&c, "sh");
        jobs_add(&c, "-ec");
        jobs_add(&c, "%s", make);
        jobs_add(&c, "tunepipe");
        jobs_add(&c, "%s", folder);
        jobs_add(&c, "%s", program);
        jobs_add(&c, "%s", wrapper);
        jobs_add(&c, "%s", python != NULL ? python : "");
        jobs_add(&c, "%s", setup->code_folder);
        jobs_add(&c, "%s",
                 find_experiments(setup->code_folder, experiment, within));
        rc = jobs_run(&c, &said, err);
    }
    if (rc == 0) {
        snprintf(b->name, sizeof b->name, "%.32s", buf_text(&said));
        if (asprintf(&b->archive, "%s/node.%s.tgz", folder, b->name) < 0) {
            b->archive = NULL;
            rc = err_set(err, ERR_MEMORY, "out of memory");
        }
    } else {
        err_place(err, "%s: cannot be copied for other machines",
                  setup->code_folder);
    }
    jobs_clear(&c);
    buf_fini(&said);
    free(program);
    free(wrapper);
    free(python);
    free(within);
    return rc;
}

void
bundle_fini(struct bundle *b, bool removes)
{
    if (b->archive != NULL && removes)
        unlink(b->archive);
    free(b->archive);
    *b = (struct bundle){0};
}

void
bundle_enter(const struct bundle *b, struct jobs_command *c)
{
    jobs_add(c, "sh");
    jobs_add(c, "-c");
    jobs_add(c, "%s", enter);
    jobs_add(c, "tunepipe");
    jobs_add(c, "%s", b->name);
}
