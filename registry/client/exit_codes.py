"""Exit codes of the command. They must not change, because scripts rely on them."""

DONE, DIFFERS, USAGE, UNREACHABLE, REFUSED, UNTRUSTWORTHY, LOCAL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130

# Of `run`, `call` and `show-run`: the state of the run.
RUN_FAILED, RUN_DENIED, RUN_EXPIRED, RUN_CANCELLED, RUN_WAITING, RUN_UNFINISHED = 10, 11, 12, 13, 14, 15

EXPLAINED = """\
exit codes:
  0  done
  1  pull --check: something differs; pull: some skills were not changed; resolve: some were skipped
  2  wrong or missing arguments or settings
  3  the site cannot be reached, and the cache has no response
  4  the site refused the request: not allowed, not found, invalid, or too many requests
  5  a response was damaged or did not match its digest
  6  a file or directory on this machine cannot be used
 10  the run failed
 11  a person denied the run
 12  nobody answered a question of the run in time
 13  the run was cancelled
 14  the run still waits for a person
 15  the run is still going on
"""
