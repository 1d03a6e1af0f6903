/* SPDX-License-Identifier: MIT */
#include "cli/log_repair.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "replay/repair.h"

#include <inttypes.h>
#include <stdio.h>
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
    struct buf out;

    p->lost |= f->what != REPAIR_CORRECTED && f->what != REPAIR_KEPT;
    buf_init(&out, 65536);
    buf_printf(
        &out, "{\"what\": \"%s\", \"offset\": %" PRIu64 ", \"bytes\": %" PRIu64,
        word(f->what), f->offset, f->bytes);
    if (f->what == REPAIR_CORRECTED)
        buf_printf(&out, ", \"byte\": %" PRIu64, f->first);
    else if (f->records > 0)
        buf_printf(&out,
                   ", \"records\": %" PRIu64 ", \"first\": %" PRIu64
                   ", \"last\": %" PRIu64,
                   f->records, f->first, f->last);
    if (f->why != NULL) {
        buf_add_text(&out, ", \"why\": ");
        json_write_string(&out, f->why, strlen(f->why));
    }
    buf_add_text(&out, "}\n");
    fputs(buf_text(&out), stdout);
    buf_fini(&out);
}

int
log_repair(const char *log, const char *to, bool json, struct err *err)
{
    struct printer printer = {.json = json};
    struct repair_setup setup = {
        .log = log,
        .to = to,
        .found = json ? print_json : print_plain,
        .ctx = &printer,
    };

    if (repair_run(&setup, err) != 0)
        return -1;
    if (!json && !printer.lost)
        printf("nothing is lost\n");
    if (!json)
        printf("the new log: %s\n", to);
    return 0;
}
