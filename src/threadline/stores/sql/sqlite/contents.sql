-- put_contents: Store contents; those already there stay as they are.
INSERT INTO contents (tenant, owner, ref, body)
VALUES (:tenant, :owner, :ref, :body)
ON CONFLICT DO NOTHING;

-- get_contents: Contents by their refs.
SELECT ref, body
FROM contents
WHERE tenant = :tenant AND owner = :owner AND ref IN (SELECT value FROM json_each(:refs));

-- missing_contents: Those of some refs that nothing is stored under.
SELECT value
FROM json_each(:refs)
WHERE NOT EXISTS (SELECT 1 FROM contents WHERE tenant = :tenant AND owner = :owner AND ref = value);

-- drop_contents: Delete those of some contents that no row names; gives back which.
DELETE FROM contents
WHERE tenant = :tenant AND owner = :owner AND ref IN (SELECT value FROM json_each(:refs))
    AND NOT EXISTS (
        SELECT 1 FROM journal_refs AS named
        WHERE named.tenant = :tenant AND named.owner = :owner AND named.ref = contents.ref
    )
RETURNING ref;

-- forget_agent_contents: Delete the contents that an agent's rows name and no other agent's do.
DELETE FROM contents
WHERE tenant = :tenant AND owner = :owner
    AND ref IN (SELECT ref FROM journal_refs WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id)
    AND NOT EXISTS (
        SELECT 1 FROM journal_refs AS named
        WHERE named.tenant = :tenant AND named.owner = :owner AND named.ref = contents.ref
            AND named.agent_id <> :agent_id
    );

-- forget_owner_contents: Delete every content of an owner.
DELETE FROM contents WHERE tenant = :tenant AND owner = :owner;
