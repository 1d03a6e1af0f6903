/* SPDX-License-Identifier: MIT */
/* peak FILE COMMAND... - runs the command, whose status it ends with; FILE gets
 * how much memory it had at most, in kilobytes. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    struct rusage used;
    int status;
    FILE *f;
    pid_t pid;

    if (argc < 3) {
        fprintf(stderr, "usage: peak FILE COMMAND...\n");
        return 2;
    }
    pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid ||
        (f = fopen(argv[1], "w")) == NULL)
        return 99;
    fprintf(f, "%ld\n", used.ru_maxrss);
    if (fclose(f) != 0)
        return 99;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
