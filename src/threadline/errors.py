"""One error tree.

    ThreadlineError
    ├── InvalidInputError (also ValueError)   the caller's data or options are wrong; names the place
    │   ├── UnknownModelError                 the model has no known window; lists near names
    │   └── WrongReturnError (also TypeError)  a callable of the caller's gave back another type than it should
    ├── ConfigurationError                    the set-up is wrong
    ├── ContextBudgetExceededError            required material does not fit; lists it by size
    │   └── RequiredLeftOutError              a policy left out what is required
    ├── FilterBlockError                      a filter refused to let something through
    ├── IntegrityError                        stored or elided material does not match its record
    ├── SerializationError                    a value cannot be written or read in its format
    ├── StoreError                            the place where things are stored cannot be reached or written
    ├── NotFoundError                         a named thing does not exist
    ├── ConflictError                         somebody else changed it first
    ├── AgentBusyError                        a run is under way
    ├── ForgottenError                        the content was forgotten on request
    ├── ModelError                            a model failed, timed out or refused
    └── LLMOutputError                        a model answered, but not in the promised shape

Every error has a stable `code` and `fields` (places and numbers, never a user's content).
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "AgentBusyError",
    "ConfigurationError",
    "ConflictError",
    "ContextBudgetExceededError",
    "FilterBlockError",
    "ForgottenError",
    "IntegrityError",
    "InvalidInputError",
    "LLMOutputError",
    "ModelError",
    "NotFoundError",
    "RequiredLeftOutError",
    "SerializationError",
    "StoreError",
    "ThreadlineError",
    "UnknownModelError",
    "WrongReturnError",
]


class ThreadlineError(Exception):
    """Root of every error Threadline raises on purpose."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.fields = fields


class InvalidInputError(ThreadlineError, ValueError):
    """The caller's data or options are wrong. `fields` may hold `index` (of the message) and `key`."""

    code = "invalid_input"


class UnknownModelError(InvalidInputError):
    """No profile is known for a model name and no window was given."""

    code = "unknown_model"

    def __init__(self, model: str, near: tuple[str, ...] = ()) -> None:
        hint = f"; near names: {', '.join(near)}" if near else ""
        super().__init__(
            f"unknown model {model!r}{hint}; or give the window as max_input_tokens", model=model, near=near
        )


class WrongReturnError(InvalidInputError, TypeError):
    """A callable of the caller's, a hook or a filter, gave back another type than it should."""

    code = "wrong_return"


class ConfigurationError(ThreadlineError):
    """The set-up is wrong: a missing extra, an option that contradicts another."""

    code = "configuration"


class ContextBudgetExceededError(ThreadlineError):
    """Required material does not fit the budget.

    Attributes:
        required: tokens of what cannot be reduced any further.
        max_input_tokens: the budget it was measured against.
        parts: `(name, tokens)` of the irreducible parts, largest first.
    """

    code = "budget_exceeded"

    def __init__(self, *, required: int, max_input_tokens: int, parts: tuple[tuple[str, int], ...]) -> None:
        shown = ", ".join(f"{name} {tokens}" for name, tokens in parts[:5])
        more = f", and {len(parts) - 5} more" if len(parts) > 5 else ""
        super().__init__(
            f"what is required takes {required} tokens, {required - max_input_tokens} over the budget of "
            f"{max_input_tokens}: {shown}{more}",
            required=required,
            max_input_tokens=max_input_tokens,
            parts=parts,
        )
        self.required = required
        self.max_input_tokens = max_input_tokens
        self.parts = parts


class RequiredLeftOutError(ContextBudgetExceededError):
    """A policy left out what is required, as if there were no room for it. `parts` are the items that are missing."""

    def __init__(self, *, rule: str, max_input_tokens: int, parts: tuple[tuple[str, int], ...]) -> None:
        required = sum(tokens for _, tokens in parts)
        super().__init__(required=required, max_input_tokens=max_input_tokens, parts=parts)
        shown = ", ".join(name for name, _ in parts[:5])
        more = f", and {len(parts) - 5} more" if len(parts) > 5 else ""
        self.args = (f"the plan leaves out what is required: {shown}{more}",)
        self.fields["rule"] = rule


class FilterBlockError(ThreadlineError):
    """A filter refused to let something through. `fields` hold the filter's name and the reason it gave."""

    code = "blocked"


class IntegrityError(ThreadlineError):
    """Stored or elided material does not match its record."""

    code = "integrity"


class SerializationError(ThreadlineError):
    """A value cannot be written or read in its format."""

    code = "serialization"


class StoreError(ThreadlineError):
    """The place where things are stored cannot be reached, is full, read-only or damaged."""

    code = "store"


class NotFoundError(ThreadlineError):
    """A named thing does not exist in the given scope."""

    code = "not_found"


class ConflictError(ThreadlineError):
    """Somebody else changed it first; read again and retry."""

    code = "conflict"


class AgentBusyError(ThreadlineError):
    """The agent has a run under way."""

    code = "agent_busy"


class ForgottenError(ThreadlineError):
    """The content was forgotten on request and cannot be shown."""

    code = "forgotten"


class ModelError(ThreadlineError):
    """A model failed, timed out or refused."""

    code = "model"


class LLMOutputError(ThreadlineError):
    """A model answered, but not in the promised shape."""

    code = "llm_output"
