/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A payload is looked into only when it contains the word in question, or an
 * escape that may spell it: a log of millions of records is walked at the
 * speed of memmem().  This is no view of the history, which takes every record
 * apart, and leaves out what is shown here, too: AK, and frames that cannot be
 * decoded.  But which parameters a job ran is told by the history's rule: its
 * first metric, else its last note, else its end. */
#include "replay/logtrial.h"

#include "core/err.h"
#include "json.h"
#include "log/log.h"
#include "log/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rank { RANK_NONE, RANK_HINT, RANK_NOTE, RANK_METRIC };

/* What a record says of a trial; the texts lie in `doc` and `hint`. */
struct said {
    struct json *doc, *hint;
    const char *job;   /* NULL: the record names no job */
    char number[24];   /* its parameter_id, where that is a number, as text */
    const char *label; /* its parameter_id, where that is a text */
    enum rank rank;    /* how far to trust that the job ran these parameters */
    struct jval several; /* AD: the array of its records */
};

static const char *
parameter_of(const struct said *s)
{
    return s->label != NULL       ? s->label
           : s->number[0] != '\0' ? s->number
                                  : NULL;
}

static void
read_parameter(struct said *s, struct jval object)
{
    struct jval v;
    uint64_t number;

    s->label = NULL;
    s->number[0] = '\0';
    if (!jval_get(object, "parameter_id", &v))
        return;
    if (jval_uint(v, &number))
        snprintf(s->number, sizeof s->number, "%" PRIu64, number);
    else if (!jval_string(v, &s->label, NULL))
        s->label = NULL;
}

static void
read_job(struct said *s, struct jval object)
{
    struct jval v;

    if (jval_get(object, "trial_job_id", &v) && !jval_string(v, &s->job, NULL))
        s->job = NULL;
}

/* Reads the parameter_id of an EN, which stands in JSON inside of JSON. */
static void
read_hint(struct said *s, struct jval object)
{
    struct jval v;
    const char *text;
    size_t len;

    if (!jval_get(object, "hyper_params", &v) || !jval_string(v, &text, &len))
        return;
    s->hint = json_parse(text, len, JSON_NAN, NULL);
    if (s->hint != NULL)
        read_parameter(s, json_root(s->hint));
}

static bool
is_code(const struct record *r, const char *code)
{
    return memcmp(r->payload, code, 2) == 0;
}

static enum rank
rank_of(const struct record *r)
{
    if (is_code(r, "ME"))
        return RANK_METRIC;
    if (is_code(r, "NT"))
        return RANK_NOTE;
    return is_code(r, "EN") ? RANK_HINT : RANK_NONE;
}

/* Whether the record is of a kind that names trials.  Frames of a program
 * (`<t`) do not: its ids are its own. */
static bool
speaks_of_trials(const struct record *r)
{
    static const char codes[][3] = {"ME", "EN", "NT", "TR",
                                    "KI", "DT", "AK", "AD"};
    bool kind = r->kind == RECORD_IN || r->kind == RECORD_TUNER ||
                r->kind == RECORD_ASSESSOR || r->kind == RECORD_ROUTER ||
                r->kind == RECORD_ASSESSOR_FRAME;

    for (size_t i = 0; kind && r->len > 2 && i < sizeof codes / 3; i++)
        if (is_code(r, codes[i]))
            return true;
    return false;
}

static void
said_fini(struct said *s)
{
    json_free(s->doc);
    json_free(s->hint);
}

/* Reads what a record says of a trial.  False: nothing. */
static bool
said_read(struct said *s, const struct record *r)
{
    struct jval root;

    *s = (struct said){.rank = RANK_NONE};
    if (!speaks_of_trials(r))
        return false;
    s->doc = json_parse(r->payload + 2, r->len - 2, JSON_NAN, NULL);
    if (s->doc == NULL)
        return false;
    root = json_root(s->doc);
    if (is_code(r, "KI"))
        return jval_string(root, &s->job, NULL);
    if (is_code(r, "AD")) {
        s->several = root;
        return true;
    }
    s->rank = rank_of(r);
    read_job(s, root);
    if (is_code(r, "EN"))
        read_hint(s, root);
    else
        read_parameter(s, root);
    return true;
}

static bool
equal(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Whether a record of an AD, which may be JSON in a text, names the
 * parameters. */
static bool
element_has(struct jval element, const char *parameter)
{
    struct said s = {.rank = RANK_NONE};
    const char *text;
    size_t len;
    bool has;

    if (jval_string(element, &text, &len)) {
        s.doc = json_parse(text, len, JSON_NAN, NULL);
        if (s.doc == NULL)
            return false;
        element = json_root(s.doc);
    }
    read_parameter(&s, element);
    has = equal(parameter_of(&s), parameter);
    said_fini(&s);
    return has;
}

static bool
said_has_parameter(const struct said *s, const char *parameter)
{
    if (s->several.node == NULL)
        return equal(parameter_of(s), parameter);
    if (jval_type(s->several) == JSON_OBJECT)
        return element_has(s->several, parameter);
    for (size_t i = 0; i < jval_count(s->several); i++)
        if (element_has(jval_at(s->several, i), parameter))
            return true;
    return false;
}

static bool
is_plain(const char *word)
{
    for (; *word != '\0'; word++)
        if (*word < ' ' || *word > '~' || strchr("\"\\/", *word) != NULL)
            return false;
    return true;
}

/* Whether the payload may hold the word, in whatever spelling. */
static bool
may_name(const struct record *r, const char *word)
{
    return word != NULL &&
           (!is_plain(word) ||
            memmem(r->payload, r->len, word, strlen(word)) != NULL ||
            memmem(r->payload, r->len, "\\u", 2) != NULL);
}

/* ---- finding ---- */

struct search {
    const char *word;
    bool damaged; /* err says where; the records behind were not searched */
    bool is_job, is_parameter; /* a job, or a suggestion, has that name */
    /* The trial's other name, when the word is the first. */
    char *parameter, *job;
    enum rank of_job, of_parameter; /* how far to trust each of them */
};

/* Takes a name in place of the one before when it is to be trusted more; also,
 * if `last`, when both are from a note. */
static int
better(char **name, enum rank *rank, enum rank new_rank, const char *text,
       bool last)
{
    bool same = last && new_rank == RANK_NOTE && *rank == RANK_NOTE;
    char *copy;

    if (text == NULL || (new_rank <= *rank && !same))
        return 0;
    copy = strdup(text);
    if (copy == NULL)
        return -1;
    free(*name);
    *name = copy;
    *rank = new_rank;
    return 0;
}

static int
search_record(struct search *s, const struct record *r)
{
    struct said said;
    int rc = 0;

    if (!may_name(r, s->word))
        return 0;
    if (said_read(&said, r)) {
        if (equal(said.job, s->word)) {
            s->is_job = true;
            rc = better(&s->parameter, &s->of_job, said.rank,
                        parameter_of(&said), true);
        }
        if (said_has_parameter(&said, s->word)) {
            s->is_parameter = true;
            rc |= better(&s->job, &s->of_parameter, said.rank, said.job, false);
        }
    }
    said_fini(&said);
    return rc;
}

static int
search_log(struct search *s, struct log_reader *file, struct err *err)
{
    struct record r;
    enum log_status status = LOG_END;
    int rc = 0;

    while (rc == 0 && (status = log_next(file, &r, err)) == LOG_RECORD)
        if (search_record(s, &r) != 0)
            rc = err_set(err, ERR_MEMORY, "%s: out of memory", log_name(file));
    s->damaged = status == LOG_DAMAGED;
    log_rewind(file);
    return rc;
}

/* Drops the job when only its end, or a note, says that it ran this
 * parameter_id, while something more trustworthy names another one for it. */
static int
drop_swapped(struct search *s, struct log_reader *file, struct err *err)
{
    struct search other = {.word = s->job};
    int rc;

    if (s->job == NULL || s->of_parameter == RANK_METRIC)
        return 0;
    rc = search_log(&other, file, err);
    if (rc == 0 && !equal(other.parameter, s->word)) {
        free(s->job);
        s->job = NULL;
    }
    free(other.parameter);
    free(other.job);
    return rc;
}

/* Makes the word one of the trial's names and *other, which is taken, the
 * other. */
static int
adopt(char **one, char **two, const char *word, char **other)
{
    *one = strdup(word);
    *two = *other;
    *other = NULL;
    return *one == NULL ? -1 : 0;
}

int
logtrial_find(struct logtrial *t, struct log_reader *file, const char *word,
              struct err *err)
{
    struct search s = {.word = word};
    size_t n = strspn(word, "0123456789");
    char id[8] = "00000";
    int rc = search_log(&s, file, err);

    if (rc == 0 && !s.is_job && !s.is_parameter && n == strlen(word) && n < 5) {
        memcpy(id + 5 - n, word, n);
        s.word = id;
        rc = search_log(&s, file, err);
        word = s.is_job || s.is_parameter ? id : word;
    }
    /* Else the next walk over the log tells of the damage. */
    if (s.damaged && !s.is_job && !s.is_parameter)
        rc = -1;
    *t = (struct logtrial){NULL, NULL, true};
    if (rc == 0 && !s.is_job && s.is_parameter)
        rc = drop_swapped(&s, file, err);
    if (rc == 0) {
        char *same = s.is_job || s.is_parameter ? NULL : strdup(word);

        if (s.is_job)
            rc = adopt(&t->job, &t->parameter, word, &s.parameter);
        else if (s.is_parameter)
            rc = adopt(&t->parameter, &t->job, word, &s.job);
        else
            rc = adopt(&t->job, &t->parameter, word, &same);
        if (rc != 0)
            err_set(err, ERR_MEMORY, "%s: out of memory", log_name(file));
    }
    t->may_learn = t->job == NULL || t->parameter == NULL ||
                   (!s.is_job && !s.is_parameter);
    free(s.job);
    free(s.parameter);
    if (rc != 0)
        logtrial_fini(t);
    return rc != 0 ? -1 : s.is_job || s.is_parameter;
}

int
logtrial_expect(struct logtrial *t, struct log_reader *file, const char *word,
                struct err *err)
{
    int rc = logtrial_find(t, file, word, err);

    if (rc == 0 && log_lacks(file, err))
        err_place(err, "nothing of a trial '%.60s'", word);
    else if (rc == 0)
        err_set(err, ERR_INPUT,
                "%s: nothing of a trial '%.60s', expected a trial_job_id, "
                "a parameter_id or a trial's number",
                log_name(file), word);
    return rc > 0 ? 0 : -1;
}

void
logtrial_fini(struct logtrial *t)
{
    free(t->job);
    free(t->parameter);
    *t = (struct logtrial){0};
}

/* ---- telling ---- */

/* Learns the trial's second name from a metric or a note that has both; out of
 * memory leaves it known by one. */
static void
learn(struct logtrial *t, const struct said *s, bool job)
{
    char **other = job ? &t->parameter : &t->job;
    const char *text = job ? parameter_of(s) : s->job;
    char *copy = s->rank < RANK_NOTE || text == NULL ? NULL : strdup(text);

    if (!t->may_learn || copy == NULL) {
        free(copy);
        return;
    }
    free(*other);
    *other = copy;
    t->may_learn = false;
}

/* Whether a record that names the trial's parameters may be about it: not when
 * it is about another job, or when only that job's end names them and the log
 * was searched. */
static bool
may_be(const struct logtrial *t, const struct said *s)
{
    bool open = t->job != NULL && t->may_learn;

    if (s->rank == RANK_HINT)
        return open;
    return s->job == NULL || t->job == NULL || open;
}

bool
logtrial_has(struct logtrial *t, const struct record *r)
{
    struct said s;
    bool job = false, parameter = false;

    if (!may_name(r, t->job) && !may_name(r, t->parameter))
        return false;
    if (said_read(&s, r)) {
        job = equal(s.job, t->job);
        parameter = may_be(t, &s) && said_has_parameter(&s, t->parameter);
        if (job != parameter)
            learn(t, &s, job);
    }
    said_fini(&s);
    return job || parameter;
}
