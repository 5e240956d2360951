"""A ccsd for a test run of pytest: `plugin` has the fixtures, `server` the process, `child/ccsd_hostmap` the names of Google's hosts."""
