// Linux calls that the toolchain's Glibc module leaves out.
// No _GNU_SOURCE here: the Glibc module is built without it, and both modules must agree on fd_set and similar types.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC; accept4 needs _GNU_SOURCE.
int clinux_accept(int listener, struct sockaddr *peer, socklen_t *length);
/// The user ID and process ID behind the other end of a UNIX-domain socket; struct ucred needs _GNU_SOURCE.
int clinux_peer(int socket, unsigned *user, int *process);
/// Names the calling thread, with at most 15 bytes; pthread_setname_np needs _GNU_SOURCE.
void clinux_name_thread(const char *name);
/// Pins a process (0: the calling thread) to one processor; cpu_set_t needs _GNU_SOURCE.
int clinux_pin(int process, int processor);
/// Sets the descriptor limit of a process, up to its hard limit; prlimit needs _GNU_SOURCE.
int clinux_limit_descriptors(int process, unsigned long long most);
/// Bytes that malloc counts as free in all its arenas, including those returned to the system; Swift's module has no malloc.h.
long clinux_free_bytes(void);
/// Returns free pages of all arenas to the system; Swift's module has no malloc.h.
void clinux_trim_memory(void);
/// Keeps the memory of the process, which has secrets, out of core files, and away from other processes of the same user; prctl is
/// variadic. Returns 0, or -1 with errno set.
int clinux_forbid_dumps(void);
/// Number of the process's arguments, its name included. Swift's runtime searches for them next to the environment, and fails if
/// a preloaded library has moved the environment.
int clinux_argument_count(void);
/// The argument at an index from 0; valid for the lifetime of the process.
const char *clinux_argument(int at);
