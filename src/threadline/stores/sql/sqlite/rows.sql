-- head: The sequence of an agent's last row, 0 without one.
SELECT coalesce(max(sequence), 0)
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id;

-- insert_rows: Add rows.
INSERT INTO journal_rows (tenant, owner, agent_id, sequence, record_id, branch, kind, key, refs, body)
VALUES (:tenant, :owner, :agent_id, :sequence, :record_id, :branch, :kind, :key, :refs, :body);

-- insert_refs: Note which contents rows name.
INSERT INTO journal_refs (tenant, owner, ref, agent_id, sequence)
VALUES (:tenant, :owner, :ref, :agent_id, :sequence);

-- rows: Rows in a range, oldest first.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id AND sequence > :after AND sequence <= :until
ORDER BY sequence
LIMIT :limit;

-- rows_descending: Rows in a range, newest first.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id AND sequence > :after AND sequence <= :until
ORDER BY sequence DESC
LIMIT :limit;

-- rows_of_branch: Rows of one branch in a range, oldest first.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id AND branch = :branch
    AND sequence > :after AND sequence <= :until
ORDER BY sequence
LIMIT :limit;

-- rows_of_branch_descending: Rows of one branch in a range, newest first.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id AND branch = :branch
    AND sequence > :after AND sequence <= :until
ORDER BY sequence DESC
LIMIT :limit;

-- rows_of_kinds: Rows of some kinds in a range, oldest first: from each row one seek a kind to the next, no scan.
WITH RECURSIVE walk (sequence) AS (
    SELECT :after
    UNION ALL
    SELECT (
        SELECT min((
            SELECT next.sequence
            FROM journal_rows AS next
            WHERE next.tenant = :tenant AND next.owner = :owner AND next.agent_id = :agent_id AND next.kind = wanted.value
                AND next.sequence > walk.sequence AND next.sequence <= :until
                AND (:branch IS NULL OR next.branch = :branch)
            ORDER BY next.sequence
            LIMIT 1
        ))
        FROM json_each(:kinds) AS wanted
    )
    FROM walk
    WHERE walk.sequence IS NOT NULL
    LIMIT :limit + 1
)
SELECT found.sequence, found.record_id, found.branch, found.kind, found.key, found.refs, found.body
FROM walk
CROSS JOIN journal_rows AS found
    ON found.tenant = :tenant AND found.owner = :owner AND found.agent_id = :agent_id AND found.sequence = walk.sequence
WHERE walk.sequence > :after
ORDER BY found.sequence;

-- rows_of_kinds_descending: Rows of some kinds in a range, newest first: from each row one seek a kind to the next.
WITH RECURSIVE walk (sequence) AS (
    SELECT :until + 1
    UNION ALL
    SELECT (
        SELECT max((
            SELECT next.sequence
            FROM journal_rows AS next
            WHERE next.tenant = :tenant AND next.owner = :owner AND next.agent_id = :agent_id AND next.kind = wanted.value
                AND next.sequence > :after AND next.sequence < walk.sequence
                AND (:branch IS NULL OR next.branch = :branch)
            ORDER BY next.sequence DESC
            LIMIT 1
        ))
        FROM json_each(:kinds) AS wanted
    )
    FROM walk
    WHERE walk.sequence IS NOT NULL
    LIMIT :limit + 1
)
SELECT found.sequence, found.record_id, found.branch, found.kind, found.key, found.refs, found.body
FROM walk
CROSS JOIN journal_rows AS found
    ON found.tenant = :tenant AND found.owner = :owner AND found.agent_id = :agent_id AND found.sequence = walk.sequence
WHERE walk.sequence <= :until
ORDER BY found.sequence DESC;

-- rows_keyed: Rows that hold one of some keys; the plus keeps the planner from walking the journal in order.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id
    AND key IN (SELECT value FROM json_each(:keys))
ORDER BY +sequence;

-- rows_recorded: Rows with one of some record ids; the plus keeps the planner from walking the journal in order.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id
    AND record_id IN (SELECT value FROM json_each(:record_ids))
ORDER BY +sequence;

-- places: Sequence, record id and refs of the rows that have one of some sequences or one of some record ids.
SELECT sequence, record_id, refs
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id
    AND sequence IN (SELECT value FROM json_each(:sequences))
UNION
SELECT sequence, record_id, refs
FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id
    AND record_id IN (SELECT value FROM json_each(:record_ids));

-- delete_refs: Forget which contents some rows name.
DELETE FROM journal_refs
WHERE tenant = :tenant AND owner = :owner AND ref = :ref AND agent_id = :agent_id AND sequence = :sequence;

-- delete_rows: Delete rows by their sequence.
DELETE FROM journal_rows
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id
    AND sequence IN (SELECT value FROM json_each(:sequences));

-- forget_agent_refs: Forget which contents an agent's rows name.
DELETE FROM journal_refs WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id;

-- forget_agent_rows: Delete an agent's rows.
DELETE FROM journal_rows WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id;

-- forget_owner_refs: Forget which contents an owner's rows name.
DELETE FROM journal_refs WHERE tenant = :tenant AND owner = :owner;

-- forget_owner_rows: Delete every row of an owner.
DELETE FROM journal_rows WHERE tenant = :tenant AND owner = :owner;
