-- Version 3: comparisons that share their base boots, as a matrix and a sweep do.

ALTER TABLE bracket ADD COLUMN family_id INTEGER REFERENCES bracket (id);
CREATE INDEX bracket_by_family ON bracket (family_id);
