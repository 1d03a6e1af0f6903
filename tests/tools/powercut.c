/* SPDX-License-Identifier: MIT */
/* powercut SEED LOG RESULTS - leaves of a command log what the loss of power
 * may: all that its sync marks vouch for, or LOG.synced (see preload/synced.c)
 * where that is more, and of what stands behind that any blocks, in the places
 * of others zeros or what a disk had there before; the same of the packs of
 * trials beside it, by their .synced alone; of the results what stands behind
 * RESULTS.synced, or some of it; with CUT_TRIALS set any part of the files in
 * trials' folders, which nobody syncs then while a manager lives.  Prints how
 * many bytes are durable, of how many. */
#include "core/err.h"
#include "core/number.h"
#include "log/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512

static uint64_t state;

static uint64_t
draw(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

static void
die(const char *what)
{
    perror(what);
    exit(2);
}

/* What was synced and has no mark yet. */
static uint64_t
synced_of(const char *log)
{
    char path[4096], text[32] = "";
    uint64_t synced = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s.synced", log);
    f = fopen(path, "r");
    if (f != NULL && fgets(text, sizeof text, f) != NULL)
        synced = strtoull(text, NULL, 10);
    if (f != NULL)
        fclose(f);
    return synced;
}

/* How much of the log its marks vouch for.  The cut before may have taken its
 * head, when nothing of it had been synced, and come back too soon for a new
 * one. */
static uint64_t
durable_of(const char *path)
{
    struct err err = {0};
    struct log_reader *f = log_open(path, 0, &err);
    uint64_t durable = 0, offset;
    struct record r;

    while (f != NULL && log_next(f, &r, &err) == LOG_RECORD) {
        if (r.kind != RECORD_SYNC)
            continue;
        offset = log_offset(f);
        if (r.len > 0)
            number_parse_u64(r.payload, r.len, &offset);
        if (offset > durable)
            durable = offset;
    }
    log_close(f);
    if (f == NULL && synced_of(path) > 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(2);
    }
    return durable;
}

/* What is written there from now on has not been synced before. */
static void
forget_synced(const char *log, uint64_t durable)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof path, "%s.synced", log);
    f = access(path, F_OK) == 0 ? fopen(path, "w") : NULL;
    if (f != NULL)
        fprintf(f, "%020" PRIu64 "\n", durable);
    if (f != NULL && fclose(f) != 0)
        die(path);
}

static void
lose_block(int fd, uint64_t at)
{
    char block[BLOCK] = {0};

    if (draw(2) == 0)
        for (size_t i = 0; i < BLOCK; i++)
            block[i] = (char)draw(256);
    if (pwrite(fd, block, BLOCK, (off_t)at) != BLOCK)
        die("pwrite");
}

static uint64_t
size_of(int fd)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        die("log");
    return (uint64_t)st.st_size;
}

static void
cut(int fd, uint64_t to)
{
    if (ftruncate(fd, (off_t)to) != 0)
        die("ftruncate");
}

static void
lose_of_trial(const char *folder)
{
    static const char *const names[] = {"exit", "metrics", "stdout"};
    char path[8192];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int fd;

        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        fd = draw(4) == 0 ? open(path, O_RDWR) : -1;
        if (fd < 0)
            continue;
        cut(fd, draw(2) == 0 ? 0 : draw(size_of(fd) + 1));
        close(fd);
    }
}

/* `results` lies beside them. */
static void
lose_of_trials(const char *results)
{
    char path[4096];
    struct dirent **all;
    int n;

    snprintf(path, sizeof path, "%.*s/trials",
             (int)(strrchr(results, '/') - results), results);
    n = scandir(path, &all, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char folder[4096 + 256];

        snprintf(folder, sizeof folder, "%s/%s", path, all[i]->d_name);
        if (all[i]->d_name[0] != '.')
            lose_of_trial(folder);
        free(all[i]);
    }
    if (n >= 0)
        free(all);
}

/* Loses any blocks behind what is durable, and any part of the end. */
static void
lose(int fd, uint64_t durable, uint64_t size)
{
    for (uint64_t at = (durable + BLOCK - 1) / BLOCK * BLOCK;
         at + BLOCK <= size; at += BLOCK)
        if (draw(4) == 0)
            lose_block(fd, at);
    if (size > durable && draw(2) == 0)
        cut(fd, durable + draw(size - durable));
}

static void
lose_packs(const char *log)
{
    const char *slash = strrchr(log, '/');
    char pattern[4096];
    glob_t packs;

    snprintf(pattern, sizeof pattern, "%.*s/trials/*.tar.gz",
             slash == NULL ? 1 : (int)(slash - log), slash == NULL ? "." : log);
    if (glob(pattern, 0, NULL, &packs) != 0)
        return;
    for (size_t i = 0; i < packs.gl_pathc; i++) {
        int fd = open(packs.gl_pathv[i], O_RDWR);
        uint64_t durable = synced_of(packs.gl_pathv[i]);

        lose(fd, durable, size_of(fd));
        close(fd);
    }
    globfree(&packs);
}

int
main(int argc, char **argv)
{
    uint64_t durable, size, at;
    int fd;

    if (argc != 4) {
        fprintf(stderr, "usage: powercut SEED LOG RESULTS\n");
        return 2;
    }
    state = strtoull(argv[1], NULL, 10);
    fd = open(argv[2], O_RDWR | O_CREAT, 0600); /* or it has no log yet */
    size = size_of(fd);
    if (size > 0) {
        durable = durable_of(argv[2]);
        at = synced_of(argv[2]);
        if (at > durable && at <= size)
            durable = at;
        forget_synced(argv[2], durable);
        printf("durable: %llu of %llu bytes\n", (unsigned long long)durable,
               (unsigned long long)size);
        lose(fd, durable, size);
    }
    close(fd);
    fd = open(argv[3], O_RDWR);
    size = size_of(fd);
    at = synced_of(argv[3]);
    if (at < size)
        cut(fd, at + draw(size - at + 1));
    forget_synced(argv[3], at < size ? at : size);
    close(fd);
    if (getenv("CUT_TRIALS") != NULL)
        lose_of_trials(argv[3]);
    lose_packs(argv[2]);
    return 0;
}
