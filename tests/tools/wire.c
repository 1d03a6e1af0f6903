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
 *
 * With TP_WIRE_BYTES=1 every byte is sent by itself. */
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "frame.h"
#include "tools/nnistart.h"

#include <errno.h>
#include <poll.h>
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

struct got {
    char code[3];
    char *payload;
    bool expected;
};

struct wire {
    const char *script;
    int line;
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
    char *patterns[PATTERNS_MAX];
    bool wanted[PATTERNS_MAX];
    size_t n_patterns;
    char *said[PATTERNS_MAX]; /* by the lines on stderr, each by one */
    size_t n_said;
    bool strict; /* nothing else is said */
    bool from_open, stderr_open;
};

static void
die(struct wire *w, const char *fmt, ...)
{
    va_list ap;

    printf("%s:%d: ", w->script, w->line);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    for (size_t i = 0; i < w->n_frames; i++)
        if (!w->frames[i].expected)
            printf("  not consumed: %s %s\n", w->frames[i].code,
                   w->frames[i].payload);
    printf("  stderr: %s\n", buf_text(&w->errors));
    if (w->child > 0)
        kill(w->child, SIGKILL);
    exit(1);
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
    int in[2], out[2], errors[2];
    int rc = w->sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, in) |
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
        if (poll(&fd, 1, 20000) <= 0 || read(fd.fd, events, sizeof events) <= 0)
            die(w, "await %s: it never came", path);
    close(fd.fd);
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
        if (!pump(w))
            die(w, "expected %s, got nothing", rest);
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

/* Each line is said once, in whatever order: there are two workers. */
static void
check_said(struct wire *w)
{
    char *text = strdup(buf_text(&w->errors)), *save = NULL;
    bool used[PATTERNS_MAX] = {false};

    for (char *line = strtok_r(text, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        size_t i = 0;

        while (i < w->n_said && (used[i] || !matches(w->said[i], line)))
            i++;
        if (i == w->n_said)
            die(w, "stderr has %s", line);
        used[i] = true;
    }
    free(text);
    for (size_t i = 0; i < w->n_said; i++)
        if (!used[i])
            die(w, "stderr lacks %s", w->said[i]);
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
expect_exit(struct wire *w, int want_status)
{
    int status, got;

    while (pump(w))
        continue;
    if (w->from_open)
        die(w, "still running after 20 s");
    waitpid(w->child, &status, 0);
    w->child = 0;
    got = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (got != want_status)
        die(w, "exit status %d, expected %d", got, want_status);
    for (size_t i = 0; i < w->n_frames; i++)
        if (!w->frames[i].expected)
            die(w, "unexpected frame %s %s", w->frames[i].code,
                w->frames[i].payload);
    check_errors(w);
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
    close(w->from);
    w->from_open = false;
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
        close(w->to);
    else if (strncmp(line, "signal ", 7) == 0)
        send_signal(w, rest);
    else if (strncmp(line, "exit ", 5) == 0)
        expect_exit(w, atoi(rest));
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
    else
        die(w, "what is '%s'?", line);
}

int
main(int argc, char **argv)
{
    static struct wire w = {.out_fd = 1};
    char *line = NULL;
    size_t cap = 0;
    FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (f == NULL || getenv("TP_BUILD") == NULL) {
        fprintf(stderr, "usage: TP_BUILD=... wire SCRIPT\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    alarm(100);
    w.script = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
    buf_init(&w.errors, 1 << 24);
    while (getline(&line, &cap, f) >= 0) {
        w.line++;
        line[strcspn(line, "\n")] = '\0';
        do_line(&w, line);
    }
    check_errors(&w); /* those behind the last exit, too */
    free(line);
    fclose(f);
    return 0;
}
