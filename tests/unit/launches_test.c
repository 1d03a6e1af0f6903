/* SPDX-License-Identifier: MIT */
/* Under a manager that gives trials their parameters as NNI 3.0's does: who
 * asks is given the oldest ones, whatever it was launched for. */
#include "dispatcher_help.h"

#define SLOTS 3
#define IDS 4096

struct running {
    int launched, ran; /* ran: -1 before it has asked */
    int job;
};

struct manager {
    struct drive d;
    uint64_t random;
    int waiting[IDS]; /* suggestions, in their order: */
    int n_given, n_launched, n_taken;
    struct running running[SLOTS];
    int n_running, n_died, n_jobs;
    bool told[IDS];
};

static void
take_answers(struct manager *m, const char *sent)
{
    static const char head[] = "TR {\"parameter_id\": ";

    while ((sent = strstr(sent, head)) != NULL) {
        sent += sizeof head - 1;
        CHECK(m->n_given < IDS);
        m->waiting[m->n_given++] = atoi(sent);
    }
}

static void
start(struct manager *m, const char *tuner, const char *args, bool again,
      uint64_t seed)
{
    *m = (struct manager){.random = seed};
    drive_setup(&m->d, tuner, args, NULL, NULL);
    m->d.setup.policy.nni = true;
    m->d.setup.policy.reissue = again;
    drive_start(&m->d);
    drive_send(&m->d, "IN",
               "{\"x\": {\"_type\": \"randint\", \"_value\": [0, 40]}}");
    take_answers(m, drive_send(&m->d, "GE", "%d", SLOTS));
}

static void
launch(struct manager *m)
{
    m->running[m->n_running++] = (struct running){
        .launched = m->waiting[m->n_launched++], .ran = -1, .job = m->n_jobs++};
}

static void
end(struct manager *m, int which, const char *event)
{
    struct running r = m->running[which];
    char job[24];

    m->running[which] = m->running[--m->n_running];
    snprintf(job, sizeof job, "J%d", r.job);
    take_answers(m, drive_end(&m->d, r.launched, job, event));
    take_answers(m, drive_send(&m->d, "GE", "1"));
}

/* It asks, dies before it does, or reports and ends. */
static void
step(struct manager *m, int which)
{
    struct running *r = &m->running[which];
    char job[24];

    snprintf(job, sizeof job, "J%d", r->job);
    if (r->ran >= 0) {
        take_answers(m, drive_final(&m->d, r->ran, job, "1"));
        m->told[r->ran] = true;
        end(m, which, "SUCCEEDED");
    } else if (help_below(&m->random, 8) == 0) {
        m->n_died++;
        end(m, which, "FAILED");
    } else {
        CHECK(m->n_taken < m->n_launched);
        r->ran = m->waiting[m->n_taken++];
        if (help_below(&m->random, 2) == 0)
            take_answers(m, drive_periodical(&m->d, r->ran, job, 0, "1"));
    }
}

/* How many trials it launched, at most `most`, until nothing runs and nothing
 * is there to be launched. */
static int
play(struct manager *m, int most)
{
    while (m->n_running + (m->n_given - m->n_launched) > 0 &&
           m->n_launched < most) {
        bool full = m->n_running == SLOTS || m->n_launched == m->n_given;

        if (!full && (m->n_running == 0 || help_below(&m->random, 2) == 0))
            launch(m);
        else
            step(m, (int)help_below(&m->random, (uint64_t)m->n_running));
    }
    if (m->d.setup.policy.reissue)
        CHECK(strstr(drive_lines(&m->d), "tunepipe: error: ") == NULL);
    CHECK_EQ(m->d.failed, 0);
    return m->n_launched;
}

static void
stop(struct manager *m)
{
    drive_stop(&m->d);
    unlink("lines");
}

/* A tuner that waits for its results goes on; as logs from before have it, it
 * does not. */
TEST(launches_lost_are_given_out_again)
{
    static struct manager m;
    int stalled = 0;

    for (uint64_t seed = 1; seed <= 12; seed++) {
        start(&m, "later", "{\"at_once\": 2}", true, seed);
        CHECK_EQ(play(&m, 200), 200);
        CHECK(m.n_died > 0);
        stop(&m);
        start(&m, "later", "{\"at_once\": 2}", false, seed);
        stalled += play(&m, 200) < 200;
        stop(&m);
    }
    CHECK(stalled > 6);
}

/* Each point of a grid runs, but for those whose trials died for all that the
 * manager says. */
TEST(launches_of_a_grid_leave_none_out)
{
    static struct manager m;

    for (uint64_t seed = 1; seed <= 12; seed++) {
        int n_told = 0;

        start(&m, "grid", NULL, true, seed);
        CHECK(play(&m, IDS - 1) < IDS - 1);
        for (int id = 0; id < IDS; id++)
            n_told += m.told[id];
        CHECK(n_told + m.n_died >= 40);
        CHECK(m.n_launched <= 40 + 2 * m.n_died);
        stop(&m);
    }
}
