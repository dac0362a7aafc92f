"""`ContextAssembler`: from what may be shown to the exact request and the manifest that proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct, structs

from threadline.context.cache import Compacted, plan_cache
from threadline.context.contents import content_bytes
from threadline.context.costs import block_costs, priced
from threadline.context.input import ContextPolicyInput
from threadline.context.items import ConversationItem, InstructionItem, KnowledgeItem
from threadline.context.layout import Block, DataPlace, arrange
from threadline.context.manifest import LLMInputManifest, Segment, TokenTotals, encode_manifest
from threadline.context.plan import ContextPlan, Omission
from threadline.context.rendering import Rendered, render, request_of, tools_of
from threadline.context.validation import refuse, validate_input, validate_plan
from threadline.errors import ContextBudgetExceededError
from threadline.journal.canonical import canonical_json
from threadline.messages.message import Dialect, Request, known_dialect
from threadline.ports.store import Naming
from threadline.tokens.measure import Measure, RequestCount

__all__ = ["ContextAssembler", "Finished", "Policy", "Prepared"]

Policy = Callable[[ContextPolicyInput], ContextPlan]
"""Whatever turns an input into a plan; see `ContextPolicy`."""


class Prepared(Struct, frozen=True, kw_only=True):
    """An input and the plan that a policy made of it."""

    input: ContextPolicyInput
    plan: ContextPlan


class Finished(Struct, frozen=True, kw_only=True):
    """What is to be sent, and what is to be stored first.

    Attributes:
        request: the request; its `wire` is the body to be sent.
        contents: what the manifest names and nobody has stored yet, the manifest itself included, by name.
        plan: what the policy chose; its `decisions` belong in the journal, in the manifest's own transaction.
    """

    manifest: LLMInputManifest
    manifest_ref: str
    contents: dict[str, bytes]
    request: Request
    plan: ContextPlan


class ContextAssembler:
    """Runs a policy, checks what it did, and writes the request and its manifest.

    It holds nothing open and does no I/O: whoever calls it reads the input from one consistent view, and commits what
    `finish` gives only if that view is still true.

    Args:
        policy: one callable from input to plan; it must be safe to call from several threads at once.
        measure: of the model that will be called: it prices the items and checks the request.
        naming: how contents are named.
        dialect: of the request.
        data_at: where knowledge stands; see `DataPlace`.
    """

    def __init__(
        self, *, policy: Policy, measure: Measure, naming: Naming, dialect: Dialect, data_at: DataPlace = "run"
    ) -> None:
        self._policy = policy
        self._measure = measure
        self._naming = naming
        self._dialect: Dialect = known_dialect(dialect)
        self._data_at: DataPlace = data_at

    def price(
        self, input: ContextPolicyInput, *, response_format: Any = None, known: Mapping[str, int] | None = None
    ) -> ContextPolicyInput:
        """The input in the assembler's dialect with every item's cost filled in; see `costs.priced`."""
        written = structs.replace(input, dialect=self._dialect)
        return priced(written, self._measure, response_format=response_format, known=known)

    def prepare(self, input: ContextPolicyInput) -> Prepared:
        """Runs the policy, once, on a priced input.

        Raises:
            InvalidInputError: the input or the plan breaks a rule; `fields["rule"]` says which of V1 to V19.
            ContextBudgetExceededError: what is required does not fit, or the plan leaves it out (V6, V13).
            ConfigurationError: two tools have one name (V24).
        """
        validate_input(input)
        seen = input
        if input.measure is None or input.dialect != self._dialect:
            seen = structs.replace(input, measure=input.measure or self._measure, dialect=self._dialect)
        plan = self._policy(seen)
        validate_plan(seen, plan)
        return Prepared(input=seen, plan=plan)

    def finish(
        self,
        prepared: Prepared,
        *,
        response_format: Any = None,
        adapter_name: str | None = None,
        adapter_version: str | None = None,
        branch: int = 0,
        idle_ms: int | None = None,
        previous_contents: Mapping[str, bytes] | None = None,
        compacted: Compacted | None = None,
    ) -> Finished:
        """Writes the request, checks it against the budget as a whole, and the manifest.

        Args:
            prepared: what `prepare` gave.
            response_format: the wire object that constrains the reply; the one that the input was priced with.
            adapter_name: of what will send it.
            adapter_version: the same.
            branch: of the journal, the branch that the input was read from.
            idle_ms: milliseconds since the call before, to tell whether its cache is still warm.
            previous_contents: of the manifest before, to tell the very byte where the two part.
            compacted: what a compaction for this call took away, to tell what it costs.

        Raises:
            InvalidInputError: `prepared` is no `Prepared` (V20), the plan breaks a rule, or an item's content is no
                message of the dialect.
            ContextBudgetExceededError: the request as it would be sent exceeds the budget (V21), whatever its items say
                that they cost.
        """
        if not isinstance(cast("object", prepared), Prepared):
            raise refuse("V20", f"finish takes what prepare gave, not {type(prepared).__name__}")
        given, plan = prepared.input, prepared.plan
        validate_plan(given, plan)
        blocks = arrange(plan, execution_id=given.execution_id, dialect=self._dialect, data_at=self._data_at)
        rendered = render(blocks, self._dialect)
        request = request_of(
            rendered,
            dialect=self._dialect,
            tools=tools_of([item.definition for item in plan.tools], self._dialect),
            model_config=given.model_config,
            response_format=response_format,
        )
        costs = block_costs(rendered, len(blocks), self._measure, self._dialect)
        count = self._measure.request(request)
        _check_budget(given, blocks, costs, count)
        writing = _Writing(self._naming)
        items = _by_id(plan)
        sizes = _sizes(rendered, len(blocks))
        segments = tuple(
            _segment(position, block, items[block.item_id], plan, writing, tokens=costs[position], size=sizes[position])
            for position, block in enumerate(blocks)
        )
        model: object = given.model_config.get("model")
        tools_ref = writing.json([tool.wire for tool in request.tools]) if request.tools else None
        schema_ref = None if response_format is None else writing.json(response_format)
        manifest = LLMInputManifest(
            call_sequence=given.call_sequence,
            call_mode=given.call_mode,
            segments=segments,
            model_config_ref=writing.json(given.model_config),
            dialect=self._dialect,
            agent_id=given.agent_id,
            execution_id=given.execution_id,
            model=model if isinstance(model, str) else None,
            tool_definitions_ref=tools_ref,
            response_schema_ref=schema_ref,
            decisions_ref=writing.add(canonical_json(plan.decisions)) if plan.decisions else None,
            request_digest=self._naming(content_bytes(request.wire, "json")),
            omissions=_omissions(given, plan),
            tokens=_totals(blocks, costs, count),
            max_input_tokens=given.token_budget.max_input_tokens if given.token_budget else None,
            calibration_factor=self._measure.factor,
            cache=plan_cache(
                segments,
                model=model if isinstance(model, str) else None,
                dialect=self._dialect,
                tools_ref=tools_ref,
                schema_ref=schema_ref,
                tool_tokens=count.tools,
                previous=given.previous_manifest,
                idle_ms=idle_ms,
                first_difference=_comparison(previous_contents or {}, writing.contents),
                compacted=compacted,
            ),
            policy=getattr(self._policy, "__name__", type(self._policy).__name__),
            plan_metadata=plan.metadata,
            adapter_name=adapter_name,
            adapter_version=adapter_version,
            branch=branch,
            **{key: given.metadata.get(key, 0) for key in ("agent_revision", "context_revision", "journal_position")},
        )
        data = encode_manifest(manifest)
        ref = self._naming(data)
        contents = {**writing.contents, ref: data}
        return Finished(manifest=manifest, manifest_ref=ref, contents=contents, request=request, plan=plan)


class _Writing:
    """Contents that are still to be stored."""

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self.contents: dict[str, bytes] = {}

    def add(self, data: bytes) -> str:
        ref = self._naming(data)
        self.contents[ref] = data
        return ref

    def json(self, value: Any) -> str:
        """In its own order of keys, in which it is sent: a model reads a schema from the top."""
        return self.add(content_bytes(value, "json"))


def _by_id(plan: ContextPlan) -> dict[str, InstructionItem | KnowledgeItem | ConversationItem]:
    spoken = (item for group in plan.conversation for item in group)
    return {item.id: item for item in (*plan.instruction, *plan.knowledge, *spoken)}


def _segment(
    position: int,
    block: Block,
    item: InstructionItem | KnowledgeItem | ConversationItem,
    plan: ContextPlan,
    writing: _Writing,
    *,
    tokens: int,
    size: int,
) -> Segment:
    source = item.provenance
    ref = source.content_ref or writing.add(content_bytes(block.content, block.content_format))
    kept = "required" if item.required else "pinned" if item.pinned else "policy"
    return Segment(
        position=position,
        category=block.category,
        kind=block.kind,
        role=block.role,
        content_ref=ref,
        content_format=block.content_format,
        item_id=block.item_id,
        tokens=tokens,
        bytes=size,
        reason=str(plan.reasons.get(item.id, kept)),
        trust=block.trust,
        origin=source.origin,
        delivery=block.delivery,
        tool_call_id=block.tool_call_id,
        group=block.group,
        label=block.label,
        record_id=source.record_id,
        source_agent_id=source.agent_id,
        source_execution_id=source.execution_id,
        llm_call_id=source.llm_call_id,
        metadata=item.metadata,
    )


def _sizes(rendered: Rendered, count: int) -> list[int]:
    """The bytes that each block adds to the request, as JSON."""
    sizes = [0] * count
    for number, text in rendered.system:
        sizes[number] = len(content_bytes(text, "json"))
    for number, message in rendered.messages:
        sizes[number] = len(content_bytes(message.wire, "json"))
    return sizes


def _totals(blocks: Sequence[Block], costs: Sequence[int], count: RequestCount) -> TokenTotals:
    by_category = {"instruction": 0, "knowledge": 0, "conversation": 0}
    for block, cost in zip(blocks, costs, strict=True):
        by_category[block.category] += cost
    return TokenTotals(
        **by_category,
        tools=count.tools,
        response_format=count.response_format,
        overhead=count.overhead,
        total=count.total,
    )


def _check_budget(
    input: ContextPolicyInput, blocks: Sequence[Block], costs: Sequence[int], count: RequestCount
) -> None:
    budget = input.token_budget
    if budget is None or count.total <= budget.max_input_tokens:
        return
    parts = [(block.item_id, cost) for block, cost in zip(blocks, costs, strict=True)]
    parts += [("tools", count.tools), ("response format", count.response_format), ("overhead", count.overhead)]
    largest = sorted(((name, cost) for name, cost in parts if cost), key=lambda part: -part[1])
    error = ContextBudgetExceededError(
        required=count.total, max_input_tokens=budget.max_input_tokens, parts=tuple(largest)
    )
    error.fields["rule"] = "V21"
    raise error


def _omissions(input: ContextPolicyInput, plan: ContextPlan) -> tuple[Omission, ...]:
    """Every candidate that is not in the plan, in the order of the input; with the policy's reason if it gave one."""
    chosen = {item.id for item in plan.items()}
    told = {omission.item_id: omission for omission in plan.omissions}
    left_out: list[Omission] = []
    for category in ("instruction", "knowledge", "tools", "conversation"):
        held: Any = getattr(input, category)
        for item in (item for group in held for item in group) if category == "conversation" else held:
            if item.id not in chosen:
                unsaid = Omission(item_id=item.id, category=category, reason="policy", tokens=item.estimated_tokens)
                left_out.append(told.get(item.id, unsaid))
    return tuple(left_out)


def _comparison(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Callable[[Segment, Segment], int]:
    """The first byte in which two segments' contents differ; 0 where one is not at hand."""

    def first_difference(old: Segment, new: Segment) -> int:
        left, right = before.get(old.content_ref), after.get(new.content_ref, before.get(new.content_ref))
        if left is None or right is None:
            return 0
        pairs = zip(left, right, strict=False)
        return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))

    return first_difference
