"""`LLMInputManifest`: every block of one call's input, its source, its cost, its reason; and what was left out."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.context.cache_plan import CachePlan
from threadline.context.items import ContentFormat, Delivery, Trust
from threadline.context.plan import Omission
from threadline.errors import IntegrityError, InvalidInputError
from threadline.journal.envelope import Schema
from threadline.journal.frozen import freeze
from threadline.messages.message import Dialect, Role
from threadline.ports.store import Naming

__all__ = [
    "ASSEMBLY_VERSION",
    "MANIFEST",
    "LLMInputManifest",
    "Segment",
    "SegmentCategory",
    "TokenTotals",
    "decode_manifest",
    "encode_manifest",
]

ASSEMBLY_VERSION = 1
"""Of the rules by which segments become a request: a manifest of other rules cannot be made one again."""

MANIFEST = Schema("llm_input_manifest", 1)

SegmentCategory: TypeAlias = Literal["instruction", "knowledge", "conversation"]

_EMPTY: Any = freeze({})


class Segment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One block of the input. What is as usual is not written down: a call may have hundreds.

    Attributes:
        position: its place in the request, from 0; system text comes first.
        content_ref: what it says: text, or a wire object in the manifest's dialect.
        item_id: the item of the policy's input, or the policy's own.
        tokens: what it costs in the request.
        bytes: of what it adds to the request, as JSON.
        reason: why it is there.
        group: which messages stay together; None outside the conversation.
        label: for what is shown as data, the source that its fence names.
        metadata: the item's own.
    """

    position: int
    category: SegmentCategory
    kind: str
    role: Role
    content_ref: str
    content_format: ContentFormat
    item_id: str
    tokens: int
    bytes: int
    reason: str
    trust: Trust
    origin: str
    delivery: Delivery = "chat_message"
    tool_call_id: str | None = None
    group: int | None = None
    label: str | None = None
    record_id: str | None = None
    source_agent_id: str | None = None
    source_execution_id: str | None = None
    llm_call_id: str | None = None
    metadata: Any = _EMPTY

    def __post_init__(self) -> None:
        if self.delivery not in get_args(Delivery):
            raise _refused("delivery must be 'chat_message' or 'ask_argument'", "delivery")
        force_setattr(self, "metadata", freeze(self.metadata) or _EMPTY)


class TokenTotals(Struct, frozen=True, kw_only=True):
    """What the request costs by category; `total` is exactly the sum of the others."""

    instruction: int = 0
    knowledge: int = 0
    tools: int = 0
    conversation: int = 0
    response_format: int = 0
    overhead: int = 0
    total: int = 0


class LLMInputManifest(Struct, frozen=True, kw_only=True):
    """The exact input of one model call, without a word of it.

    Attributes:
        segments: in the order of the request.
        model_config_ref: the configuration as JSON.
        tool_definitions_ref: the wire objects of the tools as a JSON array; None without tools.
        decisions_ref: what the policy decided, as a canonical JSON array; None for nothing.
        request_digest: the name of the request's body as JSON, which is stored nowhere: a replay must give the same.
        omissions: every candidate that was left out.
        calibration_factor: what the measure multiplied its counts by.
        policy: the class of the policy.
        plan_metadata: what the policy said of its plan.
        agent_revision, context_revision, journal_position, branch: what of the journal had been seen.

    Raises:
        InvalidInputError: positions are not 0 to n-1, the mode and the ask segments do not agree, or a value is out of
            range; `fields["rule"]` is `V22`.
    """

    call_sequence: int
    call_mode: Literal["ask", "complete"]
    segments: tuple[Segment, ...]
    model_config_ref: str
    dialect: Dialect
    agent_id: str
    execution_id: str | None = None
    model: str | None = None
    tool_definitions_ref: str | None = None
    response_schema_ref: str | None = None
    decisions_ref: str | None = None
    request_digest: str | None = None
    omissions: tuple[Omission, ...] = ()
    tokens: TokenTotals = TokenTotals()
    max_input_tokens: int | None = None
    calibration_factor: float = 1.0
    cache: CachePlan = CachePlan()
    policy: str = ""
    plan_metadata: Any = _EMPTY
    adapter_name: str | None = None
    adapter_version: str | None = None
    agent_revision: int = 0
    context_revision: int = 0
    journal_position: int = 0
    branch: int = 0
    assembly_policy_version: int = ASSEMBLY_VERSION

    def __post_init__(self) -> None:
        if self.call_mode not in ("ask", "complete"):
            raise _refused("call_mode must be 'ask' or 'complete'", "call_mode")
        if self.call_sequence <= 0:
            raise _refused("call_sequence must be at least 1", "call_sequence")
        ordered = tuple(sorted(self.segments, key=lambda segment: segment.position))
        if [segment.position for segment in ordered] != list(range(len(ordered))):
            raise _refused("positions must be 0 to n-1", "segments")
        force_setattr(self, "segments", ordered)
        force_setattr(self, "plan_metadata", freeze(self.plan_metadata))
        asks = sum(segment.delivery == "ask_argument" for segment in ordered)
        if asks != (1 if self.call_mode == "ask" else 0):
            raise _refused(f"mode {self.call_mode!r} with {asks} ask segments", "segments")

    @property
    def referenced_content_refs(self) -> tuple[str, ...]:
        """Every content that it names, each once: what must live as long as it does."""
        refs = (
            self.model_config_ref,
            self.tool_definitions_ref,
            self.response_schema_ref,
            self.decisions_ref,
            *(segment.content_ref for segment in self.segments),
        )
        return tuple(dict.fromkeys(ref for ref in refs if ref is not None))


def encode_manifest(manifest: LLMInputManifest) -> bytes:
    """The manifest as it is stored and named."""
    return MANIFEST.encode(manifest)


def decode_manifest(data: bytes, ref: str | None = None, naming: Naming | None = None) -> LLMInputManifest:
    """The manifest that `encode_manifest` wrote.

    Args:
        data: the stored bytes.
        ref: the name it is stored under, to be checked; then `naming` is needed too.
        naming: how contents are named.

    Raises:
        IntegrityError: the bytes are not those of this name.
        SerializationError: they are no manifest of this form: a key unknown or missing, a value of another type.
    """
    if ref is not None and naming is not None and naming(data) != ref:
        raise IntegrityError("the manifest is not what its name says", ref=ref)
    return MANIFEST.decode(data, LLMInputManifest)


def _refused(reason: str, key: str) -> InvalidInputError:
    return InvalidInputError(f"manifest: {reason}", key=key, rule="V22")
