-- Version 2: rows that come from elsewhere keep what they said, figures of a boot are kept beside its samples, and the
-- measured error rates of the rule belong to the ledger.

ALTER TABLE bracket ADD COLUMN imported_json TEXT CHECK (imported_json IS NULL OR json_valid(imported_json));

CREATE TABLE boot_figure (
  boot_id INTEGER NOT NULL REFERENCES boot (id),
  cell TEXT NOT NULL,
  name TEXT NOT NULL,
  samples INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  value_count INTEGER NOT NULL,
  median REAL,
  minimum REAL,
  maximum REAL,
  PRIMARY KEY (boot_id, cell, name),
  CHECK ((value_count = 0) = (median IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE calibration (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  result_json TEXT NOT NULL CHECK (json_valid(result_json)),
  created_wall_ns INTEGER NOT NULL,
  tool_version TEXT NOT NULL
) STRICT;
