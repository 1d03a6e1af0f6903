/* SPDX-License-Identifier: MIT */
/* wire SCRIPT: plays a transcript against a dispatcher and checks what comes
 * back.  Lines of a script:
 *
 *   # text            a comment
 *   run ARGS...       starts tunepipe ARGS (split at spaces; $DIR is the
 *                     current folder, $PLUGINS the folder of test plugins,
 *                     $SOURCE that of the sources, $TUNEPIPE the program)
 *   nni JSON          starts tunepipe as NNI's manager does: that experiment's
 *                     configuration as the argument, sockets at 3 and 4, the
 *                     log in $DIR/log
 *   env NAME=VALUE    (before run, nni) in the child's environment
 *   sockets           (before run) socket pairs instead of pipes
 *   fds 3 4           (before run) which descriptors the child finds them at
 *   bare              (before run) the child finds 0 and 1 closed
 *   limit BYTES       (before run) no file of the child may grow beyond it
 *   ignore CODE       (before run) frames of this code are not looked at
 *   deaf              closes the reading end of the child's output
 *   > CODE PAYLOAD    sends a frame
 *   send CODE TEXT    sends a frame with the bytes of TEXT; \xHH, \n, \\ are
 *                     understood
 *   raw TEXT          sends the bytes of TEXT, without a frame
 *   < CODE PATTERN    the next frame from that sender is this; * matches any
 *                     text.  Senders: KI and AK come from the assessor's
 *                     worker, ER from the router, all others from the tuner's
 *   eof               closes the child's input
 *   await FILE        waits until it is there
 *   signal NAME       TERM, INT or KILL
 *   exit STATUS       the child ends so; all frames were expected, all `err`
 *                     patterns so far were found
 *   err PATTERN       some line on stderr matches (checked at each exit from
 *                     here on, and at the end)
 *   noerr PATTERN     no line does
 *   says PATTERN      a line on stderr is this; in a script that has one, or
 *                     `silent`, stderr has no other lines
 *   silent            see says
 *   replay            tunepipe replay --verify of $DIR/log says identical
 *   end STATUS        eof and exit STATUS
 *
 * A script may be one of many cases.  Each prints `ok NAME`, or `FAILED NAME`
 * with what was expected and what came.  One that fails ends its session; the
 * next begins another.
 *
 *   case NAME: TEXT   begins a case, which ends where the next one begins.
 *                     stderr has the lines of its `says` and no others
 *   before LINE       (ahead of the cases) a case begins with it that finds no
 *                     session running; $DIR/log is a new one
 *   after LINE        (ahead of the cases) a case ends with it that leaves its
 *                     session running
 *   $N                in what is sent or expected: the number of the command
 *                     that was sent last
 *   $T                there, too: the parameter_id that was given out last, or
 *                     that this TR gives out, or that this NO would have
 *
 * With TP_WIRE_BYTES=1 every byte is sent by itself. */
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "frame.h"
#include "tools/nnistart.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES_MAX 100000
#define PATTERNS_MAX 100
#define ARGS_MAX 64
#define STEPS_MAX 16

struct got {
    char code[3];
    char *payload;
    bool expected;
};

/* Lines of `before` or `after`. */
struct steps {
    char *line[STEPS_MAX];
    size_t n;
};

struct wire {
    const char *script;
    int line;
    char *name;    /* the case's; NULL: the script is none of cases */
    int case_line; /* where it begins */
    bool failed;   /* the case is */
    bool any_failed;
    jmp_buf next_line; /* where a case that failed leaves to */
    struct steps before, after;
    long command; /* $N */
    long trial;   /* $T */
    bool sockets, bare;
    char ignored[3];
    unsigned long limit; /* bytes of a file; 0: none */
    int in_fd, out_fd;   /* where the child finds them */
    int to, from, stderr_fd;
    pid_t child;
    struct frame_decoder decoder;
    struct got frames[FRAMES_MAX];
    size_t n_frames;
    struct buf errors;
    size_t errors_checked; /* bytes of them that were what `says` says */
    char *patterns[PATTERNS_MAX];
    bool wanted[PATTERNS_MAX];
    size_t n_patterns;
    char *said[PATTERNS_MAX]; /* by the lines on stderr, each by one */
    size_t n_said;
    bool strict; /* nothing else is said */
    bool from_open, stderr_open;
};

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
hang_up(struct wire *w)
{
    close_fd(&w->to);
    close_fd(&w->from);
    close_fd(&w->stderr_fd);
    w->from_open = w->stderr_open = false;
}

static void
forget_said(struct wire *w)
{
    while (w->n_said > 0)
        free(w->said[--w->n_said]);
}

/* The session that runs, if any, is over. */
static void
abandon(struct wire *w)
{
    if (w->child > 0) {
        kill(w->child, SIGKILL);
        waitpid(w->child, NULL, 0);
        w->child = 0;
    }
    hang_up(w);
    for (size_t i = 0; i < w->n_frames; i++)
        w->frames[i].expected = true;
    forget_said(w);
    w->errors_checked = w->errors.len;
}

static void
die(struct wire *w, const char *fmt, ...)
{
    va_list ap;

    if (w->name != NULL)
        printf("FAILED %s\n", w->name);
    printf("%s:%d: ", w->script, w->line);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    for (size_t i = 0; i < w->n_frames; i++)
        if (!w->frames[i].expected)
            printf("  not consumed: %s %s\n", w->frames[i].code,
                   w->frames[i].payload);
    printf("  stderr: %s\n", buf_text(&w->errors) + w->errors_checked);
    abandon(w);
    if (w->name == NULL)
        exit(1);
    w->failed = w->any_failed = true;
    longjmp(w->next_line, 1);
}

static int
stream_of(const char *code)
{
    if (strcmp(code, "KI") == 0 || strcmp(code, "AK") == 0)
        return 1;
    return strcmp(code, "ER") == 0 ? 2 : 0;
}

static void
pump_frames(struct wire *w)
{
    struct frame f;
    struct err err;
    size_t room;
    char *to = frame_room(&w->decoder, &room);
    ssize_t n = read(w->from, to, room);
    enum frame_status status;

    if (n <= 0) {
        w->from_open = false;
        return;
    }
    frame_filled(&w->decoder, (size_t)n);
    while ((status = frame_next(&w->decoder, &f, &err)) == FRAME_READY) {
        struct got *g = &w->frames[w->n_frames];

        if (strcmp(f.code, w->ignored) == 0)
            continue;
        if (++w->n_frames == FRAMES_MAX)
            die(w, "too many frames");
        memcpy(g->code, f.code, 3);
        g->payload = strndup(f.payload, f.len);
    }
    if (status == FRAME_BROKEN)
        die(w, "the child sent a broken frame: %s", err.text);
}

/* Takes in whatever comes within 20 s; false at the timeout or when both
 * descriptors are closed. */
static bool
pump(struct wire *w)
{
    struct pollfd fds[2] = {
        {.fd = w->from_open ? w->from : -1, .events = POLLIN},
        {.fd = w->stderr_open ? w->stderr_fd : -1, .events = POLLIN},
    };
    char text[4096];
    ssize_t n;

    if (!w->from_open && !w->stderr_open)
        return false;
    if (poll(fds, 2, 20000) <= 0)
        return false;
    if (fds[0].revents != 0)
        pump_frames(w);
    if (fds[1].revents != 0) {
        n = read(w->stderr_fd, text, sizeof text);
        if (n <= 0)
            w->stderr_open = false;
        else
            buf_add(&w->errors, text, (size_t)n);
    }
    return true;
}

/* ---- the child ---- */

/* What $NAME stands for; "" when there is no such name. */
static const char *
value_of(const char *name, char *out, size_t size)
{
    if (strncmp(name, "DIR", 3) == 0)
        return getcwd(out, size);
    if (strncmp(name, "SOURCE", 6) == 0)
        return getenv("TP_SOURCE");
    snprintf(out, size, "%s%s", getenv("TP_BUILD"),
             strncmp(name, "PLUGINS", 7) == 0 ? "/tests/plugins" : "/tunepipe");
    return out;
}

static char *
expand(const char *word)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char value[4096];
    struct buf b;

    buf_init(&b, 1 << 16);
    for (; *word != '\0'; word++)
        if (*word == '$') {
            buf_add_text(&b, value_of(word + 1, value, sizeof value));
            word += strspn(word + 1, letters);
        } else {
            buf_add_char(&b, *word);
        }
    return buf_take(&b);
}

static void
exec_child(struct wire *w, char *args, int in, int out, int err_fd)
{
    char *argv[ARGS_MAX], *save = NULL;
    char program[4096];
    bool is_patient =
        strncmp(args, "dispatch ", 9) != 0 || strstr(args, "--grace") != NULL;
    int n = 0, high_in, high_out;

    snprintf(program, sizeof program, "%s/tunepipe", getenv("TP_BUILD"));
    argv[n++] = program;
    for (char *word = strtok_r(args, " ", &save);
         word != NULL && n < ARGS_MAX - 3; word = strtok_r(NULL, " ", &save))
        argv[n++] = expand(word);
    if (!is_patient) { /* however slow the machine is */
        argv[n++] = expand("--grace");
        argv[n++] = expand("1h");
    }
    argv[n] = NULL;
    dup2(err_fd, 2);
    high_in = dup(in);
    high_out = dup(out);
    close(in);
    close(out);
    high_in = dup2(high_in, 100);
    high_out = dup2(high_out, 101);
    dup2(high_in, w->in_fd);
    dup2(high_out, w->out_fd);
    for (int fd = 5; fd < 110; fd++)
        close(fd);
    if (w->bare) {
        close(0);
        close(1);
    }
    if (w->limit > 0)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){w->limit, w->limit});
    execv(program, argv);
    _exit(127);
}

static void
start(struct wire *w, char *args)
{
    int in[2], out[2], errors[2], rc;

    hang_up(w);
    rc = w->sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, in) |
                          socketpair(AF_UNIX, SOCK_STREAM, 0, out)
                    : pipe(in) | pipe(out);
    if ((rc | pipe(errors)) != 0)
        die(w, "pipe: %m");
    w->child = fork();
    if (w->child == 0) {
        close(in[1]);
        close(out[0]);
        exec_child(w, args, in[0], out[1], errors[1]);
    }
    close(in[0]);
    close(out[1]);
    close(errors[1]);
    w->to = in[1];
    w->from = out[0];
    w->stderr_fd = errors[0];
    w->from_open = w->stderr_open = true;
    w->command = 0;
    w->trial = -1;
    frame_decoder_fini(&w->decoder); /* of a run before */
    frame_decoder_init(&w->decoder,
                       strstr(args, "--digits 6") ? FRAME_DIGITS_OLD
                                                  : FRAME_DIGITS,
                       FRAME_PAYLOAD_MAX_DEFAULT);
}

static void
start_nni(struct wire *w, const char *config)
{
    char *encoded, *args = NULL, *expanded = expand(config);

    encoded = nni_base64(expanded);
    w->sockets = true;
    w->in_fd = 3;
    w->out_fd = 4;
    nni_environment();
    if (asprintf(&args, "-m nni --exp_params %s", encoded) < 0)
        die(w, "out of memory");
    start(w, args);
    free(args);
    free(encoded);
    free(expanded);
}

static void
set_environment(const char *assignment)
{
    char *text = expand(assignment), *value = strchr(text, '=');

    if (value != NULL) {
        *value++ = '\0';
        setenv(text, value, 1);
    }
    free(text);
}

/* ---- the lines ---- */

/* A line of a case with the numbers that $N and $T stand for. */
static char *
numbered(struct wire *w, const char *text)
{
    struct buf b;

    buf_init(&b, 1 << 24);
    for (; *text != '\0'; text++)
        if (text[0] == '$' && (text[1] == 'N' || text[1] == 'T'))
            buf_printf(&b, "%ld", *++text == 'N' ? w->command : w->trial);
        else
            buf_add_char(&b, *text);
    return buf_take(&b);
}

static void
send_bytes(struct wire *w, const char *data, size_t len)
{
    size_t step = getenv("TP_WIRE_BYTES") != NULL ? 1 : len;

    for (size_t at = 0; at < len; at += step)
        if (write(w->to, data + at, step) != (ssize_t)step && errno != EPIPE)
            die(w, "write: %m");
}

static void
send_frame(struct wire *w, const char *code, const char *payload, size_t len)
{
    struct buf out;

    buf_init(&out, 1 << 24);
    frame_encode(&out, w->decoder.digits, code, payload, len);
    send_bytes(w, out.data, out.len);
    buf_fini(&out);
}

/* The bytes that an escaped text stands for. */
static void
unescape(const char *text, struct buf *out)
{
    for (; *text != '\0'; text++) {
        unsigned byte;

        if (*text != '\\') {
            buf_add_char(out, *text);
        } else if (text[1] == 'n') {
            buf_add_char(out, '\n');
            text++;
        } else if (sscanf(text + 1, "x%2x", &byte) == 1) {
            buf_add_char(out, (char)byte);
            text += 3;
        } else {
            buf_add_char(out, *++text);
        }
    }
}

static const char *
payload_of(const char *rest)
{
    return strlen(rest) > 3 ? rest + 3 : "";
}

static void
send_escaped(struct wire *w, const char *rest, bool framed)
{
    struct buf out;

    buf_init(&out, 1 << 24);
    unescape(framed ? payload_of(rest) : rest, &out);
    if (framed)
        send_frame(w, rest, buf_text(&out), out.len);
    else
        send_bytes(w, out.data, out.len);
    buf_fini(&out);
}

/* Only `*` is special: payloads are full of brackets. */
static bool
matches(const char *pattern, const char *text)
{
    for (; *pattern != '\0'; pattern++, text++) {
        if (*pattern == '*') {
            for (;; text++) {
                if (matches(pattern + 1, text))
                    return true;
                if (*text == '\0')
                    return false;
            }
        }
        if (*pattern != *text)
            return false;
    }
    return *text == '\0';
}

static void
await_file(struct wire *w, const char *path)
{
    char folder[4096], events[4096];
    struct pollfd fd = {.fd = inotify_init1(IN_CLOEXEC), .events = POLLIN};
    const char *slash = strrchr(path, '/');

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    if (inotify_add_watch(fd.fd, folder, IN_CREATE | IN_MOVED_TO) < 0)
        die(w, "await %s: cannot watch %s", path, folder);
    while (access(path, F_OK) != 0)
        if (poll(&fd, 1, 600000) <= 0 ||
            read(fd.fd, events, sizeof events) <= 0)
            die(w, "await %s: it never came", path);
    close(fd.fd);
}

/* The exit status of the child, which has ended or does so. */
static int
reap(struct wire *w)
{
    int status;

    if (waitpid(w->child, &status, 0) != w->child)
        die(w, "no session");
    w->child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void
expect(struct wire *w, const char *rest)
{
    char code[3] = {rest[0], rest[1], '\0'};
    const char *pattern = strlen(rest) > 3 ? rest + 3 : "";

    for (;;) {
        for (size_t i = 0; i < w->n_frames; i++) {
            struct got *g = &w->frames[i];

            if (g->expected || stream_of(g->code) != stream_of(code))
                continue;
            if (strcmp(g->code, code) != 0 || !matches(pattern, g->payload))
                die(w, "expected %s\n  got      %s %s", rest, g->code,
                    g->payload);
            g->expected = true;
            return;
        }
        if (pump(w))
            continue;
        if (w->from_open || w->stderr_open)
            die(w, "expected %s\n  got      nothing", rest);
        die(w, "expected %s\n  got      its end, with status %d", rest,
            reap(w));
    }
}

static void
want(struct wire *w, const char *pattern, bool wanted)
{
    char *line = NULL;

    if (w->n_patterns == PATTERNS_MAX || asprintf(&line, "*%s*", pattern) < 0)
        die(w, "too many patterns");
    w->patterns[w->n_patterns] = line;
    w->wanted[w->n_patterns++] = wanted;
}

static void
want_said(struct wire *w, const char *pattern)
{
    if (w->n_said == PATTERNS_MAX)
        die(w, "too many patterns");
    w->said[w->n_said++] = strdup(pattern);
    w->strict = true;
}

/* Strikes out of `said` what says this line. */
static bool
was_to_be_said(struct wire *w, const char *line)
{
    for (size_t i = 0; i < w->n_said; i++)
        if (matches(w->said[i], line)) {
            free(w->said[i]);
            w->said[i] = w->said[--w->n_said];
            return true;
        }
    return false;
}

/* Each line is said once, in whatever order: there are two workers.  Those
 * that are missing may be under way. */
static void
check_said(struct wire *w)
{
    do {
        const char *text = buf_text(&w->errors) + w->errors_checked;
        size_t len = strcspn(text, "\n");

        while (text[len] == '\n' || (len > 0 && !w->stderr_open)) {
            char *line = strndup(text, len);

            if (len > 0 && !was_to_be_said(w, line))
                die(w, "on stderr expected %s\n  got      %s",
                    w->n_said > 0 ? w->said[0] : "nothing", line);
            free(line);
            len += text[len] == '\n';
            w->errors_checked += len;
            text += len;
            len = strcspn(text, "\n");
        }
    } while (w->n_said > 0 && pump(w));
    if (w->n_said > 0)
        die(w, "on stderr expected %s\n  got      nothing", w->said[0]);
}

static void
check_errors(struct wire *w)
{
    if (w->strict)
        check_said(w);
    for (size_t i = 0; i < w->n_patterns; i++) {
        char *text = strdup(buf_text(&w->errors)), *save = NULL;
        bool found = false;

        for (char *line = strtok_r(text, "\n", &save); line != NULL;
             line = strtok_r(NULL, "\n", &save))
            found = found || matches(w->patterns[i], line);
        free(text);
        if (found != w->wanted[i])
            die(w, "stderr %s %s", found ? "has" : "lacks", w->patterns[i]);
    }
}

static void
check_frames(struct wire *w)
{
    for (size_t i = 0; i < w->n_frames; i++)
        if (!w->frames[i].expected)
            die(w, "unexpected frame %s %s", w->frames[i].code,
                w->frames[i].payload);
}

static void
expect_exit(struct wire *w, int want_status)
{
    int got;

    while (pump(w))
        continue;
    if (w->from_open)
        die(w, "still running after 20 s");
    got = reap(w);
    if (got != want_status)
        die(w, "exit status %d, expected %d", got, want_status);
    check_frames(w);
    check_errors(w);
}

static void
end_session(struct wire *w, int want_status)
{
    close_fd(&w->to);
    expect_exit(w, want_status);
}

static void
replay(struct wire *w)
{
    char command[8192], text[4096] = "";
    FILE *p;

    snprintf(command, sizeof command,
             "TUNEPIPE_PLUGIN_PATH='%s/tests/plugins' '%s/tunepipe' replay "
             "log --verify",
             getenv("TP_BUILD"), getenv("TP_BUILD"));
    p = popen(command, "r");
    if (p == NULL || fread(text, 1, sizeof text - 1, p) == 0 ||
        pclose(p) != 0 || strncmp(text, "identical", 9) != 0)
        die(w, "replay: %s", text);
}

static void
send_signal(struct wire *w, const char *name)
{
    kill(w->child, strcmp(name, "TERM") == 0  ? SIGTERM
                   : strcmp(name, "INT") == 0 ? SIGINT
                                              : SIGKILL);
}

static void
close_reader(struct wire *w)
{
    close_fd(&w->from);
    w->from_open = false;
}

static void
add_step(struct wire *w, struct steps *steps, const char *line)
{
    if (steps->n == STEPS_MAX)
        die(w, "more than %d lines of before or after", STEPS_MAX);
    steps->line[steps->n++] = strdup(line);
}

static void
do_line(struct wire *w, char *line)
{
    char *rest = strchr(line, ' ');

    rest = rest == NULL ? line + strlen(line) : rest + 1;
    if (line[0] == '#' || line[0] == '\0')
        return;
    if (strncmp(line, "> ", 2) == 0)
        send_frame(w, rest, payload_of(rest), strlen(payload_of(rest)));
    else if (strncmp(line, "send ", 5) == 0)
        send_escaped(w, rest, true);
    else if (strncmp(line, "< ", 2) == 0)
        expect(w, rest);
    else if (strncmp(line, "raw ", 4) == 0)
        send_escaped(w, rest, false);
    else if (strncmp(line, "run ", 4) == 0)
        start(w, rest);
    else if (strncmp(line, "nni ", 4) == 0)
        start_nni(w, rest);
    else if (strncmp(line, "env ", 4) == 0)
        set_environment(rest);
    else if (strcmp(line, "sockets") == 0)
        w->sockets = true;
    else if (strncmp(line, "fds ", 4) == 0)
        sscanf(rest, "%d %d", &w->in_fd, &w->out_fd);
    else if (strcmp(line, "bare") == 0)
        w->bare = true;
    else if (strncmp(line, "ignore ", 7) == 0)
        snprintf(w->ignored, sizeof w->ignored, "%.2s", rest);
    else if (strncmp(line, "limit ", 6) == 0)
        w->limit = strtoul(rest, NULL, 10);
    else if (strncmp(line, "await ", 6) == 0)
        await_file(w, rest);
    else if (strcmp(line, "deaf") == 0)
        close_reader(w);
    else if (strcmp(line, "eof") == 0)
        close_fd(&w->to);
    else if (strncmp(line, "signal ", 7) == 0)
        send_signal(w, rest);
    else if (strncmp(line, "exit ", 5) == 0)
        expect_exit(w, atoi(rest));
    else if (strncmp(line, "end ", 4) == 0)
        end_session(w, atoi(rest));
    else if (strncmp(line, "err ", 4) == 0)
        want(w, rest, true);
    else if (strncmp(line, "noerr ", 6) == 0)
        want(w, rest, false);
    else if (strncmp(line, "says ", 5) == 0)
        want_said(w, rest);
    else if (strcmp(line, "silent") == 0)
        w->strict = true;
    else if (strcmp(line, "replay") == 0)
        replay(w);
    else if (strncmp(line, "before ", 7) == 0)
        add_step(w, &w->before, rest);
    else if (strncmp(line, "after ", 6) == 0)
        add_step(w, &w->after, rest);
    else
        die(w, "what is '%s'?", line);
}

/* ---- the cases ---- */

/* A line of a case, with the numbers that it is about. */
static void
do_line_of_case(struct wire *w, char *line)
{
    bool is_no = strncmp(line, "< NO ", 5) == 0; /* and gives out none */
    char *text;

    if (strncmp(line, "> ", 2) == 0 || strncmp(line, "send ", 5) == 0)
        w->command++;
    if (strncmp(line, "< TR ", 5) == 0 || is_no)
        w->trial++;
    text = strncmp(line, "run ", 4) == 0 ? strdup(line) : numbered(w, line);
    w->trial -= is_no;
    do_line(w, text);
    free(text);
}

static void
do_steps(struct wire *w, const struct steps *steps)
{
    for (size_t i = 0; i < steps->n; i++)
        do_line_of_case(w, steps->line[i]);
}

static void
begin_case(struct wire *w, char *line)
{
    char old_log[32];

    free(w->name);
    w->name = strndup(line + 5, strcspn(line + 5, ":"));
    w->case_line = w->line;
    w->strict = true;
    alarm(100);
    if (w->child > 0)
        return;
    w->sockets = w->bare = false;
    w->limit = 0;
    w->in_fd = 0;
    w->out_fd = 1;
    snprintf(old_log, sizeof old_log, "log.%d", w->line);
    rename("log", old_log);
    do_steps(w, &w->before);
}

static void
end_case(struct wire *w, char *line)
{
    (void)line; /* where the next one begins */
    w->line = w->case_line;
    if (w->child > 0)
        do_steps(w, &w->after);
    check_frames(w);
    check_said(w);
    printf("ok %s\n", w->name);
}

/* Does it, unless the case fails over it. */
static void
attempt(struct wire *w, void (*step)(struct wire *w, char *line), char *line)
{
    if (!w->failed && setjmp(w->next_line) == 0)
        step(w, line);
}

static void
play(struct wire *w, char *line)
{
    int next = w->line;

    if (strncmp(line, "case ", 5) != 0) {
        attempt(w, w->name != NULL ? do_line_of_case : do_line, line);
        return;
    }
    if (w->name != NULL)
        attempt(w, end_case, line);
    w->line = next;
    w->failed = false;
    attempt(w, begin_case, line);
}

int
main(int argc, char **argv)
{
    static struct wire w = {.out_fd = 1, .to = -1, .from = -1, .stderr_fd = -1};
    char *line = NULL;
    size_t cap = 0;
    FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (f == NULL || getenv("TP_BUILD") == NULL) {
        fprintf(stderr, "usage: TP_BUILD=... wire SCRIPT\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is told outlasts the alarm */
    signal(SIGPIPE, SIG_IGN);
    alarm(100);
    w.script = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
    buf_init(&w.errors, 1 << 24);
    while (getline(&line, &cap, f) >= 0) {
        w.line++;
        line[strcspn(line, "\n")] = '\0';
        play(&w, line);
    }
    if (w.name == NULL)
        check_errors(&w); /* those behind the last exit, too */
    else
        attempt(&w, end_case, line);
    if (w.name != NULL && w.child > 0) {
        printf("FAILED %s: its last session still runs\n", w.script);
        w.any_failed = true;
        abandon(&w);
    }
    free(line);
    fclose(f);
    return w.any_failed;
}
