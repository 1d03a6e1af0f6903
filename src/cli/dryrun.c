/* SPDX-License-Identifier: MIT */
#include "cli/dryrun.h"

#include "cli/verb.h"
#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/visible.h"
#include "json.h"
#include "manager/dry_run.h"
#include "manager/resources.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SETS 5
#define OUT_MAX ((size_t)1 << 30)
#define WORD_SHOWN 2000

struct page {
    const struct experiment *x;
    struct buf out;
    bool json;
    struct json_writer list; /* of `out`, an array with json */
    uint64_t shown;
};

/* As a shell reads it back. */
static void
add_quoted(struct buf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
                                "qrstuvwxyz0123456789_-+.,:/@%";

    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        buf_add_text(out, text);
        return;
    }
    buf_add_char(out, '\'');
    for (; *text != '\0'; text++)
        if (*text == '\'')
            buf_add_text(out, "'\\''");
        else
            buf_add_char(out, *text);
    buf_add_char(out, '\'');
}

static void
add_command(struct buf *out, const struct experiment *x,
            const char *const *vars, const char *command)
{
    buf_add_text(out, "cd ");
    add_quoted(out, x->trial_folder);
    buf_add_text(out, " &&");
    for (; *vars != NULL; vars++) {
        size_t name = strcspn(*vars, "=") + 1;

        buf_add_char(out, ' ');
        buf_add(out, *vars, name);
        add_quoted(out, *vars + name);
    }
    buf_add_text(out, " /bin/sh -c ");
    add_quoted(out, command);
}

static void
add_json_vars(struct json_writer *w, const char *const *vars)
{
    json_open_object(w, "environment");
    for (; *vars != NULL; vars++) {
        size_t len = strcspn(*vars, "=");
        char *name = strndup(*vars, len);

        if (name == NULL)
            w->out->failed = true;
        else
            json_add_text(w, name, *vars + len + 1);
        free(name);
    }
    json_close(w);
}

static void
add_json_command(struct page *page, const struct dry_run_trial *t,
                 const char *key, const char *command)
{
    struct buf line;

    buf_init(&line, OUT_MAX);
    if (command != NULL)
        add_command(&line, page->x, t->vars, command);
    json_add_text(&page->list, key, command != NULL ? buf_text(&line) : NULL);
    buf_fini(&line);
}

static void
take_json(struct page *page, const struct dry_run_trial *t)
{
    struct json_writer *w = &page->list;

    json_open_object(w, NULL);
    json_add_text(w, "trial", t->id);
    json_add_raw(w, "parameter_id", t->parameter_id);
    json_add_raw(w, "parameters", t->parameters);
    add_json_vars(w, t->vars);
    add_json_command(page, t, "prepare", page->x->prepare_command);
    add_json_command(page, t, "command", page->x->trial_command);
    json_close(w);
}

static void
add_text_command(struct page *page, const struct dry_run_trial *t,
                 const char *command)
{
    struct buf line;

    buf_init(&line, OUT_MAX);
    add_command(&line, page->x, t->vars, command);
    buf_add_text(&page->out, "  ");
    visible_text(&page->out, buf_text(&line), line.len, OUT_MAX);
    buf_add_char(&page->out, '\n');
    buf_fini(&line);
}

/* Texts of the tuner's and of the configuration, as texts. */
static void
take_text(struct page *page, const struct dry_run_trial *t)
{
    buf_printf(&page->out, "\ntrial %s: ", t->id);
    visible_text(&page->out, t->parameters, strlen(t->parameters), OUT_MAX);
    buf_add_char(&page->out, '\n');
    if (page->x->prepare_command != NULL)
        add_text_command(page, t, page->x->prepare_command);
    add_text_command(page, t, page->x->trial_command);
}

static int
take(void *ctx, const struct dry_run_trial *t, struct err *err)
{
    struct page *page = ctx;

    if (page->json)
        take_json(page, t);
    else
        take_text(page, t);
    page->shown++;
    return buf_check(&page->out, "what would run", err);
}

/* The same lines as of a run. */
static void
take_word(void *ctx, const char *line, size_t len)
{
    struct buf shown;

    (void)ctx;
    if (strstr(line, "error: ") == NULL && strstr(line, "warning: ") == NULL)
        return;
    buf_init(&shown, 4 * WORD_SHOWN);
    visible_text(&shown, line, len, WORD_SHOWN);
    fprintf(stderr, "%s\n", buf_text(&shown));
    buf_fini(&shown);
}

static void
print_json(struct page *page, const struct dry_run *r)
{
    struct json_writer w;
    struct buf text;

    json_close(&page->list);
    buf_init(&text, SIZE_MAX / 2);
    w = json_begin_object(&text);
    json_add_unsigned(&w, "seed", r->seed);
    json_add_unsigned(&w, "sure", r->sure);
    json_add_text(&w, "ended", r->ended);
    json_add_text(&w, "direction", experiment_direction(page->x));
    json_add_raw(&w, "trials", buf_text(&page->out));
    json_close(&w);
    puts(buf_text(&text));
    buf_fini(&text);
}

static void
print_text(struct page *page, const struct dry_run *r)
{
    const struct experiment *x = page->x;

    printf("seed %" PRIu64 "%s; %" PRIu64 " at a time; %s, as %s says; nothing "
           "is started, nothing is written\n",
           r->seed, x->has_seed ? "" : ", drawn now", x->concurrency,
           experiment_direction(x), x->mode_from);
    fputs(buf_text(&page->out), stdout);
    if (r->ended != NULL)
        printf("\nthen no more: %s\n", r->ended);
    else if (r->sure < page->shown)
        printf("\ntrials from %05" PRIu64 " on: a run asks for them when it "
               "has results, and may get others\n",
               r->sure);
}

/* It may be looked at elsewhere than it is to run. */
static void
warn_of_machine(const struct experiment *x)
{
    struct resources have = RESOURCES_CLOSED;
    struct err err = {0};

    if (resources_open(&have, &x->wishes, &err) != 0)
        fprintf(stderr,
                "tunepipe run: warning: on this machine it would not start: "
                "%s\n",
                err.text);
    resources_close(&have);
}

int
dryrun(const struct experiment *x, const char *dispatcher, bool json)
{
    struct dry_run r = {
        .x = x, .seed = x->seed, .dispatcher = dispatcher, .wanted = SETS};
    struct page page = {.x = x, .json = json};
    struct err err = {0};
    uint32_t drawn = 0;
    int status = EXIT_DONE;

    if (!x->has_seed && getrandom(&drawn, sizeof drawn, 0) < 0) {
        err_errno(&err, ERR_SYSTEM, "cannot draw a seed");
        return verb_fail("run", &err);
    }
    if (!x->has_seed)
        r.seed = drawn;
    warn_of_machine(x);
    buf_init(&page.out, OUT_MAX);
    page.list = json_begin(&page.out);
    if (json)
        json_open_array(&page.list, NULL);
    if (dry_run(&r, &(struct dry_run_listener){take, take_word, &page}, &err) !=
        0)
        status = verb_fail("run", &err);
    else if (json)
        print_json(&page, &r);
    else
        print_text(&page, &r);
    buf_fini(&page.out);
    return verb_printed("run", status);
}
