"""`StoreContract`: all promises of a store in one class."""

from __future__ import annotations

import pytest

from threadline.testing.stores.contents import ContentPromises
from threadline.testing.stores.documents import DocumentPromises
from threadline.testing.stores.forgetting import ForgettingPromises
from threadline.testing.stores.rows import RowPromises
from threadline.testing.stores.scopes import ScopePromises
from threadline.testing.stores.transactions import TransactionPromises

__all__ = ["StoreContract"]


class StoreContract(
    ContentPromises, RowPromises, DocumentPromises, TransactionPromises, ForgettingPromises, ScopePromises
):
    """Inherit it in a class whose name begins with `Test` and give it a fixture `store`: an empty store, open."""

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The promises are tried on asyncio."""
        return "asyncio"
