/* SPDX-License-Identifier: MIT */

/* tunepipe/trial.h - the one header a trial program includes.
 *
 *     #include <tunepipe/trial.h>
 *     int main(void)
 *     {
 *         double rate = tp_param_double("learning_rate", 0.01);
 *         long units = tp_param_long("hidden_units", 64);
 *         double accuracy = 0;
 *         for (int epoch = 0; epoch < 30; epoch++) {
 *             accuracy = train(rate, units, tp_seed(1));
 *             tp_report(accuracy);
 *         }
 *         return tp_final(accuracy) != 0;
 *     }
 *
 * Nothing to link: every function is static, C99 or C++11, POSIX only.
 *
 * Outside tunepipe (TUNEPIPE_TRIAL_DIR is not set) parameters have their
 * fallbacks and reports go to stdout ("intermediate 0.93"), so the program
 * also runs by hand.
 *
 * Threads: there is no state; any thread may call any function at any time,
 * and so may the trial's child processes, as long as nobody changes the
 * environment meanwhile.  Lines reported at once by several of them stay
 * whole; which comes first is then not determined.  No function may be called
 * from a signal handler.
 *
 * Locale: numbers have a decimal point in every locale, in both directions,
 * whatever setlocale(3) was told.
 *
 * Every name begins with tp_; names beginning with tp_impl_ may change. */
#ifndef TUNEPIPE_TRIAL_H
#define TUNEPIPE_TRIAL_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A report's line is at most 1 MiB long, its newline included. */
#define TP_IMPL_LINE_MAX ((size_t)1024 * 1024)
#define TP_IMPL_NUMBER_MAX 512

/* "DIR/NAME" of the trial's folder, for the caller to free.  NULL: errno is 0
 * outside tunepipe, ENOMEM otherwise. */
static inline char *
tp_impl_path(const char *name)
{
    const char *dir = getenv("TUNEPIPE_TRIAL_DIR");
    size_t size;
    char *path;

    errno = 0;
    if (!dir || !*dir)
        return NULL;
    size = strlen(dir) + strlen(name) + 2;
    path = (char *)malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", dir, name);
    return path;
}

/* The next byte of a name or value: 0 to 255, or -1 at its end (a TAB, an LF
 * or the end of the file; *stop says which). */
static inline int
tp_impl_byte(FILE *file, int *stop)
{
    int c = getc(file);

    if (c == '\t' || c == '\n' || c == EOF) {
        *stop = c;
        return -1;
    }
    if (c != '\\')
        return c;
    c = getc(file);
    return c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
}

/* Reads a line's name and compares: whether it is `name` and a value
 * follows.  *stop is what ended it. */
static inline int
tp_impl_is_name(FILE *file, const char *name, int *stop)
{
    int c, same = 1;

    while ((c = tp_impl_byte(file, stop)) >= 0) {
        same = same && *name && (unsigned char)*name == c;
        if (same)
            name++;
    }
    return same && !*name && *stop == '\t';
}

/* Reads a line's value into out; 0, or -1 when it does not fit. */
static inline int
tp_impl_value(FILE *file, char *out, size_t size, int *stop)
{
    size_t len = 0;
    int c;

    while ((c = tp_impl_byte(file, stop)) >= 0) {
        if (len + 1 < size)
            out[len] = (char)c;
        len++;
    }
    if (!size)
        return -1;
    out[len < size ? len : size - 1] = '\0';
    return len < size ? 0 : -1;
}

/* Whether one of the lines is this one. */
static inline int
tp_impl_has_line(const char *lines, const char *line, size_t len)
{
    while (lines) {
        if (strncmp(lines, line, len) == 0 && lines[len] == '\n')
            return 1;
        lines = strchr(lines, '\n');
        if (lines)
            lines++;
    }
    return 0;
}

/* Opens the trial's file `absent` to read and append; -1: there is none. */
static inline int
tp_impl_open_absent(void)
{
    char *path = tp_impl_path("absent");
    int flags = O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK;
    int fd;

#ifdef O_CLOEXEC
    flags |= O_CLOEXEC;
#endif
#ifdef O_NOFOLLOW
    flags |= O_NOFOLLOW;
#endif
    fd = path ? open(path, flags, S_IRUSR | S_IWUSR) : -1;
    free(path);
    return fd;
}

/* Notes that the trial asked for a parameter that it does not have: tunepipe
 * knows whether the search space has it, and says so where it has not. */
static inline void
tp_impl_note_absent(const char *name)
{
    const size_t max = 32768;
    size_t len = strlen(name);
    char line[512], *text;
    ssize_t n;
    int fd;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] < ' ')
            return;
    if (!len || len + 1 >= sizeof(line))
        return;
    fd = tp_impl_open_absent();
    text = fd < 0 ? NULL : (char *)malloc(max + 1);
    n = text ? read(fd, text, max) : -1;
    if (n >= 0 && (size_t)n < max) {
        text[n] = '\0';
        snprintf(line, sizeof(line), "%s\n", name);
        if (!tp_impl_has_line(text, name, len) && write(fd, line, len + 1) < 0)
            n = -1; /* that costs the note */
    }
    free(text);
    if (fd >= 0)
        close(fd);
}

/* As tp_param_string(), of a name that need not be there. */
static inline int
tp_impl_param(const char *name, char *out, size_t size, int *found)
{
    char *path = tp_impl_path("parameters.tsv");
    FILE *file = path ? fopen(path, "r") : NULL;
    int stop = '\n', status = -1;

    *found = !file;
    free(path);
    if (!file)
        return -1;
    while (stop != EOF) {
        if (tp_impl_is_name(file, name, &stop)) {
            *found = 1;
            status = tp_impl_value(file, out, size, &stop);
            break;
        }
        while (stop == '\t')
            while (tp_impl_byte(file, &stop) >= 0)
                ;
    }
    fclose(file);
    return status;
}

/* Copies the value of the parameter `name` to out, NUL-terminated.
 *
 * A nested choice has names joined with '/': "activation/_name" is the name of
 * what was chosen, "activation/slope" a parameter that only some of the
 * choices have.  Numbers come in JSON spelling, strings without quotes, arrays
 * as JSON text.
 *
 * Returns 0; -1 when this trial has no such parameter (of one that the search
 * space does not have, either, tunepipe warns once), when the value and its NUL
 * need more than `size` bytes (out then holds its beginning), or outside
 * tunepipe (out is then untouched, as it is for an absent parameter). */
static inline int
tp_param_string(const char *name, char *out, size_t size)
{
    int found, status = tp_impl_param(name, out, size, &found);

    if (!found && strcmp(name, "TRIAL_BUDGET") != 0)
        tp_impl_note_absent(name);
    return status;
}

/* The decimal point of this thread's locale, which strtod() and printf() use:
 * what stands between the 0 and the 5.  May be longer than one byte. */
static inline void
tp_impl_point(char *out, size_t size)
{
    char text[32];
    size_t len;

    snprintf(text, sizeof(text), "%.1f", 0.5);
    len = strlen(text);
    if (len < 3 || len - 2 >= size) {
        snprintf(out, size, ".");
        return;
    }
    memcpy(out, text + 1, len - 2);
    out[len - 2] = '\0';
}

/* Whether the whole text is a decimal number; if so, *out is its value. */
static inline int
tp_impl_number(const char *text, double *out)
{
    char local[TP_IMPL_NUMBER_MAX], point[16], *end;
    const char *dot = strchr(text, '.');

    if (!*text || text[strspn(text, "+-.0123456789eE")] ||
        strlen(text) + sizeof(point) > sizeof(local))
        return 0;
    tp_impl_point(point, sizeof(point));
    if (dot)
        snprintf(local, sizeof(local), "%.*s%s%s", (int)(dot - text), text,
                 point, dot + 1);
    else
        snprintf(local, sizeof(local), "%s", text);
    *out = strtod(local, &end);
    return end != local && !*end;
}

static inline void
tp_impl_complain(const char *name, const char *text, const char *wanted)
{
    fprintf(stderr, "tunepipe/trial.h: parameter '%s' is '%s', not %s\n", name,
            text, wanted);
}

/* The value of a numeric parameter, in the units of the search space; the
 * nearest double where it has more digits.  `fallback` when the trial has no
 * such parameter, outside tunepipe, and, with a line on stderr, when the value
 * is no number.  Never NaN unless the fallback is; infinite only when the
 * number is beyond the range of double. */
static inline double
tp_param_double(const char *name, double fallback)
{
    char text[TP_IMPL_NUMBER_MAX];
    double value;

    if (tp_param_string(name, text, sizeof(text)) != 0)
        return fallback;
    if (tp_impl_number(text, &value))
        return value;
    tp_impl_complain(name, text, "a number");
    return fallback;
}

/* The value of a whole parameter, as tp_param_double() has it of others.
 * "32.0" and "1e3" (uniform may give such) are whole numbers, "32.5" and what
 * does not fit a long are not. */
static inline long
tp_param_long(const char *name, long fallback)
{
    char text[TP_IMPL_NUMBER_MAX], *end;
    double real, limit = -(double)LONG_MIN;
    long value;

    if (tp_param_string(name, text, sizeof(text)) != 0)
        return fallback;
    errno = 0;
    value = strtol(text, &end, 10);
    if (end != text && !*end && !errno)
        return value;
    if (tp_impl_number(text, &real) && real >= -limit && real < limit) {
        value = (long)real;
        if (!((double)value < real) && !((double)value > real))
            return value;
    }
    tp_impl_complain(name, text, "a whole number that fits a long");
    return fallback;
}

/* This trial's seed, the same whenever the experiment is repeated with its
 * seed.  `fallback` outside tunepipe. */
static inline unsigned long long
tp_seed(unsigned long long fallback)
{
    const char *text = getenv("TUNEPIPE_SEED");
    unsigned long long value;
    char *end;

    if (!text || *text < '0' || *text > '9')
        return fallback;
    errno = 0;
    value = strtoull(text, &end, 10);
    return *end || errno ? fallback : value;
}

/* How many intermediate results this trial may report, tp_restored_step() of
 * them included: then another one decides about its result, and it is ended
 * when it goes on by itself.  0: as many as it likes, and outside tunepipe. */
static inline double
tp_budget(void)
{
    return tp_param_double("TRIAL_BUDGET", 0);
}

/* How many intermediate results this trial, or those it goes on from, had
 * reported when the checkpoint in TUNEPIPE_RESTORE_DIR was saved: its next one
 * is the result of that step, counted from 0.  0 without a checkpoint. */
static inline unsigned long long
tp_restored_step(void)
{
    const char *text = getenv("TUNEPIPE_STEP");
    unsigned long long value;
    char *end;

    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    value = strtoull(text, &end, 10);
    return *end || errno ? 0 : value;
}

/* One write(2); the rest of a short one follows while it can. */
static inline int
tp_impl_write(int fd, const char *line, size_t len)
{
    while (len) {
        ssize_t n = write(fd, line, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        line += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Appends a complete line to the trial's metrics, or to stdout.  *end is where
 * it ends in that file, -1 for stdout. */
static inline int
tp_impl_append(const char *line, size_t len, off_t *end)
{
    char *path = tp_impl_path("metrics");
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, fd, status, why;

    *end = -1;
    if (!path && errno)
        return -1;
    if (!path)
        return fwrite(line, 1, len, stdout) != len || fflush(stdout) ? -1 : 0;
#ifdef O_CLOEXEC
    flags |= O_CLOEXEC;
#endif
#ifdef O_NOFOLLOW
    flags |= O_NOFOLLOW;
#endif
    fd = open(path, flags, S_IRUSR | S_IWUSR);
    free(path);
    if (fd < 0)
        return -1;
    status = tp_impl_write(fd, line, len);
    why = errno;
    *end = lseek(fd, 0, SEEK_CUR);
    if (close(fd) != 0 && status == 0)
        return -1;
    errno = why;
    return status;
}

/* `mark` says that the trial waits. */
static inline int
tp_impl_line(const char *type, const char *json, const char *mark, off_t *end)
{
    size_t head = strlen(type), len = strlen(json), tail = strlen(mark);
    char *line;
    int status;

    if (!len || len > TP_IMPL_LINE_MAX - head - tail - 1) {
        errno = len ? EMSGSIZE : EINVAL;
        return -1;
    }
    line = (char *)malloc(head + len + tail + 1);
    if (!line)
        return -1;
    memcpy(line, type, head);
    for (size_t i = 0; i < len; i++)
        line[head + i] = json[i] == '\n' || json[i] == '\r' ? ' ' : json[i];
    memcpy(line + head + len, mark, tail);
    line[head + len + tail] = '\n';
    status = tp_impl_append(line, head + len + tail + 1, end);
    free(line);
    return status;
}

/* The answers' descriptor, of which one at a time reads; -1: nobody answers. */
static inline int
tp_impl_open_answers(void)
{
    char *path = tp_impl_path("answers");
    int flags = O_RDONLY | O_NONBLOCK, fd;

#ifdef O_CLOEXEC
    flags |= O_CLOEXEC;
#endif
#ifdef O_NOFOLLOW
    flags |= O_NOFOLLOW;
#endif
    fd = path ? open(path, flags) : -1;
    free(path);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) {
            close(fd);
            fd = -1;
        }
    return fd;
}

/* The answer tp_report_sync() gives for this word. */
static inline int
tp_impl_answer(const char *word)
{
    static const char *const words[] = {"go", "stop", "pause", "finish"};

    for (int i = 0; i < 4; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return 0;
}

/* Waits for "OFFSET WORD".  Answers to other offsets are left over from
 * somebody who has stopped waiting. */
static inline int
tp_impl_await(int fd, off_t end)
{
    char line[32], *word;
    size_t len = 0;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return 0;
    for (;;) {
        char c;
        ssize_t n = read(fd, &c, 1);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0; /* nobody answers any more: go */
        if (c != '\n') {
            if (len + 1 < sizeof(line))
                line[len++] = c;
            continue;
        }
        line[len] = '\0';
        len = 0;
        if (strtoll(line, &word, 10) == (long long)end && *word == ' ')
            return tp_impl_answer(word + 1);
    }
}

/* Reports, does `then` (NULL: nothing) and, unless the mark is NULL, waits;
 * what came of it as in tp_report_sync(). */
static inline int
tp_impl_wait_then(const char *json, const char *mark,
                  int (*then)(const char *folder), const char *folder)
{
    int fd = mark ? tp_impl_open_answers() : -1, answer = 0, why;
    int marked = fd >= 0 || (mark && getenv("TUNEPIPE_TRIAL_DIR"));
    off_t end;
    int status = tp_impl_line("intermediate ", json, marked ? mark : "", &end);

    if (status == 0 && then)
        status = then(folder);
    why = errno;
    if (status == 0 && fd >= 0)
        answer = tp_impl_await(fd, end);
    if (fd >= 0)
        close(fd);
    errno = why;
    return status ? status : answer;
}

static inline int
tp_impl_wait(const char *json, const char *mark)
{
    return tp_impl_wait_then(json, mark, NULL, NULL);
}

/* Whether each intermediate report waits for its answer (--deterministic). */
static inline int
tp_impl_lockstep(void)
{
    const char *lockstep = getenv("TUNEPIPE_LOCKSTEP");

    return lockstep && *lockstep == '1';
}

static inline int
tp_impl_report(const char *type, const char *json)
{
    off_t end;

    if (*type == 'i' && tp_impl_lockstep())
        return tp_impl_wait(json, "\t") < 0 ? -1 : 0;
    return tp_impl_line(type, json, "", &end);
}

/* The shortest of %.15g, %.16g, %.17g that reads back as the same value. */
static inline void
tp_impl_spell(double value, char *out, size_t size)
{
    char point[16], *at;
    double back = 0;

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, value);
        back = strtod(out, NULL);
        if (!(back < value) && !(back > value))
            break;
    }
    tp_impl_point(point, sizeof(point));
    at = strstr(out, point);
    if (at && strcmp(point, ".") != 0) {
        size_t len = strlen(point);

        *at = '.';
        memmove(at + 1, at + len, strlen(at + len) + 1);
    }
}

/* The value in JSON, or one of the words for what JSON lacks. */
static inline void
tp_impl_text(double value, char *text, size_t size)
{
    uint64_t bits;

    /* Arithmetic cannot tell under -ffast-math, the exponent's bits can. */
    memcpy(&bits, &value, sizeof(bits));
    if ((bits >> 52 & 0x7ff) != 0x7ff)
        tp_impl_spell(value, text, size);
    else
        snprintf(text, size, "%s",
                 bits << 12   ? "NaN"
                 : bits >> 63 ? "-Infinity"
                              : "Infinity");
}

static inline int
tp_impl_report_double(const char *type, double value)
{
    char text[64];

    tp_impl_text(value, text, sizeof(text));
    return tp_impl_report(type, text);
}

/* Reports an intermediate result, in the units that the experiment optimises:
 * one call per epoch or step, from the first on.  An assessor compares the
 * n-th reports of different trials with each other.
 *
 * Any double; NaN and infinities are written as NaN, Infinity and -Infinity.
 * Returns 0, or -1 with errno set: the report is not (or, on a full disk, not
 * wholly) written.  A trial may go on after that. */
static inline int
tp_report(double value)
{
    return tp_impl_report_double("intermediate ", value);
}

/* What a report that waits is answered.  All but TP_GO: the trial should end
 * now, by itself and well (after the experiment's grace, or when it reports
 * another intermediate result, it is ended). */
enum tp_answer {
    TP_GO = 0,
    TP_STOP = 1,  /* it was judged to be not worth its time */
    TP_PAUSE = 2, /* enough for now: save a checkpoint, if that is not done, and
                     end without a final result; another trial may go on from
                     there */
    TP_FINISH = 3 /* enough: this result is the final one, unless the trial
                     reports another with tp_final() */
};

/* Reports an intermediate result and waits until it is judged.
 *
 * Returns an enum tp_answer, or -1 with errno set as tp_report() does, and then
 * nothing was waited for.
 *
 * Where nobody answers it is 0 at once: outside tunepipe, and when the manager
 * has died, now or while the trial waited.  Of a trial's processes and threads
 * one waits at a time, the others for their turn.  Other signal handlers run
 * meanwhile; SIGTERM ends the trial as ever. */
static inline int
tp_report_sync(double value)
{
    char text[64];

    tp_impl_text(value, text, sizeof(text));
    return tp_impl_wait(text, "\t\t");
}

/* Reports the trial's result, once, at its end, as tp_report() does. */
static inline int
tp_final(double value)
{
    return tp_impl_report_double("final ", value);
}

/* Reports the trial's result and that it has done its work: it has succeeded,
 * whatever its exit status, and if it runs on, it is ended (SIGTERM, after the
 * experiment's grace SIGKILL).  What is reported behind it is not used. */
static inline int
tp_done(double value)
{
    return tp_impl_report_double("done ", value);
}

/* A value of a result that has several, by the name that the experiment's
 * `objectives` give it; values of other names are kept beside them. */
struct tp_named_value {
    const char *name;
    double value;
};

/* A name as a JSON text; returns its length.  out NULL: counts alone. */
static inline size_t
tp_impl_name(const char *name, char *out)
{
    size_t len = 0;

    for (; *name; name++) {
        int escaped = *name == '"' || *name == '\\';

        if (out && escaped)
            out[len] = '\\';
        len += escaped ? 1 : 0;
        if (out)
            out[len] = (unsigned char)*name < ' ' ? ' ' : *name;
        len++;
    }
    return len;
}

/* The values as a JSON object, for the caller to free; NULL: errno tells. */
static inline char *
tp_impl_object(const struct tp_named_value *values, size_t n)
{
    size_t size = 3, len = 0;
    char *out;

    for (size_t i = 0; i < n; i++)
        size += tp_impl_name(values[i].name, NULL) + 64 + 6;
    out = (char *)malloc(size);
    if (!out)
        return NULL;
    out[len++] = '{';
    for (size_t i = 0; i < n; i++) {
        if (i)
            out[len++] = ',';
        out[len++] = '"';
        len += tp_impl_name(values[i].name, out + len);
        out[len++] = '"';
        out[len++] = ':';
        tp_impl_text(values[i].value, out + len, 64);
        len += strlen(out + len);
    }
    out[len++] = '}';
    out[len] = '\0';
    return out;
}

/* The same four for a result that has several values:
 *
 *     struct tp_named_value values[] = {{"accuracy", 0.93},
 *                                       {"latency_ms", 12}};
 *     tp_final_values(values, 2);
 *
 * A final result has all objectives of the experiment, or the trial fails; an
 * intermediate one has those that are known by then. */
static inline int
tp_report_values(const struct tp_named_value *values, size_t n)
{
    char *json = tp_impl_object(values, n);
    int status = json ? tp_impl_report("intermediate ", json) : -1;

    free(json);
    return status;
}

static inline int
tp_report_sync_values(const struct tp_named_value *values, size_t n)
{
    char *json = tp_impl_object(values, n);
    int answer = json ? tp_impl_wait(json, "\t\t") : -1;

    free(json);
    return answer;
}

static inline int
tp_final_values(const struct tp_named_value *values, size_t n)
{
    char *json = tp_impl_object(values, n);
    int status = json ? tp_impl_report("final ", json) : -1;

    free(json);
    return status;
}

static inline int
tp_done_values(const struct tp_named_value *values, size_t n)
{
    char *json = tp_impl_object(values, n);
    int status = json ? tp_impl_report("done ", json) : -1;

    free(json);
    return status;
}

/* The same for a JSON object that has the number to optimise as "default":
 * {"default": 0.93, "loss": 0.21}, or the objectives by name.  Line ends in the
 * text become spaces; it is not checked otherwise (the manager does that).
 * Empty text is refused with EINVAL, text longer than 1 MiB with EMSGSIZE. */
static inline int
tp_report_json(const char *json)
{
    return tp_impl_report("intermediate ", json);
}

static inline int
tp_report_sync_json(const char *json)
{
    return tp_impl_wait(json, "\t\t");
}

static inline int
tp_final_json(const char *json)
{
    return tp_impl_report("final ", json);
}

static inline int
tp_done_json(const char *json)
{
    return tp_impl_report("done ", json);
}

#endif
