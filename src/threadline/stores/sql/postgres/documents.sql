-- document: One document.
SELECT kind, id, agent_id, revision, body
FROM documents
WHERE tenant = %(tenant)s AND owner = %(owner)s AND kind = %(kind)s AND id = %(id)s;

-- documents: Documents of a kind, by id.
SELECT kind, id, agent_id, revision, body
FROM documents
WHERE tenant = %(tenant)s AND owner = %(owner)s AND kind = %(kind)s AND id > %(after)s
ORDER BY id
LIMIT %(limit)s;

-- documents_of_agent: An agent's documents of a kind, by id.
SELECT kind, id, agent_id, revision, body
FROM documents
WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s AND kind = %(kind)s AND id > %(after)s
ORDER BY id
LIMIT %(limit)s;

-- save_first: Write a document's first revision where there is none; gives it back where it was written.
INSERT INTO documents (tenant, owner, kind, id, agent_id, revision, body)
VALUES (%(tenant)s, %(owner)s, %(kind)s, %(id)s, %(agent_id)s, %(revision)s, %(body)s)
ON CONFLICT DO NOTHING
RETURNING revision;

-- save_next: Write a document's next revision over the one before; gives it back where it was written.
UPDATE documents
SET agent_id = %(agent_id)s, revision = %(revision)s, body = %(body)s
WHERE tenant = %(tenant)s AND owner = %(owner)s AND kind = %(kind)s AND id = %(id)s AND revision = %(revision)s - 1
RETURNING revision;

-- delete_documents: Delete documents of a kind by id.
DELETE FROM documents
WHERE tenant = %(tenant)s AND owner = %(owner)s AND kind = %(kind)s AND id = ANY (%(ids)s::text[]);

-- forget_agent_documents: Delete an agent's documents.
DELETE FROM documents WHERE tenant = %(tenant)s AND owner = %(owner)s AND agent_id = %(agent_id)s;

-- forget_owner_documents: Delete every document of an owner.
DELETE FROM documents WHERE tenant = %(tenant)s AND owner = %(owner)s;
