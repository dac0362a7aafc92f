-- document: One document.
SELECT kind, id, agent_id, revision, body
FROM documents
WHERE tenant = :tenant AND owner = :owner AND kind = :kind AND id = :id;

-- documents: Documents of a kind, by id.
SELECT kind, id, agent_id, revision, body
FROM documents
WHERE tenant = :tenant AND owner = :owner AND kind = :kind AND id > :after
ORDER BY id
LIMIT :limit;

-- documents_of_agent: An agent's documents of a kind, by id.
SELECT kind, id, agent_id, revision, body
FROM documents
WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id AND kind = :kind AND id > :after
ORDER BY id
LIMIT :limit;

-- save_first: Write a document's first revision where there is none; gives it back where it was written.
INSERT INTO documents (tenant, owner, kind, id, agent_id, revision, body)
VALUES (:tenant, :owner, :kind, :id, :agent_id, :revision, :body)
ON CONFLICT DO NOTHING
RETURNING revision;

-- save_next: Write a document's next revision over the one before; gives it back where it was written.
UPDATE documents
SET agent_id = :agent_id, revision = :revision, body = :body
WHERE tenant = :tenant AND owner = :owner AND kind = :kind AND id = :id AND revision = :revision - 1
RETURNING revision;

-- delete_documents: Delete documents of a kind by id.
DELETE FROM documents
WHERE tenant = :tenant AND owner = :owner AND kind = :kind AND id IN (SELECT value FROM json_each(:ids));

-- forget_agent_documents: Delete an agent's documents.
DELETE FROM documents WHERE tenant = :tenant AND owner = :owner AND agent_id = :agent_id;

-- forget_owner_documents: Delete every document of an owner.
DELETE FROM documents WHERE tenant = :tenant AND owner = :owner;
