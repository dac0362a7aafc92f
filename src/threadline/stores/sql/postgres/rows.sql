-- head: The sequence of an agent's last row, 0 without one.
SELECT coalesce(max(sequence), 0)
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s;

-- insert_rows: Add rows.
INSERT INTO journal_rows (tenant, owner, agent_id, sequence, record_id, branch, kind, key, refs, body)
VALUES (%(tenant)s, %(owner)s, %(agent_id)s, %(sequence)s, %(record_id)s, %(branch)s, %(kind)s, %(key)s, %(refs)s, %(body)s);

-- insert_refs: Note which contents rows name.
INSERT INTO journal_refs (tenant, owner, ref, agent_id, sequence)
VALUES (%(tenant)s, %(owner)s, %(ref)s, %(agent_id)s, %(sequence)s);

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

-- rows_of_kinds: Rows of some kinds in a range, oldest first: at most `limit` of each are looked at.
SELECT found.sequence, found.record_id, found.branch, found.kind, found.key, found.refs, found.body
FROM unnest(%(kinds)s::text[]) AS wanted (kind)
CROSS JOIN LATERAL (
    SELECT *
    FROM journal_rows
    WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s AND kind = wanted.kind
        AND sequence > %(after)s AND sequence <= %(until)s
        AND (%(branch)s::bigint IS NULL OR branch = %(branch)s)
    ORDER BY sequence
    LIMIT %(limit)s
) AS found
ORDER BY found.sequence
LIMIT %(limit)s;

-- rows_of_kinds_descending: Rows of some kinds in a range, newest first: at most `limit` of each are looked at.
SELECT found.sequence, found.record_id, found.branch, found.kind, found.key, found.refs, found.body
FROM unnest(%(kinds)s::text[]) AS wanted (kind)
CROSS JOIN LATERAL (
    SELECT *
    FROM journal_rows
    WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s AND kind = wanted.kind
        AND sequence > %(after)s AND sequence <= %(until)s
        AND (%(branch)s::bigint IS NULL OR branch = %(branch)s)
    ORDER BY sequence DESC
    LIMIT %(limit)s
) AS found
ORDER BY found.sequence DESC
LIMIT %(limit)s;

-- rows_keyed: Rows that hold one of some keys.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND key = ANY(%(keys)s::text[])
ORDER BY sequence;

-- rows_recorded: Rows with one of some record ids.
SELECT sequence, record_id, branch, kind, key, refs, body
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND record_id = ANY(%(record_ids)s::text[])
ORDER BY sequence;

-- places: Sequence, record id and refs of the rows that have one of some sequences or one of some record ids.
SELECT sequence, record_id, refs
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND sequence = ANY(%(sequences)s::bigint[])
UNION
SELECT sequence, record_id, refs
FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND record_id = ANY(%(record_ids)s::text[]);

-- delete_refs: Forget which contents some rows name.
DELETE FROM journal_refs
WHERE tenant = %(tenant)s AND owner = %(owner)s AND ref = %(ref)s AND agent_id = %(agent_id)s AND sequence = %(sequence)s;

-- delete_rows: Delete rows by their sequence.
DELETE FROM journal_rows
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s
    AND sequence = ANY(%(sequences)s::bigint[]);

-- forget_agent_refs: Forget which contents an agent's rows name.
DELETE FROM journal_refs WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s;

-- forget_agent_rows: Delete an agent's rows.
DELETE FROM journal_rows WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s;

-- forget_owner_refs: Forget which contents an owner's rows name.
DELETE FROM journal_refs WHERE tenant = %(tenant)s AND owner = %(owner)s;

-- forget_owner_rows: Delete every row of an owner.
DELETE FROM journal_rows WHERE tenant = %(tenant)s AND owner = %(owner)s;
