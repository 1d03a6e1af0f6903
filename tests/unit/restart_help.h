/* SPDX-License-Identifier: MIT */
/* restart_help.h - sessions under a manager of NNI's that is started again:
 * with a tuner and an assessor that write down what they are told. */
#ifndef TESTS_RESTART_HELP_H
#define TESTS_RESTART_HELP_H

#include "dispatcher_help.h"

static inline void
begin(struct drive *d, const char *assessor)
{
    drive_setup(d, "tells", NULL, assessor, NULL);
    d->setup.policy = (struct policy){.stopped = TELL_LATEST, .nni = true};
    drive_start(d);
    CHECK_STR(drive_send(d, "IN", "%s", HELP_SPACE), "1 ID \n");
}

/* What was said by plugins, and so on, since the last call; borrowed. */
static inline const char *
news(struct drive *d)
{
    static char text[65536];
    static size_t seen;
    const char *all = drive_lines(d);

    if (strlen(all) < seen)
        seen = 0;
    snprintf(text, sizeof text, "%s", all + seen);
    seen = strlen(all);
    return text;
}

/* How often the tuner and the assessor said that; in what news() gave. */
static inline int
times(const char *text, const char *what)
{
    int n = 0;

    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        n++;
    }
    return n;
}

static inline void
restart(struct drive *d)
{
    const char *sent = drive_send(d, "IN", "%s", HELP_SPACE);
    char want[40];

    snprintf(want, sizeof want, "%" PRIu64 " ID \n", d->arrivals);
    CHECK_STR(sent, want);
}

#define POINT(x, value, job)                                           \
    "{\"parameter\":{\"x\":" x "},\"value\":" value ",\"trialJobId\":" \
    "\"" job "\"}"
#define IMPORT(x, value) "{\"parameter\":{\"x\":" x "},\"value\":" value "}"
#define RECORD(id, x)                                            \
    "{\"parameter_id\":" id ",\"parameter_source\":\"resumed\"," \
    "\"parameters\":{\"x\":" x "},\"parameter_index\":0}"

#endif
