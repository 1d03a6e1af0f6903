/* SPDX-License-Identifier: MIT */
/* labels.h - words by which a trial chooses the machine and its devices: labels
 * of these, and the globs (fnmatch(3)) that a trial asks for, each of which has
 * to match a label as a whole.  A device has the labels of the machine as well.
 * Immutable once read. */
#ifndef CONFIG_LABELS_H
#define CONFIG_LABELS_H

#include <stddef.h>

#define LABELS_GLOBS_MAX 16
#define LABELS_MAX 1024
#define LABEL_LEN_MAX 200
#define LABELS_MACHINE (-1) /* in the place of a device's index */

struct buf;

struct label {
    int device; /* index of the device that has it, or LABELS_MACHINE */
    char *text;
};

struct labels {
    char *globs[LABELS_GLOBS_MAX]; /* trialLabels */
    size_t n_globs;
    struct label *of; /* machineLabels, deviceLabels */
    size_t n;
};

/* Names that count as labels, too; each may be NULL. */
struct label_names {
    const char *machine, *device;
};

/* Adds a copy of a label; -1: out of memory. */
int labels_add(struct labels *l, int device, const char *text);
void labels_fini(struct labels *l);

/* The first glob that no label of the device (or machine) and none of the names
 * matches; NULL: each is matched. */
const char *labels_lack(const struct labels *l, int device,
                        const struct label_names *names);

/* Appends "'a', 'b'": the device's own labels and name, or the machine's. */
void labels_list(const struct labels *l, int device, const char *name,
                 struct buf *out);

#endif
