"""What every store has to promise, as tests to inherit.

```python
class TestMyStore(StoreContract):
    @pytest.fixture
    async def store(self):
        store = MyStore(...)  # empty
        yield store
        await store.close()
```

`machine(store)` is a Hypothesis state machine that holds a store against `MemoryStore`.
"""

from threadline.testing.stores.contents import ContentPromises
from threadline.testing.stores.contract import StoreContract
from threadline.testing.stores.documents import DocumentPromises
from threadline.testing.stores.forgetting import ForgettingPromises
from threadline.testing.stores.machine import StoreMachine
from threadline.testing.stores.rows import RowPromises
from threadline.testing.stores.scopes import ScopePromises
from threadline.testing.stores.transactions import TransactionPromises

__all__ = [
    "ContentPromises",
    "DocumentPromises",
    "ForgettingPromises",
    "RowPromises",
    "ScopePromises",
    "StoreContract",
    "StoreMachine",
    "TransactionPromises",
]
