/* SPDX-License-Identifier: MIT */
/* platform.h - where trials run: the one table of what trainingService.platform
 * may name.  KIND(name) is called with each word, which is also the end of
 * runner_NAME, the operations of the kind of runner behind it
 * (runner/runner.h). */
#ifndef CONFIG_PLATFORM_H
#define CONFIG_PLATFORM_H

#define PLATFORM_LIST(KIND) KIND(local) KIND(client) KIND(slurm)

#define PLATFORM_VALUE(name) PLATFORM_##name,
enum platform { PLATFORM_LIST(PLATFORM_VALUE) PLATFORMS };

#endif
