/* SPDX-License-Identifier: MIT */
#include "manager/metrics.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
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

static int
read_value(const char *text, size_t len, double *out, struct err *err)
{
    struct json *doc;
    struct jval v;
    int rc = -1;

    if (scan_lone_number(text, len, out))
        return 0;
    doc = json_parse(text, len, JSON_NAN, err);
    if (doc == NULL)
        return -1;
    v = json_root(doc);
    if (jval_number(v, out))
        rc = 0;
    else if (jval_type(v) != JSON_OBJECT)
        err_set(err, ERR_INPUT,
                "expected a number or an object with \"default\", got %s",
                jval_type_name(v));
    else if (!jval_get(v, "default", &v) || !jval_number(v, out))
        err_set(err, ERR_INPUT, "the object has no number \"default\"");
    else
        rc = 0;
    json_free(doc);
    return rc;
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

static int
read_metric(struct metrics *m, const struct line_word *word, const char *line,
            size_t len, bool too_long, struct metric_line *out, struct err *err)
{
    out->final = word->final;
    out->done = word->done;
    out->sequence = word->final ? m->finals++ : m->intermediates++;
    out->json = line + word->len;
    out->len = len - word->len;
    take_marks(out);
    if (too_long)
        return err_set(err, ERR_INPUT, "longer than %d bytes",
                       TRIAL_METRIC_MAX);
    return read_value(out->json, out->len, &out->value, err);
}

enum metrics_word
metrics_line(struct metrics *m, const char *line, size_t len, bool too_long,
             struct metric_line *out, struct err *err)
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
        rc = read_metric(m, word, line, len, too_long, out, err);
    if (rc == 0)
        return word->checkpoint ? METRICS_CHECKPOINT : METRICS_METRIC;
    if (memchr(line, '\0', len) != NULL)
        metrics_refuse_nul(line, len, err);
    err_place(err, "line %llu", (unsigned long long)m->lines);
    return METRICS_BAD;
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
metrics_nni(struct metrics *m, const char *json, size_t len, struct buf *value,
            struct metric_line *out, struct err *err)
{
    struct json *doc = json_parse(json, len, JSON_NAN, err);
    enum metrics_word word = METRICS_BAD;
    const char *text;
    struct jval v;

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
    if (read_value(out->json, out->len, &out->value, err) == 0)
        word = METRICS_METRIC;
    else
        err_place(err, "value");
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
