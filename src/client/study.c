/* SPDX-License-Identifier: MIT */
#include "tunepipe/study.h"

#include "client/remote.h"
#include "client/value.h"

#include "core/err.h"
#include "core/file.h"
#include "core/nearest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NAMES_MAX 200

struct tp_study {
    struct remote remote;
    pid_t owner;
    struct err err; /* of the last call that failed */
    int fd;         /* an epoll of the remote's and of came_fd */
    int came_fd;    /* an eventfd: the ask is answered */
    struct ask {
        bool begun, came, shown; /* by came_fd */
        bool waits;              /* whoever asks does: nothing is shown */
        uint64_t id;
        struct json *doc; /* a trial's; NULL: err */
        struct jval trial;
        struct err err;
        bool over;
    } ask;
};

struct tp_trial {
    struct tp_study *study;
    struct json *doc;
    struct jval answer, parameters; /* in doc */
    char *text;                     /* the parameters */
    long number;
    uint64_t attempt, n_reports;
};

/* ---- errors ---- */

static int
code_of(const struct err *err)
{
    switch (err->code) {
    case ERR_NONE:
        return TP_STUDY_OK;
    case ERR_INPUT:
        return TP_STUDY_REFUSED;
    case ERR_CONFIG:
        return TP_STUDY_CONFIG;
    case ERR_LOG:
        return TP_STUDY_DAMAGED;
    case ERR_USAGE:
        return TP_STUDY_USAGE;
    case ERR_MEMORY:
    case ERR_PLUGIN:
    case ERR_PROTOCOL:
    case ERR_SYSTEM:
        break;
    }
    return TP_STUDY_SYSTEM;
}

const char *
tp_study_why(const struct tp_study *study)
{
    return study->err.text;
}

/* Whether the caller may use the study. */
static bool
is_ours(struct tp_study *s)
{
    if (s->owner == getpid())
        return true;
    err_set(&s->err, ERR_USAGE,
            "%s: opened by process %ld, of which this one is a copy: open the "
            "study here",
            s->remote.folder, (long)s->owner);
    return false;
}

/* ---- studies ---- */

static void
show_came(struct tp_study *s, bool came)
{
    uint64_t one = 1;

    if (came != s->ask.shown &&
        (came ? write(s->came_fd, &one, sizeof one)
              : read(s->came_fd, &one, sizeof one)) == (ssize_t)sizeof one)
        s->ask.shown = came;
}

static void
hear(void *ctx, struct remote_answer *answer)
{
    struct tp_study *s = ctx;

    if (!s->ask.begun || answer->id != s->ask.id)
        return;
    s->ask.doc = answer->err == NULL ? answer->doc : NULL;
    s->ask.trial = answer->value;
    s->ask.over = answer->over;
    if (answer->err != NULL)
        s->ask.err = *answer->err;
    else
        answer->doc = NULL;
    s->ask.came = true;
    show_came(s, !s->ask.waits);
}

static int
make_fd(struct tp_study *s, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN};

    s->fd = epoll_create1(EPOLL_CLOEXEC);
    s->came_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->fd < 0 || s->came_fd < 0 ||
        epoll_ctl(s->fd, EPOLL_CTL_ADD, s->came_fd, &e) != 0 ||
        epoll_ctl(s->fd, EPOLL_CTL_ADD, s->remote.epoll_fd, &e) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot make a descriptor");
    return 0;
}

static struct tp_study *
open_study(const char *folder, const char *config, struct err *err)
{
    struct tp_study *s;

    if (folder == NULL) {
        err_set(err, ERR_USAGE, "folder: NULL");
        return NULL;
    }
    s = calloc(1, sizeof *s);
    if (s == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    s->owner = getpid();
    s->fd = s->came_fd = -1;
    if (remote_open(&s->remote, folder, config, hear, s, err) != 0) {
        free(s);
        return NULL;
    }
    if (make_fd(s, err) == 0)
        return s;
    tp_study_close(s);
    return NULL;
}

int
tp_study_open(struct tp_study **study, const char *folder, const char *config,
              char *why, size_t size)
{
    struct err err = {0};

    *study = open_study(folder, config, &err);
    if (size > 0)
        snprintf(why, size, "%s", err.text);
    return code_of(&err);
}

void
tp_study_close(struct tp_study *study)
{
    if (study == NULL)
        return;
    study->ask.begun = false;
    remote_close(&study->remote, study->owner == getpid());
    json_free(study->ask.doc);
    if (study->fd >= 0)
        close(study->fd);
    if (study->came_fd >= 0)
        close(study->came_fd);
    free(study);
}

int
tp_study_fd(const struct tp_study *study)
{
    return study->fd;
}

/* ---- requests ---- */

struct request {
    struct buf text;
    struct json_writer w;
};

static struct json_writer *
begin(struct request *r, const char *command)
{
    buf_init(&r->text, CONTROL_ANSWER_MAX);
    r->w = json_begin_object(&r->text);
    json_add_text(&r->w, "command", command);
    return &r->w;
}

static struct json_writer *
begin_about(struct request *r, const char *command, long number)
{
    struct json_writer *w = begin(r, command);

    json_add_integer(w, "trial", number);
    return w;
}

/* Sends it, waits for the answer, and frees it; `doc` is to be freed where it
 * is not NULL. */
static int
ask(struct tp_study *s, struct request *r, struct json **doc,
    struct jval *answer)
{
    struct json *own = NULL;
    struct jval v = {NULL};
    int rc;

    json_end(&r->w);
    rc = buf_check(&r->text, "the request", &s->err);
    if (rc == 0)
        rc = remote_ask(&s->remote, buf_text(&r->text), &own, &v, &s->err);
    buf_fini(&r->text);
    if (doc != NULL)
        *doc = own, *answer = v;
    else
        json_free(own);
    return rc == 0 ? 0 : code_of(&s->err);
}

/* ---- asks ---- */

static int
begin_ask(struct tp_study *study)
{
    struct request r;
    int rc;

    if (!is_ours(study))
        return TP_STUDY_USAGE;
    if (study->ask.begun)
        return 0;
    begin(&r, "ask");
    json_end(&r.w);
    rc = remote_send(&study->remote, buf_text(&r.text), &study->ask.id,
                     &study->err);
    buf_fini(&r.text);
    if (rc != 0)
        return code_of(&study->err);
    study->ask.begun = true;
    return 0;
}

int
tp_study_ask_begin(struct tp_study *study)
{
    bool begun = study->ask.begun;
    int rc = begin_ask(study);

    if (rc == 0 && !begun && remote_turn(&study->remote, false, &study->err))
        rc = code_of(&study->err);
    return rc;
}

/* Takes the document, in which the answer lies. */
static struct tp_trial *
make_trial(struct tp_study *s, struct json *doc, struct jval answer)
{
    struct tp_trial *t = calloc(1, sizeof *t);
    int64_t number = 0;
    struct jval v;

    if (t == NULL) {
        json_free(doc);
        err_set(&s->err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *t = (struct tp_trial){.study = s, .doc = doc, .answer = answer};
    if (!jval_get(answer, "trial", &v) || !jval_int(v, &number) ||
        !jval_get(answer, "parameters", &t->parameters)) {
        err_set(&s->err, ERR_PROTOCOL, "an answer that is no trial");
        tp_trial_free(t);
        return NULL;
    }
    t->number = (long)number;
    if (jval_get(answer, "attempt", &v))
        jval_uint(v, &t->attempt);
    t->text = jval_copy_text(t->parameters);
    if (t->text == NULL) {
        err_set(&s->err, ERR_MEMORY, "out of memory");
        tp_trial_free(t);
        return NULL;
    }
    return t;
}

/* Ends the ask, which is answered. */
static int
take_ask(struct tp_study *s, struct tp_trial **trial)
{
    struct ask a = s->ask;

    show_came(s, false);
    s->ask = (struct ask){.shown = s->ask.shown};
    if (a.doc != NULL) {
        *trial = make_trial(s, a.doc, a.trial);
        return *trial != NULL ? 1 : code_of(&s->err);
    }
    s->err = a.err;
    return a.over ? TP_STUDY_OVER : code_of(&s->err);
}

int
tp_study_ask_ready(struct tp_study *study, struct tp_trial **trial)
{
    *trial = NULL;
    if (!is_ours(study))
        return TP_STUDY_USAGE;
    if (!study->ask.begun) {
        err_set(&study->err, ERR_USAGE, "no ask has been begun");
        return TP_STUDY_USAGE;
    }
    if (!study->ask.came &&
        remote_turn(&study->remote, false, &study->err) != 0)
        return code_of(&study->err);
    return study->ask.came ? take_ask(study, trial) : 0;
}

int
tp_study_ask(struct tp_study *study, struct tp_trial **trial)
{
    int rc = begin_ask(study);

    *trial = NULL;
    study->ask.waits = true;
    while (rc == 0 && !study->ask.came)
        if (remote_turn(&study->remote, true, &study->err) != 0)
            rc = code_of(&study->err);
    study->ask.waits = false;
    if (rc == 0)
        rc = take_ask(study, trial);
    return rc > 0 ? 0 : rc;
}

/* ---- results ---- */

int
tp_study_tell(struct tp_study *study, long number, double value)
{
    struct request r;

    if (!is_ours(study))
        return TP_STUDY_USAGE;
    value_add(begin_about(&r, "tell", number), "value", value);
    return ask(study, &r, NULL, NULL);
}

int
tp_study_tell_json(struct tp_study *study, long number, const char *json)
{
    struct request r;

    if (!is_ours(study))
        return TP_STUDY_USAGE;
    if (value_add_text(begin_about(&r, "tell", number), "value", json,
                       &study->err) == 0)
        return ask(study, &r, NULL, NULL);
    buf_fini(&r.text);
    return code_of(&study->err);
}

int
tp_study_fail(struct tp_study *study, long number, const char *why)
{
    struct request r;

    if (!is_ours(study))
        return TP_STUDY_USAGE;
    json_add_text(begin_about(&r, "tell", number), "failed",
                  why != NULL ? why : "");
    return ask(study, &r, NULL, NULL);
}

int
tp_study_end(struct tp_study *study, long number)
{
    struct request r;

    if (!is_ours(study))
        return TP_STUDY_USAGE;
    begin_about(&r, "tell", number);
    return ask(study, &r, NULL, NULL);
}

/* Adds the parameters, which must be JSON: else the line would not be. */
static int
add_parameters(struct json_writer *w, const char *text, struct err *err)
{
    struct json *doc = json_parse(text, strlen(text), JSON_UNIQUE, err);

    if (doc == NULL)
        return err_place(err, "parameters");
    json_open_array(w, "parameters");
    jval_write(json_root(doc), json_value(w, NULL));
    json_close(w);
    json_free(doc);
    return 0;
}

/* The number of the only trial that was added. */
static long
added_number(struct jval answer)
{
    const char *text;
    struct jval list;

    if (!jval_get(answer, "trials", &list) || jval_count(list) == 0 ||
        !jval_string(jval_at(list, 0), &text, NULL))
        return -1;
    return strtol(text, NULL, 10);
}

int
tp_study_enqueue(struct tp_study *study, const char *parameters, long *number)
{
    struct json *doc = NULL;
    struct jval answer;
    struct request r;
    int rc;

    if (!is_ours(study))
        return TP_STUDY_USAGE;
    if (add_parameters(begin(&r, "add"), parameters, &study->err) != 0) {
        buf_fini(&r.text);
        return code_of(&study->err);
    }
    rc = ask(study, &r, &doc, &answer);
    if (rc == 0 && number != NULL)
        *number = added_number(answer);
    json_free(doc);
    return rc;
}

/* ---- trials ---- */

void
tp_trial_free(struct tp_trial *trial)
{
    if (trial == NULL)
        return;
    json_free(trial->doc);
    free(trial->text);
    free(trial);
}

long
tp_trial_number(const struct tp_trial *trial)
{
    return trial->number;
}

const char *
tp_trial_parameters(const struct tp_trial *trial)
{
    return trial->text;
}

static const char *
path_of(const struct tp_trial *t, const char *key)
{
    const char *path = jval_text_of(t->answer, key);

    return *path != '\0' ? path : NULL;
}

const char *
tp_trial_folder(const struct tp_trial *trial)
{
    return path_of(trial, "folder");
}

const char *
tp_trial_restore_dir(const struct tp_trial *trial)
{
    return path_of(trial, "restore_dir");
}

const char *
tp_trial_checkpoint_dir(const struct tp_trial *trial)
{
    return path_of(trial, "checkpoint_dir");
}

double
tp_trial_budget(const struct tp_trial *trial)
{
    double budget = jval_number_of(trial->answer, "budget");

    return budget > 0 ? budget : 0;
}

long
tp_trial_step(const struct tp_trial *trial)
{
    double step = jval_number_of(trial->answer, "step");

    return step > 0 ? (long)step : 0;
}

/* Goes down the path NAME/NAME...; a name may hold '/' itself. */
static bool
find(struct jval in, const char *path, struct jval *out)
{
    const char *slash = path;
    bool found = jval_get(in, path, out);

    while (!found && (slash = strchr(slash, '/')) != NULL) {
        char *head = strndup(path, (size_t)(slash - path));
        struct jval inner;

        found = head != NULL && jval_get(in, head, &inner) &&
                find(inner, slash + 1, out);
        free(head);
        slash++;
    }
    return found;
}

static bool
find_parameter(struct tp_trial *t, const char *name, struct jval *out)
{
    struct jval_iter it = jval_iter(t->parameters);
    const char *names[NAMES_MAX];
    char hint[200];
    size_t n = 0;

    if (find(t->parameters, name, out))
        return true;
    while (n < NAMES_MAX && jval_next(&it))
        names[n++] = it.key;
    err_set(&t->study->err, ERR_USAGE, "trial %05ld has no parameter '%s'%s",
            t->number, name, nearest_hint(name, names, n, hint, sizeof hint));
    return false;
}

static int
refuse_type(struct tp_trial *t, const char *name, struct jval v,
            const char *wanted)
{
    char shown[QUOTE_MAX];

    err_set(&t->study->err, ERR_USAGE,
            "trial %05ld: parameter '%s' is %s: expected %s", t->number, name,
            jval_quote(shown, v), wanted);
    return TP_STUDY_USAGE;
}

int
tp_trial_double(struct tp_trial *trial, const char *name, double *out)
{
    struct jval v;

    if (!find_parameter(trial, name, &v))
        return TP_STUDY_USAGE;
    return jval_number(v, out) ? 0 : refuse_type(trial, name, v, "a number");
}

int
tp_trial_long(struct tp_trial *trial, const char *name, long *out)
{
    struct jval v;
    double number;
    int64_t whole;

    if (!find_parameter(trial, name, &v))
        return TP_STUDY_USAGE;
    if (jval_int(v, &whole) && whole >= LONG_MIN && whole <= LONG_MAX)
        *out = (long)whole;
    else if (jval_double(v, &number) && fabs(number) < 0x1p53 &&
             !(number < floor(number)) && !(number > floor(number)))
        *out = (long)number;
    else
        return refuse_type(trial, name, v, "a whole number");
    return 0;
}

int
tp_trial_text(struct tp_trial *trial, const char *name, char *out, size_t size)
{
    char *json = NULL;
    const char *text;
    struct jval v;
    int rc = 0;

    if (!find_parameter(trial, name, &v))
        return TP_STUDY_USAGE;
    if (!jval_string(v, &text, NULL))
        text = json = jval_copy_text(v);
    if (text != NULL && strlen(text) < size)
        memcpy(out, text, strlen(text) + 1);
    else
        rc = refuse_type(trial, name, v, "a shorter text");
    free(json);
    return rc;
}

/* ---- reports ---- */

static struct json_writer *
begin_of(struct request *r, const char *command, const struct tp_trial *t)
{
    struct json_writer *w = begin_about(r, command, t->number);

    json_add_unsigned(w, "attempt", t->attempt);
    return w;
}

static int
ask_stop(struct tp_study *s, struct request *r)
{
    static const char *const words[] = {
        [TP_STUDY_GO] = "go",
        [TP_STUDY_STOP] = "stop",
        [TP_STUDY_PAUSE] = "pause",
        [TP_STUDY_FINISH] = "finish",
    };
    struct json *doc;
    struct jval answer;
    int rc = ask(s, r, &doc, &answer);

    for (int i = 1; rc == 0 && i <= TP_STUDY_FINISH; i++)
        if (strcmp(jval_text_of(answer, "stop"), words[i]) == 0)
            rc = i;
    json_free(doc);
    return rc;
}

int
tp_trial_report(struct tp_trial *trial, double value)
{
    struct json_writer *w;
    struct request r;
    int rc;

    if (!is_ours(trial->study))
        return TP_STUDY_USAGE;
    w = begin_of(&r, "report", trial);
    value_add(w, "value", value);
    json_add_unsigned(w, "sequence", trial->n_reports);
    rc = ask_stop(trial->study, &r);
    if (rc >= 0)
        trial->n_reports++;
    return rc;
}

int
tp_trial_should_stop(struct tp_trial *trial)
{
    struct request r;

    if (!is_ours(trial->study))
        return TP_STUDY_USAGE;
    begin_of(&r, "look", trial);
    return ask_stop(trial->study, &r);
}
