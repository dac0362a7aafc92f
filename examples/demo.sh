#!/usr/bin/env bash
# Fit a real coding-agent trajectory to half its tokens, restore it, and compare.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

threadline count marshmallow-1867.traj
echo
threadline fit marshmallow-1867.traj --max-input-tokens 6000 -o "$work/fitted.traj" --elisions "$work/elisions.json"
threadline restore "$work/fitted.traj" --elisions "$work/elisions.json" -o "$work/restored.traj"
cmp marshmallow-1867.traj "$work/restored.traj"
echo "restored: the same bytes as the original"

echo
export THREADLINE_DB="sqlite:///$work/agent.db"
threadline ingest marshmallow-1867.traj --agent coder
threadline assemble --agent coder --max-input-tokens 3000 --model gpt-4o
threadline manifest replay --agent coder
threadline db check
