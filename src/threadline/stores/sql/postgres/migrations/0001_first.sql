-- Tenant and owner stand in every row and lead every key: no query can forget them and still use an index.
-- Names sort by code point ("C"), whatever the database's own collation is.

-- Bytes by their name, never shared between owners.
CREATE TABLE contents (
    tenant text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    ref text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, owner, ref)
);

-- What happened, by agent. `refs` are the row's contents in their order, a space between two.
CREATE TABLE journal_rows (
    tenant text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    record_id text COLLATE "C" NOT NULL,
    branch bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    refs text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, owner, agent_id, sequence),
    UNIQUE (tenant, owner, agent_id, record_id)
);

CREATE INDEX journal_rows_of_branch ON journal_rows (tenant, owner, agent_id, branch, sequence);

CREATE INDEX journal_rows_of_kind ON journal_rows (tenant, owner, agent_id, kind, sequence) INCLUDE (branch);

CREATE INDEX journal_rows_of_key ON journal_rows (tenant, owner, agent_id, key, sequence) WHERE key IS NOT NULL;

-- Which row names which content: what must stay.
CREATE TABLE journal_refs (
    tenant text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    ref text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (tenant, owner, ref, agent_id, sequence)
);

-- Revisioned values; the empty agent is none.
CREATE TABLE documents (
    tenant text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (tenant, owner, kind, id)
);

CREATE INDEX documents_of_agent ON documents (tenant, owner, agent_id, kind, id);
