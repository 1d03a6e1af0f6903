/* SPDX-License-Identifier: MIT */
/* note.h - what a trial leaves in its folder for its manager to judge: texts, a
 * line each and each once (trial/files.h, TRIAL_NOTE_MAX).  Any process. */
#ifndef TRIAL_NOTE_H
#define TRIAL_NOTE_H

#include <stddef.h>

/* Adds the text to FOLDER/FILE, unless it stands there, has control characters
 * or as a line `max` bytes or more; a failure costs the note. */
void note_add(const char *folder, const char *file, const char *text,
              size_t max);

#endif
