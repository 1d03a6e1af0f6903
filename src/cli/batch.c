/* SPDX-License-Identifier: MIT */
#include "cli/batch.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/visible.h"
#include "manager/command_template.h"
#include "manager/experiment_folder.h"
#include "runner/slurm/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define SCRIPT_MAX ((size_t)1 << 20)
#define END_S 120 /* for the manager's own end, before the time limit */
#define MORE_MINUTES 5

int
batch_check(const struct batch_words *w, struct err *err)
{
    if (!w->batch && w->options.n > 0)
        return err_set(err, ERR_USAGE, "--batch-option is for --batch");
    for (size_t i = 0; i < w->options.n; i++)
        if (w->options.words[i][0] != '-' ||
            strchr(w->options.words[i], '\n') != NULL)
            return err_set(err, ERR_USAGE,
                           "--batch-option '%.100s': expected an option of "
                           "sbatch, such as --batch-option=--time=24:00:00",
                           w->options.words[i]);
    return 0;
}

/* ---- the script ---- */

static void
add_option(struct buf *out, const char *name, const char *value)
{
    if (value != NULL)
        buf_printf(out, "#SBATCH --%s=%s\n", name, value);
}

/* What trials on the job's own machine take, as many as run at a time. */
static void
add_trials(const struct experiment *x, struct buf *out)
{
    const struct wishes *w = &x->wishes;
    uint64_t n = x->concurrency;

    buf_printf(out,
               "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
               "#SBATCH --cpus-per-task=%" PRIu64 "\n",
               n);
    if (w->memory > 0 && !w->memory_auto)
        buf_printf(out, "#SBATCH --mem=%" PRIu64 "M\n",
                   n * ((w->memory >> 20) + 1) + (w->floor >> 20));
    if (w->devices > 0)
        buf_printf(out, "#SBATCH --gres=gpu:%" PRIu64 "\n",
                   (n * w->devices + w->trials_a_device - 1) /
                       w->trials_a_device);
}

/* What they take on agents, on as many nodes as have room for them. */
static void
add_tasks(const struct experiment *x, struct buf *out)
{
    const struct wishes *w = &x->wishes;
    uint64_t cpus = x->cluster.cpus > 0 ? x->cluster.cpus : 1;

    buf_printf(out,
               "#SBATCH --ntasks=%" PRIu64 "\n#SBATCH --cpus-per-task=%" PRIu64
               "\n",
               x->concurrency, cpus);
    if (w->memory > 0)
        buf_printf(out, "#SBATCH --mem-per-cpu=%" PRIu64 "M\n",
                   (w->memory >> 20) / cpus + 1);
    if (w->devices > 0)
        buf_printf(out, "#SBATCH --gpus-per-task=%" PRIu64 "\n", w->devices);
}

static void
add_words(const struct batch_words *w, struct buf *out)
{
    for (size_t i = 0; i < w->options.n; i++)
        buf_printf(out, "#SBATCH %s\n", w->options.words[i]);
}

static int
add_command(const char *folder, struct buf *out, struct err *err)
{
    char *programs = file_program_folder();

    if (programs == NULL)
        return err_errno(err, ERR_SYSTEM, "cannot tell where tunepipe lies");
    buf_add_text(out, "exec ");
    shell_quote(out, programs, strlen(programs));
    buf_add_text(out, "/tunepipe resume ");
    shell_quote(out, folder, strlen(folder));
    buf_add_char(out, '\n');
    free(programs);
    return 0;
}

int
batch_script(const struct experiment *x, const char *folder,
             const struct batch_words *w, struct buf *out, struct err *err)
{
    const char *name = strrchr(folder, '/');

    if (strpbrk(folder, "\n\"%") != NULL)
        return err_set(err, ERR_CONFIG,
                       "%s: Slurm has no files with a line feed, a quote or %% "
                       "in their paths: choose another "
                       "experimentWorkingDirectory",
                       folder);
    buf_printf(out,
               "#!/bin/sh\n#SBATCH --job-name=%s\n"
               "#SBATCH --output=\"%s/" FOLDER_BATCH_OUT "\"\n"
               "#SBATCH --open-mode=append\n#SBATCH --requeue\n"
               "#SBATCH --signal=B:TERM@%" PRId64 "\n",
               name != NULL ? name + 1 : folder, folder,
               END_S + x->grace_ms / 1000);
    if (x->platform == PLATFORM_local)
        add_trials(x, out);
    else if (x->cluster.mode == CLUSTER_PILOTS)
        add_tasks(x, out);
    add_option(out, "partition", x->cluster.partition);
    add_option(out, "account", x->cluster.account);
    add_option(out, "qos", x->cluster.qos);
    if (x->max_experiment_ms > 0)
        buf_printf(out, "#SBATCH --time=%" PRId64 "\n",
                   x->max_experiment_ms / 60000 + MORE_MINUTES);
    add_words(w, out);
    return add_command(folder, out, err);
}

/* Of a script that is there, perhaps edited: more options stand behind those
 * that it has, which they overrule. */
static void
add_to_script(const char *old, const struct batch_words *w, struct buf *out)
{
    const char *exec = strstr(old, "\nexec ");
    size_t len = exec != NULL ? (size_t)(exec - old) + 1 : strlen(old);

    buf_add(out, old, len);
    add_words(w, out);
    buf_add_text(out, old + len);
}

/* ---- submitted ---- */

static void
tell(const char *id, const char *folder)
{
    visible_printf(stdout,
                   "tunepipe: batch job %s runs the experiment in %s\n"
                   "  how it stands:  tunepipe status %s\n"
                   "  to end it:      scancel --batch --signal=TERM %s  (while "
                   "it is queued: scancel %s)\n"
                   "  to go on after a time limit, or that:  tunepipe resume "
                   "--batch %s\n",
                   id, folder, folder, id, id, folder);
}

static int
submit(const char *folder, const char *script, struct err *err)
{
    char *note = file_join(folder, FOLDER_BATCH_ID);
    struct jobs_command c = {0};
    struct buf id;
    int rc;

    buf_init(&id, 4096);
    jobs_add(&c, "sbatch");
    jobs_add(&c, "--parsable");
    jobs_add(&c, "%s", script);
    rc = note == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                      : jobs_run(&c, &id, err);
    if (rc == 0) { /* 17, or 17;cluster */
        id.len = strcspn(buf_text(&id), ";\n");
        file_write(note, id.data, id.len, NULL);
        tell(buf_text(&id), folder);
    } else if (err->code == ERR_INPUT) {
        err->code = ERR_CONFIG;
    }
    jobs_clear(&c);
    buf_fini(&id);
    free(note);
    return rc;
}

int
batch_resume(const struct experiment *x, const char *folder,
             const struct batch_words *w, struct err *err)
{
    char *path = file_join(folder, FOLDER_BATCH);
    struct buf old, text;
    int rc = 0;

    buf_init(&old, SCRIPT_MAX);
    buf_init(&text, SCRIPT_MAX);
    if (path == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (access(path, F_OK) != 0)
        rc = batch_script(x, folder, w, &text, err);
    else if ((rc = file_read(path, SCRIPT_MAX, &old, err)) == 0)
        add_to_script(buf_text(&old), w, &text);
    if (rc == 0)
        rc = buf_check(&text, FOLDER_BATCH, err);
    if (rc == 0)
        rc = file_write(path, text.data, text.len, err);
    if (rc == 0)
        rc = submit(folder, path, err);
    buf_fini(&old);
    buf_fini(&text);
    free(path);
    return rc;
}

/* Whoever is the first to run it notes its process. */
static void
forget_process(const char *folder)
{
    char *path = file_join(folder, FOLDER_PID);

    if (path != NULL)
        unlink(path);
    free(path);
}

int
batch_run(const struct experiment *x, const struct batch_words *w,
          struct err *err)
{
    struct experiment_folder f;
    uint64_t seed = x->seed;
    uint32_t drawn = 0;
    int rc;

    if (!x->has_seed && getrandom(&drawn, sizeof drawn, 0) < 0)
        return err_errno(err, ERR_SYSTEM, "cannot draw a seed");
    if (!x->has_seed)
        seed = drawn;
    rc = experiment_folder_make(&f, x, NULL, seed, err);
    if (rc == 0) {
        forget_process(f.path);
        rc = batch_resume(x, f.path, w, err);
    }
    f.unbegun = rc != 0 && f.path != NULL;
    experiment_folder_close(&f);
    return rc;
}
