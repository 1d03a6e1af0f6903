/* SPDX-License-Identifier: MIT */
#include "cli/log_repair.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "log/log.h"
#include "log/repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printer {
    bool json, lost;
};

static const char *
word(enum repair_what what)
{
    switch (what) {
    case REPAIR_CORRECTED:
        return "corrected";
    case REPAIR_KEPT:
        return "kept";
    case REPAIR_LOST:
        return "lost";
    case REPAIR_BEHIND:
        return "not kept";
    case REPAIR_GIVEN_UP:
        break;
    }
    return "not looked through";
}

static void
print_numbers(const struct repair_find *f)
{
    printf("%" PRIu64 " whole records", f->records);
    if (f->first > 0)
        printf(", commands %" PRIu64 " to %" PRIu64, f->first, f->last);
}

static void
print_plain(void *ctx, const struct repair_find *f)
{
    struct printer *p = ctx;

    p->lost |= f->what != REPAIR_CORRECTED && f->what != REPAIR_KEPT;
    printf("%-9s  bytes %" PRIu64 " to %" PRIu64 ": ", word(f->what), f->offset,
           f->offset + f->bytes);
    switch (f->what) {
    case REPAIR_CORRECTED:
        printf("a record with one wrong bit, in byte %" PRIu64, f->first);
        break;
    case REPAIR_KEPT:
        print_numbers(f);
        break;
    case REPAIR_LOST:
        fputs(f->why, stdout);
        break;
    case REPAIR_BEHIND:
        print_numbers(f);
        fputs(", behind what is lost", stdout);
        break;
    case REPAIR_GIVEN_UP:
        fputs("they look like records too often", stdout);
        break;
    }
    putchar('\n');
}

static void
print_json(void *ctx, const struct repair_find *f)
{
    struct printer *p = ctx;
    struct json_writer w;
    struct buf out;

    p->lost |= f->what != REPAIR_CORRECTED && f->what != REPAIR_KEPT;
    buf_init(&out, 65536);
    w = json_begin_object(&out);
    json_add_text(&w, "what", word(f->what));
    json_add_unsigned(&w, "offset", f->offset);
    json_add_unsigned(&w, "bytes", f->bytes);
    if (f->what == REPAIR_CORRECTED) {
        json_add_unsigned(&w, "byte", f->first);
    } else if (f->records > 0) {
        json_add_unsigned(&w, "records", f->records);
        json_add_unsigned(&w, "first", f->first);
        json_add_unsigned(&w, "last", f->last);
    }
    if (f->why != NULL)
        json_add_text(&w, "why", f->why);
    json_close(&w);
    puts(buf_text(&out));
    buf_fini(&out);
}

static int
repair(const char *log, const char *to, struct printer *printer,
       struct err *err)
{
    struct repair_setup setup = {
        .log = log,
        .to = to,
        .found = printer->json ? print_json : print_plain,
        .ctx = printer,
    };

    if (repair_run(&setup, err) != 0)
        return -1;
    if (!printer->json && !printer->lost)
        printf("nothing is lost\n");
    return 0;
}

/* ---- a log of several segments ---- */

/* One of them is whole: why NULL; or why it is not. */
static void
print_segment(const char *path, uint64_t records, const char *why, bool json)
{
    struct json_writer w;
    struct buf out;

    if (!json && why == NULL) {
        printf("whole      %s: %" PRIu64 " records\n", path, records);
        return;
    }
    if (!json) {
        printf("damaged    %s\n", why);
        return;
    }
    buf_init(&out, 65536);
    w = json_begin_object(&out);
    json_add_text(&w, "what", why == NULL ? "whole" : "damaged");
    json_add_text(&w, "file", path);
    json_add_unsigned(&w, "records", records);
    if (why != NULL)
        json_add_text(&w, "why", why);
    json_close(&w);
    puts(buf_text(&out));
    buf_fini(&out);
}

/* Not even that can be said of a segment that could not be opened. */
static bool
is_open(const struct log_reader *f)
{
    return log_segment(f) == log_last_segment(f) ||
           strcmp(log_path_now(f), log_name(f)) != 0;
}

/* The file to be repaired, to be freed: the one that is damaged, or the last;
 * those before it are told of. */
static char *
survey(struct log_reader *f, bool json, struct err *err)
{
    uint64_t n = 0, records = 0;
    enum log_status status;
    char *path = NULL;
    struct record r;

    for (;;) {
        const char *now;

        status = log_next(f, &r, err);
        if (status == LOG_RECORD && log_segment(f) == n) {
            records++;
            continue;
        }
        if (status == LOG_END || status == LOG_TORN)
            return path;
        now = log_path_now(f);
        if (path != NULL && strcmp(path, now) != 0)
            print_segment(path, records, NULL, json);
        if (status == LOG_DAMAGED)
            print_segment(now, records, err->text, json);
        free(path);
        if (status == LOG_DAMAGED && !is_open(f))
            return NULL;
        path = strdup(now);
        if (path == NULL)
            err_set(err, ERR_MEMORY, "out of memory");
        if (path == NULL || status == LOG_DAMAGED)
            return path;
        n = log_segment(f);
        records = 1;
    }
}

static bool
is_packed(const char *path)
{
    size_t len = strlen(path);

    return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

static int
repair_one_of(struct log_reader *f, const char *to, struct printer *printer,
              struct err *err)
{
    char *path = survey(f, printer->json, err);
    int rc =
        path == NULL || is_packed(path) ? -1 : repair(path, to, printer, err);

    if (rc == 0 && !printer->json)
        printf("the new file: %s\n"
               "it stands for %s%s\n",
               to, path,
               printer->lost ? ", and what follows is lost with what is lost: "
                               "with the segments before it, as command.log, "
                               "it is a log"
                             : "");
    free(path);
    return rc;
}

int
log_repair(const char *log, const char *to, bool json, struct err *err)
{
    struct printer printer = {.json = json};
    struct err why;
    struct log_reader *f = log_open(log, LOG_NO_ADVICE, &why);
    bool many = f != NULL && log_first_segment(f) != log_last_segment(f);
    int rc;

    rc = many ? repair_one_of(f, to, &printer, err)
              : repair(log, to, &printer, err);

    if (rc == 0 && f == NULL) /* others of its segments, or its first line */
        fprintf(stderr, "tunepipe log: %s\n", why.text);
    log_close(f);
    if (rc == 0 && !many && !json)
        printf("the new log: %s\n", to);
    return rc;
}
