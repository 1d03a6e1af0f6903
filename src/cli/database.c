/* SPDX-License-Identifier: MIT */
#include "cli/database.h"

#include "cli/module.h"
#include "store/sqlite.h"

const struct sql *
database_load(const char *what, struct err *err)
{
    const struct module module = {
        .file = "sqlite.so",
        .symbol = SQLITE_SYMBOL,
        .what = what,
        .name = "SQLite",
        .package = "libsqlite3-dev",
    };

    return module_load(&module, err);
}
