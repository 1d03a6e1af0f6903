/* SPDX-License-Identifier: MIT */
/* peer MODE [SEED]: managers that go away, and signals that come.  Needs
 * TP_BUILD; folders "log" are made in the current one, one after the other,
 * and each is replayed.  Modes:
 *
 *   cut      closes its writing end behind N bytes of a small session, for
 *            every N: what was whole is answered, status 0 between two frames,
 *            else 4
 *   gone     closes both ends there: status 0 or 4, whatever was on its way
 *   TERM, INT, HUP   that signal at a point of a session drawn from SEED, in
 *            between and inside frames: status 143, 130, 129
 *   PIPE     does nothing
 *   STOP     and CONT a moment later do nothing either
 *   NOHUP    SIGHUP does nothing where it was ignored before the start
 *
 * The dispatcher leads a process group: nothing of it is left afterwards. */
#include "tools/flood.h"

#include <sys/stat.h>

#define POINTS 6 /* where a signal comes, for each seed */

struct whole {
    size_t at;      /* bytes of the session up to the end of a frame */
    uint64_t after; /* frames that answer them */
};

struct peer {
    struct flood f;
    struct whole frames[64];
    size_t n;
    uint64_t got;
    bool ignore_hangup;
};

/* ---- the dispatcher ---- */

static void
exec_dispatcher(struct peer *p, int in, int out)
{
    char program[4096];

    snprintf(program, sizeof program, "%s/tunepipe", getenv("TP_BUILD"));
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, p->ignore_hangup ? SIG_IGN : SIG_DFL);
    dup2(in, 0);
    dup2(out, 1);
    for (int fd = 3; fd < 40; fd++)
        close(fd);
    execl(program, "tunepipe", "dispatch", "--tuner", "random", "--seed", "1",
          "--assessor", "medianstop", "--dir", "log", "--quiet", "--grace",
          "1h", (char *)NULL);
    _exit(127);
}

/* In a new folder "log". */
static void
start(struct peer *p)
{
    struct flood *f = &p->f;
    int in[2], out[2];

    if (system("rm -rf log") != 0 || (pipe(in) | pipe(out)) != 0)
        die(f, "pipe: %m");
    f->child = fork();
    if (f->child == 0) {
        close(in[1]);
        close(out[0]);
        exec_dispatcher(p, in[0], out[1]);
    }
    setpgid(f->child, f->child);
    close(in[0]);
    close(out[1]);
    f->to = in[1];
    f->from = out[0];
    f->at = 0;
    p->got = 0;
    frame_decoder_init(&f->in, FRAME_DIGITS, 1 << 20);
}

/* Reads to the end of the stream: whole frames. */
static void
read_all(struct peer *p)
{
    struct flood *f = &p->f;
    struct frame frame;
    struct err err;
    size_t room;
    ssize_t n;

    do {
        char *to = frame_room(&f->in, &room);

        n = read(f->from, to, room);
        frame_filled(&f->in, n > 0 ? (size_t)n : 0);
        while (frame_next(&f->in, &frame, &err) == FRAME_READY)
            p->got++;
    } while (n > 0);
}

static void
finish(struct peer *p, int want, int or_else)
{
    struct flood *f = &p->f;
    pid_t group = f->child;
    char replay[8192];
    int got = status_of(f);

    if (got != want && got != or_else)
        die(f, "behind %zu bytes: exit status %d, expected %d", f->at, got,
            want);
    if (kill(-group, 0) == 0 || errno != ESRCH)
        die(f, "behind %zu bytes: a process is left", f->at);
    if (frame_pending(&f->in) > 0)
        die(f, "behind %zu bytes: the answers end inside a frame", f->at);
    frame_decoder_fini(&f->in);
    close(f->from);
    snprintf(replay, sizeof replay, "'%s/tunepipe' replay log --verify >&2",
             getenv("TP_BUILD"));
    if (access("log/command.log", F_OK) == 0 && system(replay) != 0)
        die(f, "behind %zu bytes: the log does not replay", f->at);
}

/* ---- the session ---- */

static void
add(struct peer *p, const char *code, const char *payload, uint64_t answers)
{
    uint64_t before = p->n == 0 ? 0 : p->frames[p->n - 1].after;

    put(&p->f, code, payload);
    p->frames[p->n++] = (struct whole){p->f.out.len, before + answers};
}

static void
make_session(struct peer *p, int rounds)
{
    buf_init(&p->f.out, (size_t)1 << 20);
    add(p, "IN", "{\"x\":{\"_type\":\"choice\",\"_value\":[1,2,3,4,5,6,7,8]}}",
        1);
    for (int i = 0; i < rounds; i++) {
        add(p, "GE", "1", 1);
        add(p, "PI", "", 0);
        add(p, "FD", "[]", 0);
    }
}

static bool
is_between(const struct peer *p, size_t at, uint64_t *answers)
{
    bool between = at == 0;

    *answers = 0;
    for (size_t i = 0; i < p->n && p->frames[i].at <= at; i++) {
        *answers = p->frames[i].after;
        between = p->frames[i].at == at;
    }
    return between;
}

static void
write_upto(struct peer *p, size_t at)
{
    struct flood *f = &p->f;

    for (ssize_t n; f->at < at; f->at += (size_t)n)
        if ((n = write(f->to, f->out.data + f->at, at - f->at)) <= 0)
            die(f, "write: %m");
}

/* ---- the modes ---- */

static void
cut(struct peer *p, bool gone)
{
    make_session(p, 1);
    for (size_t at = 0; at <= p->f.out.len; at++) {
        uint64_t answers;
        bool between = is_between(p, at, &answers);

        start(p);
        write_upto(p, at);
        if (gone)
            close(p->f.from);
        close(p->f.to);
        if (!gone)
            read_all(p);
        finish(p, between ? 0 : 4, gone ? 4 : -1);
        if (!gone && p->got != answers)
            die(&p->f,
                "behind %zu bytes: %" PRIu64 " answers, expected "
                "%" PRIu64,
                at, p->got, answers);
    }
}

static uint64_t
draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void
send_signal(struct peer *p, int number)
{
    kill(p->f.child, number);
    if (number != SIGSTOP)
        return;
    /* It has stopped, whatever it was doing. */
    if (waitpid(p->f.child, NULL, WUNTRACED) != p->f.child)
        die(&p->f, "it did not stop: %m");
    kill(p->f.child, SIGCONT);
}

/* `status` 0: the session goes on to its end. */
static void
signalled(struct peer *p, int number, int status, uint64_t seed)
{
    make_session(p, 7);
    for (int i = 0; i < POINTS; i++) {
        uint64_t answers;

        start(p);
        /* It has answered: its handlers are in place. */
        write_upto(p, p->frames[0].at);
        while (p->got == 0 && frame_pending(&p->f.in) < 16) {
            size_t room;
            char *to = frame_room(&p->f.in, &room);
            ssize_t n = read(p->f.from, to, room);

            if (n <= 0)
                die(&p->f, "it ended before it answered");
            frame_filled(&p->f.in, (size_t)n);
        }
        write_upto(p, p->frames[0].at +
                          draw(&seed) % (p->f.out.len - p->frames[0].at));
        send_signal(p, number);
        if (status == 0) {
            write_upto(p, p->f.out.len);
            close(p->f.to);
        }
        read_all(p);
        finish(p, status, -1);
        if (status != 0)
            close(p->f.to);
        (void)is_between(p, p->f.out.len, &answers);
        if (status == 0 && p->got != answers)
            die(&p->f, "%" PRIu64 " answers, expected %" PRIu64, p->got,
                answers);
    }
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int number, status;
    } signals[] = {
        {"TERM", SIGTERM, 143}, {"INT", SIGINT, 130}, {"HUP", SIGHUP, 129},
        {"PIPE", SIGPIPE, 0},   {"STOP", SIGSTOP, 0}, {"NOHUP", SIGHUP, 0},
    };
    static struct peer p;
    const char *mode = argc > 1 ? argv[1] : "";
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    if (getenv("TP_BUILD") == NULL) {
        fprintf(stderr, "usage: TP_BUILD=... peer MODE [SEED]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    alarm(500);
    p.ignore_hangup = strcmp(mode, "NOHUP") == 0;
    if (strcmp(mode, "cut") == 0 || strcmp(mode, "gone") == 0) {
        cut(&p, mode[0] == 'g');
        return 0;
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(mode, signals[i].name) == 0) {
            signalled(&p, signals[i].number, signals[i].status, seed);
            return 0;
        }
    fprintf(stderr, "peer: no mode '%s'\n", mode);
    return 2;
}
