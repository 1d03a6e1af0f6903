/* SPDX-License-Identifier: MIT */
/* folder.h - the folders of NNI's PBTTuner among a trial's parameters,
 * ROOT/MEMBER/TURN; for the shells of pbt and pbt_replay. */
#ifndef PBT_FOLDER_H
#define PBT_FOLDER_H

#include "tunepipe/shell.h"

#include <stdio.h>
#include <string.h>

#define FOLDER_ROOT_MAX 4000 /* bytes */

/* all_checkpoint_dir, or NULL for none: TP_ERR when it is no such folder, and
 * the host has been told. */
static inline int
folder_check(const struct tp_host *host, const char *root)
{
    size_t len = root == NULL ? 1 : strlen(root);

    if (len == 0)
        return tp_error(
            host, "all_checkpoint_dir: is empty, expected a folder or null");
    if (len > FOLDER_ROOT_MAX)
        return tp_error(host,
                        "all_checkpoint_dir: is %.40s..., %zu bytes long, "
                        "expected a folder of at most %d",
                        root, len, FOLDER_ROOT_MAX);
    return TP_OK;
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
