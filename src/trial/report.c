/* SPDX-License-Identifier: MIT */
#include "trial/report.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SPACE " \t\n\r"
#define DEPTH_MAX 64
#define SHOWN 60 /* bytes of a bad value in an error text */

static const char *const not_finite[] = {"NaN", "Infinity", "-Infinity"};

/* Whether a text is a number by JSON's grammar, which is stricter than
 * number_parse(): no sign +, no leading or trailing point, no leading zeros. */
static bool
is_number(const char *text, size_t len)
{
    size_t sign = len > 0 && text[0] == '-', i = sign;
    double value;

    for (size_t w = 0; w < sizeof(not_finite) / sizeof(not_finite[0]); w++)
        if (strlen(not_finite[w]) == len &&
            memcmp(not_finite[w], text, len) == 0)
            return true;
    while (i < len && text[i] >= '0' && text[i] <= '9')
        i++;
    if (i == sign || (text[sign] == '0' && i > sign + 1))
        return false;
    if (i < len && text[i] == '.' &&
        (i + 1 == len || text[i + 1] < '0' || text[i + 1] > '9'))
        return false;
    return number_parse(text, len, &value);
}

/* The byte behind the string that begins at `at`; NULL when it has no end. */
static const char *
skip_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        if (*at == '\\')
            at++;
        if (*at == '\0')
            return NULL;
    }
    return at + 1;
}

/* Whether the member that begins at `at` has this name, as it is or with its
 * quotes and backslashes escaped; *value is where its value begins. */
static bool
is_member(const char *at, const char *name, size_t len, const char **value)
{
    if (*at++ != '"')
        return false;
    for (size_t i = 0; i < len; i++, at++) {
        if (*at == '\\')
            at++;
        if (*at != name[i])
            return false;
    }
    if (*at++ != '"')
        return false;
    at += strspn(at, SPACE);
    if (*at != ':')
        return false;
    at++;
    *value = at + strspn(at, SPACE);
    return true;
}

#define NAMES_MAX 24 /* OBJECTIVES_VALUES_MAX */

/* Values that are looked for in a report. */
struct scan {
    char open[DEPTH_MAX]; /* the bracket that closes each level */
    int depth;
    size_t n;
    const char *names[NAMES_MAX]; /* not NUL-terminated, */
    size_t lens[NAMES_MAX];
    const char *values[NAMES_MAX]; /* of the outermost members, or NULL */
};

/* Notes the member that begins at `at`, if it is one that is looked for. */
static void
note_member(struct scan *s, const char *at)
{
    const char *value;

    for (size_t i = 0; i < s->n; i++)
        if (is_member(at, s->names[i], s->lens[i], &value))
            s->values[i] = value;
}

/* Steps over one token at `at`; returns the byte behind it, NULL when brackets
 * or strings do not fit together. */
static const char *
step(struct scan *s, const char *at)
{
    switch (*at) {
    case '"':
        if (s->depth == 1 && s->open[0] == '}')
            note_member(s, at);
        return skip_string(at);
    case '{':
    case '[':
        if (s->depth == DEPTH_MAX)
            return NULL;
        s->open[s->depth++] = *at == '{' ? '}' : ']';
        return at + 1;
    case '}':
    case ']':
        if (s->depth == 0 || s->open[--s->depth] != *at)
            return NULL;
        return at + 1;
    default:
        return at + 1;
    }
}

/* The names that are looked for; false: it is "default". */
static bool
find_names(struct scan *s)
{
    const char *names = getenv(TRIAL_ENV_OBJECTIVES);

    s->n = 1;
    s->names[0] = "default";
    s->lens[0] = strlen("default");
    if (names == NULL || *names == '\0')
        return false;
    for (s->n = 0; s->n < NAMES_MAX && *names != '\0'; s->n++) {
        s->names[s->n] = names;
        s->lens[s->n] = strcspn(names, ",");
        names += s->lens[s->n];
        names += *names == ',';
    }
    return true;
}

static int
refuse_lack(const char *text, const struct scan *s, size_t i, bool named,
            struct err *err)
{
    if (!named)
        return err_set(err, ERR_INPUT,
                       "metric '%.*s' has no member \"default\": expected "
                       "{\"default\": NUMBER, ...}",
                       SHOWN, text);
    return err_set(err, ERR_INPUT,
                   "metric '%.*s' has no value '%.*s': expected one for each "
                   "objective, and each limit, of the experiment",
                   SHOWN, text, (int)s->lens[i], s->names[i]);
}

static int
check_members(const char *text, const struct scan *s, bool named, bool all,
              struct err *err)
{
    size_t found = 0, missing = 0;

    for (size_t i = 0; i < s->n; i++) {
        const char *value = s->values[i];

        if (value == NULL) {
            missing = found == i ? i : missing;
            continue;
        }
        if (!is_number(value, strcspn(value, SPACE ",}")))
            return err_set(err, ERR_INPUT,
                           "metric '%.*s': the %s \"%.*s\" is no number", SHOWN,
                           text, named ? "value" : "member", (int)s->lens[i],
                           s->names[i]);
        found++;
    }
    return found == s->n || (found > 0 && !all)
               ? 0
               : refuse_lack(text, s, missing, named, err);
}

static int
check_object(const char *text, size_t len, bool final, struct err *err)
{
    struct scan s = {.depth = 0};
    const char *at = text, *end = text + len;
    bool named = find_names(&s);

    do
        at = step(&s, at);
    while (at != NULL && at < end && s.depth > 0);
    if (at != end || s.depth != 0)
        return err_set(err, ERR_INPUT,
                       "metric '%.*s' is no JSON object: its brackets or "
                       "quotes do not fit together",
                       SHOWN, text);
    return check_members(text, &s, named, final, err);
}

/* Drops white space at both ends; *len is the length of what is left. */
static const char *
trim(const char *json, size_t *len)
{
    json += strspn(json, SPACE);
    *len = strlen(json);
    while (*len > 0 && strchr(SPACE, json[*len - 1]) != NULL)
        --*len;
    return json;
}

/* Whether a number alone can be the result. */
static int
check_lone(const char *text, struct err *err)
{
    struct scan s = {.depth = 0};

    if (!find_names(&s))
        return 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.lens[i] != strlen("default") ||
            strncmp(s.names[i], "default", s.lens[i]) != 0)
            return refuse_lack(text, &s, i, true, err);
    return 0;
}

int
report_check(const char *json, enum report_type type, struct err *err)
{
    size_t len;

    json = trim(json, &len);
    if (len > 0 && json[0] == '{')
        return check_object(json, len, type != REPORT_INTERMEDIATE, err);
    if (is_number(json, len))
        return check_lone(json, err);
    return err_set(err, ERR_INPUT,
                   "metric '%.*s': expected a number or {\"default\": NUMBER, "
                   "...}",
                   SHOWN, json);
}

/* ---- values as words ---- */

/* Appends a name as a JSON text. */
static void
add_name(struct buf *out, const char *name, size_t len)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '"' || name[i] == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, (unsigned char)name[i] < ' ' ? ' ' : name[i]);
    }
    buf_add_text(out, "\": ");
}

static int
add_word(struct buf *out, const char *word, struct err *err)
{
    const char *equals = strchr(word, '='), *number;
    size_t len;

    number = trim(equals != NULL ? equals + 1 : word, &len);
    if (equals == word || !is_number(number, len))
        return err_set(err, ERR_INPUT,
                       "'%.*s': expected NAME=NUMBER, or a number", SHOWN,
                       word);
    if (out->len > 1)
        buf_add_text(out, ", ");
    if (equals != NULL)
        add_name(out, word, (size_t)(equals - word));
    else
        add_name(out, "default", strlen("default"));
    buf_add(out, number, len);
    return 0;
}

/* Whether a word before this one names the same value. */
static bool
is_twice(const char *const *words, size_t i)
{
    size_t len = strcspn(words[i], "=");
    bool named = words[i][len] == '=';

    for (size_t k = 0; k < i; k++) {
        size_t other = strcspn(words[k], "=");

        if (named ? other == len && words[k][other] == '=' &&
                        strncmp(words[i], words[k], len) == 0
                  : words[k][other] == '\0')
            return true;
    }
    return false;
}

char *
report_value(const char *const *words, size_t n, struct err *err)
{
    struct buf out;
    char *json = NULL;
    int rc = 0;

    if (n == 1 && (words[0][0] == '{' || strchr(words[0], '=') == NULL)) {
        json = strdup(words[0]);
        if (json == NULL)
            err_set(err, ERR_MEMORY, "out of memory");
        return json;
    }
    buf_init(&out, TRIAL_METRIC_MAX);
    buf_add_char(&out, '{');
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = is_twice(words, i)
                 ? err_set(err, ERR_INPUT, "'%.*s': the value is there twice",
                           SHOWN, words[i])
                 : add_word(&out, words[i], err);
    buf_add_char(&out, '}');
    if (rc == 0 && buf_check(&out, "metric", err) == 0)
        json = buf_take(&out);
    buf_fini(&out);
    return json;
}

static int
make_line(struct buf *line, enum report_type type, const char *json,
          const char *mark, struct err *err)
{
    static const char *const heads[] = {
        [REPORT_INTERMEDIATE] = TRIAL_METRIC_INTERMEDIATE,
        [REPORT_FINAL] = TRIAL_METRIC_FINAL,
        [REPORT_DONE] = TRIAL_METRIC_DONE,
    };
    size_t len;

    json = trim(json, &len);
    buf_add_text(line, heads[type]);
    for (size_t i = 0; i < len; i++)
        buf_add_char(line, json[i] == '\n' || json[i] == '\r' ? ' ' : json[i]);
    buf_add_text(line, mark);
    buf_add_char(line, '\n');
    return buf_check(line, "metric", err);
}

static int
write_line(int fd, const char *path, const struct buf *line, struct err *err)
{
    ssize_t n;

    do
        n = write(fd, line->data, line->len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot append", path);
    if ((size_t)n != line->len)
        return err_set(err, ERR_SYSTEM,
                       "%s: only %zd of %zu bytes were written: is the disk "
                       "full?",
                       path, n, line->len);
    return 0;
}

/* Appends a line; *end is its end in the file. */
static int
append(const char *path, const struct buf *line, off_t *end, struct err *err)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(path, flags | O_CLOEXEC, 0600);
    int status;

    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    status = write_line(fd, path, line, err);
    *end = lseek(fd, 0, SEEK_CUR);
    if (close(fd) != 0 && status == 0)
        status = err_errno(err, ERR_SYSTEM, "%s: cannot append", path);
    return status;
}

static int
append_in(const char *folder, const struct buf *line, off_t *end,
          struct err *err)
{
    char *path = file_join(folder, TRIAL_METRICS);
    int status = path == NULL ? err_set(err, ERR_MEMORY, "no memory for a path")
                              : append(path, line, end, err);

    free(path);
    return status;
}

static int
append_text(const char *folder, const char *text, struct err *err)
{
    struct buf line;
    off_t end;
    int status;

    buf_init(&line, TRIAL_METRIC_MAX);
    buf_add_text(&line, text);
    buf_add_char(&line, '\n');
    status = buf_check(&line, "a line of " TRIAL_METRICS, err);
    if (status == 0)
        status = append_in(folder, &line, &end, err);
    buf_fini(&line);
    return status;
}

static int
report(const char *folder, enum report_type type, const char *json,
       const char *mark, off_t *end, struct err *err)
{
    struct buf line;
    int status = -1;

    if (report_check(json, type, err) != 0) {
        if (type != REPORT_INTERMEDIATE)
            append_text(folder, TRIAL_METRIC_REFUSED, NULL);
        return -1;
    }
    buf_init(&line, TRIAL_METRIC_MAX);
    if (make_line(&line, type, json, mark, err) == 0)
        status = append_in(folder, &line, end, err);
    buf_fini(&line);
    return status;
}

int
report_checkpoint(const char *folder, unsigned long long number,
                  struct err *err)
{
    char line[sizeof TRIAL_METRIC_CHECKPOINT + 24];

    snprintf(line, sizeof line, TRIAL_METRIC_CHECKPOINT "%llu", number);
    return append_text(folder, line, err);
}

int
report_append(const char *folder, enum report_type type, const char *json,
              struct err *err)
{
    off_t end;

    return report(folder, type, json, "", &end, err);
}

/* Opens the answers; -1: nobody will answer. */
static int
open_answers(const char *folder)
{
    char *path = file_join(folder, TRIAL_ANSWERS);
    int fd = path == NULL
                 ? -1
                 : open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

    free(path);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) {
            close(fd);
            fd = -1;
        }
    return fd;
}

/* Reads the next line, without its LF; false when nobody answers any more. */
static bool
read_answer(int fd, char line[TRIAL_ANSWER_MAX])
{
    size_t len = 0;

    for (;;) {
        char c;
        ssize_t n = read(fd, &c, 1);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        if (c == '\n')
            break;
        if (len + 1 < TRIAL_ANSWER_MAX)
            line[len++] = c;
    }
    line[len] = '\0';
    return true;
}

static const char *const answers[] = {
    [REPORT_GO] = TRIAL_ANSWER_GO,
    [REPORT_STOP] = TRIAL_ANSWER_STOP,
    [REPORT_PAUSE] = TRIAL_ANSWER_PAUSE,
    [REPORT_FINISH] = TRIAL_ANSWER_FINISH,
};

const char *
report_answer_word(enum report_answer answer)
{
    return answers[answer];
}

/* Reads an answer; an unknown word is no reason to end. */
static enum report_answer
read_word(const char *word)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        if (strcmp(answers[i], word) == 0)
            return (enum report_answer)i;
    return REPORT_GO;
}

static enum report_answer
await(int fd, off_t end)
{
    char line[TRIAL_ANSWER_MAX], *word;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return REPORT_GO;
    while (read_answer(fd, line))
        if (strtoll(line, &word, 10) == (long long)end && *word == ' ')
            return read_word(word + 1);
    return REPORT_GO;
}

int
report_intermediate(const char *folder, const char *json, enum report_wait wait,
                    const struct report_then *then, enum report_answer *answer,
                    struct err *err)
{
    int fd = wait == REPORT_NO_WAIT ? -1 : open_answers(folder), status;
    const char *mark = wait == REPORT_NO_WAIT ? ""
                       : wait == REPORT_HEAR  ? TRIAL_METRIC_HEARS
                                              : TRIAL_METRIC_WAITS;
    off_t end;

    *answer = REPORT_GO;
    status = report(folder, REPORT_INTERMEDIATE, json, mark, &end, err);
    if (status == 0 && then != NULL)
        status = then->act(then->ctx, err);
    if (status == 0 && fd >= 0)
        *answer = await(fd, end);
    if (wait != REPORT_HEAR)
        *answer = REPORT_GO;
    if (fd >= 0)
        close(fd);
    return status;
}
