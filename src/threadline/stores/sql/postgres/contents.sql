-- put_contents: Store contents; those already there stay as they are.
INSERT INTO contents (tenant, owner, ref, body)
SELECT %(tenant)s, %(owner)s, ref, body
FROM unnest(%(ref)s::text[], %(body)b::bytea[]) AS new (ref, body)
ON CONFLICT DO NOTHING;

-- get_contents: Contents by their refs.
SELECT ref, body
FROM contents
WHERE tenant = %(tenant)s AND owner = %(owner)s AND ref = ANY (%(refs)s::text[]);

-- missing_contents: Those of some refs that nothing is stored under.
SELECT value
FROM unnest(%(refs)s::text[]) AS wanted (value)
WHERE NOT EXISTS (SELECT 1 FROM contents WHERE tenant = %(tenant)s AND owner = %(owner)s AND ref = value);

-- drop_contents: Delete those of some contents that no row names; gives back which.
DELETE FROM contents
WHERE tenant = %(tenant)s AND owner = %(owner)s AND ref = ANY (%(refs)s::text[])
    AND NOT EXISTS (
        SELECT 1 FROM journal_refs AS named
        WHERE named.tenant = %(tenant)s AND named.owner = %(owner)s AND named.ref = contents.ref
    )
RETURNING ref;

-- forget_agent_contents: Delete the contents that an agent's rows name and no other agent's do.
DELETE FROM contents
WHERE tenant = %(tenant)s AND owner = %(owner)s
    AND ref IN (SELECT ref FROM journal_refs WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s)
    AND NOT EXISTS (
        SELECT 1 FROM journal_refs AS named
        WHERE named.tenant = %(tenant)s AND named.owner = %(owner)s AND named.ref = contents.ref
            AND named.agent_id <> %(agent_id)s
    );

-- forget_owner_contents: Delete every content of an owner.
DELETE FROM contents WHERE tenant = %(tenant)s AND owner = %(owner)s;
