"""A pytest plugin that sends fewer messages from the workers of pytest-xdist to the process that started them."""

import pytest
from _pytest.runner import runtestprotocol


class FewReports:
    """Report only the result of a test. Its begin, set-up, tear-down and end are four more messages for each test."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") and config.getoption("durations") is None:
        config.pluginmanager.register(FewReports())
