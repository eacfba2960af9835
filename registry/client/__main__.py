"""Entry point of `python -m skillsite_client`."""

import sys

from registry.client.command import main

sys.exit(main())
