"""The promises explain themselves when they fail."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("threadline.testing.stores")
