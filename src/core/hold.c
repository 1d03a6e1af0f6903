/* SPDX-License-Identifier: MIT */
#include "core/hold.h"

#include "core/err.h"
#include "core/file.h"
#include "core/filesystem.h"
#include "core/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* DESIGN
 *
 * O_EXCL decides between machines.  Between processes of one machine, of which
 * two may find the same file left behind and the slower one remove what the
 * faster one has just made, a name does that the kernel takes back when its
 * process ends: an abstract address of a socket. */

#define NOTE_MAX 512
#define AWAIT_MS 100
#define TURN_MS 10
#define TURNS 300 /* a turn takes some system calls */

/* Who has made the file.  A machine is known by what its kernel drew when it
 * began, and the processes of one container by their namespace. */
struct note {
    char boot[40], space[40], host[65];
    int pid;
    uint64_t start;
};

/* Whether the error says that the file system has no locks; EBADF: none for
 * what can only be read, such as a folder. */
static bool
lacks_locks(int number)
{
    return number == ENOLCK || number == ENOSYS || number == EOPNOTSUPP ||
           number == EBADF;
}

/* ---- notes ---- */

static void
describe_us(struct note *out)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    ssize_t n = readlink("/proc/self/ns/pid", out->space, sizeof out->space);

    out->pid = getpid();
    out->start = process_start(out->pid);
    out->space[n < 0 || (size_t)n >= sizeof out->space ? 0 : n] = '\0';
    if (f == NULL || fscanf(f, "%39s", out->boot) != 1)
        snprintf(out->boot, sizeof out->boot, "-");
    if (f != NULL)
        fclose(f);
    if (gethostname(out->host, sizeof out->host - 1) != 0 ||
        out->host[0] == '\0')
        snprintf(out->host, sizeof out->host, "?");
    out->host[sizeof out->host - 1] = '\0';
}

/* 1: *out is what the file says, zero where that is nothing; 0: there is none;
 * -1: errno tells. */
static int
read_note(const char *path, struct note *out)
{
    char text[NOTE_MAX] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n;

    *out = (struct note){.pid = 0};
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n < 0)
        return -1;
    if (sscanf(text, "%39s %39s %d %" SCNu64 " %64s", out->boot, out->space,
               &out->pid, &out->start, out->host) != 5)
        *out = (struct note){.pid = 0};
    return 1;
}

/* Whether the process, if it lives, cannot be seen from here. */
static bool
is_unseen(const struct note *n)
{
    struct note us;

    describe_us(&us);
    return n->pid <= 0 || strcmp(n->boot, us.boot) != 0 ||
           strcmp(n->space, us.space) != 0;
}

/* In doubt it lives: a process may not be looked at for want of files. */
static bool
is_left_behind(const struct note *n)
{
    uint64_t start;
    bool ended;
    int process;

    if (is_unseen(n))
        return false;
    if (kill(n->pid, 0) != 0 && errno == ESRCH)
        return true;
    start = process_start(n->pid);
    if (start != 0 && start != n->start)
        return true;
    process = process_open(n->pid, n->start);
    ended = process >= 0 && process_ended(process);
    if (process >= 0)
        close(process);
    return ended;
}

static void
say_unseen(const struct note *n, const char *note, struct err *err)
{
    if (n->pid > 0)
        err_set(err, ERR_SYSTEM,
                "%s: process %d of the machine %s has it, and this file system "
                "has no locks by which to see from here whether that one "
                "lives: if it does not, rm '%s'",
                note, n->pid, n->host, note);
    else
        err_set(err, ERR_SYSTEM,
                "%s: does not say which process has made it: if none lives "
                "that did, rm '%s'",
                note, note);
}

/* ---- the one process of this machine that may look and take ---- */

static int
begin_turn(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int len = snprintf(at.sun_path + 1, sizeof at.sun_path - 1,
                       "tunepipe-hold-%u", (unsigned)geteuid());

    for (int i = 0; fd >= 0 && i < TURNS; i++) {
        if (bind(fd, (struct sockaddr *)&at,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                             (size_t)len)) == 0)
            return fd;
        if (errno != EADDRINUSE)
            break;
        poll(NULL, 0, TURN_MS);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static int
write_note(const char *path)
{
    struct note us;
    char text[NOTE_MAX];
    int fd, len, rc;

    describe_us(&us);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    len = snprintf(text, sizeof text, "%s %s %d %" PRIu64 " %s\n", us.boot,
                   us.space, us.pid, us.start, us.host);
    rc = file_write_all(fd, text, (size_t)len, NULL);
    if (close(fd) != 0 || rc != 0) {
        unlink(path);
        errno = EIO;
        return -1;
    }
    return 0;
}

static enum hold_word
make_note(const char *path, struct err *err)
{
    struct note n;
    int there = read_note(path, &n);

    if (there > 0 && is_unseen(&n)) {
        say_unseen(&n, path, err);
        return HOLD_OTHERS;
    }
    if (there > 0 && !is_left_behind(&n))
        return HOLD_OTHERS;
    if (there > 0)
        unlink(path);
    if (there >= 0 && write_note(path) == 0)
        return HOLD_TAKEN;
    if (errno == EEXIST)
        return HOLD_OTHERS;
    err_errno(err, ERR_SYSTEM, "%s: cannot make", path);
    return HOLD_FAILED;
}

static char *
note_path(const char *path)
{
    char *note;

    return asprintf(&note, "%s" HOLD_ENDING, path) < 0 ? NULL : note;
}

static enum hold_word
take_note(struct hold *h, const char *path, struct err *err)
{
    enum hold_word word = HOLD_FAILED;
    char *note = note_path(path);
    int turn = note == NULL ? -1 : begin_turn();

    if (note == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (turn < 0)
        err_errno(err, ERR_SYSTEM,
                  "%s: cannot be taken, as its file system has no locks "
                  "and other processes are at it",
                  path);
    else
        word = make_note(note, err);
    if (turn >= 0)
        close(turn);
    if (word == HOLD_TAKEN)
        h->note = note;
    else
        free(note);
    return word;
}

/* ---- the calls ---- */

/* Locks; 0, or errno. */
static int
lock(int fd, enum hold_by by)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc;

    do
        rc = by == HOLD_FLOCK ? flock(fd, LOCK_EX | LOCK_NB)
                              : fcntl(fd, F_OFD_SETLK, &whole);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

static void
unlock(int fd, enum hold_by by)
{
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    if (by == HOLD_FLOCK)
        flock(fd, LOCK_UN);
    else
        fcntl(fd, F_OFD_SETLK, &whole);
}

enum hold_word
hold_take(struct hold *h, int fd, const char *path, enum hold_by by,
          struct err *err)
{
    int number = lock(fd, by);
    enum hold_word word;

    h->note = NULL;
    if (number == EAGAIN || number == EACCES)
        return HOLD_OTHERS;
    if (number == 0 && filesystem_shares_locks(fd))
        return HOLD_TAKEN;
    if (number != 0 && !lacks_locks(number)) {
        errno = number;
        err_errno(err, ERR_SYSTEM, "%s: cannot lock", path);
        return HOLD_FAILED;
    }
    word = take_note(h, path, err);
    if (word != HOLD_TAKEN && number == 0)
        unlock(fd, by);
    return word;
}

void
hold_drop(struct hold *h)
{
    if (h->note != NULL)
        unlink(h->note);
    free(h->note);
    h->note = NULL;
}

/* The path of what stands for a lock of the open file, to be freed. */
static char *
note_of(int fd)
{
    char link[64], path[PATH_MAX];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return NULL;
    path[n] = '\0';
    return note_path(path);
}

/* 1: *out has it, or may have it; 0: nobody; -1: errno tells. */
static int
look(const char *note, struct note *out)
{
    int there = read_note(note, out);

    return there > 0 && is_left_behind(out) ? 0 : there;
}

bool
hold_is_others(int fd, enum hold_by by)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc = by == HOLD_FLOCK ? flock(fd, LOCK_SH | LOCK_NB)
                              : fcntl(fd, F_OFD_GETLK, &whole);
    char *note;
    struct note n;
    bool others;

    if (by == HOLD_FLOCK ? rc != 0 && !lacks_locks(errno)
                         : rc == 0 && whole.l_type != F_UNLCK)
        return true;
    if (rc == 0 && by == HOLD_FLOCK)
        flock(fd, LOCK_UN);
    if (rc == 0 && filesystem_shares_locks(fd))
        return false;
    note = note_of(fd);
    others = note != NULL && look(note, &n) != 0;
    free(note);
    return others;
}

/* Waits for the holder, which may live on without it. */
static void
await_holder(const char *path)
{
    char *note = note_path(path);
    struct note n;

    if (note != NULL && look(note, &n) > 0) {
        struct pollfd end = {.fd = process_open(n.pid, n.start),
                             .events = POLLIN};

        poll(&end, 1, AWAIT_MS);
        if (end.fd >= 0)
            close(end.fd);
    }
    free(note);
}

int
hold_wait(struct hold *h, int fd, const char *path, int operation,
          struct err *err)
{
    struct err why = {0};
    enum hold_word word;
    int rc;

    h->note = NULL;
    do
        rc = flock(fd, operation);
    while (rc != 0 && errno == EINTR);
    if (rc == 0 && filesystem_shares_locks(fd))
        return 0;
    if (rc != 0 && !lacks_locks(errno))
        return err_errno(err, ERR_SYSTEM, "%s: cannot lock", path);
    while ((word = take_note(h, path, &why)) == HOLD_OTHERS &&
           why.code == ERR_NONE)
        await_holder(path);
    if (word != HOLD_TAKEN && err != NULL)
        *err = why;
    return word == HOLD_TAKEN ? 0 : -1;
}
