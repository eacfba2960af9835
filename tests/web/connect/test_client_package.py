"""Tests for the source code of the Python client as a package of its own."""

import re
from pathlib import Path

import pytest

import registry
from registry.web.connect import client_package

ROOT = Path(registry.__path__[0])


def tree(root: Path, **modules: str) -> Path:
    for name, source in modules.items():
        path = root.joinpath("registry", *name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        (path.parent / "__init__.py").touch()
    return root / "registry"


def test_only_modules_that_the_client_imports_are_included(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        client__a="def f():\n    from registry.core.text import diff\n",
        core__text__diff="from registry.lib.lru import Lru\n",
        core__text__patch="",
        core__paths="",
        lib__lru="class Lru: ...\n",
        services__skills="",
    )
    package = "skillsite_client"
    assert {name: source.decode() for name, source in client_package.files(root).items() if source} == {
        f"{package}/a.py": "def f():\n    from skillsite_client._core.text import diff\n",
        f"{package}/_core/text/diff.py": "from skillsite_client._lib.lru import Lru\n",
        f"{package}/_lib/lru.py": "class Lru: ...\n",
    }
    empty = {name for name, source in client_package.files(root).items() if not source}
    assert empty == {f"{package}/{place}__init__.py" for place in ("", "_core/", "_core/text/", "_lib/")}


def test_text_beside_imports_stays_as_it_is(tmp_path: Path) -> None:
    source = '''"""from registry.client import a"""
from registry.client import a  # from registry.core
é = "from registry.client import a"; from registry.client.a import b
from registry_of_others import c
'''
    found = client_package.files(tree(tmp_path, client__a="b = 1\n", client__z=source))["skillsite_client/z.py"]
    assert found.decode().splitlines() == [
        '"""from registry.client import a"""',
        "from skillsite_client import a  # from registry.core",
        'é = "from registry.client import a"; from skillsite_client.a import b',
        "from registry_of_others import c",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "import registry",
        "import os, registry.client.b",
        "import registry.client.b as b",
        "from registry import client",
        "from . import b",
        "from .b import c",
        "from  registry.client import b",
        "from registry.client \\\n    import b",
    ],
)
def test_an_import_that_cannot_be_renamed_is_an_error(tmp_path: Path, statement: str) -> None:
    with pytest.raises(ValueError, match=r"a\.py:2: .*from registry\.package import name"):
        client_package.files(tree(tmp_path, client__a=f"x = 1\n{statement}\n", client__b=""))


def test_the_client_of_this_site_differs_in_its_imports_only() -> None:
    for name, source in client_package.files(ROOT).items():
        place = re.sub("^skillsite_client/", "client/", re.sub("^skillsite_client/_(?=core/|lib/|remote/)", "", name))
        original = (ROOT / place).read_bytes()
        pairs = list(zip(original.splitlines(), source.splitlines(), strict=True))
        assert all(old.lstrip().startswith(b"from registry.") for old, new in pairs if old != new), name
