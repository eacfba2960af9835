"""The exit codes of the command, which scripts rely on."""

DONE, DIFFERS, USAGE, UNREACHABLE, REFUSED, UNTRUSTWORTHY, LOCAL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130

EXPLAINED = """\
exit codes:
  0  done
  1  pull --check: something differs; pull: something was left as it is
  2  wrong or missing arguments or settings
  3  the site cannot be reached, and the cache has no answer
  4  the site refused: not allowed, not found, not valid, or too many requests
  5  an answer was damaged or did not match its digest
  6  a file or directory on this machine stands in the way
"""
