/* SPDX-License-Identifier: MIT */
/* Runs protocol/vectors/vectors.txt; its own head describes the format. */
#include "t.h"

#include "describe.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 4096

struct vector {
    char name[80];
    int digits;
    bool written;
    struct buf bytes; /* the stream */
    struct buf want;  /* what it must give, see run_stream() */
    char first[3];    /* code of the first frame */
};

static void
vector_init(struct vector *v)
{
    *v = (struct vector){.digits = FRAME_DIGITS};
    buf_init(&v->bytes, 1 << 20);
    buf_init(&v->want, 1 << 20);
}

static void
vector_fini(struct vector *v)
{
    buf_fini(&v->bytes);
    buf_fini(&v->want);
}

static int
hex(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void
add_unescaped(struct buf *out, const char *p)
{
    for (; *p != '\0'; p++) {
        if (*p != '\\') {
            buf_add_char(out, *p);
        } else if (p[1] == 'x') {
            buf_add_char(out, (char)(hex(p[2]) << 4 | hex(p[3])));
            p += 3;
        } else {
            p++;
            buf_add_char(out, *p == 'n' ? '\n' : *p);
        }
    }
}

/* One line of a vector; false: no such key. */
static bool
read_line(struct vector *v, const char *key, const char *text)
{
    if (strcmp(key, "digits") == 0) {
        v->digits = atoi(text);
    } else if (strcmp(key, "bytes") == 0) {
        add_unescaped(&v->bytes, text);
    } else if (strcmp(key, "written") == 0) {
        v->written = true;
    } else if (strcmp(key, "frame") == 0 || strcmp(key, "means") == 0 ||
               strcmp(key, "error") == 0 || strcmp(key, "broken") == 0 ||
               strcmp(key, "pending") == 0) {
        if (key[0] == 'f' && v->first[0] == '\0')
            memcpy(v->first, text, 2);
        buf_printf(&v->want, "%s ", key);
        add_unescaped(&v->want, text);
        buf_add_char(&v->want, '\n');
    } else {
        return false;
    }
    return true;
}

static char *
load(void)
{
    const char *path = t_source("protocol/vectors/vectors.txt");
    struct buf file;
    struct err err;

    buf_init(&file, 1 << 20);
    if (file_read(path, 1 << 20, &file, &err) != 0)
        CHECK_STR(err.text, "");
    free((void *)path);
    return buf_take(&file);
}

/* Calls run for each vector; returns how many there are. */
static int
each_vector(void (*run)(struct vector *, void *), void *ctx)
{
    char *file = load(), *save = NULL;
    struct vector v;
    int n = 0;

    vector_init(&v);
    for (char *line = strtok_r(file, "\n", &save);;
         line = strtok_r(NULL, "\n", &save)) {
        char *text = line == NULL ? NULL : strchr(line, ' ');

        if (line == NULL || strncmp(line, "vector ", 7) == 0) {
            if (n > 0)
                run(&v, ctx);
            vector_fini(&v);
            if (line == NULL)
                break;
            vector_init(&v);
            snprintf(v.name, sizeof v.name, "%s", line + 7);
            n++;
            continue;
        }
        if (line[0] == '#')
            continue;
        if (text != NULL)
            *text++ = '\0';
        if (!read_line(&v, line, text == NULL ? "" : text))
            CHECK_STR(line, "a key of vectors.txt");
    }
    free(file);
    return n;
}

/* ---- streams ---- */

/* Whether the vector says what the frame means: those of outbound commands
 * need not. */
static bool
tells_meaning(const struct vector *v, const char *code)
{
    const struct command_info *info;
    enum command_code c;

    if (strstr(buf_text((struct buf *)&v->want), "\nmeans ") == NULL &&
        strstr(buf_text((struct buf *)&v->want), "\nerror ") == NULL)
        return false;
    info = command_find(code, &c);
    return info == NULL || info->direction != DIRECTION_OUT || !v->written;
}

static void
put_frame(const struct vector *v, const struct frame *f, struct buf *got)
{
    struct command *cmd;
    struct err err;

    buf_printf(got, "frame %s ", f->code);
    buf_add(got, f->payload, f->len);
    if (f->len == 0)
        got->len--; /* "frame PI" */
    buf_add_char(got, '\n');
    if (!tells_meaning(v, f->code))
        return;
    cmd = command_decode(f, 1, &err);
    if (cmd == NULL) {
        buf_printf(got, "error %s\n", err.text);
        return;
    }
    buf_add_text(got, "means ");
    describe_command(got, cmd);
    buf_add_char(got, '\n');
    command_free(cmd);
}

/* Feeds the stream `step` bytes at a time and writes down what comes of it in
 * the words of vectors.txt. */
static void
run_stream(const struct vector *v, size_t step, struct buf *got)
{
    enum frame_status status = FRAME_PARTIAL;
    struct frame_decoder d;
    struct frame f;
    struct err err;

    buf_clear(got);
    frame_decoder_init(&d, v->digits, FRAME_PAYLOAD_MAX_DEFAULT);
    for (size_t at = 0; at < v->bytes.len && status == FRAME_PARTIAL;) {
        size_t room, n = v->bytes.len - at < step ? v->bytes.len - at : step;

        memcpy(frame_room(&d, &room), v->bytes.data + at, n);
        frame_filled(&d, n);
        at += n;
        while ((status = frame_next(&d, &f, &err)) == FRAME_READY)
            put_frame(v, &f, got);
    }
    if (status == FRAME_BROKEN)
        buf_printf(got, "broken %s\n", err.text);
    else if (frame_pending(&d) > 0)
        buf_printf(got, "pending %zu\n", frame_pending(&d));
    frame_decoder_fini(&d);
}

/* An empty payload's line has a space more in `want`. */
static const char *
without_trailing_spaces(struct buf *b)
{
    size_t to = 0;

    for (size_t i = 0; i < b->len; i++)
        if (b->data[i] != ' ' || i + 1 == b->len || b->data[i + 1] != '\n')
            b->data[to++] = b->data[i];
    b->len = to;
    return buf_text(b);
}

static void
check_stream(struct vector *v, void *ctx)
{
    static const size_t steps[] = {SIZE_MAX, 1, 7, 100};
    struct buf got;

    (void)ctx;
    buf_init(&got, 1 << 20);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        run_stream(v, steps[i], &got);
        if (strcmp(without_trailing_spaces(&got),
                   without_trailing_spaces(&v->want)) != 0)
            printf("# vector %s, %zu bytes at a time\n", v->name, steps[i]);
        CHECK_STR(buf_text(&got), buf_text(&v->want));
    }
    buf_fini(&got);
}

TEST(vectors_decode_as_told)
{
    CHECK(each_vector(check_stream, NULL) > 100);
}

/* ---- what is written ---- */

static void
write_trial(struct buf *out, uint64_t id, const char *label, const char *json,
            const char *resume_from, const char *resume_how)
{
    struct parameter_record r = {.id = id,
                                 .label = label,
                                 .parameters = json,
                                 .parameters_len = strlen(json),
                                 .resume_from = resume_from,
                                 .resume_how = resume_how,
                                 .bare =
                                     resume_how != NULL && resume_from == NULL};

    command_write_trial(out, &r);
}

static bool
write_payload(const char *name, struct buf *out)
{
#define IS(x) (strcmp(name, x) == 0)
    if (IS("initialized"))
        command_write_initialized(out, 128, false);
    else if (IS("initialized-extensions"))
        command_write_initialized(out, 128, true);
    else if (IS("new-trial"))
        write_trial(out, 0, NULL, "{\"x\": 5.0}", NULL, NULL);
    else if (IS("new-trial-label"))
        write_trial(out, 0, "0-1_0_0", "{\"x\": 7, \"TRIAL_BUDGET\": 1}", NULL,
                    NULL);
    else if (IS("new-trial-bare"))
        write_trial(out, 0, "0-1_0_0", "{\"x\": 7, \"TRIAL_BUDGET\": 1}", NULL,
                    "bare");
    else if (IS("new-trial-promoted"))
        write_trial(out, 4, NULL, "{\"x\": 7, \"TRIAL_BUDGET\": 3}", "A",
                    "promoted");
    else if (IS("new-trial-resume-from"))
        write_trial(out, 4, NULL, "{\"x\": 7}", "A", NULL);
    else if (IS("no-more"))
        command_write_no_more(out, 4, NULL, NO_LATER, 2, false);
    else if (IS("no-more-extensions"))
        command_write_no_more(out, 4, NULL, NO_LATER, 2, true);
    else if (IS("no-more-label"))
        command_write_no_more(out, 0, "-1_0_0", NO_LATER, 1, false);
    else if (IS("kill-trial"))
        command_write_kill(out, "C");
    else if (IS("kill-trial-non-ascii"))
        command_write_kill(out, "\xc3\xa9\xf0\x9d\x84\x9e");
    else if (IS("acknowledge-go"))
        command_write_acknowledge(out, "A", 4, false);
    else if (IS("acknowledge-end"))
        command_write_acknowledge_end(out, "A");
    else if (IS("acknowledge-stop"))
        command_write_acknowledge(out, "A", 5, true);
    else if (IS("acknowledge-pause"))
        command_write_acknowledge(out, "A", 5, TRIAL_PAUSE);
    else if (IS("acknowledge-finish"))
        command_write_acknowledge(out, "A", 5, TRIAL_FINISH);
    else if (IS("decide-pause"))
        command_write_decide(out, "A", TRIAL_PAUSE);
    else if (IS("decide-finish"))
        command_write_decide(out, "A", TRIAL_FINISH);
    else if (IS("decide-release"))
        command_write_decide(out, "A", TRIAL_RELEASE);
    else if (IS("error"))
        buf_add_text(out, "byte 33 of the stream: expected 14 digits of "
                          "length, not 'x'");
    else
        return false;
#undef IS
    return true;
}

static void
check_written(struct vector *v, void *ctx)
{
    int *written = ctx;
    struct buf payload, out;

    if (!v->written)
        return;
    (*written)++;
    buf_init(&payload, 1000);
    buf_init(&out, 1000);
    CHECK(write_payload(v->name, &payload));
    frame_encode(&out, v->digits, v->first, payload.data, payload.len);
    CHECK_STR(buf_text(&out), buf_text(&v->bytes));
    buf_fini(&payload);
    buf_fini(&out);
}

TEST(vectors_are_written_to_the_byte)
{
    int written = 0;

    each_vector(check_written, &written);
    CHECK_EQ(written, 21);
}

static void
note_code(struct vector *v, void *ctx)
{
    bool *seen = ctx;
    enum command_code code;

    if (v->first[0] == '\0' || command_find(v->first, &code) == NULL)
        return;
    if (v->written || command_info(code)->direction == DIRECTION_IN)
        seen[code] = true;
}

TEST(vectors_cover_every_command)
{
    bool seen[CMD_COUNT] = {false};

    each_vector(note_code, seen);
    for (int i = 0; i < CMD_COUNT; i++)
        if (!seen[i])
            CHECK_STR(command_info((enum command_code)i)->name, "covered");
}
