-- Tenant and owner stand in every row and lead every key: no query can forget them and still use an index.

-- Bytes by their name, never shared between owners.
CREATE TABLE contents (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    ref TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant, owner, ref)
) STRICT;

-- What happened, by agent. `refs` are the row's contents in their order, a space between two.
CREATE TABLE journal_rows (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    record_id TEXT NOT NULL,
    branch INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT,
    refs TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant, owner, agent_id, sequence),
    UNIQUE (tenant, owner, agent_id, record_id)
) STRICT;

CREATE INDEX journal_rows_of_branch ON journal_rows (tenant, owner, agent_id, branch, sequence);

CREATE INDEX journal_rows_of_kind ON journal_rows (tenant, owner, agent_id, kind, sequence, branch);

CREATE INDEX journal_rows_of_key ON journal_rows (tenant, owner, agent_id, key, sequence) WHERE key IS NOT NULL;

-- Which row names which content: what must stay.
CREATE TABLE journal_refs (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    ref TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, ref, agent_id, sequence)
) STRICT, WITHOUT ROWID;

-- Revisioned values; the empty agent is none.
CREATE TABLE documents (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant, owner, kind, id)
) STRICT;

CREATE INDEX documents_of_agent ON documents (tenant, owner, agent_id, kind, id);
