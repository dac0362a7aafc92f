"""`PromptInjectionFilter`: phrases by which a text tries to give the model orders; a heuristic, not a defence.

What protects is that data is fenced, labelled and never given the system role. This filter catches the blunt attempts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

from threadline.context.filters import FilterSource, Stage
from threadline.context.items import Trust
from threadline.errors import FilterBlockError

__all__ = ["INJECTION_PATTERNS", "PromptInjectionFilter"]

INJECTION_PATTERNS: tuple[str, ...] = (
    # to drop what was told before
    (
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:all|any|previous|prior|above|earlier|preceding)\b"
        r".{0,30}\b(?:instruction|prompt|rule|direction|message|guideline|context)s?\b"
    ),
    r"\bdo not (?:follow|obey)\b.{0,30}\b(?:instructions?|rules?|system prompt|guidelines?)\b",
    # to be somebody else
    r"\byou are (?:now|no longer)\b.{0,40}\b(?:assistant|ai|model|bot|bound|restricted|limited|allowed)\b",
    r"\bfrom now on,? you (?:are|will|must|shall|should)\b",
    r"\b(?:developer|god|jailbreak|unrestricted|dan) mode\b",
    r"\b(?:pretend|act|behave)\b.{0,20}\b(?:no|without)\b.{0,20}\b(?:restriction|rule|filter|limit|guideline)s?\b",
    # to tell what was told
    (
        r"\b(?:reveal|print|show|repeat|output|leak|disclose)\b.{0,30}"
        r"\b(?:system|hidden|initial|secret|original) (?:prompt|instruction|message)s?\b"
    ),
    # to speak with another's authority
    r"(?:^|\n)\s*(?:#+\s*)?(?:new |updated |important )?system (?:prompt|message|instruction|override)s?\s*:",
    r"<\|?(?:im_start|system|start_header_id)\|?>|\[/?(?:inst|sys)\]|<</?sys>>",
    r"\b(?:new|updated|real|actual) instructions?\s*(?::|are\b|follow\b)",
    # to act behind the user's back
    r"\b(?:do not|don't|never) (?:tell|inform|mention|reveal|notify)\b.{0,30}\b(?:the )?(?:user|human|operator)\b",
    # the first in other languages
    r"忽略.{0,12}(?:指令|指示|提示|规则)",
    r"\bignor(?:a|e|iere|ez)\b.{0,30}\b(?:instrucciones|instruções|anweisungen|instructions)\b",
)
"""Regular expressions; case does not matter."""

_INVISIBLE: dict[int, None] = dict.fromkeys(
    (0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0xFEFF)
)
_LEFT_OUT = "[a phrase that reads as an order was left out]"
_UNTRUSTED: frozenset[Trust] = frozenset({"tool", "external"})
_STAGES: frozenset[Stage] = frozenset({"input", "tool_result", "knowledge"})


class PromptInjectionFilter:
    """Refuses a text, or leaves out of it what reads as an order to the model.

    Args:
        extra: further patterns.
        action: `block` raises; `mask` puts a neutral phrase in place of each match. In a text that hides a match behind
            invisible or odd characters, `mask` also makes those plain.
        stages: what to look at; by default all but what the model and the operator say.
        trust: whose words to look at; by default those of tools and outside sources. A user may well talk about such
            phrases.

    Raises:
        re.error: an extra pattern is no regular expression.
    """

    def __init__(
        self,
        *,
        extra: Iterable[str] = (),
        action: Literal["block", "mask"] = "block",
        stages: Iterable[Stage] = _STAGES,
        trust: Iterable[Trust] = _UNTRUSTED,
    ) -> None:
        self.stages = frozenset(stages)
        self.trust = frozenset(trust)
        self._action = action
        self._patterns = [re.compile(pattern, re.IGNORECASE) for pattern in (*INJECTION_PATTERNS, *extra)]

    def __call__(self, text: str, source: FilterSource) -> str:
        """The text, or what is left of it.

        Raises:
            FilterBlockError: it reads as an order; `fields` hold the number of the pattern and the item, no word of it.
        """
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
        found = [number for number, pattern in enumerate(self._patterns) if pattern.search(plain)]
        if not found:
            return text
        if self._action == "block":
            raise FilterBlockError(
                f"a {source.stage} text reads as an order to the model",
                filter="prompt_injection",
                pattern=found[0],
                item=source.item_id,
            )
        for number in found:
            plain = self._patterns[number].sub(_LEFT_OUT, plain)
        return plain
