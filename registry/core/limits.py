"""Limits on sizes, counts and lengths. Callers pass them in, because core does not read settings."""

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    archive_bytes: int = 50 * MIB
    expanded_bytes: int = 128 * MIB
    files: int = 1_000
    file_bytes: int = 16 * MIB
    ratio: int = 100
    path_chars: int = 255
    path_segments: int = 16

    skill_md_bytes: int = 512_000
    frontmatter_bytes: int = 64 * KIB
    yaml_nodes: int = 5_000
    yaml_depth: int = 20
    yaml_aliases: int = 20

    text_read_bytes: int = 128_000
    description_chars: int = 1_024
    name_chars: int = 64
    catalog_description_chars: int = 200

    soft_tokens: int = 5_000
    loud_tokens: int = 8_000
    warn_files: int = 20
    warn_bytes: int = 1 * MIB
    mcp_files: int = 512
    mcp_bytes: int = 16 * MIB


DEFAULT = Limits()
