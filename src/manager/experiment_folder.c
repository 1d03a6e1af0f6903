/* SPDX-License-Identifier: MIT */
#include "manager/experiment_folder.h"
#include "manager/imports.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/hold.h"
#include "core/passing.h"
#include "core/process.h"
#include "json.h"
#include "log/log.h"
#include "objectives/objectives.h"
#include "manager/parameters.h"
#include "manager/results.h"
#include "manager/trial.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SLUG_MAX 40
#define CONFIG_MAX ((size_t)4 << 20)
#define LINE_MAX_BYTES ((size_t)64 << 20)
#define HELD_MAX ((size_t)1 << 30)
#define SUMMARY_ROOM 4096
#define SAME_SECOND_MAX 10000

static void
make_slug(const char *name, char out[SLUG_MAX + 1])
{
    size_t n = 0;

    for (; *name != '\0' && n < SLUG_MAX; name++) {
        unsigned char c = (unsigned char)*name;

        if (isalnum(c) || c == '_' || c == '.')
            out[n++] = (char)c;
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
        if (n == 1 && out[0] == '.')
            n = 0;
    }
    while (n > 0 && out[n - 1] == '-')
        n--;
    out[n] = '\0';
    if (n == 0)
        snprintf(out, SLUG_MAX + 1, "experiment");
}

/* Makes the folder itself.  The time in its name is there to tell experiments
 * apart, and nothing depends on it. */
static int
make_top(struct experiment_folder *f, const struct experiment *x,
         struct err *err)
{
    time_t now = (time_t)(clock_realtime_ns() / 1000000000);
    char slug[SLUG_MAX + 1], when[32], again[16] = "";
    struct tm tm;

    make_slug(x->name, slug);
    localtime_r(&now, &tm);
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm);
    if (access(x->working_folder, F_OK) != 0)
        f->made = strdup(x->working_folder);
    if (file_make_folder(x->working_folder, err) != 0)
        return -1;
    for (int i = 2; i < SAME_SECOND_MAX; i++) {
        free(f->path);
        if (asprintf(&f->path, "%s/%s-%s%s", x->working_folder, slug, when,
                     again) < 0) {
            f->path = NULL;
            return err_set(err, ERR_MEMORY, "out of memory");
        }
        if (mkdir(f->path, 0700) == 0) {
            f->id = strrchr(f->path, '/') + 1;
            return 0;
        }
        if (errno != EEXIST)
            break;
        snprintf(again, sizeof again, "-%d", i);
    }
    return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", f->path);
}

static int
take_top(struct experiment_folder *f, const char *into, struct err *err)
{
    f->path = strdup(into);
    if (f->path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    f->id = strrchr(f->path, '/') + 1;
    return 0;
}

static int
write_part(const struct experiment_folder *f, const char *name,
           const char *text, size_t len, struct err *err)
{
    char *path = file_join(f->path, name);
    int rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : file_write(path, text, len, err);

    free(path);
    return rc;
}

static int
open_part(const struct experiment_folder *f, const char *name, int flags,
          int *out, struct err *err)
{
    char *path = file_join(f->path, name);

    *out = path == NULL ? -1 : open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*out < 0)
        err_errno(err, ERR_SYSTEM, "%s/%s: cannot open", f->path, name);
    free(path);
    return *out >= 0 ? 0 : -1;
}

static int
copy_config(const struct experiment_folder *f, const struct experiment *x,
            struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, CONFIG_MAX);
    rc = file_read(x->file, CONFIG_MAX / 2, &text, err);
    if (rc == 0)
        rc = write_part(f, FOLDER_CONFIG, text.len > 0 ? text.data : "",
                        text.len, err);
    buf_fini(&text);
    return rc;
}

static int
write_experiment(const struct experiment_folder *f, const struct experiment *x,
                 uint64_t seed, struct err *err)
{
    struct json_writer w;
    struct buf text;
    int rc;

    buf_init(&text, CONFIG_MAX);
    w = json_begin_object(&text);
    json_add_text(&w, "id", f->id);
    json_add_text(&w, "name", x->name);
    json_add_text(&w, "config", x->file);
    json_add_text(&w, "optimize_mode", x->minimize ? "minimize" : "maximize");
    json_add_text(&w, "mode_from", x->mode_from);
    json_add_unsigned(&w, "seed", seed);
    json_add_unsigned(&w, "concurrency", x->concurrency);
    json_add_unsigned(&w, "max_trials", x->max_trials);
    json_add_bool(&w, "deterministic", x->deterministic);
    if (x->objectives != NULL)
        json_add_raw(&w, "objectives", x->objectives_json);
    if (x->overrides != NULL)
        json_add_raw(&w, "overrides", x->overrides);
    json_add_integer(&w, "started_ns", clock_realtime_ns());
    json_close(&w);
    buf_add_char(&text, '\n');
    rc = buf_check(&text, FOLDER_EXPERIMENT, err);
    if (rc == 0)
        rc = write_part(f, FOLDER_EXPERIMENT, text.data, text.len, err);
    buf_fini(&text);
    return rc;
}

static int
write_pid(const struct experiment_folder *f, struct err *err)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%d\n", (int)getpid());

    return write_part(f, FOLDER_PID, text, (size_t)len, err);
}

static long
read_pid(const struct experiment_folder *f)
{
    char *path = file_join(f->path, FOLDER_PID);
    struct buf text;
    long pid = 0;

    buf_init(&text, CONFIG_MAX);
    if (path != NULL && file_read(path, 32, &text, NULL) == 0)
        pid = strtol(buf_text(&text), NULL, 10);
    buf_fini(&text);
    free(path);
    return pid;
}

#define LOOK_MS 10
#define LOOKS 100 /* that others may take */

/* Takes the folder's lock.  When there is no manager another process may hold
 * it for a moment: one that the manager was about to start, or one that looks
 * whether it lives.  NFS locks only what is open for writing. */
static int
take_lock(struct experiment_folder *f, struct err *err)
{
    char *path = file_join(f->path, FOLDER_EXPERIMENT);
    struct err why = {0};
    enum hold_word word;
    long pid = 0;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    for (int i = 0;
         (word = hold_take(&f->hold, f->lock_fd, path, HOLD_FLOCK, &why)) ==
             HOLD_OTHERS &&
         why.code == ERR_NONE && i < LOOKS && (pid = read_pid(f)) <= 0;
         i++)
        poll(NULL, 0, LOOK_MS);
    if (word == HOLD_OTHERS && why.code == ERR_NONE) {
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            word = hold_wait(&f->hold, f->lock_fd, path, LOCK_EX, &why) == 0
                       ? HOLD_TAKEN
                       : HOLD_FAILED;
    }
    free(path);
    if (word == HOLD_TAKEN)
        return 0;
    if (why.code != ERR_NONE)
        return err_set(err, why.code, "%s", why.text);
    return err_set(err, ERR_SYSTEM,
                   "%s: its manager lives (process %ld), expected a folder "
                   "that nobody runs: tunepipe stop, or kill %ld, ends it",
                   f->path, pid, pid);
}

/* Cuts off a last line without its line end: that result is written again. */
static int
cut_results(const struct experiment_folder *f, struct err *err)
{
    off_t size = lseek(f->results_fd, 0, SEEK_END), end = size;
    char c = '\n';

    for (; end > 0; end--)
        if (pread(f->results_fd, &c, 1, end - 1) != 1 || c == '\n')
            break;
    if (size < 0 || (end < size && ftruncate(f->results_fd, end) != 0))
        return err_errno(err, ERR_SYSTEM, "%s/%s: cannot cut", f->path,
                         FOLDER_RESULTS);
    return 0;
}

static int
remove_part(const struct experiment_folder *f, const char *name,
            struct err *err)
{
    char *path = file_join(f->path, name);

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    unlink(path);
    free(path);
    return 0;
}

/* Reserves room for the summary, so that the end can be written on a full disk,
 * too; not where the file system knows no files without a name. */
static void
reserve_summary(struct experiment_folder *f)
{
    f->summary_fd = open(f->path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (f->summary_fd >= 0 &&
        fallocate(f->summary_fd, 0, 0, SUMMARY_ROOM) != 0) {
        close(f->summary_fd);
        f->summary_fd = -1;
    }
}

int
experiment_folder_open(struct experiment_folder *f, const char *path,
                       uint64_t seed, struct err *err)
{
    *f = EXPERIMENT_FOLDER_CLOSED;
    f->path = strdup(path);
    f->seed = seed;
    buf_init(&f->held, HELD_MAX);
    if (f->path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    f->id = strrchr(f->path, '/') + 1;
    f->begun = file_has(f->path, FOLDER_PID);
    if (open_part(f, FOLDER_EXPERIMENT, O_RDWR, &f->lock_fd, err) != 0)
        return -1;
    if (take_lock(f, err) != 0 || log_place_claim(f->path, err) != 0 ||
        write_pid(f, err) != 0 ||
        open_part(f, FOLDER_RESULTS, O_RDWR | O_CREAT | O_APPEND,
                  &f->results_fd, err) != 0 ||
        cut_results(f, err) != 0 ||
        open_part(f, FOLDER_DISPATCHER_LOG, O_WRONLY | O_CREAT | O_APPEND,
                  &f->log_fd, err) != 0)
        return -1;
    if (remove_part(f, FOLDER_SUMMARY, err) != 0 ||
        remove_part(f, FOLDER_INTERRUPTED, err) != 0)
        return -1;
    reserve_summary(f);
    return 0;
}

static int
make_trials(const struct experiment_folder *f, struct err *err)
{
    char *path = file_join(f->path, FOLDER_TRIALS);
    int rc = path == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : folder_make_roomy(path, err);

    free(path);
    return rc;
}

/* The file that makes it an experiment's folder is written when all others are
 * there. */
int
experiment_folder_make(struct experiment_folder *f, const struct experiment *x,
                       const char *into, uint64_t seed, struct err *err)
{
    *f = EXPERIMENT_FOLDER_CLOSED;
    f->seed = seed;
    buf_init(&f->held, HELD_MAX);
    if ((into != NULL ? take_top(f, into, err) : make_top(f, x, err)) != 0 ||
        copy_config(f, x, err) != 0 ||
        write_part(f, FOLDER_SPACE, x->search_space, strlen(x->search_space),
                   err) != 0 ||
        imports_keep(x, f->path, err) != 0 || make_trials(f, err) != 0 ||
        open_part(f, FOLDER_RESULTS, O_WRONLY | O_CREAT | O_APPEND,
                  &f->results_fd, err) != 0 ||
        open_part(f, FOLDER_DISPATCHER_LOG, O_WRONLY | O_CREAT | O_APPEND,
                  &f->log_fd, err) != 0 ||
        (x->log_folder != NULL &&
         log_place_make(f->path, x->log_folder, err) != 0) ||
        write_experiment(f, x, seed, err) != 0 ||
        open_part(f, FOLDER_EXPERIMENT, O_RDWR, &f->lock_fd, err) != 0 ||
        take_lock(f, err) != 0)
        return -1;
    reserve_summary(f);
    return write_pid(f, err);
}

static void
remove_all(const struct experiment_folder *f)
{
    log_place_remove(f->path);
    folder_remove(f->path);
    if (f->made != NULL)
        rmdir(f->made);
}

void
experiment_folder_close(struct experiment_folder *f)
{
    const int fds[] = {f->lock_fd, f->results_fd, f->log_fd, f->summary_fd};

    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    hold_drop(&f->hold);
    if (f->unbegun)
        remove_all(f);
    free(f->path);
    free(f->made);
    f->path = f->made = NULL;
    results_free(f->counted);
    f->counted = NULL;
    f->lock_fd = f->results_fd = f->log_fd = f->summary_fd = -1;
    buf_fini(&f->held);
}

int
experiment_folder_flush(struct experiment_folder *f, struct err *err)
{
    while (f->held.len > 0) {
        ssize_t n = write(f->results_fd, f->held.data, f->held.len);

        if (n >= 0) {
            buf_consume(&f->held, (size_t)n);
        } else if (errno != EINTR) {
            int number = errno;

            err_errno(err, ERR_SYSTEM, "%s/%s: cannot write", f->path,
                      FOLDER_RESULTS);
            return errno_passes(number) ? 0 : -1;
        }
    }
    return 0;
}

/* A number, or one of NNI's booleans. */
static bool
is_number(struct jval v, double *out)
{
    bool flag;

    if (!jval_bool(v, &flag))
        return jval_number(v, out);
    *out = flag;
    return true;
}

/* Adds what a result consists of, or what was reported beside the one number
 * that it is: numbers.  Of a trial without a result, of its last intermediate
 * one. */
static void
add_values(const struct experiment_folder *f, const struct trial *t,
           struct json_writer *w)
{
    const struct reported *said = t->final.given ? &t->final : &t->latest;
    struct json *doc =
        !said->given || said->json == NULL
            ? NULL
            : json_parse(said->json, strlen(said->json), JSON_NAN, NULL);
    struct objective_values all;
    bool open = false;
    double value;

    if (doc == NULL && f->objectives != NULL && said->given) {
        json_open_object(w, "values"); /* a number alone is the only one */
        json_add_number(w, f->objectives->names[0], said->value);
        json_close(w);
    }
    for (struct jval_iter it =
             jval_iter(doc != NULL ? json_root(doc) : (struct jval){NULL});
         doc != NULL && jval_next(&it);) {
        if (!is_number(it.value, &value) ||
            (f->objectives == NULL && strcmp(it.key, "default") == 0))
            continue;
        if (!open)
            json_open_object(w, "values");
        open = true;
        json_add_number(w, it.key, value);
    }
    if (open)
        json_close(w);
    if (f->objectives != NULL && f->objectives->n_limits > 0 && doc != NULL &&
        objectives_take(f->objectives, json_root(doc), &all, NULL) == 0)
        json_add_number(w, "violation", all.violation);
    json_free(doc);
}

/* Appends the line of a trial to `out`. */
static int
add_line(const struct experiment_folder *f, const struct trial *t,
         const char *ended_by, double duration_s, struct buf *out,
         struct err *err)
{
    const double none = (double)NAN;
    struct json_writer w;
    struct buf line;
    char from[24];
    int rc;

    buf_init(&line, LINE_MAX_BYTES);
    w = json_begin_object(&line);
    json_add_text(&w, "trial", t->id);
    json_add_raw(&w, "parameter_id", t->parameter_id);
    json_add_unsigned(&w, "seed", parameters_seed(f->seed, t->parameter_id));
    json_add_text(&w, "status", trial_state_name(t->state));
    json_add_number(&w, "value", t->final.given ? t->final.value : none);
    add_values(f, t, &w);
    json_add_number(&w, "latest", t->latest.given ? t->latest.value : none);
    json_add_number(&w, "duration_s", duration_s);
    json_add_number(&w, "prepare_s",
                    t->prepare_ns > 0 ? (double)t->prepare_ns / 1e9 : none);
    json_add_text(&w, "why", t->why);
    json_add_text(&w, "ended_by", ended_by);
    if (t->place[0] != '\0') {
        json_add_text(&w, "place", t->place);
        json_add_number(&w, "queued_s", t->queued_s);
    }
    if (t->origin.how != ORIGIN_NONE) {
        snprintf(from, sizeof from, "%05llu",
                 (unsigned long long)t->origin.from);
        json_add_text(&w, "from", from);
        json_add_text(&w, "from_how", origin_word(t->origin.how));
    }
    if (t->step > 0)
        json_add_unsigned(&w, "steps", t->step + trial_reports(t));
    json_add_unsigned(&w, "attempt", t->attempt);
    json_add_unsigned(&w, "intermediates", trial_reports(t));
    json_add_raw(&w, "parameters", t->parameters);
    json_close(&w);
    buf_add_char(&line, '\n');
    rc = buf_check(&line, "the result of a trial", err);
    if (rc == 0)
        buf_add(out, line.data, line.len);
    if (rc == 0)
        rc = buf_check(out, "the results of trials", err);
    buf_fini(&line);
    return rc;
}

int
experiment_folder_add_result(struct experiment_folder *f, const struct trial *t,
                             const char *ended_by, double duration_s,
                             struct err *err)
{
    if (add_line(f, t, ended_by, duration_s, &f->held, err) != 0)
        return -1;
    return experiment_folder_flush(f, err);
}

int
experiment_folder_add_interrupted(const struct experiment_folder *f,
                                  const struct trial *t, const char *ended_by,
                                  double duration_s, struct err *err)
{
    struct buf line;
    int fd, rc = open_part(f, FOLDER_INTERRUPTED, O_WRONLY | O_CREAT | O_APPEND,
                           &fd, err);

    if (rc != 0)
        return -1;
    buf_init(&line, LINE_MAX_BYTES);
    rc = add_line(f, t, ended_by, duration_s, &line, err);
    if (rc == 0 && file_write_all(fd, line.data, line.len, err) != 0)
        rc = err_place(err, "%s/%s", f->path, FOLDER_INTERRUPTED);
    buf_fini(&line);
    close(fd);
    return rc;
}

int
experiment_folder_add_log(const struct experiment_folder *f, const char *line,
                          size_t len, struct err *err)
{
    struct buf text;
    int rc;

    buf_init(&text, len + 2);
    buf_add(&text, line, len);
    buf_add_char(&text, '\n');
    rc = buf_check(&text, "a line", err);
    if (rc == 0)
        rc = file_write_all(f->log_fd, text.data, text.len, err);
    buf_fini(&text);
    return rc;
}

static int
write_summary(const struct experiment_folder *f, const struct buf *text,
              struct err *err)
{
    char *path = f->summary_fd < 0 ? NULL : file_join(f->path, FOLDER_SUMMARY);
    char place[64];
    bool there;

    snprintf(place, sizeof place, "/proc/self/fd/%d", f->summary_fd);
    there =
        path != NULL &&
        pwrite(f->summary_fd, text->data, text->len, 0) == (ssize_t)text->len &&
        ftruncate(f->summary_fd, (off_t)text->len) == 0 &&
        linkat(AT_FDCWD, place, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
    free(path);
    return there ? 0
                 : write_part(f, FOLDER_SUMMARY, text->data, text->len, err);
}

int
experiment_folder_finish(struct experiment_folder *f, bool ok, bool over,
                         const char *reason, double duration_s, struct err *err)
{
    struct json_writer w;
    struct buf text;
    int rc;

    buf_init(&text, CONFIG_MAX);
    w = json_begin_object(&text);
    json_add_text(&w, "reason", reason);
    json_add_number(&w, "duration_s", duration_s);
    json_add_bool(&w, "ok", ok);
    json_add_bool(&w, "over", over);
    results_note(f->path, f->counted, &w);
    f->counted = NULL;
    json_close(&w);
    buf_add_char(&text, '\n');
    rc = buf_check(&text, FOLDER_SUMMARY, err);
    if (rc == 0)
        rc = write_summary(f, &text, err);
    buf_fini(&text);
    return rc;
}

/* Starts a process that nothing waits for, with its standard error in a file.
 */
static int
spawn_apart(const char *const argv[], const char *log, struct err *err)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(log, flags, 0600);
    const struct process_spawn how = {
        .argv = argv, .files = {PROCESS_NULL, PROCESS_NULL, fd}};
    int rc = 0;

    if (fd < 0 || process_spawn(&how, NULL, NULL) < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot start", argv[0]);
    if (fd >= 0)
        close(fd);
    return rc;
}

int
experiment_folder_index(const struct experiment_folder *f,
                        const char *program_folder, struct err *err)
{
    char *program = file_join(program_folder, "tunepipe");
    char *log = file_join(f->path, FOLDER_INDEX_LOG);
    const char *const argv[] = {program, "index", "--follow", f->path, NULL};
    int rc = program == NULL || log == NULL
                 ? err_set(err, ERR_MEMORY, "out of memory")
                 : spawn_apart(argv, log, err);

    free(log);
    free(program);
    return rc;
}
