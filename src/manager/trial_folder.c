/* SPDX-License-Identifier: MIT */
#include "manager/trial_folder.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/parameters.h"
#include "manager/recipe.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_LINE_MAX 65536
#define STOP_MAX 65536
#define TSV_MAX ((size_t)64 << 20)
#define RECIPE_MAX ((size_t)64 << 20) /* more than execve(2) takes */

/* Plainly, without a rename: nobody reads before the wrapper runs. */
static int
write_file(const char *folder, const char *name, const char *text, size_t len,
           struct err *err)
{
    char *path = file_join(folder, name);
    int fd, rc;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot create", path);
    } else {
        rc = file_write_all(fd, text, len, err);
        if (close(fd) != 0 && rc == 0)
            rc = err_errno(err, ERR_SYSTEM, "cannot write");
        if (rc != 0)
            err_place(err, "%s", path);
    }
    free(path);
    return rc;
}

static int
write_parameters(const struct trial *t, struct jval parameters, struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, TSV_MAX);
    buf_printf(&text, "%s\n", t->parameters);
    rc = buf_check(&text, TRIAL_PARAMETERS_JSON, err);
    if (rc == 0)
        rc = write_file(t->folder, TRIAL_PARAMETERS_JSON, text.data, text.len,
                        err);
    buf_clear(&text);
    if (rc == 0)
        rc = parameters_write_tsv(parameters, &text, err);
    if (rc == 0)
        rc = write_file(t->folder, TRIAL_PARAMETERS_TSV, text.data, text.len,
                        err);
    buf_fini(&text);
    return rc;
}

/* The file is made empty, so that it can be watched from the start. */
static int
make_tail(const struct trial *t, const char *name, size_t max_line,
          struct tail *tail, struct err *err)
{
    char *path = file_join(t->folder, name);
    int rc = write_file(t->folder, name, "", 0, err);

    if (rc == 0)
        rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : tail_open(tail, path, max_line, err);
    free(path);
    return rc;
}

/* What NNI's trial API reads and writes. */
static int
make_nni(struct trial *t, struct err *err)
{
    char *folder = file_join(t->folder, TRIAL_NNI_FOLDER);
    char *metrics = file_join(t->folder, TRIAL_NNI_METRICS);
    int rc;

    if (folder == NULL || metrics == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else if (mkdir(folder, 0700) != 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", folder);
    else
        rc = write_file(t->folder, TRIAL_NNI_METRICS, "", 0, err);
    if (rc == 0)
        rc = nnifile_open(&t->nni, metrics, err);
    if (rc == 0)
        rc = write_file(t->folder, TRIAL_NNI_PARAMETERS, t->record,
                        t->record_len, err);
    free(metrics);
    free(folder);
    return rc;
}

int
trial_folder_make(struct trial *t, struct jval parameters, bool wants_output,
                  struct err *err)
{
    if (mkdir(t->folder, 0700) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder",
                         t->folder);
    if (write_parameters(t, parameters, err) != 0 ||
        holding_make(&t->holding, t->folder, err) != 0 ||
        make_nni(t, err) != 0 ||
        make_tail(t, TRIAL_METRICS, TRIAL_METRIC_MAX, &t->report, err) != 0 ||
        (wants_output &&
         make_tail(t, TRIAL_STDOUT, OUTPUT_LINE_MAX, &t->out, err) != 0))
        return -1;
    return write_file(t->folder, TRIAL_STDERR, "", 0, err);
}

int
trial_folder_prepare(const char *folder, struct err *err)
{
    if (folder == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (mkdir(folder, 0700) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", folder);
    return write_file(folder, TRIAL_STDERR, "", 0, err);
}

int
trial_folder_recipe(const char *folder, const char *cwd,
                    const char *const command[], char *const env[],
                    struct err *err)
{
    char *path = folder != NULL ? file_join(folder, TRIAL_COMMAND) : NULL;
    struct buf text;
    int rc;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    unlink(path); /* of a start that failed */
    free(path);
    buf_init(&text, RECIPE_MAX);
    recipe_write(&text, cwd, command, env);
    rc = buf_check(&text, TRIAL_COMMAND, err);
    if (rc == 0)
        rc = write_file(folder, TRIAL_COMMAND, text.data, text.len, err);
    buf_fini(&text);
    return rc;
}

/* ---- of an earlier manager ---- */

void
trial_folder_stop(struct trial *t)
{
    char *path = file_join(t->folder, TRIAL_STOP);
    unsigned long long intermediates, finals;
    struct buf text;
    char word[16];

    buf_init(&text, 4 * STOP_MAX);
    if (path != NULL && file_read_plain(path, STOP_MAX, &text, NULL) == 0 &&
        sscanf(buf_text(&text), "%15s %llu %llu", word, &intermediates,
               &finals) == 3 &&
        trial_stop_of(word) != STOP_REASONS) {
        t->stop = trial_stop_of(word);
        t->counted.intermediates = intermediates;
        t->counted.finals = finals;
    }
    buf_fini(&text);
    free(path);
}

static void
open_lines(const struct trial *t, const char *name, size_t max_line,
           struct tail *tail)
{
    char *path = file_join(t->folder, name);

    if (path == NULL || tail_open(tail, path, max_line, NULL) != 0)
        tail_close(tail);
    free(path);
}

void
trial_folder_open(struct trial *t, bool wants_output)
{
    char *records = file_join(t->folder, TRIAL_NNI_METRICS);

    open_lines(t, TRIAL_METRICS, TRIAL_METRIC_MAX, &t->report);
    if (wants_output)
        open_lines(t, TRIAL_STDOUT, OUTPUT_LINE_MAX, &t->out);
    if (records == NULL || nnifile_open(&t->nni, records, NULL) != 0)
        nnifile_close(&t->nni);
    free(records);
    trial_folder_stop(t);
}
