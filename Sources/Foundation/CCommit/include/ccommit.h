// The commit that the programs were built from.
#pragma once

/// The ID of the commit, followed by "-dirty" if files differed from it; empty if the build did not define CCS_COMMIT.
const char *ccommit(void);
