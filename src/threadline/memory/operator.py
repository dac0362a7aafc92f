"""`Operator`: what all that ask a model to remember have in common."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar, TypeVar

from threadline.boundary.records import with_instructions
from threadline.memory.dates import zone_of
from threadline.memory.language import language_rule, resolved_language
from threadline.ports.llm import LLMMessage

if TYPE_CHECKING:
    from pydantic import BaseModel

    from threadline.ports.llm import LLMClient

    Reply = TypeVar("Reply", bound=BaseModel)

__all__ = ["LANGUAGE_RULE", "Operator"]

LANGUAGE_RULE = "{language_rule}"
"""Where a prompt takes the sentences about the language; one without it decides for itself."""

PARTICIPANTS = "Write in the language that the participants use in their own words, not that of texts they paste."
SAME_TEXT = "Write in the language of the text."


class Operator:
    """Asks a model: one call a stage, never twice. What the client raises goes through.

    Args:
        llm: the model.
        lenient: take replies out of thoughts, a Markdown fence or an array of one before reading them as strictly.
        languages: BCP 47 tags allowed as `output_language` beside the seven that always are.
        time_zone: the IANA name of the owners' zone: days and times are meant, and shown to the model, in it.

    Raises:
        InvalidInputError: there is no such zone, or a language is no tag.
    """

    NAME: ClassVar[str] = "memory"

    def __init__(
        self, *, llm: LLMClient, lenient: bool = False, languages: Collection[str] = (), time_zone: str = "UTC"
    ) -> None:
        resolved_language(None, languages)
        self._llm = llm
        self._lenient = lenient
        self._languages = tuple(languages)
        self._zone_name = time_zone
        self._zone = zone_of(time_zone)

    def _system(
        self, prompt: str, output_language: str | None, custom: str | None, *, otherwise: str = PARTICIPANTS
    ) -> str:
        """The system text: the prompt with the rule about the language in its place, then the host's own words.

        Raises:
            InvalidInputError: the language is neither known nor allowed.
        """
        language = resolved_language(output_language, self._languages)
        return with_instructions(prompt.replace(LANGUAGE_RULE, language_rule(language, otherwise)), custom)

    async def _ask(
        self, reply: type[Reply], system: str, data: str, *, temperature: float | None = None, stage: str = ""
    ) -> Reply:
        """One call, and its reply read.

        Raises:
            LLMOutputError: the reply is not what was asked for.
        """
        from threadline.ports.replies import parse_reply, recover_reply

        text = await self._llm.achat(
            [LLMMessage("system", system), LLMMessage("user", data)],
            response_format=reply,
            temperature=temperature,
        )
        read = recover_reply if self._lenient else parse_reply
        return read(reply, text, operator=stage or self.NAME)
