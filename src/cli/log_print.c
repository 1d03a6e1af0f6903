/* SPDX-License-Identifier: MIT */
#include "cli/log_print.h"

#include "cli/verb.h"
#include "core/buf.h"
#include "core/visible.h"
#include "log/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *
log_time(int64_t time_us, char out[LOG_TIME_MAX])
{
    time_t seconds = (time_t)(time_us / 1000000);
    struct tm tm;
    char day[32] = "?";

    if (localtime_r(&seconds, &tm) != NULL)
        strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(out, LOG_TIME_MAX, "%s.%06d", day, (int)(time_us % 1000000));
    return out;
}

void
log_print_payload(const struct record *r, FILE *out)
{
    const char *at = r->payload, *end = at + r->len, *stop;
    struct buf line;

    buf_init(&line, SIZE_MAX / 2);
    while (at < end) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL)
            stop = end;
        visible_text(&line, at, (size_t)(stop - at), SIZE_MAX);
        if (stop < end)
            buf_add_text(&line, "\\n");
        at = stop + (stop < end);
    }
    fputs(buf_text(&line), out);
    buf_fini(&line);
}

void
log_print_plain(const struct record *r)
{
    char when[LOG_TIME_MAX];

    flockfile(stdout);
    printf("%8" PRIu64 " %s %-2s ", r->number, log_time(r->time_us, when),
           record_kind_text(r->kind));
    log_print_payload(r, stdout);
    putc_unlocked('\n', stdout);
    funlockfile(stdout);
}

int
log_print_json(const struct record *r, uint64_t segment, uint64_t offset,
               struct err *err)
{
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    json_add_text(w, "kind", record_kind_text(r->kind));
    json_add_unsigned(w, "number", r->number);
    json_add_integer(w, "time_us", r->time_us);
    json_add_unsigned(w, "segment", segment);
    json_add_unsigned(w, "offset", offset);
    json_add_string(w, "payload", r->payload, r->len);
    return verb_json_print(&line, stdout, err);
}
