/* SPDX-License-Identifier: MIT */
/* label_keys.h - how the keys for labels are read (labels.h), for the table in
 * keys.c.  Inside src/config only. */
#ifndef CONFIG_LABEL_KEYS_H
#define CONFIG_LABEL_KEYS_H

#include "config/reader.h"

/* The target of each is the struct labels. */
key_set label_globs;   /* trialLabels: a glob, or a list */
key_set label_machine; /* machineLabels: a label, or a list */
key_set label_devices; /* deviceLabels: of an index, either */

#endif
