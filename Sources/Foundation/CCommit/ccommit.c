#include "ccommit.h"

#ifndef CCS_COMMIT
#define CCS_COMMIT ""
#endif

const char *ccommit(void) { return CCS_COMMIT; }
