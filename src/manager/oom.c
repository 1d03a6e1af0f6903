/* SPDX-License-Identifier: MIT */
#include "manager/oom.h"

#include "config/wishes.h"
#include "core/buf.h"
#include "core/bytes.h"
#include "core/file.h"
#include "manager/claim.h"
#include "manager/machine.h"
#include "trial/outcome.h"
#include "trial/files.h"

#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 16384 /* of the end of stderr */
#define LINES_MAX 50
#define RECORD_MAX 65536
#define NEAR_PERCENT 90

/* What programs say; of the devices first, whose texts hold the others'. */
static const struct {
    const char *text;
    enum oom kind;
} sayings[] = {
    {"CUDA out of memory", OOM_DEVICE},
    {"CUDA error: out of memory", OOM_DEVICE},
    {"CUDA_ERROR_OUT_OF_MEMORY", OOM_DEVICE},
    {"cudaErrorMemoryAllocation", OOM_DEVICE},
    {"cudaMalloc failed: out of memory", OOM_DEVICE},
    {"CUBLAS_STATUS_ALLOC_FAILED", OOM_DEVICE},
    {"torch.cuda.OutOfMemoryError", OOM_DEVICE},
    {"torch.OutOfMemoryError", OOM_DEVICE},
    {"HIP out of memory", OOM_DEVICE},
    {"OOM when allocating tensor", OOM_DEVICE},
    {"RESOURCE_EXHAUSTED: Out of memory", OOM_DEVICE},
    {"std::bad_alloc", OOM_MEMORY},
    {"MemoryError", OOM_MEMORY},
    {"Cannot allocate memory", OOM_MEMORY},
    {"java.lang.OutOfMemoryError", OOM_MEMORY},
    {"DefaultCPUAllocator: can't allocate memory", OOM_MEMORY},
    {"DefaultCPUAllocator: not enough memory", OOM_MEMORY},
    {"memory allocation of", OOM_MEMORY}, /* Rust: "... N bytes failed" */
    {"fatal error: out of memory", OOM_MEMORY},
};

uint64_t
oom_peak(const struct outcome *outcome)
{
    uint64_t rss = outcome->maxrss_kb << 10;

    return outcome->memory_peak > rss ? outcome->memory_peak : rss;
}

/* By a shell too, which says so by its status. */
static bool
was_killed(const struct outcome *o)
{
    return (o->kind == OUTCOME_SIGNALLED && o->number == SIGKILL) ||
           (o->kind == OUTCOME_EXITED && o->number == 128 + SIGKILL);
}

static bool
judge_counters(const struct outcome *o, const struct claim *c, char *why,
               size_t size)
{
    uint64_t bound = c->limit > 0 ? c->limit : c->memory;
    char used[BYTES_TEXT_MAX], most[BYTES_TEXT_MAX];

    if (o->oom_kills > 0) {
        snprintf(why, size, "out of memory: killed at its limit of %s",
                 bytes_format(c->limit, most));
        return true;
    }
    if (!was_killed(o))
        return false;
    if (bound > 0 && oom_peak(o) >= bound / 100 * NEAR_PERCENT) {
        snprintf(why, size, "out of memory: killed with %s used of %s",
                 bytes_format(oom_peak(o), used), bytes_format(bound, most));
        return true;
    }
    if (machine_kills() > c->kills_before) {
        snprintf(why, size,
                 "out of memory: killed while the machine had no more (%s "
                 "used)",
                 bytes_format(oom_peak(o), used));
        return true;
    }
    return false;
}

/* The last lines of stderr, without NUL bytes. */
static bool
read_words(const char *path, char out[WORDS_MAX + 1])
{
    char *start;
    int fd = file_open_plain(path, O_RDONLY);
    struct stat st;
    ssize_t n = -1;
    int lines = 0;

    if (fd >= 0 && fstat(fd, &st) == 0)
        n = pread(fd, out, WORDS_MAX,
                  st.st_size > WORDS_MAX ? st.st_size - WORDS_MAX : 0);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    out[n] = '\0';
    for (ssize_t i = 0; i < n; i++)
        if (out[i] == '\0')
            out[i] = ' ';
    start = out + n;
    while (start > out &&
           (start[-1] != '\n' || start == out + n || ++lines < LINES_MAX))
        start--;
    memmove(out, start, strlen(start) + 1);
    return true;
}

/* The line that holds text[at]. */
static void
quote_line(const char *text, size_t at, char *why, size_t size)
{
    size_t from = at, len;
    char line[200];

    while (from > 0 && text[from - 1] != '\n')
        from--;
    len = strcspn(text + from, "\r\n");
    if (at - from > 100)
        from = at - 20; /* a long line: what was found is to be seen */
    len = strcspn(text + from, "\r\n");
    snprintf(line, sizeof line, "%.*s", len > 150 ? 150 : (int)len,
             text + from);
    for (char *c = line; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    snprintf(why, size, "out of memory: %s", line);
}

static bool
matches(const char *pattern, const char *text, size_t *at)
{
    regmatch_t match;
    regex_t re;
    bool found;

    if (regcomp(&re, pattern, REG_EXTENDED | REG_NEWLINE) != 0)
        return false;
    found = regexec(&re, text, 1, &match, 0) == 0;
    regfree(&re);
    if (found)
        *at = (size_t)match.rm_so;
    return found;
}

static enum oom
judge_words(const struct wishes *w, const char *words, char *why, size_t size)
{
    char text[WORDS_MAX + 1];
    size_t at;

    if (!read_words(words, text))
        return OOM_NOT;
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++) {
        const char *found = strstr(text, sayings[i].text);

        if (found != NULL) {
            quote_line(text, (size_t)(found - text), why, size);
            return sayings[i].kind;
        }
    }
    for (size_t i = 0; i < w->n_patterns; i++)
        if (matches(w->patterns[i], text, &at)) {
            quote_line(text, at, why, size);
            /* Which of the two it speaks of is not known. */
            return w->devices > 0 ? OOM_DEVICE : OOM_MEMORY;
        }
    return OOM_NOT;
}

enum oom
oom_judge(const struct outcome *outcome, const struct claim *claim,
          const struct wishes *wishes, const char *words, char *why,
          size_t size)
{
    if (outcome->kind != OUTCOME_EXITED && outcome->kind != OUTCOME_SIGNALLED)
        return OOM_NOT;
    if (judge_counters(outcome, claim, why, size))
        return OOM_MEMORY;
    if (outcome->kind == OUTCOME_EXITED && outcome->number == 0)
        return OOM_NOT;
    return judge_words(wishes, words, why, size);
}

void
oom_record(const char *folder, enum oom kind, bool prepares, uint64_t bytes)
{
    char *path = file_join(folder, TRIAL_OOM);
    char line[64];
    int len = snprintf(line, sizeof line, "%s %llu %s\n",
                       kind == OOM_DEVICE ? TRIAL_OOM_DEVICE : TRIAL_OOM_MEMORY,
                       (unsigned long long)bytes,
                       prepares ? TRIAL_OOM_PREPARE : TRIAL_OOM_RUN);

    if (path != NULL)
        file_write_plain(path, line, (size_t)len, NULL);
    free(path);
}

enum oom
oom_recorded(const char *folder, bool *prepares, uint64_t *bytes)
{
    char *path = file_join(folder, TRIAL_OOM);
    unsigned long long number = 0;
    struct buf text;
    char word[16] = "", phase[16] = "";

    buf_init(&text, 4 * RECORD_MAX);
    if (path == NULL || file_read_plain(path, RECORD_MAX, &text, NULL) != 0 ||
        sscanf(buf_text(&text), "%15s %llu %15s", word, &number, phase) != 3)
        word[0] = '\0';
    buf_fini(&text);
    free(path);
    *bytes = number;
    *prepares = strcmp(phase, TRIAL_OOM_PREPARE) == 0;
    return strcmp(word, TRIAL_OOM_DEVICE) == 0   ? OOM_DEVICE
           : strcmp(word, TRIAL_OOM_MEMORY) == 0 ? OOM_MEMORY
                                                 : OOM_NOT;
}
