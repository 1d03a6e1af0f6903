/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "manager/pending_reports.h"
#include "manager/metrics.h"
#include "trial/files.h"
#include "trial/report.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void
answered(const char *want)
{
    static int fd = -1;
    char text[256] = "";

    if (fd < 0)
        fd = open("t/" TRIAL_ANSWERS, O_RDONLY | O_NONBLOCK);
    if (want[0] == '\0')
        CHECK(read(fd, text, sizeof text - 1) < 0);
    else
        CHECK(read(fd, text, sizeof text - 1) > 0);
    CHECK_STR(text, want);
}

static struct metric_line
line(uint64_t sequence, int64_t end, bool hears)
{
    return (struct metric_line){
        .sequence = sequence, .end = end, .waits = true, .hears = hears};
}

TEST(manager_holding_answers_by_sequence)
{
    struct unanswered h = UNANSWERED_CLOSED;
    struct metric_line lines[] = {line(0, 15, false), line(1, 30, true),
                                  line(2, 45, false)};
    struct stat st;

    CHECK_EQ(mkdir("t", 0700), 0);
    CHECK_EQ(unanswered_make(&h, "t", false, NULL), 0);
    CHECK_EQ(stat("t/" TRIAL_ANSWERS, &st), 0);
    CHECK(S_ISFIFO(st.st_mode) && (st.st_mode & 0777) == 0600);
    answered("");
    unanswered_add(&h, &lines[0]);
    CHECK(!unanswered_hears(&h));
    unanswered_add(&h, &lines[1]);
    CHECK(unanswered_hears(&h));
    unanswered_add(&h, &lines[2]);
    unanswered_sent(&h, 2, 17, "xyz", 3);
    unanswered_sent(&h, 8, 18, "", 0); /* nobody waits */
    CHECK_EQ(h.first->next->next->frame, 17);
    CHECK_EQ(h.first->next->next->payload_len, 3);
    CHECK_EQ(h.first->frame, 0);
    unanswered_answer(&h, 1, true);
    unanswered_answer(&h, 1, true); /* nobody waits any more */
    unanswered_answer(&h, 7, true);
    answered("30 stop\n");
    unanswered_answer_all(&h, false);
    answered("15 go\n45 go\n");
    CHECK(h.first == NULL);
    lines[0].waits = false;
    unanswered_answer_line(&h, &lines[0], true); /* it does not wait */
    unanswered_answer_line(&h, &lines[2], true);
    answered("45 stop\n");
    unanswered_close(&h);
    CHECK_EQ(unanswered_open(&h, "t", false, NULL), 0); /* a new manager */
    unanswered_add(&h, &lines[1]);
    unanswered_close(&h);
    unanswered_close(&h);
}

TEST(manager_holding_makes_room_for_the_living)
{
    struct unanswered h = UNANSWERED_CLOSED;
    struct metric_line m = line(0, 1, false);
    char text[65536];
    int fd;
    ssize_t n;

    CHECK_EQ(mkdir("t", 0700), 0);
    CHECK_EQ(unanswered_make(&h, "t", false, NULL), 0);
    for (int i = 0; i < 20000; i++) { /* killed while they waited */
        m.end++;
        unanswered_answer_line(&h, &m, false);
    }
    fd = open("t/" TRIAL_ANSWERS, O_RDONLY | O_NONBLOCK);
    n = read(fd, text, sizeof text - 1);
    CHECK(n > 0);
    text[n] = '\0';
    CHECK_STR(text + n - strlen("20001 go\n"), "20001 go\n");
    unanswered_close(&h);
    CHECK_EQ(read(fd, text, sizeof text), 0); /* nobody answers */
}

TEST(manager_holding_names_what_it_cannot_make)
{
    struct unanswered h = UNANSWERED_CLOSED;
    struct err err = {0};

    CHECK_EQ(unanswered_make(&h, "absent", false, &err), -1);
    CHECK_HAS(err.text, "absent/answers: cannot make");
    CHECK_EQ(unanswered_open(&h, "absent", false, &err), 0); /* it has none */
    CHECK_EQ(symlink("/dev/null", "answers"), 0);
    CHECK_EQ(unanswered_open(&h, ".", false, &err), -1);
    CHECK_HAS(err.text, "./answers: cannot open");
}

/* A process that reports in step; its status tells what it heard. */
static pid_t
reporter(struct unanswered *h, const char *value, bool hears)
{
    pid_t pid = fork();
    struct err err = {0};
    enum report_answer answer = REPORT_GO;

    if (pid != 0)
        return pid;
    unanswered_close(h); /* as exec does: else it would wait for itself */
    if (report_intermediate("t", value, hears ? REPORT_HEAR : REPORT_WAIT, NULL,
                            &answer, &err) != 0)
        _exit(9);
    _exit((int)answer);
}

static int
status_of(pid_t pid)
{
    int status = -1;

    CHECK_EQ(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

/* Blocks until the file has so many bytes. */
static void
await_size(off_t size)
{
    struct stat st = {0};

    while (stat("t/" TRIAL_METRICS, &st) != 0 || st.st_size < size)
        continue;
}

TEST(manager_holding_and_a_trial_that_waits)
{
    struct unanswered h = UNANSWERED_CLOSED;
    struct metric_line stale = line(0, 7, false), m = line(0, 18, true);
    pid_t pid;

    CHECK_EQ(mkdir("t", 0700), 0);
    CHECK_EQ(status_of(reporter(&h, "1", true)), 0); /* nobody answers */
    CHECK_EQ(unlink("t/" TRIAL_METRICS), 0);
    CHECK_EQ(unanswered_make(&h, "t", false, NULL), 0);
    unanswered_answer_line(&h, &stale, true);
    pid = reporter(&h, "1", true);
    await_size(17); /* "intermediate 1\t\t\n" */
    m.end = 17;
    unanswered_answer_line(&h, &m, true);
    CHECK_EQ(status_of(pid), 1);
    pid = reporter(&h, "2", false);
    await_size(33);
    m.end = 33;
    unanswered_answer_line(&h, &m, false);
    CHECK_EQ(status_of(pid), 0);
    pid = reporter(&h, "3", true);
    await_size(50);
    unanswered_close(&h); /* the manager dies */
    CHECK_EQ(status_of(pid), 0);
    CHECK_EQ(status_of(reporter(&h, "4", true)), 0); /* and is dead */
}

static void
note(void *ctx, const struct metric_line *metric)
{
    char *text = ctx;

    strncat(text, metric->json, metric->len);
}

TEST(manager_agenda_keeps_the_order_and_finals_apart)
{
    struct metric_line m = {.len = 1};
    struct unsent a = {0};
    char text[64] = "";

    CHECK(!unsent_has_reports(&a));
    for (const char *c = "aFbcG"; *c != '\0'; c++) {
        char json[1] = {*c};

        m.json = json;
        m.final = *c < 'a';
        CHECK_EQ(unsent_add(&a, &m, NULL), 0);
    }
    CHECK(unsent_next_report(&a, note, text));
    m.json = "d";
    m.final = false;
    CHECK_EQ(unsent_add(&a, &m, NULL), 0);
    while (unsent_next_report(&a, note, text))
        continue;
    CHECK_STR(text, "abcd");
    CHECK(!unsent_has_reports(&a));
    CHECK(unsent_next_final(&a, note, text));
    CHECK_EQ(unsent_add(&a, &m, NULL), 0);
    unsent_clear(&a);
    CHECK(!unsent_next_final(&a, note, text) && !unsent_has_reports(&a));
    CHECK_STR(text, "abcdF");
}

/* What its trial does not wait for, its end may. */
TEST(manager_holding_what_only_the_end_waits_for)
{
    struct metric_line quiet = {.sequence = 3, .end = 15, .decides_end = true};
    struct metric_line waits = line(4, 30, true);
    struct unanswered h = UNANSWERED_CLOSED;

    CHECK_EQ(mkdir("t", 0700), 0);
    CHECK_EQ(unanswered_make(&h, "t", false, NULL), 0);
    unanswered_add(&h, &waits);
    CHECK(!unanswered_judges(&h));
    unanswered_add(&h, &quiet);
    CHECK(unanswered_judges(&h));
    answered("");
    unanswered_answer(&h, 3, REPORT_PAUSE);
    CHECK(!unanswered_judges(&h));
    answered("");
    unanswered_answer(&h, 4, REPORT_FINISH);
    answered("30 finish\n");
    unanswered_answer_line(&h, &waits, REPORT_PAUSE);
    answered("30 pause\n");
    unanswered_close(&h);
}
