"""What the model sees next: input, policy, plan, assembler, manifest, cache plan."""

__all__: list[str] = []
