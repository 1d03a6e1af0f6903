/* SPDX-License-Identifier: MIT */
/* tuner_mode.h - which way a tuner searches that was not told: the default of
 * its argument optimize_mode.  The file is loaded in a process of its own,
 * because it may be any.  Before any thread is started. */
#ifndef CLI_TUNER_MODE_H
#define CLI_TUNER_MODE_H

struct experiment;

/* Where neither the tuner nor the assessor of the configuration is told, and
 * the tuner has a default, that becomes the experiment's. */
void tuner_mode_fill(struct experiment *x);

#endif
