"""Skills for deepagents: a read-only backend with one directory per skill.

As the only backend with `skills=["/"]`, or beside others:
`CompositeBackend(default=…, routes={"/skills/": SkillsiteBackend(client)})` with `skills=["/skills/"]`.
The instructions of the agent are the system prompt: `create_deep_agent(system_prompt=backend.instructions(), …)`.
"""

from base64 import b64encode

from deepagents.backends.protocol import (
    FILE_NOT_FOUND,
    BackendProtocol,
    EditResult,
    FileData,
    FileDownloadResponse,
    FileInfo,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.utils import slice_read_response

from registry.client.errors import ClientError, NotFound
from registry.client.loaders.loading import Prompt, chosen
from registry.client.skill_source import SkillSource

_READ_ONLY = "The skills are read-only. Propose a change instead."


class SkillsiteBackend(BackendProtocol):
    """A read-only backend. With `for_prompt`, it lists only the best skills for this prompt."""

    def __init__(self, client: SkillSource, *, for_prompt: Prompt | None = None) -> None:
        self._client, self._prompt = client, for_prompt

    def instructions(self) -> str:
        """Return the instructions of the agent without the catalog, which deepagents adds."""
        return self._client.instructions(catalog="none").text

    def ls(self, path: str) -> LsResult:
        name, _, below = path.strip("/").partition("/")
        try:
            if not name:
                names = chosen(self._client, self._prompt)
                if names is None:
                    names = tuple(one.name for one in self._client.effective().skills)
                return LsResult(entries=[FileInfo(path=f"/{name}/", is_dir=True) for name in names])
            files = {entry.path: entry.size for entry in self._client.read(name).files}
        except ClientError as error:
            return LsResult(error=error.message)
        return LsResult(entries=_entries(f"/{name}/", f"{below}/" if below else "", files))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        try:
            content = self._content(file_path)
        except ClientError as error:
            return ReadResult(error=error.message)
        try:
            return slice_read_response(FileData(content=content.decode(), encoding="utf-8"), offset, limit)
        except UnicodeDecodeError:
            return ReadResult(file_data=FileData(content=b64encode(content).decode(), encoding="base64"))

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [self._download(path) for path in paths]

    def write(self, file_path: str, content: str) -> WriteResult:
        return WriteResult(error=_READ_ONLY)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        return EditResult(error=_READ_ONLY)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Return no matches, because a search over all files of an agent must not download every skill."""
        return GlobResult(matches=[])

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        return GrepResult(matches=[])

    def _content(self, path: str) -> bytes:
        name, _, below = path.strip("/").partition("/")
        if not name:
            raise NotFound(f"There is no file {path!r}.", status=404)
        return self._client.file(name, below).content

    def _download(self, path: str) -> FileDownloadResponse:
        try:
            return FileDownloadResponse(path=path, content=self._content(path))
        except NotFound:
            return FileDownloadResponse(path=path, error=FILE_NOT_FOUND)
        except ClientError as error:
            return FileDownloadResponse(path=path, error=error.message)


def _entries(root: str, below: str, files: dict[str, int]) -> list[FileInfo]:
    """Return the files and directories directly below one directory of a skill."""
    inside = {path.removeprefix(below): size for path, size in files.items() if path.startswith(below)}
    directories = {path.partition("/")[0] for path in inside if "/" in path}
    return [FileInfo(path=f"{root}{below}{name}/", is_dir=True) for name in sorted(directories)] + [
        FileInfo(path=f"{root}{below}{path}", is_dir=False, size=size)
        for path, size in inside.items()
        if "/" not in path
    ]
