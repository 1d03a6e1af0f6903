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
    const char *sep = "", *lines = buf_text(&r->lines), *end;
    struct buf text;

    visible_printf(
        out,
        "{\"frames\": %zu, \"sent\": %zu, \"shell\": %s, \"left_out\": "
        "%zu, \"crossed\": %zu, \"resumed\": %s, \"ended\": %s, "
        "\"end\": \"%s\", \"counts\": {",
        r->frames, r->sent, shell ? "true" : "false", r->left_out, r->crossed,
        r->resumed ? "true" : "false", r->ended ? "true" : "false", r->how);
    for (size_t i = 0; i < N_CODES; i++)
        visible_printf(out, "%s\"%s\": {\"recorded\": %zu, \"came\": %zu}",
                       i == 0 ? "" : ", ", command_info(codes[i])->code,
                       r->counts[codes[i]].recorded, r->counts[codes[i]].came);
    visible_printf(out,
                   "}, \"same_bytes\": %zu, \"differences\": %zu, \"lines\": [",
                   r->same_bytes, r->differences);
    buf_init(&text, SIZE_MAX / 2);
    for (; (end = strchr(lines, '\n')) != NULL; lines = end + 1, sep = ", ") {
        buf_add_text(&text, sep);
        json_write_string(&text, lines, (size_t)(end - lines));
    }
    visible_printf(out, "%s]}\n", buf_text(&text));
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
