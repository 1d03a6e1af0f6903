/* SPDX-License-Identifier: MIT */
/* folder.h - the folders of NNI's PBTTuner among a trial's parameters,
 * ROOT/MEMBER/TURN; for the shells of pbt and pbt_replay. */
#ifndef PBT_FOLDER_H
#define PBT_FOLDER_H

#include "tunepipe/shell.h"

#include <stdio.h>
#include <string.h>

#define FOLDER_ROOT_MAX 4000 /* bytes */

/* What is wrong with all_checkpoint_dir; NULL: nothing, or there is none. */
static inline const char *
folder_wrong(const char *root)
{
    if (root == NULL)
        return NULL;
    if (root[0] == '\0')
        return "all_checkpoint_dir: is empty, expected a folder or null";
    if (strlen(root) > FOLDER_ROOT_MAX)
        return "all_checkpoint_dir: expected at most 4000 bytes";
    return NULL;
}

static inline void
folder_name(const struct tp_host *host, const char *root, const char *key,
            uint64_t member, uint64_t turn)
{
    char path[FOLDER_ROOT_MAX + 64];
    size_t len = strlen(root);

    snprintf(path, sizeof path, "%s%s%llu/%llu", root,
             len > 0 && root[len - 1] == '/' ? "" : "/",
             (unsigned long long)member, (unsigned long long)turn);
    tp_extra(host, key, path);
}

/* root NULL: none are named. */
static inline void
folder_both(const struct tp_host *host, const char *root,
            const uint64_t load[2], const uint64_t save[2])
{
    if (root == NULL)
        return;
    folder_name(host, root, "load_checkpoint_dir", load[0], load[1]);
    folder_name(host, root, "save_checkpoint_dir", save[0], save[1]);
}

#endif
