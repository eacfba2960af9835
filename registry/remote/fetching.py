"""Download of one definition from its source, within the limits of a call."""

import time

from registry.core.bundle import Bundle
from registry.core.resolve.definitions import Definition
from registry.remote import download, s3
from registry.remote.budget import MeteredDownload
from registry.remote.outbound_http import Failure
from registry.remote.reach import Bounds, Reach


def fetch(entry: Definition, reach: Reach, metered: MeteredDownload, *, deadline: float) -> Bundle:
    seconds_left = deadline - time.monotonic()
    if seconds_left < 0.01:
        raise Failure(late(reach.bounds))
    seconds = round(min(reach.bounds.each, seconds_left), 2)
    if entry.s3_path:
        return s3.fetch(entry.s3_path, storage=reach.storage, seconds=seconds, limits=reach.limits, count=metered.count)
    return download.fetch(
        entry.url, seconds=seconds, allowed=reach.allowed, limits=reach.limits, redirects=reach.bounds.redirects,
        metered=metered,
    )  # fmt: skip


def late(bounds: Bounds) -> str:
    return f"No complete response within {bounds.all:g} seconds, the limit for a request."
