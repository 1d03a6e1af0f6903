/* SPDX-License-Identifier: MIT */
/* job.h - what each check works with, in its child; for the checks. */
#ifndef CHECK_JOB_H
#define CHECK_JOB_H

#include "check/child.h"

struct spaces;

struct job {
    const struct plugin *plugin;
    const char *args;
    struct child_page *page;
    int answers_fd; /* conformance, determinism: gets the answers */
    const struct spaces *spaces, *extremes;
    bool saves; /* saving it was found to work */
};

/* Each says what it finds with child_find(): see check.h. */
void job_load(const struct job *job);
void job_conformance(const struct job *job);
void job_saving(const struct job *job);
void job_extremes(const struct job *job);
void job_surroundings(const struct job *job);
void job_leaks(const struct job *job);
void job_latency(const struct job *job);
void job_determinism(const struct job *job);

/* What else is determinism's: before the plugin is loaded a second time, makes
 * everything different that must not matter. */
void job_displace(void);

/* One life of some length, in the mixed space or in what the tuner takes.  0,
 * or -1 and it is told. */
int job_live(const struct job *job, struct surroundings *watch);

#endif
