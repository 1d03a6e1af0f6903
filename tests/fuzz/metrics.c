/* SPDX-License-Identifier: MIT */
/* What trials write: the lines of a file, read in portions that the input
 * chooses, are the same as read at once; each metric of them gives a payload
 * that a dispatcher takes for the same number. */
#include "fuzz.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"
#include "manager/metrics.h"
#include "manager/tail.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINE 512

struct lines {
    struct buf seen;
    struct metrics metrics;
};

/* Compiled once: it takes longer than all else. */
static struct pattern *pattern;

static void
check_payload(const struct metric_line *m)
{
    struct frame f = {.code = "ME"};
    struct command *cmd;
    struct buf out;

    buf_init(&out, 16 * MAX_LINE);
    metrics_write(&out, "A", "7", 0, 0, m);
    f.payload = out.data;
    f.len = out.len;
    MUST(!out.failed && (cmd = command_decode(&f, 1, NULL)) != NULL);
    MUST(cmd->metric.has_value &&
         (cmd->metric.value == m->value ||
          (isnan(m->value) && isnan(cmd->metric.value))));
    MUST((cmd->metric.type == METRIC_FINAL) == m->final);
    MUST(cmd->metric.sequence == m->sequence);
    command_free(cmd);
    buf_fini(&out);
}

static void
take(void *ctx, const char *line, size_t len, bool too_long)
{
    struct lines *l = ctx;
    struct metric_line m;
    struct err err;
    double value;

    MUST(line[len] == '\0' && (too_long || len < MAX_LINE));
    if (!too_long) /* how much of it is there is not promised */
        buf_add(&l->seen, line, len);
    buf_add_char(&l->seen, too_long ? '!' : '\n');
    if (metrics_line(&l->metrics, NULL, line, len, too_long, &m, &err) ==
        METRICS_METRIC)
        check_payload(&m);
    pattern_match(pattern, line, &value);
}

static void
read_all(struct tail *t, struct lines *l)
{
    int more;

    while ((more = tail_read(t, 300, take, l, NULL)) > 0)
        continue;
    MUST(more == 0);
}

/* Reads what is written in portions of `step` bytes. */
static void
play(struct lines *l, const uint8_t *data, size_t size, size_t step)
{
    struct tail t;
    int ends[2];

    MUST(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    *l = (struct lines){0};
    buf_init(&l->seen, 2 * size + 64);
    tail_attach(&t, ends[0], MAX_LINE);
    for (size_t at = 0, n; at < size; at += n) {
        n = step < size - at ? step : size - at;
        MUST(write(ends[1], data + at, n) == (ssize_t)n);
        read_all(&t, l);
    }
    close(ends[1]);
    read_all(&t, l);
    tail_rest(&t, take, l);
    tail_close(&t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lines whole, parts;

    if (size < 1)
        return 0;
    if (pattern == NULL)
        pattern = pattern_new("loss=([-+.0-9a-z]+)|acc=([0-9.]+)", NULL);
    MUST(pattern != NULL);
    play(&whole, data + 1, size - 1, 4096);
    play(&parts, data + 1, size - 1, 1 + data[0]);
    MUST(!whole.seen.failed && whole.seen.len == parts.seen.len);
    MUST(whole.seen.len == 0 ||
         memcmp(whole.seen.data, parts.seen.data, whole.seen.len) == 0);
    MUST(whole.metrics.lines == parts.metrics.lines);
    buf_fini(&whole.seen);
    buf_fini(&parts.seen);
    return 0;
}
