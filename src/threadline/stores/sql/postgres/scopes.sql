-- next_scope: The first scope after another that holds anything; one seek a table.
SELECT tenant, owner
FROM (
    (SELECT tenant, owner FROM contents WHERE (tenant, owner) > (%(tenant)s, %(owner)s) ORDER BY tenant, owner LIMIT 1)
    UNION ALL
    (SELECT tenant, owner FROM journal_rows WHERE (tenant, owner) > (%(tenant)s, %(owner)s) ORDER BY tenant, owner LIMIT 1)
    UNION ALL
    (SELECT tenant, owner FROM documents WHERE (tenant, owner) > (%(tenant)s, %(owner)s) ORDER BY tenant, owner LIMIT 1)
) AS held
ORDER BY tenant, owner
LIMIT 1;
