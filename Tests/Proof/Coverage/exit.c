// Has ccsd, which ends with _exit, write its counters: exit runs what writes them.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void _exit(int code) {
    if (strcmp(program_invocation_short_name, "ccsd") == 0) exit(code);
    for (;;) syscall(SYS_exit_group, code);
}
