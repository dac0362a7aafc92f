-- head: The sequence of an agent's last row, 0 without one.
SELECT coalesce(max(sequence), 0)
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s;

-- insert_rows: Add rows.
INSERT INTO journal_rows (tenant, owner, agent_id, sequence, record_id, branch, kind, key, refs, body)
SELECT %(tenant)s, %(owner)s, %(agent_id)s, new.*
FROM unnest(
    %(sequence)s::bigint[], %(record_id)s::text[], %(branch)s::bigint[], %(kind)s::text[], %(key)s::text[],
    %(refs)s::text[], %(body)b::bytea[]
) AS new;

-- insert_refs: Note which contents rows name.
INSERT INTO journal_refs (tenant, owner, ref, agent_id, sequence)
SELECT %(tenant)s, %(owner)s, new.ref, %(agent_id)s, new.sequence
FROM unnest(%(ref)s::text[], %(sequence)s::bigint[]) AS new (ref, sequence);

-- rows: Rows in a range, oldest first.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s AND sequence > %(after)s AND sequence <= %(until)s
ORDER BY sequence
LIMIT %(limit)s;

-- rows_descending: Rows in a range, newest first.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s AND sequence > %(after)s AND sequence <= %(until)s
ORDER BY sequence DESC
LIMIT %(limit)s;

-- rows_of_branch: Rows of one branch in a range, oldest first.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s AND branch = %(branch)s
    AND sequence > %(after)s AND sequence <= %(until)s
ORDER BY sequence
LIMIT %(limit)s;

-- rows_of_branch_descending: Rows of one branch in a range, newest first.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s AND branch = %(branch)s
    AND sequence > %(after)s AND sequence <= %(until)s
ORDER BY sequence DESC
LIMIT %(limit)s;

-- rows_of_kinds: Rows of some kinds in a range, oldest first: the places from each kind's index, then the rows.
WITH places AS (
    SELECT place.sequence
    FROM unnest(%(kinds)s::text[]) AS wanted (kind)
    CROSS JOIN LATERAL (
        SELECT one.sequence
        FROM journal_rows AS one
        WHERE one.tenant = %(tenant)s AND one.owner = %(owner)s AND one.agent_id = %(agent_id)s AND one.kind = wanted.kind
            AND one.sequence > %(after)s AND one.sequence <= %(until)s
            AND (%(branch)s::bigint IS NULL OR one.branch = %(branch)s::bigint)
        ORDER BY one.sequence
        LIMIT %(limit)s
    ) AS place
    ORDER BY place.sequence
    LIMIT %(limit)s
)
SELECT found.sequence, found.record_id, found.branch, found.kind, found.key, found.refs, found.body
FROM places
JOIN journal_rows AS found
    ON found.tenant = %(tenant)s AND found.owner = %(owner)s AND found.agent_id = %(agent_id)s
    AND found.sequence = places.sequence
ORDER BY found.sequence;

-- rows_of_kinds_descending: Rows of some kinds in a range, newest first: the places from each kind's index, then the rows.
WITH places AS (
    SELECT place.sequence
    FROM unnest(%(kinds)s::text[]) AS wanted (kind)
    CROSS JOIN LATERAL (
        SELECT one.sequence
        FROM journal_rows AS one
        WHERE one.tenant = %(tenant)s AND one.owner = %(owner)s AND one.agent_id = %(agent_id)s AND one.kind = wanted.kind
            AND one.sequence > %(after)s AND one.sequence <= %(until)s
            AND (%(branch)s::bigint IS NULL OR one.branch = %(branch)s::bigint)
        ORDER BY one.sequence DESC
        LIMIT %(limit)s
    ) AS place
    ORDER BY place.sequence DESC
    LIMIT %(limit)s
)
SELECT found.sequence, found.record_id, found.branch, found.kind, found.key, found.refs, found.body
FROM places
JOIN journal_rows AS found
    ON found.tenant = %(tenant)s AND found.owner = %(owner)s AND found.agent_id = %(agent_id)s
    AND found.sequence = places.sequence
ORDER BY found.sequence DESC;

-- rows_keyed: Rows that hold one of some keys.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND key = ANY (%(keys)s::text[])
ORDER BY sequence;

-- rows_recorded: Rows with one of some record ids.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND record_id = ANY (%(record_ids)s::text[])
ORDER BY sequence;

-- places: Sequence, record id and refs of the rows that have one of some sequences or one of some record ids.
SELECT sequence, record_id, refs
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND sequence = ANY (%(sequences)s::bigint[])
UNION
SELECT sequence, record_id, refs
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND record_id = ANY (%(record_ids)s::text[]);

-- delete_refs: Forget which contents some rows name.
DELETE FROM journal_refs AS stale
USING unnest(%(ref)s::text[], %(sequence)s::bigint[]) AS old (ref, sequence)
WHERE stale.tenant = %(tenant)s AND stale.owner = %(owner)s AND stale.ref = old.ref
    AND stale.agent_id = %(agent_id)s AND stale.sequence = old.sequence;

-- delete_rows: Delete rows by their sequence.
DELETE FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND sequence = ANY (%(sequences)s::bigint[]);

-- forget_agent_refs: Forget which contents an agent's rows name.
DELETE FROM journal_refs WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s;

-- forget_agent_rows: Delete an agent's rows.
DELETE FROM journal_rows WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s;

-- forget_owner_refs: Forget which contents an owner's rows name.
DELETE FROM journal_refs WHERE tenant = %(tenant)s AND owner = %(owner)s;

-- forget_owner_rows: Delete every row of an owner.
DELETE FROM journal_rows WHERE tenant = %(tenant)s AND owner = %(owner)s;
