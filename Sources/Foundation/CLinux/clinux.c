#define _GNU_SOURCE
#include "clinux.h"
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

int clinux_accept(int listener, struct sockaddr *peer, socklen_t *length) {
    return accept4(listener, peer, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int clinux_peer(int socket, unsigned *user, int *process) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *user = credentials.uid;
    *process = credentials.pid;
    return 0;
}

void clinux_name_thread(const char *name) {
    char short_name[16] = {0};
    strncpy(short_name, name, sizeof short_name - 1);
    pthread_setname_np(pthread_self(), short_name);
}

int clinux_pin(int process, int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return sched_setaffinity(process, sizeof set, &set);
}

int clinux_limit_descriptors(int process, unsigned long long most) {
    struct rlimit limit;
    if (prlimit(process, RLIMIT_NOFILE, NULL, &limit) != 0) return -1;
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    return prlimit(process, RLIMIT_NOFILE, &limit, NULL);
}

long clinux_free_bytes(void) { return (long)mallinfo2().fordblks; }

void clinux_trim_memory(void) { malloc_trim(0); }

int clinux_forbid_dumps(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static int argument_count;
static char **arguments;

// Runs before main, and before the environment can be moved, through which Swift's runtime finds the arguments.
__attribute__((constructor)) static void keep_arguments(int count, char **given) {
    argument_count = count;
    arguments = given;
}

int clinux_argument_count(void) { return argument_count; }

const char *clinux_argument(int at) { return arguments[at]; }
