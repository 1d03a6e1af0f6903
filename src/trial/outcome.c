/* SPDX-License-Identifier: MIT */
#include "trial/outcome.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "pack/packs.h"
#include "trial/stderr_tail.h"
#include "trial/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTCOME_TEXT_MAX 4096 /* behind it stands how it was started */

static int
read_first(const char *line, struct outcome *out, struct err *err)
{
    size_t word = strcspn(line, " ");
    const char *rest = line[word] != '\0' ? line + word + 1 : "";
    uint64_t number = 0;

    if (word == strlen(TRIAL_EXIT_UNSTARTED) &&
        strncmp(line, TRIAL_EXIT_UNSTARTED, word) == 0) {
        out->kind = OUTCOME_UNSTARTED;
        snprintf(out->text, sizeof out->text, "%s", rest);
        return 0;
    }
    if (!number_parse_u64(rest, strlen(rest), &number) || number > 255)
        return err_set(err, ERR_INPUT, "expected a number, got '%.40s'", rest);
    out->number = (int)number;
    if (word == strlen(TRIAL_EXIT_EXITED) &&
        strncmp(line, TRIAL_EXIT_EXITED, word) == 0)
        out->kind = OUTCOME_EXITED;
    else if (word == strlen(TRIAL_EXIT_SIGNALLED) &&
             strncmp(line, TRIAL_EXIT_SIGNALLED, word) == 0)
        out->kind = OUTCOME_SIGNALLED;
    else
        return err_set(err, ERR_INPUT, "expected %s, %s or %s, got '%.40s'",
                       TRIAL_EXIT_EXITED, TRIAL_EXIT_SIGNALLED,
                       TRIAL_EXIT_UNSTARTED, line);
    return 0;
}

static void
read_number(const char *line, struct outcome *out)
{
    uint64_t ended = 0, started = 0, abandoned = 0, told = 0, alone = 0;
    const struct {
        const char *name;
        uint64_t *to;
    } fields[] = {{"started_ns ", &started},
                  {"ended_ns ", &ended},
                  {"abandoned ", &abandoned},
                  {"told ", &told},
                  {"alone ", &alone},
                  {"maxrss_kb ", &out->maxrss_kb},
                  {"user_us ", &out->user_us},
                  {"system_us ", &out->system_us},
                  {"memory_peak ", &out->memory_peak},
                  {"oom_kills ", &out->oom_kills},
                  {"reported ", &out->reported},
                  {"printed ", &out->printed}};

    if (strncmp(line, "node ", 5) == 0)
        snprintf(out->node, sizeof out->node, "%.63s", line + 5);
    if (strncmp(line, "wrapper ", 8) == 0)
        out->wrapper = strtoull(line + 8, NULL, 10);

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t len = strlen(fields[i].name);

        if (strncmp(line, fields[i].name, len) == 0)
            number_parse_u64(line + len, strlen(line + len), fields[i].to);
    }
    if (abandoned > 0)
        out->abandoned = true;
    if (told > 0)
        out->told = true;
    if (alone > 0)
        out->alone = true;
    if (started > 0)
        out->started_ns = (int64_t)started;
    if (ended > 0)
        out->ended_ns = (int64_t)ended;
}

int
outcome_parse(char *text, struct outcome *out, struct err *err)
{
    char *rest = text;
    char *line = strsep(&rest, "\n");

    if (read_first(line, out, err) != 0)
        return -1;
    while ((line = strsep(&rest, "\n")) != NULL)
        read_number(line, out);
    return 0;
}

static int
read_file(int fd, struct outcome *out, struct err *err)
{
    char text[OUTCOME_TEXT_MAX + 1];
    ssize_t n = read(fd, text, sizeof text - 1);

    text[n > 0 ? n : 0] = '\0';
    return text[0] != '\0' ? outcome_parse(text, out, err)
                           : err_set(err, ERR_INPUT, "is empty");
}

int
outcome_read_of(struct packs *k, const char *folder, struct outcome *out,
                struct err *err)
{
    char *path = file_join(folder, TRIAL_EXIT);
    int fd = path == NULL ? -1
             : k != NULL  ? packs_open(k, path, NULL)
                          : file_open_plain(path, O_RDONLY);
    int rc = 0;

    *out = (struct outcome){.kind = OUTCOME_LOST};
    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (fd >= 0) {
        rc = read_file(fd, out, err);
        close(fd);
    } else if (errno != ENOENT && errno != ENOTDIR) {
        rc = err_errno(err, ERR_SYSTEM, "cannot open");
    }
    if (rc != 0) {
        out->kind = OUTCOME_LOST;
        err_place(err, "%s", path);
    }
    if (out->kind == OUTCOME_LOST)
        stderr_tail_wrapper(folder, k, out->text, sizeof out->text);
    free(path);
    return rc;
}

int
outcome_read(const char *folder, struct outcome *out, struct err *err)
{
    return outcome_read_of(NULL, folder, out, err);
}

static bool
is_shorter(const char *folder, const char *name, uint64_t bytes)
{
    char *path = file_join(folder, name);
    struct stat st = {.st_size = 0};
    bool shorter;

    if (path != NULL)
        lstat(path, &st);
    shorter = path != NULL && (uint64_t)st.st_size < bytes;
    free(path);
    return shorter;
}

bool
outcome_is_torn(const char *folder, const struct outcome *o)
{
    if (o->kind == OUTCOME_LOST)
        return false;
    return (o->wrapper == 0 && !file_has(folder, TRIAL_COMMAND)) ||
           is_shorter(folder, TRIAL_METRICS, o->reported) ||
           is_shorter(folder, TRIAL_STDOUT, o->printed);
}

bool
outcome_by_signal(const struct outcome *o)
{
    int number = o->kind == OUTCOME_SIGNALLED ? o->number
                 : o->kind == OUTCOME_EXITED && o->number > 128
                     ? o->number - 128
                     : 0;

    return o->told || number == SIGHUP || number == SIGINT || number == SIGTERM;
}

bool
outcome_is_moot(const struct outcome *o)
{
    return o->kind == OUTCOME_LOST ||
           (o->abandoned && (o->kind != OUTCOME_EXITED || o->number != 0)) ||
           (o->alone && outcome_by_signal(o));
}
