-- next_scope: The first scope after another that holds anything; one seek a table.
SELECT tenant, owner
FROM (
    SELECT * FROM (
        SELECT tenant, owner FROM contents WHERE (tenant, owner) > (:tenant, :owner) ORDER BY tenant, owner LIMIT 1
    )
    UNION ALL
    SELECT * FROM (
        SELECT tenant, owner FROM journal_rows WHERE (tenant, owner) > (:tenant, :owner) ORDER BY tenant, owner LIMIT 1
    )
    UNION ALL
    SELECT * FROM (
        SELECT tenant, owner FROM documents WHERE (tenant, owner) > (:tenant, :owner) ORDER BY tenant, owner LIMIT 1
    )
)
ORDER BY tenant, owner
LIMIT 1;
