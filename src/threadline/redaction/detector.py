"""`SecretDetector`: access keys, tokens, private keys and passwords, found by detect-secrets' own detectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from threadline.errors import ConfigurationError
from threadline.ports.redaction import SecretFound

__all__ = ["SecretDetector"]

_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
"""A key goes as a whole; the detectors see its first line only."""

_VENDOR_KEY = re.compile(r"\bsk-(?:proj-|ant-|svcacct-)?[A-Za-z0-9_-]{20,}")
"""API keys of OpenAI and Anthropic, as both write them; none of the detectors knows them."""


class SecretDetector:
    """Finds secrets by their form. Entropy is not looked at: in conversations it finds hashes and prose.

    Args:
        patterns: more kinds to find, by name: a pattern whose whole match is the secret.

    Raises:
        ConfigurationError: `bc-detect-secrets` is not installed.
    """

    def __init__(self, patterns: Mapping[str, re.Pattern[str]] | None = None) -> None:
        try:
            from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
            from detect_secrets.plugins.base import RegexBasedDetector
            from detect_secrets.plugins.keyword import KeywordDetector
        except ImportError as error:
            raise ConfigurationError("no secret detector is installed: pip install 'threadline[redact]'") from error
        self._patterns: list[tuple[str, re.Pattern[str]]] = [
            ("private key", _PRIVATE_KEY),
            ("api key", _VENDOR_KEY),
            *(patterns or {}).items(),
        ]
        known: Any = get_mapping_from_secret_type_to_class()
        plugin: Any
        for kind, plugin in sorted(known.items()):
            if issubclass(plugin, RegexBasedDetector):
                denylist: list[re.Pattern[str]] = list(cast("Any", plugin)().denylist)
                self._patterns += ((str(kind).lower(), pattern) for pattern in denylist)
        self._keywords: Any = KeywordDetector()

    def find(self, text: str) -> list[SecretFound]:
        """See `Redactor.find`."""
        found = [
            SecretFound(kind=kind, start=match.start(), end=match.end())
            for kind, pattern in self._patterns
            for match in pattern.finditer(text)
            if match.end() > match.start()
        ]
        return _apart([*found, *self._assigned(text)])

    def _assigned(self, text: str) -> Iterator[SecretFound]:
        """Values given to names like `password`."""
        at = 0
        for line in text.splitlines(keepends=True):
            values: Iterable[str] = self._keywords.analyze_string(line.rstrip("\r\n"))
            for value in values:
                start = line.find(value)
                if value and start >= 0:
                    yield SecretFound(kind="password", start=at + start, end=at + start + len(value))
            at += len(line)


def _apart(found: list[SecretFound]) -> list[SecretFound]:
    """Sorted and joined where they overlap; the one that begins first names the kind."""
    out: list[SecretFound] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if out and one.start < out[-1].end:
            out[-1] = SecretFound(kind=out[-1].kind, start=out[-1].start, end=max(out[-1].end, one.end))
        else:
            out.append(one)
    return out
