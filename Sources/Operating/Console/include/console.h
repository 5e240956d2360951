// The files of the console, embedded in the program.
#pragma once

#include <stddef.h>

/// A file: its path below files, and its bytes, which are part of the program.
struct console_file {
    const char *path;
    const unsigned char *bytes;
    size_t count;
};

/// The number of files.
size_t console_count(void);

/// Returns a file by its index.
const struct console_file *console_file(size_t index);
