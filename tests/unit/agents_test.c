/* SPDX-License-Identifier: MIT */
/* What a manager and agents say to each other: agent/wire.h, and the manager's
 * side of it, runner/agents/agents.h, with agents that are the test itself. */
#include "runner/agents/agents.h"

#include "agent/wire.h"
#include "config/cluster.h"
#include "config/wishes.h"
#include "core/err.h"
#include "t.h"
#include "trial/files.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

NOT_UNDER_TSAN;

/* ---- the wire ---- */

struct two {
    struct wire near, far;
};

static struct two
two_of(bool skips)
{
    struct two t;
    int ends[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    wire_open(&t.near, ends[0], ends[0], skips);
    wire_open(&t.far, ends[1], ends[1], false);
    return t;
}

static void
two_close(struct two *t)
{
    wire_close(&t->near);
    wire_close(&t->far);
}

static void
write_bytes(const struct wire *c, const void *bytes, size_t len)
{
    CHECK_EQ(write(c->out, bytes, len), (ssize_t)len);
}

TEST(wire_passes_over_what_a_shell_prints)
{
    static const char banner[] =
        "Welcome to n3\ntunepipe-agent is not it\n" AGENT_MAGIC
        "HI00000000000009\0abc\0d\0e\n";
    struct two t = two_of(true);
    struct said said = {.at = NULL};
    int got = 0;

    for (size_t i = 0; i < sizeof banner - 1; i++) {
        CHECK_EQ(got, 0);
        write_bytes(&t.far, banner + i, 1);
        CHECK_EQ(wire_read(&t.near, NULL), 1);
        got = wire_next(&t.near, &said, NULL);
    }
    CHECK_EQ(got, 1);
    CHECK_STR(said.code, AGENT_HELLO);
    CHECK_STR(said_text(&said), "");
    CHECK_STR(said_text(&said), "abc");
    CHECK_STR(said_text(&said), "d");
    CHECK(said_text(&said) == NULL); /* what is not ended is no text */
    two_close(&t);
}

TEST(wire_gives_up_on_who_is_no_agent)
{
    char *noise = malloc(65536);
    struct two t = two_of(true);
    struct said said;
    struct err err = {0};
    int got = 0;

    CHECK(noise != NULL);
    memset(noise, 'x', 65536);
    for (int i = 0; i < 20 && got == 0; i++) {
        write_bytes(&t.far, noise, 65536);
        CHECK_EQ(wire_read(&t.near, NULL), 1);
        got = wire_next(&t.near, &said, &err);
    }
    CHECK_EQ(got, -1);
    CHECK_HAS(err.text, "expected the line 'tunepipe-agent 1'");
    free(noise);
    two_close(&t);
}

TEST(wire_tells_an_agent_of_another_version)
{
    static const char line[] = "Welcome to n3\ntunepipe-agent 23\n";
    struct two t = two_of(true);
    struct said said;
    struct err err = {0};
    int got = 0;

    for (size_t i = 0; i < sizeof line - 1; i++) {
        CHECK_EQ(got, 0);
        write_bytes(&t.far, line + i, 1);
        CHECK_EQ(wire_read(&t.near, NULL), 1);
        got = wire_next(&t.near, &said, &err);
    }
    CHECK_EQ(got, -1);
    CHECK_EQ(t.near.other, 23);
    CHECK_STR(err.text,
              "expected an agent that speaks version 1, got one of version 23");
    two_close(&t);
}

TEST(wire_refuses_a_frame_of_more_than_it_may_have)
{
    struct two t = two_of(false);
    struct said said;

    write_bytes(&t.far, "HI99999999999999", 16);
    CHECK_EQ(wire_read(&t.near, NULL), 1);
    CHECK_EQ(wire_next(&t.near, &said, NULL), -1);
    two_close(&t);
}

/* ---- a manager with agents ---- */

static int lost;

static void
count_lost(struct agents_agent *g)
{
    (void)g;
    lost++;
}

static const struct runner_ops ops = {.name = "test"};

struct pool {
    struct agents agents;
    struct cluster cluster;
    struct wishes wishes;
};

static void
pool_open(struct pool *p)
{
    const struct runner_setup setup = {.cluster = &p->cluster,
                                       .wishes = &p->wishes};

    p->cluster = (struct cluster)CLUSTER_DEFAULT;
    p->wishes = (struct wishes)WISHES_DEFAULT;
    p->agents = AGENTS_CLOSED;
    p->agents.base.ops = &ops;
    p->agents.lost = count_lost;
    CHECK_EQ(agents_open(&p->agents, &setup, NULL), 0);
    p->agents.folder = getcwd(NULL, 0);
}

static void
pool_close(struct pool *p)
{
    free((char *)p->agents.folder);
    agents_close(&p->agents);
}

/* Begins a trial, whose folder is that name in this one. */
static struct run *
start(struct pool *p, const char *name)
{
    static const char *const command[] = {"true", NULL};
    char folder[4200];
    struct run *run;

    snprintf(folder, sizeof folder, "%s/%s", p->agents.folder, name);
    mkdir(folder, 0700);
    run = agents_start(&p->agents.base,
                       &(struct runner_task){.phase = {.folder = folder},
                                             .cwd = "/",
                                             .command = command,
                                             .env = environ,
                                             .cgroup = ""},
                       NULL);
    CHECK(run != NULL);
    CHECK_EQ(agents_watch(run), 0);
    return run;
}

/* The far end of an agent's channel. */
static struct wire
connect_agent(struct agents_agent *g)
{
    struct wire far;
    int ends[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    wire_open(&far, ends[1], ends[1], false);
    agents_connect(g, ends[0], ends[0]);
    write_bytes(&far, AGENT_MAGIC, strlen(AGENT_MAGIC));
    return far;
}

/* What the manager says next, "CODE TEXT": the first text of it. */
static const char *
heard(struct pool *p, struct wire *far)
{
    static char line[200];
    struct said said;

    wire_flush(far, NULL);
    agents_go_on(&p->agents);
    agents_go_on(&p->agents);
    if (wire_next(far, &said, NULL) == 0 &&
        (wire_read(far, NULL) <= 0 || wire_next(far, &said, NULL) == 0))
        return "";
    snprintf(line, sizeof line, "%s %s", said.code, said_text(&said));
    return line;
}

static const char *const exited = "exited 0\nstarted_ns 1\nended_ns 2\n"
                                  "wrapper 7 8\n";

TEST(agents_carry_out_as_many_trials_as_they_have_room_for)
{
    struct pool p;
    struct run *first, *second;
    struct run_end end;
    struct agents_agent *g;
    struct wire far;

    pool_open(&p);
    first = start(&p, "one");
    second = start(&p, "two");
    CHECK_EQ(agents_wanted(&p.agents), 2);
    g = agents_add(&p.agents, NULL, "n1");
    far = connect_agent(g);
    wire_say(&far, AGENT_HELLO, "0.1.0", "1", "0", "");
    CHECK_STR(heard(&p, &far), "GO one");
    CHECK_STR(heard(&p, &far), "");
    CHECK_EQ(agents_wanted(&p.agents), 1);
    CHECK(agents_next(&p.agents) == first);
    CHECK_EQ(first->news, RUN_BEGUN);
    wire_say(&far, AGENT_OVER, "one", AGENT_ENDED, exited);
    CHECK_STR(heard(&p, &far), "OK one");
    CHECK_STR(heard(&p, &far), "GO two");
    CHECK(agents_next(&p.agents) == first);
    CHECK_EQ(first->news, RUN_ENDED);
    CHECK_EQ(agents_end(first, &end, NULL), 0);
    CHECK_EQ(end.outcome.kind, OUTCOME_EXITED);
    CHECK_STR(end.place, "n1");
    CHECK(!end.again);
    agents_leave(second);
    wire_close(&far);
    pool_close(&p);
}

TEST(agents_that_come_again_are_told_again)
{
    struct pool p;
    struct agents_agent *g;
    struct run *one, *two;
    struct wire far;

    pool_open(&p);
    one = start(&p, "one");
    two = start(&p, "two");
    g = agents_add(&p.agents, NULL, "n1");
    far = connect_agent(g);
    wire_say(&far, AGENT_HELLO, "0.1.0", "2", "0", "");
    CHECK_STR(heard(&p, &far), "GO one");
    CHECK_STR(heard(&p, &far), "GO two");
    lost = 0;
    wire_close(&far);
    agents_go_on(&p.agents);
    CHECK_EQ(lost, 1);
    /* one arrived; a trial of nobody's did, too */
    far = connect_agent(g);
    wire_say(&far, AGENT_HELLO, "0.1.0", "2", "0", "", "one", "", "stray", "");
    CHECK_STR(heard(&p, &far), "OK stray");
    CHECK_STR(heard(&p, &far), "GO two");
    CHECK_STR(heard(&p, &far), "");
    agents_leave(one);
    agents_leave(two);
    wire_close(&far);
    pool_close(&p);
}

/* What a lost agent says of a trial that is another attempt's by now is taken
 * from it, and not heard. */
TEST(agents_are_not_heard_of_trials_that_are_not_theirs)
{
    struct pool p;
    struct agents_agent *gone, *other;
    struct wire far, far_other;
    struct run *one, *again;
    struct run_end end;
    int fd;

    pool_open(&p);
    one = start(&p, "one");
    gone = agents_add(&p.agents, NULL, "n1");
    far = connect_agent(gone);
    wire_say(&far, AGENT_HELLO, "0.1.0", "1", "0", "");
    CHECK_STR(heard(&p, &far), "GO one");
    CHECK(agents_next(&p.agents) == one); /* has begun */
    agents_gone(gone, "n1 is down", 600000);
    agents_go_on(&p.agents);
    CHECK(agents_next(&p.agents) == NULL); /* it may run on */
    agents_stop(one, RUN_GIVE_UP);
    CHECK(agents_next(&p.agents) == one);
    CHECK_EQ(agents_end(one, &end, NULL), 0);
    CHECK_EQ(end.outcome.kind, OUTCOME_LOST);
    CHECK_HAS(end.outcome.text, "n1 is down");

    again = start(&p, "one.1");
    other = agents_add(&p.agents, NULL, "n2");
    far_other = connect_agent(other);
    wire_say(&far_other, AGENT_HELLO, "0.1.0", "1", "0", "", "one", "");
    wire_say(&far_other, AGENT_OVER, "one", AGENT_ENDED, exited);
    CHECK_STR(heard(&p, &far_other), "OK one");
    CHECK_STR(heard(&p, &far_other), "OK one");
    CHECK_STR(heard(&p, &far_other), "GO one.1");
    CHECK(agents_next(&p.agents) == again);
    CHECK_EQ(again->news, RUN_BEGUN);
    CHECK(agents_next(&p.agents) == NULL);
    /* nor does it matter how often it is over */
    fd = open("one.1/" TRIAL_WRAPPER_PID, O_CREAT | O_WRONLY, 0600);
    close(fd);
    agents_gone(other, "status 0", AGENTS_ORDERLY);
    fd = open("one.1/exit", O_CREAT | O_WRONLY, 0600);
    CHECK_EQ(write(fd, exited, strlen(exited)), (ssize_t)strlen(exited));
    close(fd);
    while (agents_next(&p.agents) == NULL) {
        agents_go_on(&p.agents);
        usleep(10000);
    }
    CHECK_EQ(agents_end(again, &end, NULL), 0);
    CHECK_EQ(end.outcome.kind, OUTCOME_EXITED);
    CHECK(!end.again);
    wire_close(&far);
    wire_close(&far_other);
    pool_close(&p);
}

/* An agent that ends takes nothing more, and what it was given meanwhile is
 * another one's. */
TEST(agents_that_end_give_back_what_they_did_not_begin)
{
    struct run_end end;
    struct pool p;
    struct agents_agent *g;
    struct wire far;
    struct run *one;

    pool_open(&p);
    one = start(&p, "one");
    g = agents_add(&p.agents, NULL, "n1");
    far = connect_agent(g);
    wire_say(&far, AGENT_HELLO, "0.1.0", "1", "0", "");
    CHECK_STR(heard(&p, &far), "GO one");
    wire_say(&far, AGENT_OVER, "one", AGENT_REFUSED, "");
    CHECK_STR(heard(&p, &far), "OK one");
    CHECK(agents_next(&p.agents) == one); /* had begun, as far as is known */
    CHECK(agents_next(&p.agents) == one);
    CHECK_EQ(one->news, RUN_ENDED);
    CHECK_EQ(agents_end(one, &end, NULL), 0);
    CHECK(end.unbegun);
    one = start(&p, "one");
    CHECK_STR(heard(&p, &far), "");
    CHECK_EQ(agents_wanted(&p.agents), 1);
    agents_gone(g, "status 0", AGENTS_ORDERLY);
    CHECK_EQ(agents_wanted(&p.agents), 1);
    agents_leave(one);
    wire_close(&far);
    pool_close(&p);
}

TEST(agents_have_room_as_their_machine_has)
{
    struct pool p;
    struct agents_agent *g;
    struct wire far;

    pool_open(&p);
    p.cluster.cpus = 2;
    p.wishes.memory = (uint64_t)1 << 30;
    p.wishes.devices = 1;
    g = agents_add(&p.agents, NULL, "n1");
    far = connect_agent(g);
    wire_say(&far, AGENT_HELLO, "0.1.0", "16", "8589934592", "0,3,GPU-abc");
    CHECK_STR(heard(&p, &far), "");
    CHECK_EQ(g->slots, 3); /* devices; 8 by its memory and its CPUs */
    CHECK_STR(g->devices[2], "GPU-abc");
    wire_close(&far);
    pool_close(&p);
}

/* Until the clock lets it decide who goes. */
static void
go_on_in_time(struct pool *p)
{
    struct pollfd told = {.fd = p->agents.base.fd, .events = POLLIN};

    while (!agents_go_on(&p->agents))
        CHECK(poll(&told, 1, -1) > 0);
}

/* What is left for the next manager an agent keeps, however late it is heard.
 */
TEST(agents_go_when_the_others_have_room_for_all)
{
    struct pool p;
    struct agents_agent *g[2];
    struct wire far[2];
    struct run *run;
    struct run_end end;

    pool_open(&p);
    for (int i = 0; i < 2; i++) {
        g[i] = agents_add(&p.agents, NULL, "n");
        far[i] = connect_agent(g[i]);
        wire_say(&far[i], AGENT_HELLO, "0.1.0", "1", "0", "");
        wire_flush(&far[i], NULL);
    }
    run = start(&p, "one");
    p.agents.base.most = 2;
    go_on_in_time(&p); /* until it has looked at the clock, */
    go_on_in_time(&p); /* and with all that was said */
    CHECK_EQ(g[0]->leaving + g[1]->leaving, 0);
    p.agents.base.most = 1;
    go_on_in_time(&p);
    CHECK_EQ(g[0]->leaving + g[1]->leaving, 1);
    CHECK_EQ(g[0]->leaving ? g[0]->used : g[1]->used, 0);
    agents_stop(run, RUN_GIVE_UP);
    agents_end(run, &end, NULL);
    pool_close(&p);
    wire_close(&far[0]);
    wire_close(&far[1]);
}

TEST(agents_keep_what_a_manager_has_left)
{
    struct pool p;
    struct agents_agent *g;
    struct wire far;

    pool_open(&p);
    agents_leave(start(&p, "one"));
    g = agents_add(&p.agents, NULL, "n1");
    far = connect_agent(g);
    wire_say(&far, AGENT_HELLO, "0.1.0", "1", "0", "", "one", "");
    wire_say(&far, AGENT_OVER, "one", AGENT_ENDED, exited);
    CHECK_STR(heard(&p, &far), "");
    wire_close(&far);
    pool_close(&p);
}

/* An earlier manager's trial has the devices that it was given, and none of
 * them is given out again. */
TEST(agents_hold_the_devices_of_what_they_have)
{
    struct pool p;
    struct agents_agent *g;
    struct runner_phase phase;
    struct run *first, *second;
    struct wire far;
    char folder[4200];

    pool_open(&p);
    p.wishes.devices_managed = true;
    p.wishes.devices = 1;
    g = agents_add(&p.agents, NULL, "n1");
    snprintf(folder, sizeof folder, "%s/one", p.agents.folder);
    mkdir(folder, 0700);
    phase = (struct runner_phase){.folder = folder};
    first = agents_adopt(&p.agents.base, NULL, &phase);
    CHECK(first != NULL);
    second = start(&p, "two");
    far = connect_agent(g);
    wire_say(&far, AGENT_HELLO, "0.1.0", "8", "0", "4,7", "one", "4");
    CHECK_STR(heard(&p, &far), "GO two");
    CHECK_EQ(g->devices_used, 3);
    agents_leave(first);
    CHECK_EQ(g->devices_used, 2);
    agents_leave(second);
    wire_close(&far);
    pool_close(&p);
}
