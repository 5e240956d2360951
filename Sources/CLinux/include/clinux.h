// The Linux calls that the toolchain's Glibc module leaves out.
// No _GNU_SOURCE here: the Glibc module is built without it, and two modules must not disagree about fd_set and the like.
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
/// Names the calling thread, by at most 15 octets; pthread_setname_np needs _GNU_SOURCE.
void clinux_name_thread(const char *name);
/// Has a process (0: the calling thread) run on one processor only; cpu_set_t needs _GNU_SOURCE.
int clinux_pin(int process, int processor);
/// Lets another process have so many descriptors, or as many as its hard limit says; prlimit needs _GNU_SOURCE.
int clinux_limit_descriptors(int process, unsigned long long most);
/// Octets that malloc holds free in all its arenas, given back to the system or not; Swift's module has no malloc.h.
long clinux_free_octets(void);
/// Gives whole free pages of all arenas back to the system; for the same reason.
void clinux_give_back(void);
/// How many arguments the process was given, its name included; Swift's runtime looks for them beside the environment, and finds
/// none where a preloaded library has moved that.
int clinux_argument_count(void);
/// One of them, from 0; it lives as long as the process.
const char *clinux_argument(int at);
