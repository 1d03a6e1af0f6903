/* SPDX-License-Identifier: MIT */
#include "control/control.h"

#include "core/err.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int
control_address_open(struct control_address *a, const char *folder,
                     struct err *err)
{
    size_t size = sizeof a->un.sun_path;
    int len;

    *a = (struct control_address){.un = {.sun_family = AF_UNIX},
                                  .folder_fd = -1};
    len = snprintf(a->un.sun_path, size, "%s/" FOLDER_CONTROL, folder);
    if (len >= 0 && (size_t)len < size)
        return 0;
    a->folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (a->folder_fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open the folder", folder);
    snprintf(a->un.sun_path, size, "/proc/self/fd/%d/" FOLDER_CONTROL,
             a->folder_fd);
    return 0;
}

void
control_address_close(struct control_address *a)
{
    if (a->folder_fd >= 0)
        close(a->folder_fd);
    a->folder_fd = -1;
}
