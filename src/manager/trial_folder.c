/* SPDX-License-Identifier: MIT */
#include "manager/trial_folder.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "json_writer.h"
#include "manager/parameters.h"
#include "manager/trial.h"
#include "pack/packs.h"
#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_LINE_MAX 65536
#define STOP_MAX 65536
#define TSV_MAX ((size_t)64 << 20)
#define COMMAND_MAX ((size_t)64 << 20) /* more than execve(2) takes */

/* Writes a file plainly, without a rename: nobody reads it before the wrapper
 * runs. */
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
    jval_write(parameters, &text);
    buf_add_char(&text, '\n');
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

/* Of which a trial may have made some. */
static int
make_nni_metrics(const char *folder, const char *metrics, struct err *err)
{
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd;

    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", folder);
    fd = open(metrics, flags, 0600);
    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot create", metrics);
    close(fd);
    return 0;
}

int
trial_folder_make_nni(struct trial *t, struct err *err)
{
    char *folder = file_join(t->folder, TRIAL_NNI_FOLDER);
    char *metrics = file_join(t->folder, TRIAL_NNI_METRICS);
    int rc;

    if (folder == NULL || metrics == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    else
        rc = make_nni_metrics(folder, metrics, err);
    if (rc == 0)
        rc = nnifile_open(&t->nni, metrics, err);
    if (rc == 0)
        rc = trial_folder_write_record(t, err);
    free(metrics);
    free(folder);
    return rc;
}

int
trial_folder_make(struct trial *t, struct jval parameters,
                  const struct trial_needs *needs, struct err *err)
{
    if (mkdir(t->folder, 0700) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder",
                         t->folder);
    if (write_parameters(t, parameters, err) != 0 ||
        ((needs->lockstep || needs->waited || !needs->unwaited) &&
         unanswered_make(&t->unanswered, t->folder, needs->elsewhere, err) !=
             0) ||
        (needs->nni && trial_folder_make_nni(t, err) != 0))
        return -1;
    return 0;
}

int
trial_folder_need(const struct trial *t)
{
    return mkdir(t->folder, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

int
trial_folder_prepare(const char *folder, struct err *err)
{
    if (folder == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (mkdir(folder, 0700) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", folder);
    return 0;
}

/* ---- how the phase of a trial was started: TRIAL_COMMAND ---- */

static size_t
count_texts(const char *bytes, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += bytes[i] == '\0';
    return n;
}

/* A list of the n texts that begin at *at, which moves behind them. */
static char **
list_texts(char **at, size_t n)
{
    char **texts = calloc(n + 1, sizeof *texts);

    for (size_t i = 0; texts != NULL && i < n; i++) {
        texts[i] = *at;
        *at += strlen(*at) + 1;
    }
    return texts;
}

static int
read_texts(struct trial_command *c, size_t n, struct err *err)
{
    char *at = c->bytes;
    const char *number;
    uint64_t words = 0;

    c->folder = at;
    at += strlen(at) + 1;
    number = at;
    at += strlen(at) + 1;
    if (!number_parse_u64(number, strlen(number), &words) || words == 0 ||
        words > n - 2)
        return err_set(err, ERR_INPUT,
                       "expected a number of words, got '%.40s'", number);
    c->argv = list_texts(&at, words);
    c->env = list_texts(&at, n - 2 - words);
    return c->argv == NULL || c->env == NULL
               ? err_set(err, ERR_MEMORY, "out of memory")
               : 0;
}

int
trial_command_read(struct trial_command *c, const char *bytes, size_t len,
                   struct err *err)
{
    size_t n = count_texts(bytes, len);

    *c = (struct trial_command){0};
    if (n < 3 || bytes[len - 1] != '\0')
        return err_set(err, ERR_INPUT,
                       "is cut off: expected at least three texts, each ended "
                       "by a NUL");
    c->bytes = malloc(len);
    if (c->bytes == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    memcpy(c->bytes, bytes, len);
    if (read_texts(c, n, err) == 0)
        return 0;
    trial_command_fini(c);
    return -1;
}

/* What stands behind the text of a wrapper's file. */
static int
load_behind_text(struct trial_command *c, const char *path, struct packs *k,
                 struct err *err)
{
    const char *at;
    struct buf bytes;
    int rc;

    buf_init(&bytes, 2 * COMMAND_MAX);
    rc = packs_read(k, path, COMMAND_MAX, &bytes, err);
    at = rc == 0 ? memchr(buf_text(&bytes), '\0', bytes.len) : NULL;
    if (rc == 0 && at == NULL) /* of an earlier version */
        rc = err_set(err, ERR_INPUT, "does not tell how it was started");
    while (rc == 0 && bytes.data[bytes.len - 1] == ' ')
        bytes.len--; /* room for its end */
    if (rc == 0)
        rc = trial_command_read(c, at + 1,
                                bytes.len - (size_t)(at + 1 - bytes.data), err);
    if (rc != 0)
        err_place(err, "%s", path);
    buf_fini(&bytes);
    return rc;
}

static int
load_file(struct trial_command *c, const char *path, struct packs *k,
          struct err *err)
{
    struct buf bytes;
    int rc;

    buf_init(&bytes, 2 * COMMAND_MAX);
    rc = packs_read(k, path, COMMAND_MAX, &bytes, err);
    if (rc == 0) {
        rc = trial_command_read(c, bytes.len > 0 ? bytes.data : "", bytes.len,
                                err);
        if (rc != 0)
            err_place(err, "%s", path);
    }
    buf_fini(&bytes);
    return rc;
}

int
trial_command_load(struct trial_command *c, const char *folder, struct packs *k,
                   struct err *err)
{
    static const char *const names[] = {TRIAL_COMMAND, TRIAL_EXIT,
                                        TRIAL_WRAPPER_PID};
    char *path = NULL;
    int rc;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        free(path);
        path = file_join(folder, names[i]);
        if (path == NULL)
            return err_set(err, ERR_MEMORY, "out of memory");
        if (packs_has(k, path))
            break;
    }
    rc = strcmp(strrchr(path, '/') + 1, TRIAL_COMMAND) == 0
             ? load_file(c, path, k, err)
             : load_behind_text(c, path, k, err);
    free(path);
    return rc;
}

void
trial_command_fini(struct trial_command *c)
{
    free(c->bytes);
    free(c->argv);
    free(c->env);
    *c = (struct trial_command){0};
}

/* ---- what the trial goes on from: TRIAL_ORIGIN ---- */

#define ORIGIN_MAX 256
#define ORIGIN_BUFFER_MAX ((size_t)1 << 20)

int
trial_folder_write_origin(const struct trial *t, struct err *err)
{
    char *path, line[ORIGIN_MAX], from[32] = "-";
    bool none = t->origin.how == ORIGIN_NONE;
    int len, rc;

    if (none && t->restore == 0)
        return 0;
    if (!none)
        snprintf(from, sizeof from, "%05llu",
                 (unsigned long long)t->origin.from);
    len = snprintf(line, sizeof line, "%llu %llu %s %s\n",
                   (unsigned long long)t->step, (unsigned long long)t->restore,
                   from, none ? "-" : origin_word(t->origin.how));
    path =
        trial_folder_need(t) == 0 ? file_join(t->folder, TRIAL_ORIGIN) : NULL;
    rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                      : file_write_plain(path, line, (size_t)len, err);
    free(path);
    return rc;
}

int
trial_folder_write_record(const struct trial *t, struct err *err)
{
    char *path;
    int rc;

    if (trial_folder_need(t) != 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder",
                         t->folder);
    path = file_join(t->folder, TRIAL_NNI_PARAMETERS);
    rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                      : file_write(path, t->record, t->record_len, err);
    free(path);
    return rc;
}

/* The variable's value in the environment of the trial; NULL: it has none. */
static const char *
find_variable(const struct trial_command *c, const char *name)
{
    size_t len = strlen(name);

    for (char **var = c->env; *var != NULL; var++)
        if (strncmp(*var, name, len) == 0 && (*var)[len] == '=')
            return *var + len + 1;
    return NULL;
}

/* Finds the parameter_id, as JSON. */
static bool
find_id(const struct trial_command *c, struct buf *out)
{
    const char *id = find_variable(c, TRIAL_ENV_PARAMETER_ID);
    uint64_t number;

    if (id == NULL)
        return false;
    if (number_parse_u64(id, strlen(id), &number))
        buf_add_text(out, id);
    else
        json_write_string(out, id, strlen(id));
    return true;
}

/* How any phase of the trial was started. */
static int
load_any(struct trial_command *c, const char *folder, struct packs *k)
{
    char *prepare = file_join(folder, TRIAL_PREPARE);
    int rc = trial_command_load(c, folder, k, NULL);

    if (rc != 0 && prepare != NULL)
        rc = trial_command_load(c, prepare, k, NULL);
    free(prepare);
    return rc;
}

/* Makes the record of one that has no file of NNI's. */
static bool
make_record(const char *folder, struct packs *k, struct buf *out)
{
    char *path = file_join(folder, TRIAL_PARAMETERS_JSON);
    struct trial_command c = {0};
    const char *source;
    struct json_writer w;
    struct buf given, id;
    bool ok;

    buf_init(&given, TSV_MAX);
    buf_init(&id, TSV_MAX);
    ok = path != NULL && packs_read(k, path, TSV_MAX / 2, &given, NULL) == 0 &&
         load_any(&c, folder, k) == 0 && find_id(&c, &id);
    if (ok) {
        while (given.len > 0 && given.data[given.len - 1] == '\n')
            given.len--;
        w = json_begin_object(out);
        source = find_variable(&c, TRIAL_ENV_PARAMETER_SOURCE);
        json_add_raw(&w, "parameter_id", buf_text(&id));
        json_add_text(&w, "parameter_source",
                      source != NULL ? source : "algorithm");
        json_add_raw(&w, "parameters", buf_text(&given));
        json_close(&w);
    }
    trial_command_fini(&c);
    buf_fini(&given);
    buf_fini(&id);
    free(path);
    return ok;
}

char *
trial_folder_record(const char *folder, struct packs *k)
{
    char *path = file_join(folder, TRIAL_NNI_PARAMETERS), *text = NULL;
    struct suggestion s;
    struct buf b;

    buf_init(&b, 2 * TSV_MAX);
    if (path != NULL &&
        (packs_read(k, path, TSV_MAX, &b, NULL) == 0 ||
         make_record(folder, k, &b)) &&
        suggestion_read(buf_text(&b), b.len, &s, NULL) == 0) {
        suggestion_fini(&s);
        text = buf_take(&b);
    }
    buf_fini(&b);
    free(path);
    return text;
}

bool
trial_folder_read_origin(struct trial *t)
{
    char *path = file_join(t->folder, TRIAL_ORIGIN);
    unsigned long long step = 0, restore = 0;
    struct buf text;
    bool ok;

    buf_init(&text, ORIGIN_BUFFER_MAX);
    ok = path != NULL && file_read_plain(path, ORIGIN_MAX, &text, NULL) == 0 &&
         sscanf(buf_text(&text), "%llu %llu", &step, &restore) == 2;
    t->step = step;
    t->restore = restore;
    buf_fini(&text);
    free(path);
    return ok;
}

/* ---- what an earlier manager has left ---- */

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
    char *path = tail->fd >= 0 ? NULL : file_join(t->folder, name);

    if (path != NULL && tail_open(tail, path, max_line, NULL) != 0)
        tail_close(tail);
    free(path);
}

void
trial_folder_open(struct trial *t, const struct trial_needs *needs)
{
    char *records =
        t->nni.fd >= 0 ? NULL : file_join(t->folder, TRIAL_NNI_METRICS);

    open_lines(t, TRIAL_METRICS, TRIAL_METRIC_MAX, &t->report);
    if (needs->output)
        open_lines(t, TRIAL_STDOUT, OUTPUT_LINE_MAX, &t->out);
    if (records != NULL && nnifile_open(&t->nni, records, NULL) != 0)
        nnifile_close(&t->nni);
    free(records);
}
