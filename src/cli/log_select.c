/* SPDX-License-Identifier: MIT */
#include "cli/log_select.h"

#include "cli/moment.h"
#include "command.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/nearest.h"
#include "log/record.h"

#include <stddef.h>
#include <string.h>

#define BIT(kind) (1u << (kind))
#define ALL 0xffffffffu

/* Who sent it, or what it is; the marks of the log's own lines mean the same,
 * one kind each. */
static const struct {
    const char *word;
    uint32_t kinds;
} words[] = {
    {"manager", BIT(RECORD_IN)},
    {"tuner", BIT(RECORD_TUNER)},
    {"assessor", BIT(RECORD_ASSESSOR)},
    {"router", BIT(RECORD_ROUTER)},
    {"program", BIT(RECORD_TUNER_FRAME) | BIT(RECORD_ASSESSOR_FRAME) |
                    BIT(RECORD_TUNER_EVENT) | BIT(RECORD_ASSESSOR_EVENT)},
    {"skipped", BIT(RECORD_SKIPPED)},
    {"sync", BIT(RECORD_SYNC)},
    {"head", BIT(RECORD_HEAD)},
    {"resumed", BIT(RECORD_RESUMED)},
    {"segment", BIT(RECORD_SEGMENT)},
    {"end", BIT(RECORD_END)},
};
#define N_WORDS (sizeof words / sizeof *words)
#define N_KINDS (RECORD_SEGMENT + 1)

static uint32_t
kinds_of(const char *word, size_t len)
{
    for (size_t i = 0; i < N_WORDS; i++)
        if (strlen(words[i].word) == len &&
            memcmp(words[i].word, word, len) == 0)
            return words[i].kinds;
    for (unsigned k = 0; k < N_KINDS; k++) {
        const char *mark = record_kind_text((enum record_kind)k);

        if (strlen(mark) == len && memcmp(mark, word, len) == 0)
            return BIT(k);
    }
    return 0;
}

static int
unknown_kind(const char *word, size_t len, struct err *err)
{
    const char *names[N_WORDS];
    char shown[32], hint[64];

    if (len >= sizeof shown)
        len = sizeof shown - 1;
    memcpy(shown, word, len);
    shown[len] = '\0';
    for (size_t i = 0; i < N_WORDS; i++)
        names[i] = words[i].word;
    return err_set(
        err, ERR_USAGE,
        "--kind: expected manager, tuner, assessor, router, "
        "program, skipped, sync, head, resumed, segment, end, or marks as "
        "they are printed ('<', '>t'), not '%s'%s",
        shown, nearest_hint(shown, names, N_WORDS, hint, sizeof hint));
}

static int
read_kinds(const char *list, uint32_t *out, struct err *err)
{
    *out = 0;
    for (;;) {
        size_t len = strcspn(list, ",");
        uint32_t kinds = kinds_of(list, len);

        if (kinds == 0)
            return unknown_kind(list, len, err);
        *out |= kinds;
        if (list[len] == '\0')
            return 0;
        list += len + 1;
    }
}

static bool
is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Also codes that there are not: those are in a log, too. */
static int
check_commands(const char *list, struct err *err)
{
    for (const char *p = list;; p += 3) {
        if (!is_capital(p[0]) || !is_capital(p[1]) ||
            (p[2] != ',' && p[2] != '\0'))
            return err_set(err, ERR_USAGE,
                           "--command: expected codes of two capital letters, "
                           "such as ME,EN, not '%.60s'",
                           list);
        if (p[2] == '\0')
            return 0;
    }
}

static int
read_moment(const char *option, const char *word, int64_t now, int64_t *out,
            struct err *err)
{
    if (word == NULL || moment_parse(word, now, out, err) == 0)
        return 0;
    return err_place(err, "--%s", option);
}

int
log_select_init(struct log_select *s, const struct log_words *w,
                struct err *err)
{
    int64_t now = clock_realtime_ns() / 1000;

    *s = (struct log_select){.commands = w->commands,
                             .kinds = ALL,
                             .from = w->from,
                             .to = w->to,
                             .since = INT64_MIN,
                             .until = INT64_MAX,
                             .of_trial = w->trial != NULL};
    if (w->kinds != NULL && read_kinds(w->kinds, &s->kinds, err) != 0)
        return -1;
    if (w->commands != NULL && check_commands(w->commands, err) != 0)
        return -1;
    if (read_moment("since", w->since, now, &s->since, err) != 0 ||
        read_moment("until", w->until, now, &s->until, err) != 0)
        return -1;
    return 0;
}

int
log_select_find(struct log_select *s, struct log_reader *file,
                const char *trial, bool may_come, struct err *err)
{
    int found;

    if (!s->of_trial)
        return 0;
    found = logtrial_find(&s->trial, file, trial, err);
    if (found < 0)
        return -1;
    if (found > 0 || may_come)
        return 0;
    return err_set(err, ERR_INPUT,
                   "the log has nothing of a trial '%.60s', expected a "
                   "trial_job_id, a parameter_id or a trial's number",
                   trial);
}

void
log_select_fini(struct log_select *s)
{
    logtrial_fini(&s->trial);
}

static bool
has_command(const char *list, const struct record *r)
{
    const uint32_t framed = BIT(RECORD_IN) | BIT(RECORD_TUNER) |
                            BIT(RECORD_ASSESSOR) | BIT(RECORD_ROUTER) |
                            BIT(RECORD_TUNER_FRAME) |
                            BIT(RECORD_ASSESSOR_FRAME);

    if ((framed & BIT(r->kind)) == 0 || r->len < 2)
        return false;
    for (const char *p = list;; p += 3) {
        if (memcmp(p, r->payload, 2) == 0)
            return true;
        if (p[2] == '\0')
            return false;
    }
}

bool
log_select_has(struct log_select *s, const struct record *r)
{
    return (s->kinds & BIT(r->kind)) != 0 && r->number >= s->from &&
           r->number <= s->to && r->time_us >= s->since &&
           r->time_us <= s->until &&
           (s->commands == NULL || has_command(s->commands, r)) &&
           (!s->of_trial || logtrial_has(&s->trial, r));
}
