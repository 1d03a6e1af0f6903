/* SPDX-License-Identifier: MIT */
#include "runner/slurm/bundle.h"

#include "agent/agent.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "runner/runner.h"
#include "runner/slurm/jobs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUCH 500000000 /* bytes of an archive */

/* $1 where it is put, $2 to $4 our programs and Python package, $5 the code,
 * $6 what of that is left out, as is every other experiment.  Times are not of
 * its content: the same code has the same name. */
static const char make[] =
    "umask 077; cd -- \"$1\"; rm -rf ours ignored others new.*\n"
    "mkdir -p ours/" AGENT_PROGRAMS " ours/" AGENT_PYTHON "\n"
    "cp -- \"$2\" ours/" AGENT_PROGRAMS "/tunepipe\n"
    "cp -- \"$3\" ours/" AGENT_PROGRAMS "/\n"
    "[ -z \"$4\" ] || cp -R -- \"$4\" ours/" AGENT_PYTHON "/\n"
    ": > ignored\n"
    "[ ! -f \"$5/.nniignore\" ] || sed -e '/^#/d' -e 's,^/*,,' -e 's,/*$,,' "
    "-e '/^ *$/d' \"$5/.nniignore\" > ignored\n"
    "find \"$5\" -mindepth 2 -name command.log -printf './%P\\n' | "
    "sed 's,/command.log$,,' > others\n"
    "[ -z \"$6\" ] || printf './%s\\n' \"$6\" >> others\n"
    "tar --create --file=new.tar --sort=name --numeric-owner --owner=0 "
    "--group=0 --mtime=@1 --exclude=__pycache__ --directory=ours " AGENT_OURS
    " --directory=\"$5\" --exclude-vcs --exclude-from=\"$1/ignored\" "
    "--anchored --no-wildcards --exclude-from=\"$1/others\" . "
    "|| [ $? = 1 ]\n"
    "name=$(sha256sum new.tar); name=$(echo \"$name\" | cut -c1-32)\n"
    "gzip -n -1 < new.tar > new.tgz; rm -rf ours ignored others new.tar\n"
    "mv new.tgz \"node.$name.tgz\"; echo \"$name\"";

/* $1 its name; what nobody has used for long goes.  Our environment may be that
 * of another machine, whose HOME is none here. */
static const char enter[] =
    "name=$1; shift\n"
    "for all in \"${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}/tunepipe\" "
    "\"$(getent passwd \"$(id -u)\" | cut -d: -f6)/.cache/tunepipe\" "
    "\"/tmp/tunepipe-$(id -u)\"; do\n"
    "(umask 077; mkdir -p \"$all\") 2>/dev/null && [ -O \"$all\" ] && break\n"
    "done\n"
    "to=$all/$name\n"
    "[ -d \"$to\" ] || (umask 077\n"
    "new=$(mktemp -d \"$to.XXXXXX\") || exit\n"
    "tar -xzf - -C \"$new\" && touch \"$new\" || { rm -rf \"$new\"; exit 1; }\n"
    "mv -T \"$new\" \"$to\" 2>/dev/null || rm -rf \"$new\") || exit\n"
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

/* Of the code's folder the part that holds experiments, to be freed; "": none.
 */
static char *
find_experiments(const char *code, const char *experiment)
{
    char *in = realpath(code, NULL), *path = realpath(experiment, NULL);
    size_t len = in != NULL ? strlen(in) : 0;
    char *within = NULL, *slash;

    if (path != NULL && len > 0 && strncmp(in, path, len) == 0 &&
        path[len] == '/') {
        within = strdup(path + len + 1);
        slash = within != NULL ? strrchr(within, '/') : NULL;
        if (slash != NULL)
            *slash = '\0';
    } else {
        within = strdup("");
    }
    free(in);
    free(path);
    return within;
}

/* Says that it is much, which each node has to be sent. */
static void
say_size(const struct bundle *b, const char *folder,
         const struct runner_setup *setup)
{
    char *path = file_join(folder, b->archive), line[600];
    struct stat st;

    if (path != NULL && stat(path, &st) == 0 && st.st_size > MUCH &&
        setup->say != NULL) {
        snprintf(line, sizeof line,
                 "tunepipe: warning: %.400s: %lld MB are copied to each node: "
                 ".nniignore can leave out what trials do not need",
                 setup->code_folder, (long long)st.st_size / 1000000);
        setup->say(setup->ctx, line);
    }
    free(path);
}

static int
run_make(struct bundle *b, const char *const words[], struct err *err)
{
    struct jobs_command c = {0};
    struct buf said;
    int rc;

    jobs_add(&c, "sh");
    jobs_add(&c, "-ec");
    jobs_add(&c, "%s", make);
    jobs_add(&c, "tunepipe");
    for (; *words != NULL; words++)
        jobs_add(&c, "%s", *words);
    buf_init(&said, 65536);
    rc = jobs_run(&c, &said, err);
    snprintf(b->name, sizeof b->name, "%.32s", buf_text(&said));
    if (rc == 0 && asprintf(&b->archive, "node.%s.tgz", b->name) < 0) {
        b->archive = NULL;
        rc = err_set(err, ERR_MEMORY, "out of memory");
    }
    jobs_clear(&c);
    buf_fini(&said);
    return rc;
}

int
bundle_make(struct bundle *b, const char *folder, const char *experiment,
            const struct runner_setup *setup, struct err *err)
{
    char *program = find_program(setup->program_folder);
    char *wrapper = runner_wrapper(setup->program_folder, err);
    char *python = setup->python_folder != NULL
                       ? file_join(setup->python_folder, "tunepipe")
                       : strdup("");
    char *without = find_experiments(setup->code_folder, experiment);
    int rc = -1;

    if (program == NULL || python == NULL || without == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (wrapper != NULL)
        rc = run_make(b,
                      (const char *const[]){folder, program, wrapper, python,
                                            setup->code_folder, without, NULL},
                      err);
    if (rc == 0)
        say_size(b, folder, setup);
    else
        err_place(err, "%s: cannot be copied for other machines",
                  setup->code_folder);
    free(program);
    free(wrapper);
    free(python);
    free(without);
    return rc;
}

void
bundle_fini(struct bundle *b, const char *folder)
{
    DIR *all = folder != NULL ? opendir(folder) : NULL;
    struct dirent *entry;

    while (all != NULL && (entry = readdir(all)) != NULL)
        if (strncmp(entry->d_name, "node.", 5) == 0)
            unlinkat(dirfd(all), entry->d_name, 0);
    if (all != NULL)
        closedir(all);
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
