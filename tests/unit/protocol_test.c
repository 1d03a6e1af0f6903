/* SPDX-License-Identifier: MIT */
/* Holds PROTOCOL.md against the program: the table of commands, the frames of
 * its first session, the record it shows, the vectors and tests it names. */
#include "t.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "frame.h"
#include "log/record.h"
#include "space/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
load(const char *name)
{
    const char *path = t_source(name);
    struct buf file;
    struct err err;

    buf_init(&file, 1 << 20);
    if (file_read(path, 1 << 20, &file, &err) != 0)
        CHECK_STR(err.text, "");
    free((void *)path);
    return buf_take(&file);
}

static const char *
direction_text(enum command_direction d)
{
    switch (d) {
    case DIRECTION_IN:
        return "to dispatcher";
    case DIRECTION_OUT:
        return "to manager";
    case DIRECTION_BOTH:
        return "both";
    }
    return "";
}

static const char *
queue_text(enum command_queue q)
{
    switch (q) {
    case QUEUE_DEFAULT:
        return "default";
    case QUEUE_ASSESSOR:
        return "assessor";
    case QUEUE_SPLIT:
        return "both";
    case QUEUE_ROUTER:
        return "router";
    case QUEUE_NONE:
        return "none";
    }
    return "";
}

TEST(protocol_page_has_the_table_of_commands)
{
    char *page = load("protocol/PROTOCOL.md"), row[300];
    const char *at = page;
    int rows = 0;

    for (int i = 0; i < CMD_COUNT; i++) {
        const struct command_info *info = command_info((enum command_code)i);

        snprintf(row, sizeof row, "\n| `%s` | %s | %s | %s | %s |\n",
                 info->code, info->name, direction_text(info->direction),
                 queue_text(info->queue), info->doc);
        CHECK_HAS(page, row);
    }
    while ((at = strstr(at, "\n| `")) != NULL) {
        at += 4;
        rows += at[2] == '`' && at[0] >= 'A' && at[0] <= 'Z' &&
                strncmp(at + 3, " | ", 3) == 0;
    }
    CHECK_EQ(rows, CMD_COUNT); /* and no other */
    free(page);
}

/* One line of the session: "> IN00000000000044{...". */
static void
check_frame(const char *line)
{
    struct frame_decoder d;
    struct command *cmd;
    struct frame f;
    struct err err = {0};
    enum command_code code = CMD_COUNT;
    size_t room, len = strcspn(line, "\n") - 2;

    frame_decoder_init(&d, FRAME_DIGITS, 1000);
    memcpy(frame_room(&d, &room), line + 2, len);
    frame_filled(&d, len);
    CHECK_EQ(frame_next(&d, &f, &err), FRAME_READY);
    CHECK_EQ(frame_pending(&d), 0);
    CHECK(command_find(f.code, &code) != NULL);
    CHECK_EQ(command_info(code)->direction,
             line[0] == '>' ? DIRECTION_IN : DIRECTION_OUT);
    if (line[0] == '>') {
        cmd = command_decode(&f, 1, &err);
        CHECK_STR(err.text, "");
        command_free(cmd);
    }
    frame_decoder_fini(&d);
}

TEST(protocol_page_shows_a_session_of_valid_frames)
{
    char *page = load("protocol/PROTOCOL.md");
    int frames = 0;

    for (const char *p = page; (p = strchr(p, '\n')) != NULL; p++)
        if ((p[1] == '>' || p[1] == '<') && p[2] == ' ' && p[3] >= 'A' &&
            p[3] <= 'Z' && p[5] == '0') {
            check_frame(p + 1);
            frames++;
        }
    CHECK_EQ(frames, 9);
    free(page);
}

TEST(protocol_page_shows_a_valid_record)
{
    char *page = load("protocol/PROTOCOL.md");
    const char *from = strstr(page, " < 1 0 3 GE4");
    char bytes[64];
    struct record r;
    struct err err = {0};
    int len;

    CHECK(from != NULL);
    len = snprintf(bytes, sizeof bytes, "%.20s\n", from - 8);
    record_next(bytes, (size_t)len, 100, &r, &err);
    CHECK_STR(err.text, "");
    CHECK_EQ(r.size, len);
    free(page);
}

/* Each "vectors:NAME" and each test in the error tables exists. */
TEST(protocol_page_names_vectors_that_exist)
{
    char *page = load("protocol/PROTOCOL.md");
    char *vectors = load("protocol/vectors/vectors.txt");
    const char *at = strstr(page, "## Errors");
    int named = 0;

    CHECK(at != NULL);
    while ((at = strstr(at, "vectors:")) != NULL) {
        char want[100];
        int len;

        at += strlen("vectors:");
        len = (int)strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-");
        if (len == 0)
            continue; /* "vectors:NAME" in the text itself */
        snprintf(want, sizeof want, "\nvector %.*s%s", len, at,
                 at[len] == '\\' ? "" : "\n"); /* NAME-\* is a prefix */
        CHECK_HAS(vectors, want);
        named++;
    }
    CHECK(named > 10);
    free(page);
    free(vectors);
}

TEST(protocol_page_states_the_limits)
{
    char *page = load("protocol/PROTOCOL.md"), text[40];

    snprintf(text, sizeof text, " %d levels.\n", SPACE_DEPTH_MAX);
    CHECK_HAS(page, text);
    snprintf(text, sizeof text, "**Limits**: %d,000 parameters",
             SPACE_DIMS_MAX / 1000);
    CHECK_HAS(page, text);
    snprintf(text, sizeof text, " 1 to %d,%d,", COMMAND_REQUEST_MAX / 1000,
             COMMAND_REQUEST_MAX % 1000);
    CHECK_HAS(page, text);
    free(page);
}
