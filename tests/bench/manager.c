/* SPDX-License-Identifier: MIT */
/* manager BUILD: what the manager costs.  Trials of /bin/true a second, with
 * 2, 32 and 1,000 at a time, in memory and on a disk, beside a loop that starts
 * the same command with posix_spawn() and nothing else, in the same run:
 * `ratio` by the clock, `share` by the CPU time of all processes, which a busy
 * machine does not change; CPU time and memory for each trial that lives and
 * that has ended; from a metric that is written to the stop that the assessor
 * answers.  Prints lines `NAME NUMBER` for scripts/bench.
 *
 *   TRIALS=N       how many have ended for the last figure of memory (10,000)
 *   TMPDIR=FOLDER  on that disk (default: the build's)
 *
 * manager trial FILE: such a trial, which waits for its stop. */
#include "child.h"
#include "folder.h"

#include "core/clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <sys/resource.h>

#define RATE_TRIALS 2000
#define LIVE_TRIALS 1000
#define ENDED_DEFAULT 10000
#define KILLS 300
#define RUNS 3

static const char *build;
static char work[4096]; /* the folder of now */

/* CPU seconds of this process and of all that it has waited for, and those for
 * theirs. */
static double
work_done(void)
{
    const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double seconds = 0;
    struct rusage u;

    for (int i = 0; i < 2; i++) {
        getrusage(whose[i], &u);
        seconds += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                   (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    }
    return seconds;
}

/* ---- the loop that it is compared with ---- */

static pid_t
spawn_one(void)
{
    const char *const argv[] = {"/bin/sh", "-c", "/bin/true", NULL};
    pid_t pid;

    errno = posix_spawn(&pid, argv[0], NULL, NULL,
                        (char *const *)(uintptr_t)argv, environ);
    if (errno != 0)
        child_die("posix_spawn");
    return pid;
}

/* Seconds for n of them, k at a time. */
static double
spawn_all(unsigned n, unsigned k)
{
    int64_t began = clock_monotonic_ns();
    unsigned begun = 0, ended = 0;

    while (ended < n) {
        while (begun < n && begun - ended < k) {
            spawn_one();
            begun++;
        }
        if (waitpid(-1, NULL, 0) < 0)
            child_die("waitpid");
        ended++;
    }
    return (double)(clock_monotonic_ns() - began) / 1e9;
}

/* ---- an experiment ---- */

struct usage {
    double seconds, cpu; /* the manager's own */
    uint64_t most;       /* bytes that it held */
};

__attribute__((format(printf, 1, 2))) static void
configure(const char *fmt, ...)
{
    FILE *f = fopen("bench.yml", "we");
    va_list ap;

    if (f == NULL)
        child_die("bench.yml");
    fputs("searchSpace: {x: {_type: uniform, _value: [0, 1]}}\nseed: 1\n"
          "direction: minimize\n"
          "onRepeatedFailure: ignore\n", /* they report nothing */
          f);
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    if (fclose(f) != 0)
        child_die("bench.yml");
}

static void
start(struct child *c)
{
    char program[4096];
    const char *argv[] = {program, "run", "bench.yml", NULL};

    snprintf(program, sizeof program, "%s/tunepipe", build);
    child_start(c, argv, "bench.err");
    close(c->to);
    c->to = -1;
}

/* To the end; looks at its memory meanwhile. */
static void
watch(struct child *c, struct usage *u)
{
    struct pollfd fd = {.fd = c->from, .events = POLLIN};
    char text[65536];
    siginfo_t info;

    for (;;) {
        int ready = poll(&fd, 1, 50);
        uint64_t now = child_memory(c, "status", "VmRSS");

        if (now > u->most)
            u->most = now;
        if (ready > 0 && read(c->from, text, sizeof text) <= 0)
            break;
    }
    waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT);
    u->cpu = (double)child_cpu_ns(c) / 1e9;
    waitpid(c->pid, NULL, 0);
    close(c->from);
    frame_decoder_fini(&c->decoder);
}

static struct usage
run(void)
{
    int64_t began = clock_monotonic_ns();
    struct usage u = {0};
    struct child c;

    start(&c);
    watch(&c, &u);
    u.seconds = (double)(clock_monotonic_ns() - began) / 1e9;
    return u;
}

/* ---- figures ---- */

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void
measure_rate(unsigned k, const char *where)
{
    double bare[RUNS], ours[RUNS], cpu[RUNS], shares[RUNS];

    configure("trialCommand: /bin/true\nmaxTrialNumber: %d\n"
              "trialConcurrency: %u\n",
              RATE_TRIALS, k);
    for (int i = 0; i < RUNS; i++) {
        double began = work_done(), between;
        struct usage u;

        bare[i] = RATE_TRIALS / spawn_all(RATE_TRIALS, k);
        between = work_done();
        u = run();
        shares[i] = (between - began) / (work_done() - between);
        ours[i] = RATE_TRIALS / u.seconds;
        cpu[i] = u.cpu / RATE_TRIALS * 1e6;
    }
    qsort(bare, RUNS, sizeof *bare, compare);
    qsort(ours, RUNS, sizeof *ours, compare);
    qsort(cpu, RUNS, sizeof *cpu, compare);
    qsort(shares, RUNS, sizeof *shares, compare);
    printf("manager.%s.%u.bare %.1f\n", where, k, bare[RUNS / 2]);
    printf("manager.%s.%u.rate %.1f\n", where, k, ours[RUNS / 2]);
    printf("manager.%s.%u.ratio %.3f\n", where, k,
           ours[RUNS / 2] / bare[RUNS / 2]);
    printf("manager.%s.%u.cpu %.1f\n", where, k, cpu[RUNS / 2]);
    printf("manager.%s.%u.share %.3f\n", where, k, shares[RUNS / 2]);
    fflush(stdout);
}

/* All of them at a time wait for a line. */
static void
measure_live(void)
{
    struct usage before, with = {0};
    struct child c;
    int gate;

    configure("trialCommand: /bin/true\nmaxTrialNumber: 1\n"
              "trialConcurrency: 1\n");
    before = run();
    configure("trialCommand: 'echo >> %s/alive; read -r line < %s/gate'\n"
              "maxTrialNumber: %d\ntrialConcurrency: %d\n",
              work, work, LIVE_TRIALS, LIVE_TRIALS);
    if (mkfifo("gate", 0600) != 0 || (gate = open("gate", O_RDWR)) < 0)
        child_die("gate");
    start(&c);
    for (struct stat st = {0}; st.st_size < LIVE_TRIALS;) {
        struct timespec pause = {.tv_nsec = 50000000};

        nanosleep(&pause, NULL);
        stat("alive", &st);
    }
    with.most = child_memory(&c, "status", "VmRSS");
    for (int i = 0; i < LIVE_TRIALS; i++)
        if (write(gate, "\n", 1) != 1)
            child_die("gate");
    watch(&c, &(struct usage){0});
    close(gate);
    printf("manager.live.memory %.0f\n",
           ((double)with.most - (double)before.most) / LIVE_TRIALS);
    fflush(stdout);
}

static void
measure_ended(unsigned n)
{
    struct usage few, many;

    configure("trialCommand: /bin/true\nmaxTrialNumber: %u\n"
              "trialConcurrency: 64\n",
              n / 10);
    few = run();
    configure("trialCommand: /bin/true\nmaxTrialNumber: %u\n"
              "trialConcurrency: 64\n",
              n);
    many = run();
    printf("manager.ended.trials %u\n", n);
    printf("manager.ended.memory %.1f\n",
           ((double)many.most - (double)few.most) / (n - n / 10));
    printf("manager.ended.most %.2f\n", (double)many.most / 1048576);
    printf("manager.ended.cpu %.1f\n", many.cpu / n * 1e6);
    printf("manager.ended.cpu-few %.1f\n", few.cpu / (n / 10) * 1e6);
    fflush(stdout);
}

/* ---- from a metric to its stop ---- */

static int
trial(const char *file)
{
    char path[4096], line[64];
    int64_t began;
    FILE *metrics, *out;
    sigset_t stop;
    int number;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    snprintf(path, sizeof path, "%s/metrics", getenv("TUNEPIPE_TRIAL_DIR"));
    metrics = fopen(path, "ae");
    out = fopen(file, "ae");
    if (metrics == NULL || out == NULL)
        child_die(path);
    began = clock_monotonic_ns();
    fputs("intermediate 1\n", metrics);
    fclose(metrics);
    sigwait(&stop, &number);
    snprintf(line, sizeof line, "%" PRId64 "\n", clock_monotonic_ns() - began);
    fputs(line, out);
    return fclose(out) == 0 ? 0 : 1;
}

static void
measure_kills(const char *program, unsigned k)
{
    double us[KILLS];
    unsigned n = 0;
    FILE *f;

    configure("trialCommand: 'exec %s trial %s/delays'\n"
              "assessor: {plugin: %s/tests/plugins/stops_at.so,\n"
              "           classArgs: {step: 1}}\n"
              "maxTrialNumber: %d\ntrialConcurrency: %u\n",
              program, work, build, KILLS, k);
    run();
    f = fopen("delays", "re");
    while (f != NULL && n < KILLS && fscanf(f, "%lf", &us[n]) == 1)
        us[n++] /= 1000;
    if (f == NULL || n < KILLS)
        child_die("delays");
    fclose(f);
    unlink("delays");
    qsort(us, KILLS, sizeof *us, compare);
    printf("manager.kill.%u.median %.0f\n", k, us[KILLS / 2]);
    printf("manager.kill.%u.99th %.0f\n", k, us[KILLS * 99 / 100]);
    fflush(stdout);
}

static void
enter(const char *parent)
{
    snprintf(work, sizeof work, "%s/bench-manager-XXXXXX", parent);
    if (mkdtemp(work) == NULL || chdir(work) != 0)
        child_die(work);
}

static void
leave(void)
{
    char command[sizeof work + 16];

    snprintf(command, sizeof command, "rm -rf '%s'", work);
    if (chdir("/") != 0 || system(command) != 0)
        child_die(work);
}

static void
measure_rates(const char *where)
{
    measure_rate(2, where);
    measure_rate(32, where);
    measure_rate(1000, where);
}

int
main(int argc, char **argv)
{
    const char *trials = getenv("TRIALS");
    const char *disk = getenv("TMPDIR");
    char *program = realpath(argv[0], NULL);

    if (argc == 3 && strcmp(argv[1], "trial") == 0)
        return trial(argv[2]);
    build = argc == 2 ? realpath(argv[1], NULL) : NULL;
    if (build == NULL || program == NULL)
        child_die("usage: manager BUILD");
    enter(disk != NULL ? disk : build);
    measure_rates("disk");
    leave();
    enter("/dev/shm");
    measure_rates("memory");
    measure_kills(program, 1);
    measure_kills(program, 8);
    measure_live();
    measure_ended(trials != NULL ? (unsigned)atoi(trials) : ENDED_DEFAULT);
    leave();
    return 0;
}
