"""`assemble`: from the journal to one request that fits, with its manifest, in one step that is taken or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import anyio.to_thread
import msgspec
from msgspec import Struct, structs

from threadline.context import (
    Compacted,
    ContextAssembler,
    ContextPolicyInput,
    DefaultPolicy,
    Filter,
    Finished,
    Hook,
    LLMInputManifest,
    LLMInputPatch,
    Policy,
    SegmentCandidate,
    TokenBudget,
    decode_manifest,
    filter_input,
    hook_items,
    priced,
)
from threadline.context import replay as replay_request
from threadline.errors import (
    ContextBudgetExceededError,
    ForgottenError,
    InvalidInputError,
    NotFoundError,
    UnknownModelError,
)
from threadline.journal import AgentRoot, Book, Entry
from threadline.journal.frozen import freeze
from threadline.journal.rows import record_of
from threadline.messages.message import Dialect
from threadline.ports import Naming
from threadline.thread.call import Call
from threadline.thread.candidates import conversation_items, instruction_items, knowledge_items, tool_items
from threadline.thread.desk import Desk
from threadline.thread.recipe import RECIPE, Recipe
from threadline.thread.schemas import WINDOW
from threadline.thread.warm import Decided, Warm
from threadline.thread.window import Ground, Window
from threadline.tokens import Measure
from threadline.tokens.prices import Price, price_for
from threadline.transcript import FitPolicy

__all__ = [
    "Asked",
    "Reassembled",
    "Replayed",
    "assemble",
    "load_manifest",
    "peek",
    "put_together",
    "reassemble",
    "replay",
]

_NO_CAP = 2**31
"""A cap that no result reaches: to look at a view decides nothing."""


class Reassembled(Struct, frozen=True, kw_only=True):
    """A call put together again: `same` when policy and journal gave the very manifest that is stored."""

    manifest_ref: str
    again_ref: str
    same: bool
    manifest: LLMInputManifest


class Replayed(Struct, frozen=True, kw_only=True):
    """A stored request made again: `body` is its JSON, byte for byte what was assembled."""

    manifest_ref: str
    same: bool
    body: bytes


class Asked(Struct, frozen=True, kw_only=True):
    """Which call it is.

    Attributes:
        execution_id, call_sequence: the run, and which of its calls.
        previous: the manifest of the call before on this branch.
        shown: what it shows that is no record.
        idle_ms: milliseconds since then.
    """

    execution_id: str
    call_sequence: int
    previous: LLMInputManifest | None
    shown: Mapping[str, bytes] = {}
    idle_ms: int | None = None


async def assemble(
    desk: Desk,
    *,
    model: str | None,
    budget: int | TokenBudget | None,
    instructions: str | Sequence[str] | None,
    tools: Sequence[Any] | None,
    response_format: Any,
    policy: Policy | None,
    hooks: tuple[Hook, ...],
    config: Mapping[str, Any],
) -> Call:
    """Put a call together and store the proof; see `Thread.assemble`."""
    settings = {**config, **({} if model is None else {"model": model})}
    named = cast("str | None", settings.get("model") or desk.habits.model)
    if named is not None:
        settings["model"] = named
    limit = _limit(budget, named, settings.get("max_output_tokens"))
    texts = (instructions,) if isinstance(instructions, str) else tuple(instructions or ())
    naming = await desk.store.naming(desk.scope)
    asked = await _asked(desk)
    patched, candidates = await desk.hooked(
        settings, hooks, execution_id=asked.execution_id, call_sequence=asked.call_sequence
    )
    async with desk.lock:
        try:
            asked = await _asked(desk)
            root, window = _warm(desk.warm)
            factor = desk.warm.factors.get(named or "", 1.0)
            told = RECIPE.encode(
                Recipe(
                    model=named,
                    max_input_tokens=limit,
                    factor=factor,
                    instructions=texts,
                    tools=freeze(list(tools or ())),
                    response_format=freeze(response_format),
                    config=freeze(patched),
                    candidates=freeze(msgspec.to_builtins(candidates)),
                    idle_ms=asked.idle_ms,
                    price=_price(named),
                )
            )
            recipe = RECIPE.decode(told, Recipe)  # as it is stored: keys in one order, so that it gives the same again
            finished = await anyio.to_thread.run_sync(
                lambda: put_together(
                    window,
                    desk.warm,
                    recipe,
                    asked,
                    root=root,
                    policy=policy or desk.habits.policy or DefaultPolicy(),
                    filters=desk.habits.filters,
                    fit_policy=desk.habits.fit_policy,
                    measure=desk.measure(named, limit, factor),
                    naming=naming,
                )
            )
            return await _commit(desk, root, window, recipe=recipe, told=told, asked=asked, finished=finished)
        except BaseException:
            desk.warm.cool()
            raise


async def _asked(desk: Desk) -> Asked:
    """Catch up with the journal, and say which call comes next."""
    warm = desk.warm
    async with desk.book(write=False) as book:
        root = await warm.catch_up(book)
        decided = warm.decided
        manifest = warm.manifest
        if decided is not None and manifest is None:
            _, manifest = await _manifest(book, decided.manifest_ref)
            warm.manifest, warm.shown = manifest, await _shown(book, manifest)
    execution_id = root.execution_id or desk.new_id()
    again = decided is not None and decided.execution_id == execution_id
    return Asked(
        execution_id=execution_id,
        call_sequence=decided.call_sequence + 1 if decided is not None and again else 1,
        previous=manifest,
        shown=warm.shown,
        idle_ms=None if decided is None else max(0, desk.now_ms() - decided.at_ms),
    )


async def _shown(book: Book, manifest: LLMInputManifest) -> dict[str, bytes]:
    """What the manifest's own segments say."""
    return await book.contents(_own(manifest))


def _own(manifest: LLMInputManifest) -> list[str]:
    """The contents that are the call's own: a record says the same in every call, unless it was reduced."""
    return [segment.content_ref for segment in manifest.segments if segment.record_id is None]


def _price(model: str | None) -> Price | None:
    if model is None:
        return None
    try:
        return price_for(model)
    except UnknownModelError:
        return None


def _warm(warm: Warm) -> tuple[AgentRoot, Window]:
    if warm.root is None or warm.window is None:
        raise NotFoundError("there is no such agent")
    return warm.root, warm.window


def put_together(
    window: Window,
    warm: Warm,
    recipe: Recipe,
    asked: Asked,
    *,
    root: AgentRoot,
    policy: Policy,
    filters: tuple[Filter, ...],
    fit_policy: FitPolicy,
    measure: Measure,
    naming: Naming,
) -> Finished:
    """The call that a recipe gives on a window, which moves with it.

    Raises:
        ContextBudgetExceededError: what is required does not fit.
    """
    limit = recipe.max_input_tokens
    home: Dialect = "openai" if window.home == "plain" else window.home  # bare texts are right in it as they stand
    proposed = hook_items(
        LLMInputPatch(segment_candidates=msgspec.convert(recipe.candidates, tuple[SegmentCandidate, ...])),
        agent_id=root.agent_id,
        execution_id=asked.execution_id,
        call_sequence=asked.call_sequence,
        after_sequence=root.journal_position,
    )
    frame = priced(
        ContextPolicyInput(
            agent_id=root.agent_id,
            execution_id=asked.execution_id,
            call_sequence=asked.call_sequence,
            call_mode="complete",
            instruction=(*instruction_items(recipe.instructions, asked.execution_id), *proposed.instruction),
            knowledge=(*knowledge_items(warm.knowledge.values()), *proposed.knowledge),
            tools=tool_items(recipe.tools),
            conversation=proposed.conversation,
            token_budget=TokenBudget(max_input_tokens=limit),
            model_config=recipe.config,
            previous_manifest=asked.previous,
            dialect=home,
            measure=measure,
            metadata={
                "agent_revision": root.agent_revision,
                "context_revision": root.context_revision,
                "journal_position": root.journal_position,
            },
        ),
        measure,
        response_format=recipe.response_format,
    )
    fixed = frame.overhead_tokens + sum(item.estimated_tokens for item in (*frame.instruction, *frame.tools))
    cap = max(fit_policy.pressed_tokens, int(fit_policy.result_share * limit))
    window.stand_on(Ground(policy=fit_policy, measure=measure, cap=cap), fixed=fixed)
    window.admit()
    before = window.ledger.total
    _relieve(window, frame, limit, getattr(policy, "conversation_share", 1.0))
    groups = conversation_items(
        window.units(),
        agent_id=root.agent_id,
        execution_id=asked.execution_id,
        call_sequence=asked.call_sequence,
    )
    at = len(groups) - 1 if groups and groups[-1][0].delivery == "ask_argument" else len(groups)
    groups = (*groups[:at], *frame.conversation, *groups[at:])
    asks = any(item.delivery == "ask_argument" for group in groups for item in group)
    assembler = ContextAssembler(policy=policy, measure=measure, naming=naming, dialect=home)
    whole = structs.replace(frame, conversation=groups, call_mode="ask" if asks else "complete")
    if filters and (filtered := filter_input(filters, whole)) is not whole:
        whole = priced(filtered, measure, response_format=recipe.response_format)
    prepared = assembler.prepare(whole)
    relieved = before - window.ledger.total
    return assembler.finish(
        prepared,
        response_format=recipe.response_format,
        branch=root.branch,
        idle_ms=recipe.idle_ms,
        previous_contents=asked.shown,
        compacted=Compacted(relieved_tokens=relieved, price=recipe.price) if relieved and recipe.price else None,
    )


def _relieve(window: Window, frame: ContextPolicyInput, limit: int, share: float) -> None:
    """Make room: for the knowledge that must be there, and of the rest of it for what its share allows."""
    must = sum(item.estimated_tokens for item in frame.knowledge if item.required or item.pinned)
    may = sum(item.estimated_tokens for item in frame.knowledge) - must
    left = limit - window.ledger.fixed - must
    may = max(0, min(may, left - int(share * left)))
    try:
        window.relieve(limit - must - may)
    except ContextBudgetExceededError:
        if not may:
            raise
        window.relieve(limit - must)  # knowledge gives way


async def _commit(
    desk: Desk,
    root: AgentRoot,
    window: Window,
    *,
    recipe: Recipe,
    told: bytes,
    asked: Asked,
    finished: Finished,
) -> Call:
    """Write the manifest, what it names, and what was decided; refused when the journal went on meanwhile."""
    warm = desk.warm
    state = WINDOW.encode(window.state)
    async with desk.book() as book:
        await book.assert_watermark(root.agent_revision, root.journal_position)
        fresh = {ref: data for ref, data in finished.contents.items() if ref not in warm.stored}
        recipe_ref = book.naming(told)
        if recipe_ref not in warm.stored:
            fresh[recipe_ref] = told
        await book.transaction.put(fresh)
        entry = Entry(
            kind="decided",
            channel="state",
            record_id=desk.new_id(),
            content=state,
            refs=(finished.manifest_ref, recipe_ref, *finished.manifest.referenced_content_refs),
            execution_id=asked.execution_id,
            visibility="operator",
            metadata={
                "manifest_ref": finished.manifest_ref,
                "recipe_ref": recipe_ref,
                "call_sequence": asked.call_sequence,
                "journal_position": root.journal_position,
                "agent_revision": root.agent_revision,
                "context_revision": root.context_revision,
            },
        )
        after, (record,) = await book.append(root, [entry], now_ms=desk.now_ms())
    warm.stored.update(fresh, finished.contents)
    warm.root = after
    window.upto = record.sequence
    warm.manifest = finished.manifest
    warm.shown = {ref: finished.contents[ref] for ref in _own(finished.manifest)}
    warm.decided = Decided(
        sequence=record.sequence,
        execution_id=asked.execution_id,
        call_sequence=asked.call_sequence,
        manifest_ref=finished.manifest_ref,
        at_ms=record.occurred_at_ms,
    )
    measure = desk.measure(recipe.model, recipe.max_input_tokens, recipe.factor)
    return Call(
        agent_id=desk.agent_id,
        branch=root.branch,
        llm_call_id=desk.new_id(),
        execution_id=asked.execution_id,
        call_sequence=asked.call_sequence,
        manifest=finished.manifest,
        manifest_ref=finished.manifest_ref,
        request=finished.request,
        tokens=finished.manifest.tokens.total,
        estimated_tokens=round(finished.manifest.tokens.total / recipe.factor),
        is_exact=measure.exact,
        reusable_tokens=finished.manifest.cache.cached_tokens,
    )


def _limit(budget: object, model: str | None, reserve: Any) -> int:
    """The budget in tokens, from what was given or the model's window."""
    if isinstance(budget, TokenBudget):
        return budget.max_input_tokens
    if isinstance(budget, int) and not isinstance(budget, bool) and budget > 0:
        return budget
    if budget is not None:
        raise InvalidInputError("max_input_tokens must be an integer of at least 1", key="max_input_tokens")
    if model is None:
        raise InvalidInputError("give max_input_tokens, or a model whose window is known", key="max_input_tokens")
    window = Measure(model).window
    if window is None:
        raise InvalidInputError("nobody lists a window for the model: give max_input_tokens", key="max_input_tokens")
    return TokenBudget.of(window, reserve).max_input_tokens


async def replay(desk: Desk, manifest_ref: str | None) -> Replayed:
    """Make a stored request again; see `Thread.replay`."""
    async with desk.book(write=False) as book:
        ref, manifest = await _manifest(book, manifest_ref)
        contents = await _named(book, manifest.referenced_content_refs)
        body = replay_request(manifest, contents, book.naming).body
    return Replayed(manifest_ref=ref, same=True, body=body)


async def _named(book: Book, refs: Sequence[str]) -> dict[str, bytes]:
    """Contents that a manifest names; one that is gone was forgotten.

    Raises:
        ForgottenError: one was forgotten.
    """
    try:
        return await book.contents(refs)
    except NotFoundError as error:
        forgotten = await book.transaction.rows(book.agent_id, kinds=("forgotten",), limit=1)
        if not forgotten:
            raise
        raise ForgottenError("what the call showed was forgotten", agent_id=book.agent_id, **error.fields) from error


async def reassemble(desk: Desk, manifest_ref: str | None, policy: Policy | None) -> Reassembled:
    """Run a policy again on the journal as it was; see `Thread.reassemble`."""
    manifest = await load_manifest(desk, manifest_ref)
    position = manifest.journal_position
    async with desk.book(write=False) as book:
        now = await book.root()
        rows = await book.transaction.rows(
            desk.agent_id, kinds=("decided",), after=position, until=position + 1, limit=1
        )
        if now is None or not rows:
            raise NotFoundError("no record of that call", agent_id=desk.agent_id, journal_position=position)
        record = record_of(desk.agent_id, rows[0])
        if record.forgotten_by is not None:
            raise ForgottenError("the call was forgotten", record_id=record.record_id)
        told: Any = record.metadata
        recipe = RECIPE.decode((await book.contents([told["recipe_ref"]]))[told["recipe_ref"]], Recipe)
        root = await book.as_of(now, record.branch, position)
        root = structs.replace(root, agent_revision=told["agent_revision"], context_revision=told["context_revision"])
        warm = Warm(until=position)
        await warm.look_back(book, root)
        previous, shown = None, {}
        if warm.decided is not None:
            ref = warm.decided.manifest_ref
            previous = decode_manifest((await book.contents([ref]))[ref], ref=ref, naming=book.naming)
            shown = await _shown(book, previous)
        naming = book.naming
    _, window = _warm(warm)
    finished = put_together(
        window,
        warm,
        recipe,
        Asked(
            execution_id=record.execution_id or "", call_sequence=told["call_sequence"], previous=previous, shown=shown
        ),
        root=root,
        policy=policy or desk.habits.policy or DefaultPolicy(),
        filters=desk.habits.filters,
        fit_policy=desk.habits.fit_policy,
        measure=desk.measure(recipe.model, recipe.max_input_tokens, recipe.factor),
        naming=naming,
    )
    return Reassembled(
        manifest_ref=str(told["manifest_ref"]),
        again_ref=finished.manifest_ref,
        same=finished.manifest_ref == told["manifest_ref"],
        manifest=finished.manifest,
    )


async def peek(desk: Desk) -> Window:
    """The window as it is now, for looking at: nothing new is decided."""
    async with desk.lock:
        async with desk.book(write=False) as book:
            await desk.warm.catch_up(book)
        _, window = _warm(desk.warm)
        if not window.is_set_up:
            measure = desk.measure(desk.habits.model, _NO_CAP, 1.0)
            window.stand_on(Ground(policy=desk.habits.fit_policy, measure=measure, cap=_NO_CAP), fixed=0)
        return window


async def load_manifest(desk: Desk, manifest_ref: str | None) -> LLMInputManifest:
    """A stored manifest; see `Thread.manifest`."""
    async with desk.book(write=False) as book:
        return (await _manifest(book, manifest_ref))[1]


async def _manifest(book: Book, manifest_ref: str | None) -> tuple[str, LLMInputManifest]:
    if manifest_ref is None:
        root = await book.root()
        record = None if root is None else await book.latest(root, "decided")
        if record is None or record.forgotten_by is not None:
            raise NotFoundError("no call was assembled on this branch", agent_id=book.agent_id)
        manifest_ref = str(record.metadata["manifest_ref"])
    data = (await _named(book, [manifest_ref]))[manifest_ref]
    return manifest_ref, decode_manifest(data, ref=manifest_ref, naming=book.naming)
