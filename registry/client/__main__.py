"""`python -m registry.client` is `skillsite-client`."""

import sys

from registry.client.command import main

sys.exit(main())
