-- results.db, version 1. README.md says what every column means, its unit and when it is NULL.

CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  fingerprint TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  os TEXT NOT NULL,
  kernel TEXT NOT NULL,
  cpu TEXT NOT NULL,
  gpu TEXT NOT NULL,
  driver TEXT NOT NULL,
  cpu_count INTEGER,
  memory_bytes INTEGER,
  detail_json TEXT CHECK (detail_json IS NULL OR json_valid(detail_json))
) STRICT;

CREATE TABLE plan (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  config_hash TEXT NOT NULL,
  plan_json TEXT CHECK (plan_json IS NULL OR json_valid(plan_json)),
  created_wall_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE bracket (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  plan_id INTEGER REFERENCES plan (id),
  profile TEXT NOT NULL,
  profile_hash TEXT NOT NULL,
  axis TEXT NOT NULL,
  knob TEXT NOT NULL,
  base_value TEXT NOT NULL,
  cand_value TEXT NOT NULL,
  base_knobs_json TEXT CHECK (base_knobs_json IS NULL OR json_valid(base_knobs_json)),
  cand_knobs_json TEXT CHECK (cand_knobs_json IS NULL OR json_valid(cand_knobs_json)),
  primary_metric TEXT NOT NULL,
  primary_cell TEXT NOT NULL,
  better TEXT NOT NULL CHECK (better IN ('', 'higher', 'lower')),
  created_wall_ns INTEGER NOT NULL,
  ended_wall_ns INTEGER,
  state TEXT NOT NULL CHECK (state IN ('planned', 'running', 'done', 'interrupted', 'failed', 'void')),
  reason TEXT NOT NULL,
  reopen_reason TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;
CREATE INDEX bracket_by_profile ON bracket (profile, knob);
CREATE INDEX bracket_by_time ON bracket (created_wall_ns, uid);

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  program TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  tool_commit TEXT NOT NULL,
  argv_json TEXT CHECK (argv_json IS NULL OR json_valid(argv_json)),
  host_id INTEGER REFERENCES host (id),
  bracket_id INTEGER REFERENCES bracket (id),
  seed INTEGER,
  started_wall_ns INTEGER NOT NULL,
  ended_wall_ns INTEGER,
  exit_code INTEGER,
  state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'interrupted')),
  error TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_bracket ON run (bracket_id);

CREATE TABLE boot (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  bracket_id INTEGER REFERENCES bracket (id),
  host_id INTEGER REFERENCES host (id),
  position INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  arm TEXT NOT NULL CHECK (arm IN ('base', 'cand')),
  profile TEXT NOT NULL,
  profile_hash TEXT NOT NULL,
  knobs_json TEXT CHECK (knobs_json IS NULL OR json_valid(knobs_json)),
  confirmed_json TEXT CHECK (confirmed_json IS NULL OR json_valid(confirmed_json)),
  command_json TEXT CHECK (command_json IS NULL OR json_valid(command_json)),
  endpoint TEXT NOT NULL,
  model TEXT NOT NULL,
  engine TEXT NOT NULL,
  engine_version TEXT NOT NULL,
  image_digest TEXT NOT NULL,
  log_path TEXT NOT NULL,
  machine_json TEXT CHECK (machine_json IS NULL OR json_valid(machine_json)),
  started_wall_ns INTEGER NOT NULL,
  ready_wall_ns INTEGER,
  ended_wall_ns INTEGER,
  state TEXT NOT NULL CHECK (state IN ('starting', 'running', 'done', 'failed', 'void', 'interrupted')),
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX boot_by_bracket ON boot (bracket_id, position, attempt);
CREATE INDEX boot_by_profile ON boot (profile, arm, state);

CREATE TABLE proof (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  boot_id INTEGER NOT NULL REFERENCES boot (id),
  knob TEXT NOT NULL,
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  expected TEXT NOT NULL,
  observed TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('held', 'failed', 'unknown')),
  reason TEXT NOT NULL,
  checked_wall_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX proof_by_boot ON proof (boot_id);

CREATE TABLE leg (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  run_id INTEGER REFERENCES run (id),
  boot_id INTEGER REFERENCES boot (id),
  name TEXT NOT NULL,
  plan_json TEXT CHECK (plan_json IS NULL OR json_valid(plan_json)),
  endpoint TEXT NOT NULL,
  model TEXT NOT NULL,
  started_wall_ns INTEGER NOT NULL,
  ended_wall_ns INTEGER,
  state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'interrupted')),
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX leg_by_boot ON leg (boot_id);
CREATE INDEX leg_by_run ON leg (run_id);

CREATE TABLE sample (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  leg_id INTEGER NOT NULL REFERENCES leg (id),
  cell TEXT NOT NULL,
  concurrency INTEGER NOT NULL,
  position INTEGER NOT NULL,
  warmup INTEGER NOT NULL CHECK (warmup IN (0, 1)),
  ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
  started_ns INTEGER NOT NULL,
  ended_ns INTEGER NOT NULL,
  started_wall_ns INTEGER NOT NULL,
  accept_drafts REAL,
  accept_draft_tokens REAL,
  accept_accepted REAL,
  accept_raw REAL,
  accept_legacy REAL,
  accept_tokens_per_step REAL,
  accept_k_eff REAL,
  accept_per_position_json TEXT CHECK (accept_per_position_json IS NULL OR json_valid(accept_per_position_json)),
  accept_reason TEXT NOT NULL,
  accept_resets_json TEXT CHECK (accept_resets_json IS NULL OR json_valid(accept_resets_json)),
  client_cpu_share REAL,
  client_worst_delay_ns INTEGER
) STRICT;
CREATE INDEX sample_by_leg ON sample (leg_id);

CREATE TABLE sample_metric (
  sample_id INTEGER NOT NULL REFERENCES sample (id),
  name TEXT NOT NULL,
  value REAL,
  value_reason TEXT,
  PRIMARY KEY (sample_id, name),
  CHECK ((value IS NULL) = (value_reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE gate (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  leg_id INTEGER NOT NULL REFERENCES leg (id),
  name TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('pass', 'fail', 'no_answer')),
  passed INTEGER NOT NULL,
  asked INTEGER NOT NULL,
  detail TEXT NOT NULL,
  finished_wall_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX gate_by_leg ON gate (leg_id);

CREATE TABLE gate_question (
  gate_id INTEGER NOT NULL REFERENCES gate (id),
  position INTEGER NOT NULL,
  question TEXT NOT NULL,
  expected TEXT NOT NULL,
  answer TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('pass', 'fail', 'no_answer')),
  reason TEXT NOT NULL,
  detail_json TEXT CHECK (detail_json IS NULL OR json_valid(detail_json)),
  PRIMARY KEY (gate_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE request (
  id INTEGER PRIMARY KEY,
  sample_id INTEGER REFERENCES sample (id),
  gate_id INTEGER REFERENCES gate (id),
  position INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  http_status INTEGER NOT NULL,
  scheduled_ns INTEGER NOT NULL,
  sent_ns INTEGER NOT NULL,
  connect_ns INTEGER,
  connection_reused INTEGER NOT NULL CHECK (connection_reused IN (0, 1)),
  reopened INTEGER NOT NULL,
  headers_ns INTEGER,
  ttfr_ns INTEGER,
  ttft_ns INTEGER,
  first_answer_ns INTEGER,
  last_token_ns INTEGER,
  end_ns INTEGER,
  event_count INTEGER NOT NULL,
  events BLOB,
  data_events INTEGER NOT NULL,
  done_seen INTEGER NOT NULL CHECK (done_seen IN (0, 1)),
  tokens_source TEXT NOT NULL,
  completion_tokens INTEGER,
  usage_seen INTEGER NOT NULL CHECK (usage_seen IN (0, 1)),
  usage_prompt_tokens INTEGER,
  usage_completion_tokens INTEGER,
  usage_cached_tokens INTEGER,
  usage_reasoning_tokens INTEGER,
  timings_json TEXT CHECK (timings_json IS NULL OR json_valid(timings_json)),
  finish_reason TEXT NOT NULL,
  model TEXT NOT NULL,
  content TEXT NOT NULL,
  reasoning TEXT NOT NULL,
  tool_calls TEXT NOT NULL,
  decode_basis TEXT NOT NULL,
  decode_tok_s REAL,
  decode_tok_s_reason TEXT,
  decode_tok_s_n_minus_1 REAL,
  decode_tok_s_n_minus_1_reason TEXT,
  tpot_ms REAL,
  tpot_ms_reason TEXT,
  prefill_tok_s REAL,
  prefill_tok_s_reason TEXT,
  e2e_tok_s REAL,
  e2e_tok_s_reason TEXT,
  burst INTEGER NOT NULL CHECK (burst IN (0, 1)),
  CHECK ((sample_id IS NULL) <> (gate_id IS NULL)),
  CHECK ((decode_tok_s IS NULL) = (decode_tok_s_reason IS NOT NULL)),
  CHECK ((decode_tok_s_n_minus_1 IS NULL) = (decode_tok_s_n_minus_1_reason IS NOT NULL)),
  CHECK ((tpot_ms IS NULL) = (tpot_ms_reason IS NOT NULL)),
  CHECK ((prefill_tok_s IS NULL) = (prefill_tok_s_reason IS NOT NULL)),
  CHECK ((e2e_tok_s IS NULL) = (e2e_tok_s_reason IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX request_by_sample ON request (sample_id, position) WHERE sample_id IS NOT NULL;
CREATE UNIQUE INDEX request_by_gate ON request (gate_id, position) WHERE gate_id IS NOT NULL;

CREATE TABLE assessment (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  bracket_id INTEGER NOT NULL REFERENCES bracket (id),
  state TEXT NOT NULL CHECK (state IN ('better', 'worse', 'same', 'inconclusive', 'void')),
  reason_code TEXT NOT NULL,
  reason TEXT NOT NULL,
  metric TEXT NOT NULL,
  cell TEXT NOT NULL,
  effect_raw_pct REAL,
  effect_raw_lo_pct REAL,
  effect_raw_hi_pct REAL,
  effect_raw_reason TEXT NOT NULL,
  effect_equal_acceptance_pct REAL,
  effect_equal_acceptance_lo_pct REAL,
  effect_equal_acceptance_hi_pct REAL,
  effect_equal_acceptance_reason TEXT NOT NULL,
  effect_on_acceptance_points REAL,
  effect_on_acceptance_lo_points REAL,
  effect_on_acceptance_hi_points REAL,
  effect_on_acceptance_reason TEXT NOT NULL,
  p_value REAL,
  drift_pct REAL,
  historical_effect_pct REAL,
  historical_base_gap_pct REAL,
  historical_call TEXT NOT NULL,
  boots_needed INTEGER,
  detail_json TEXT CHECK (detail_json IS NULL OR json_valid(detail_json)),
  created_wall_ns INTEGER NOT NULL,
  tool_version TEXT NOT NULL
) STRICT;
CREATE INDEX assessment_by_bracket ON assessment (bracket_id, created_wall_ns, uid);

CREATE TABLE verdict (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  bracket_id INTEGER NOT NULL REFERENCES bracket (id),
  assessment_id INTEGER REFERENCES assessment (id),
  word TEXT NOT NULL CHECK (word IN ('adopted', 'rejected', 'neutral', 'invalid', 'unavailable', 'deferred')),
  original_word TEXT NOT NULL,
  signed_by TEXT NOT NULL CHECK (signed_by <> ''),
  reason TEXT NOT NULL,
  override_reason TEXT NOT NULL,
  created_wall_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX verdict_by_bracket ON verdict (bracket_id, created_wall_ns, uid);

CREATE TABLE note (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  subject_kind TEXT NOT NULL CHECK (subject_kind IN ('ledger', 'profile', 'axis', 'bracket')),
  subject TEXT NOT NULL,
  author TEXT NOT NULL,
  text TEXT NOT NULL,
  created_wall_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX note_by_subject ON note (subject_kind, subject);
