/* SPDX-License-Identifier: MIT */
/* tunepipe replay LOG --pipe 'COMMAND' */
#include "cli/replay_modes.h"

#include "cli/verb.h"
#include "core/err.h"
#include "core/visible.h"
#include "json.h"
#include "replay/play.h"

#include <stdlib.h>
#include <string.h>

static const enum command_code codes[] = {CMD_INITIALIZED,  CMD_NEW_TRIAL,
                                          CMD_NO_MORE,      CMD_KILL_TRIAL,
                                          CMD_DECIDE_TRIAL, CMD_ACKNOWLEDGE};
#define N_CODES (sizeof codes / sizeof *codes)

static void
print_lines(FILE *out, const char *lines)
{
    const char *end;

    for (; (end = strchr(lines, '\n')) != NULL; lines = end + 1)
        visible_printf(out, "difference: %.*s\n", (int)(end - lines), lines);
}

static void
print_table(FILE *out, struct play_report *r, const char *command, bool shell)
{
    visible_printf(out, "%zu of %zu frames sent to %s, started %s: %s\n",
                   r->sent, r->frames, command,
                   shell ? "by a shell" : "without a shell", r->how);
    visible_printf(out, "      recorded      came\n");
    for (size_t i = 0; i < N_CODES; i++) {
        const struct play_count *c = &r->counts[codes[i]];

        if (c->recorded > 0 || c->came > 0)
            visible_printf(out, "%s  %10zu%10zu\n",
                           command_info(codes[i])->code, c->recorded, c->came);
    }
    visible_printf(out, "%zu TR are the same to the byte\n", r->same_bytes);
    if (r->left_out > 0)
        visible_printf(out,
                       "%zu requests that the stop had dropped were not sent\n",
                       r->left_out);
    if (r->crossed > 0)
        visible_printf(
            out,
            "%zu kills had crossed the end of their trial: what a tuner "
            "hears of it may differ\n",
            r->crossed);
    if (r->resumed)
        visible_printf(out,
                       "the session had been stopped and resumed: played as "
                       "one, in which nothing became void by a stop\n");
    if (!r->ended)
        visible_printf(out,
                       "the session did not end by itself: ended with TE\n");
    print_lines(out, buf_text(&r->lines));
    if (r->differences > PLAY_LINES)
        visible_printf(out, "and %zu more\n", r->differences - PLAY_LINES);
    visible_printf(out, "%zu differences\n", r->differences);
}

static void
print_json(FILE *out, struct play_report *r, bool shell)
{
    const char *lines = buf_text(&r->lines), *end;
    struct json_writer w;
    struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    w = json_begin_object(&text);
    json_add_unsigned(&w, "frames", r->frames);
    json_add_unsigned(&w, "sent", r->sent);
    json_add_bool(&w, "shell", shell);
    json_add_unsigned(&w, "left_out", r->left_out);
    json_add_unsigned(&w, "crossed", r->crossed);
    json_add_bool(&w, "resumed", r->resumed);
    json_add_bool(&w, "ended", r->ended);
    json_add_text(&w, "end", r->how);
    json_open_object(&w, "counts");
    for (size_t i = 0; i < N_CODES; i++) {
        json_open_object(&w, command_info(codes[i])->code);
        json_add_unsigned(&w, "recorded", r->counts[codes[i]].recorded);
        json_add_unsigned(&w, "came", r->counts[codes[i]].came);
        json_close(&w);
    }
    json_close(&w);
    json_add_unsigned(&w, "same_bytes", r->same_bytes);
    json_add_unsigned(&w, "differences", r->differences);
    json_open_array(&w, "lines");
    for (; (end = strchr(lines, '\n')) != NULL; lines = end + 1)
        json_add_string(&w, NULL, lines, (size_t)(end - lines));
    json_end(&w);
    fprintf(out, "%s\n", buf_text(&text));
    buf_fini(&text);
}

int
replay_pipe(const struct replay_words *w, const char *path, FILE *out,
            struct err *err)
{
    bool shell;
    const char **argv = play_words(w->pipe, &shell, err);
    struct play_setup setup = {
        .path = path, .argv = argv, .deadline_ms = w->deadline_ms};
    struct play_report report;
    int status = -1;

    if (argv == NULL)
        return err_place(err, "--pipe");
    if (play_run(&setup, &report, err) == 0) {
        if (w->json)
            print_json(out, &report, shell);
        else
            print_table(out, &report, w->pipe, shell);
        status = report.differences == 0 ? EXIT_DONE : EXIT_FAILED;
    }
    play_report_fini(&report);
    free(argv);
    return status;
}
