/* SPDX-License-Identifier: MIT */
#include "manager/metrics.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
#include "objectives/objectives.h"
#include "scan.h"
#include "trial/files.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GROUPS_MAX 10
#define LINE_SHOWN 60

struct pattern {
    regex_t re;
};

/* Reads a value that is a lone number, by far the most frequent kind. */
static bool
scan_lone_number(const char *text, size_t len, double *out)
{
    struct scan s = {.text = text, .len = len, .flags = JSON_NAN};
    struct scan_token t = scan_next(&s);

    return t.type == SCAN_NUMBER && scan_number(&t, out) &&
           scan_next(&s).type == SCAN_END;
}

/* Reads a value of NNI's: a number, or an object with one as "default". */
static int
read_default(struct jval v, double *out, struct err *err)
{
    if (jval_number(v, out))
        return 0;
    if (jval_type(v) != JSON_OBJECT)
        return err_set(err, ERR_INPUT,
                       "expected a number or an object with \"default\", got "
                       "%s",
                       jval_type_name(v));
    if (!jval_get(v, "default", &v) || !jval_number(v, out))
        return err_set(err, ERR_INPUT, "the object has no number \"default\"");
    return 0;
}

/* Reads a value that may have to have others beside it.  1: it lacks some. */
static int
read_value(const struct objectives *of, bool final, const char *text,
           size_t len, double *out, struct err *err)
{
    struct objective_values all;
    struct json *doc;
    int rc;

    if (of == NULL && scan_lone_number(text, len, out))
        return 0;
    doc = json_parse(text, len, JSON_NAN, err);
    if (doc == NULL)
        return -1;
    if (of == NULL) {
        rc = read_default(json_root(doc), out, err);
    } else if (jval_type(json_root(doc)) == JSON_STRING) {
        /* nobody who shows or compares results would look into it */
        err_set(err, ERR_INPUT,
                "expected an object with values by name, got a text");
        rc = final ? 1 : -1;
    } else if (!final) {
        rc = objectives_take_some(of, json_root(doc), &all, err);
        *out = all.values[0];
    } else {
        rc = objectives_take(of, json_root(doc), &all, err) == 0 ? 0 : 1;
        *out = all.values[0];
        for (size_t i = 1; rc == 0 && i < of->n; i++)
            if (isfinite(*out) && !isfinite(all.values[i]))
                *out = all.values[i];
    }
    json_free(doc);
    return rc;
}

int
metrics_value(const struct objectives *of, const char *json, size_t len,
              double *value, struct err *err)
{
    return read_value(of, false, json, len, value, err);
}

int
metrics_whole(const struct objectives *of, const char *json, size_t len,
              double *value, struct err *err)
{
    return read_value(of, true, json, len, value, err) == 0 ? 0 : -1;
}

static bool
starts(const char *line, size_t len, const char *word, size_t word_len)
{
    return len >= word_len && memcmp(line, word, word_len) == 0;
}

#define WORD_LEN(word) (sizeof(word) - 1)

static void
refuse_word(const char *expected, const char *word, size_t len, struct err *err)
{
    struct buf text;

    buf_init(&text, 4 * LINE_SHOWN);
    visible_text(&text, word, len, LINE_SHOWN);
    err_set(err, ERR_INPUT, "expected %s, got '%s'", expected, buf_text(&text));
    buf_fini(&text);
}

/* Takes the tabs off the end of a value that say that the trial waits, and that
 * it will end by itself when it is told to. */
static void
take_marks(struct metric_line *out)
{
    out->waits = !out->final && out->len > 0 && out->json[out->len - 1] == '\t';
    out->hears = out->waits && out->len > 1 && out->json[out->len - 2] == '\t';
    out->len -= (size_t)out->waits + (size_t)out->hears;
}

void
metrics_refuse_nul(const char *line, size_t len, struct err *err)
{
    const char *nul = memchr(line, '\0', len);

    err_set(err, ERR_INPUT,
            "byte %zu is a NUL, expected text alone: does something cut the "
            "file off while it is written?",
            (size_t)(nul - line));
}

/* The words that a line may begin with, and what follows from each. */
static const struct line_word {
    const char *text;
    size_t len;
    bool final, done, checkpoint;
} line_words[] = {
    {TRIAL_METRIC_INTERMEDIATE, WORD_LEN(TRIAL_METRIC_INTERMEDIATE), false,
     false, false},
    {TRIAL_METRIC_FINAL, WORD_LEN(TRIAL_METRIC_FINAL), true, false, false},
    {TRIAL_METRIC_DONE, WORD_LEN(TRIAL_METRIC_DONE), true, true, false},
    {TRIAL_METRIC_CHECKPOINT, WORD_LEN(TRIAL_METRIC_CHECKPOINT), false, false,
     true},
};

static const struct line_word *
find_word(const char *line, size_t len)
{
    for (size_t i = 0; i < sizeof line_words / sizeof *line_words; i++)
        if (starts(line, len, line_words[i].text, line_words[i].len))
            return &line_words[i];
    return NULL;
}

static int
read_checkpoint(const struct line_word *word, const char *line, size_t len,
                struct metric_line *out, struct err *err)
{
    if (number_parse_u64(line + word->len, len - word->len, &out->sequence))
        return 0;
    refuse_word("'checkpoint NUMBER'", line, len, err);
    return -1;
}

/* Values by name begin with their bracket, by which they are known. */
static void
skip_indent(struct metric_line *out)
{
    size_t n = 0;

    while (n < out->len && (out->json[n] == ' ' || out->json[n] == '\t'))
        n++;
    if (n == out->len || out->json[n] != '{')
        return;
    out->json += n;
    out->len -= n;
}

static int
read_metric(struct metrics *m, const struct objectives *of,
            const struct line_word *word, const char *line, size_t len,
            bool too_long, struct metric_line *out, struct err *err)
{
    out->final = word->final;
    out->done = word->done;
    out->sequence = word->final ? m->finals++ : m->intermediates++;
    out->json = line + word->len;
    out->len = len - word->len;
    take_marks(out);
    skip_indent(out);
    if (too_long)
        return err_set(err, ERR_INPUT, "longer than %d bytes",
                       TRIAL_METRIC_MAX);
    return read_value(of, out->final, out->json, out->len, &out->value, err);
}

enum metrics_word
metrics_line(struct metrics *m, const struct objectives *of, const char *line,
             size_t len, bool too_long, struct metric_line *out,
             struct err *err)
{
    const struct line_word *word = find_word(line, len);
    int rc = -1;

    *out = (struct metric_line){0};
    m->lines++;
    if (len == WORD_LEN(TRIAL_METRIC_REFUSED) &&
        memcmp(line, TRIAL_METRIC_REFUSED, len) == 0)
        return METRICS_REFUSED;
    if (word == NULL)
        refuse_word("'intermediate JSON', 'final JSON', 'done JSON' or "
                    "'checkpoint NUMBER'",
                    line, len, err);
    else if (word->checkpoint)
        rc = read_checkpoint(word, line, len, out, err);
    else
        rc = read_metric(m, of, word, line, len, too_long, out, err);
    if (rc == 0)
        return word->checkpoint ? METRICS_CHECKPOINT : METRICS_METRIC;
    if (memchr(line, '\0', len) != NULL)
        metrics_refuse_nul(line, len, err);
    err_place(err, "line %llu", (unsigned long long)m->lines);
    return rc == 1 ? METRICS_LACKS : METRICS_BAD;
}

static int
read_type(struct metrics *m, struct jval root, struct metric_line *out,
          struct err *err)
{
    struct jval v;
    const char *type;
    size_t len;

    if (jval_type(root) != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "expected an object, got %s",
                       jval_type_name(root));
    if (!jval_get(root, "type", &v) || !jval_string(v, &type, &len))
        return err_set(err, ERR_INPUT, "has no text \"type\"");
    out->final = strcmp(type, "FINAL") == 0;
    if (out->final)
        out->sequence = m->finals++;
    else if (strcmp(type, "PERIODICAL") == 0)
        out->sequence = m->intermediates++;
    else {
        refuse_word("type PERIODICAL or FINAL", type, len, err);
        return -1;
    }
    return 0;
}

enum metrics_word
metrics_nni(struct metrics *m, const struct objectives *of, const char *json,
            size_t len, struct buf *value, struct metric_line *out,
            struct err *err)
{
    struct json *doc = json_parse(json, len, JSON_NAN, err);
    enum metrics_word word = METRICS_BAD;
    const char *text;
    struct jval v;
    int rc;

    *out = (struct metric_line){0};
    buf_clear(value);
    if (doc == NULL || read_type(m, json_root(doc), out, err) != 0)
        goto out;
    if (!jval_get(json_root(doc), "value", &v)) {
        err_set(err, ERR_INPUT, "has no \"value\"");
        goto out;
    }
    if (jval_string(v, &text, &out->len))
        buf_add(value, text, out->len);
    else
        jval_write(v, value);
    out->json = buf_text(value);
    out->len = value->len;
    if (buf_check(value, "value", err) != 0)
        goto out;
    rc = read_value(of, out->final, out->json, out->len, &out->value, err);
    if (rc == 0)
        word = METRICS_METRIC;
    else
        err_place(err, "value");
    if (rc == 1)
        word = METRICS_LACKS;
out:
    json_free(doc);
    return word;
}

struct pattern *
pattern_new(const char *regex, struct err *err)
{
    struct pattern *p = malloc(sizeof *p);
    char why[128];
    int rc;

    if (p == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    rc = regcomp(&p->re, regex, REG_EXTENDED);
    if (rc == 0)
        return p;
    regerror(rc, &p->re, why, sizeof why);
    err_set(err, ERR_CONFIG, "'%s': %s", regex, why);
    free(p);
    return NULL;
}

void
pattern_free(struct pattern *p)
{
    if (p != NULL)
        regfree(&p->re);
    free(p);
}

static bool
group_number(const char *text, size_t len, double *out)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"nan", (double)NAN},    {"-nan", (double)NAN},
                 {"inf", HUGE_VAL},       {"+inf", HUGE_VAL},
                 {"-inf", -HUGE_VAL},     {"infinity", HUGE_VAL},
                 {"-infinity", -HUGE_VAL}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == len &&
            strncasecmp(text, words[i].word, len) == 0) {
            *out = words[i].value;
            return true;
        }
    return number_parse(text, len, out);
}

bool
pattern_match(const struct pattern *p, const char *line, double *out)
{
    regmatch_t groups[GROUPS_MAX];

    if (regexec(&p->re, line, GROUPS_MAX, groups, 0) != 0)
        return false;
    for (size_t i = 1; i < GROUPS_MAX; i++)
        if (groups[i].rm_so >= 0)
            return group_number(line + groups[i].rm_so,
                                (size_t)(groups[i].rm_eo - groups[i].rm_so),
                                out);
    return false;
}

struct patterns {
    const struct experiment *x;
    size_t n;
    struct pattern *items[EXPERIMENT_PATTERNS_MAX];
    uint32_t needed; /* those that a result has to have */
};

/* The name of the value that a pattern finds. */
static const char *
name_of(const struct patterns *p, size_t i)
{
    const struct objectives *of = p->x->objectives;

    if (p->x->patterns[i].name != NULL)
        return p->x->patterns[i].name;
    return of != NULL ? of->names[0] : "default";
}

static bool
is_needed(const struct patterns *p, size_t i)
{
    const struct objectives *of = p->x->objectives;

    for (size_t k = 0; of != NULL && k < of->n_values; k++)
        if (strcmp(of->names[k], name_of(p, i)) == 0)
            return true;
    return of == NULL && strcmp(name_of(p, i), "default") == 0;
}

struct patterns *
patterns_new(const struct experiment *x, struct err *err)
{
    struct patterns *p = calloc(1, sizeof *p);

    if (p == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    p->x = x;
    for (; p->n < x->n_patterns; p->n++) {
        p->items[p->n] = pattern_new(x->patterns[p->n].regex, err);
        if (p->items[p->n] == NULL) {
            patterns_free(p);
            return NULL;
        }
        if (is_needed(p, p->n))
            p->needed |= (uint32_t)1 << p->n;
    }
    return p;
}

void
patterns_free(struct patterns *p)
{
    for (size_t i = 0; p != NULL && i < p->n; i++)
        pattern_free(p->items[i]);
    free(p);
}

bool
patterns_match(const struct patterns *p, const char *line)
{
    double value;

    for (size_t i = 0; i < p->n; i++)
        if (pattern_match(p->items[i], line, &value))
            return true;
    return false;
}

/* Spells a number as trials do, which may be what JSON lacks. */
static void
write_number(struct buf *out, double value)
{
    char text[NUMBER_TEXT_MAX];

    buf_add(out, text, number_format(value, text));
}

static void
write_values(const struct patterns *p, const struct pattern_values *v,
             struct buf *json, double *value)
{
    const struct objectives *of = p->x->objectives;
    struct json_writer w;

    if (p->n == 1 && of == NULL) {
        *value = v->values[0];
        write_number(json, *value);
        return;
    }
    w = json_begin_object(json);
    for (size_t i = 0; i < p->n; i++) {
        const char *name = name_of(p, i);

        if (!(v->found >> i & 1))
            continue;
        write_number(json_value(&w, name), v->values[i]);
        if (strcmp(name, of != NULL ? of->names[0] : "default") == 0)
            *value = v->values[i];
    }
    json_close(&w);
}

bool
patterns_take(const struct patterns *p, struct pattern_values *v,
              const char *line, struct buf *json, double *value)
{
    for (size_t i = 0; i < p->n; i++)
        if (pattern_match(p->items[i], line, &v->values[i]))
            v->found |= (uint32_t)1 << i;
    if (v->found == 0 || (v->found & p->needed) != p->needed)
        return false;
    buf_clear(json);
    write_values(p, v, json, value);
    v->found = 0;
    return true;
}

void
metrics_write(struct buf *out, const char *job, const char *parameter_id,
              uint64_t attempt, uint64_t base, const struct metric_line *metric)
{
    struct json_writer w = json_begin_object(out);

    json_add_raw(&w, "parameter_id", parameter_id);
    json_add_text(&w, "trial_job_id", job);
    json_add_text(&w, "type", metric->final ? "FINAL" : "PERIODICAL");
    json_add_unsigned(&w, "sequence", metric->sequence);
    json_add_string(&w, "value", metric->json, metric->len);
    json_add_unsigned(&w, "attempt", attempt);
    if (metric->sync)
        json_add_bool(&w, "sync", true);
    if (metric->elapsed_ns > 0)
        buf_printf(json_value(&w, "elapsed"), "%.6f",
                   (double)metric->elapsed_ns / 1e9);
    if (base > 0)
        json_add_unsigned(&w, "base", base);
    json_close(&w);
}
