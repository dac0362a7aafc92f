"""`replay`: the stored request made again, and compared to the byte with the one that was sent."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from threadline.context.contents import content_bytes
from threadline.context.manifest import LLMInputManifest
from threadline.context.materialise import materialise
from threadline.errors import IntegrityError
from threadline.messages.message import Request
from threadline.ports.store import Naming

__all__ = ["Replay", "replay"]


class Replay(Struct, frozen=True, kw_only=True):
    """A request made again: `body` is its JSON, byte for byte what was sent."""

    request: Request
    body: bytes


def replay(manifest: LLMInputManifest, contents: Mapping[str, bytes], naming: Naming) -> Replay:
    """The request of a call in the past.

    Args:
        manifest: of the call.
        contents: everything it names.
        naming: how contents were named.

    Raises:
        IntegrityError: a content is not what its name says, or the request is not the one that was sent.
        NotFoundError: a content is missing; `fields["ref"]` names it.
        ConfigurationError: the manifest was made by other rules.
    """
    request = materialise(manifest, contents, naming=naming)
    body = content_bytes(request.wire, "json")
    if manifest.request_digest is not None and naming(body) != manifest.request_digest:
        raise IntegrityError("the request made again is not the one that was sent", ref=manifest.request_digest)
    return Replay(request=request, body=body)
