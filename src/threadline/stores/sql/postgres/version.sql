-- is_there: Whether the schema and its table of versions exist; asked of the catalogue, since casts may answer from a cache.
SELECT
    EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %(schema)s),
    EXISTS (
        SELECT 1
        FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace
        WHERE nspname = %(schema)s AND relname = 'schema_versions'
    );

-- make_versions: Make the table that says which migrations were run.
CREATE TABLE schema_versions (
    number bigint PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- newest_version: The newest migration that was run, 0 without one.
SELECT coalesce(max(number), 0) FROM schema_versions;

-- insert_version: Note that a migration was run.
INSERT INTO schema_versions (number, name) VALUES (%(number)s, %(name)s);
