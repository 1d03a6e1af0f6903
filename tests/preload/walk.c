/* SPDX-License-Identifier: MIT */
/* walk.so, preloaded into a program built with -finstrument-functions: writes
 * into the file $WALK_FILE which functions were called between two points.
 *
 * The process is the one whose first argument is $WALK_VERB.  The first point
 * is when a read(2) or recv(2) has given bytes that hold the text $WALK_FROM;
 * the start of the process where that is empty.  The second point is when bytes
 * that hold $WALK_TO have been read, or are about to be written into a pipe or
 * a socket; where there is a $WALK_INTO, when anything is about to be written
 * into a file of that name.  All these are system calls, so they stay where
 * they are when code moves.
 *
 * Between the points one thread runs at a time, until it rests, and of those
 * that then want to go on the oldest; and to the program a second is as short
 * as 1/SLOWER of one, so that nothing becomes due meanwhile.  So a walk does
 * not depend on how threads are scheduled, nor on the machine's load.
 *
 * The file has a line `thread` for each thread that called anything, in the
 * order in which they were started, and behind it a line `OBJECT 0xOFFSET` for
 * each function in the order in which that thread first called it. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS_MAX 4096 /* on one thread; a power of two */
#define THREADS_MAX 32
#define SLOWER 32
#define REST_NS 50000000 /* who has called nothing for so long rests */

struct calls {
    pid_t thread;
    bool waits; /* for the one that runs to rest */
    unsigned n;
    void *first[FUNCTIONS_MAX]; /* in the order of their first call */
    void *seen[FUNCTIONS_MAX];  /* the same as a hash table */
};

enum state { ELSEWHERE, AHEAD, RECORDING, DONE };

static pid_t process;
static enum state state; /* atomic; changed under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* guarded by lock */
static struct calls *all[THREADS_MAX], *running;
static unsigned n_all;
static int64_t last_call_ns; /* of `running` */

static int64_t begun_ns; /* set before the state is RECORDING */

static _Thread_local struct calls *mine;

/* A child shares the walk of its parent until it calls exec, where it was made
 * by vfork; it has no part in it. */
static bool
is_in(enum state wanted)
{
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == wanted &&
           syscall(SYS_getpid) == process;
}

static int64_t
now_ns(void)
{
    struct timespec t;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int
clock_gettime(clockid_t id, struct timespec *out)
{
    int64_t shown_ns;

    if (id != CLOCK_MONOTONIC || !is_in(RECORDING))
        return (int)syscall(SYS_clock_gettime, id, out);
    shown_ns = begun_ns + (now_ns() - begun_ns) / SLOWER;
    out->tv_sec = (time_t)(shown_ns / 1000000000);
    out->tv_nsec = (long)(shown_ns % 1000000000);
    return 0;
}

/* lock held */
static struct calls *
get_mine(void)
{
    if (mine == NULL && (mine = calloc(1, sizeof *mine)) != NULL) {
        mine->thread = (pid_t)syscall(SYS_gettid);
        if (n_all == THREADS_MAX)
            abort();
        all[n_all++] = mine;
    }
    if (mine == NULL || mine->n == FUNCTIONS_MAX / 2)
        abort();
    return mine;
}

/* lock held */
static bool
is_next(const struct calls *c)
{
    if (running == NULL || running == c)
        return true;
    for (unsigned i = 0; i < n_all; i++)
        if (all[i]->waits && all[i]->thread < c->thread)
            return false;
    return now_ns() - last_call_ns > REST_NS;
}

/* lock held, but while it waits */
static void
await_turn(struct calls *c)
{
    const struct timespec little = {.tv_nsec = REST_NS / 20};

    c->waits = true;
    while (state == RECORDING && !is_next(c)) {
        pthread_mutex_unlock(&lock);
        nanosleep(&little, NULL);
        pthread_mutex_lock(&lock);
    }
    c->waits = false;
}

/* lock held */
static void
record(struct calls *c, void *function)
{
    size_t at = ((uintptr_t)function >> 2) % FUNCTIONS_MAX;

    running = c;
    last_call_ns = now_ns();
    while (c->seen[at] != NULL && c->seen[at] != function)
        at = (at + 1) % FUNCTIONS_MAX;
    if (c->seen[at] == NULL)
        c->seen[at] = c->first[c->n++] = function;
}

/* What the compiler puts calls of into each function. */
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void
__cyg_profile_func_enter(void *function, void *caller)
{
    struct calls *c;

    (void)caller;
    if (!is_in(RECORDING))
        return;
    pthread_mutex_lock(&lock);
    c = get_mine();
    await_turn(c);
    if (state == RECORDING)
        record(c, function);
    pthread_mutex_unlock(&lock);
}

void
__cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}

__attribute__((constructor)) static void
begin(int argc, char **argv)
{
    const char *verb = getenv("WALK_VERB"), *from = getenv("WALK_FROM");

    if (argc < 2 || verb == NULL || from == NULL || strcmp(argv[1], verb) != 0)
        return;
    process = getpid();
    begun_ns = now_ns();
    state = from[0] == '\0' ? RECORDING : AHEAD;
}

static int
compare(const void *a, const void *b)
{
    const struct calls *const *x = a, *const *y = b;

    return ((*x)->thread > (*y)->thread) - ((*x)->thread < (*y)->thread);
}

static void
write_function(FILE *out, void *function)
{
    const char *object = "";
    struct link_map *map;
    char self[4096];
    Dl_info info;
    ssize_t n;

    if (dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) == 0)
        abort();
    object = map->l_name;
    if (object[0] == '\0') {
        n = readlink("/proc/self/exe", self, sizeof self - 1);
        self[n > 0 ? n : 0] = '\0';
        object = self;
    }
    fprintf(out, "%s 0x%jx\n", object,
            (uintmax_t)((uintptr_t)function - map->l_addr));
}

static void
finish(void)
{
    FILE *out = fopen(getenv("WALK_FILE"), "we");

    if (out == NULL)
        abort();
    pthread_mutex_lock(&lock);
    __atomic_store_n(&state, DONE, __ATOMIC_RELEASE);
    qsort(all, n_all, sizeof all[0], compare);
    for (unsigned i = 0; i < n_all; i++) {
        fputs("thread\n", out);
        for (unsigned j = 0; j < all[i]->n; j++)
            write_function(out, all[i]->first[j]);
    }
    pthread_mutex_unlock(&lock);
    if (fclose(out) != 0)
        abort();
}

static bool
holds(const void *bytes, ssize_t n, const char *variable)
{
    const char *text = getenv(variable);

    return text != NULL && n > 0 &&
           memmem(bytes, (size_t)n, text, strlen(text)) != NULL;
}

static void
pass_read(const void *bytes, ssize_t n)
{
    if (is_in(AHEAD) && holds(bytes, n, "WALK_FROM")) {
        pthread_mutex_lock(&lock);
        begun_ns = now_ns();
        __atomic_store_n(&state, RECORDING, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
    } else if (is_in(RECORDING) && holds(bytes, n, "WALK_TO")) {
        finish();
    }
}

static bool
is_named(int fd, const char *name)
{
    size_t len = strlen(name);
    char link[64], path[4096];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path);
    return n > (ssize_t)len && path[n - (ssize_t)len - 1] == '/' &&
           memcmp(path + n - len, name, len) == 0;
}

/* The command log has the same bytes as the wire; it is not the wire. */
static bool
is_wire(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
}

static void
pass_write(int fd, const void *bytes, size_t n)
{
    const char *into = getenv("WALK_INTO");

    if (is_in(RECORDING) &&
        (into != NULL ? is_named(fd, into)
                      : is_wire(fd) && holds(bytes, (ssize_t)n, "WALK_TO")))
        finish();
}

ssize_t
read(int fd, void *to, size_t room)
{
    ssize_t n = syscall(SYS_read, fd, to, room);

    pass_read(to, n);
    return n;
}

ssize_t
recv(int fd, void *to, size_t room, int flags)
{
    ssize_t n = syscall(SYS_recvfrom, fd, to, room, flags, NULL, NULL);

    pass_read(to, n);
    return n;
}

ssize_t
write(int fd, const void *from, size_t n)
{
    pass_write(fd, from, n);
    return syscall(SYS_write, fd, from, n);
}

ssize_t
send(int fd, const void *from, size_t n, int flags)
{
    pass_write(fd, from, n);
    return syscall(SYS_sendto, fd, from, n, flags, NULL, 0);
}
