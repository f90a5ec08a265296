/** A conversation that the upstream alone fails at is put off, and the others of its library go on (docs/decisions/capture.md). */
export const sql = `
alter table extraction_jobs
  -- Tries of the next of its calls, in a row, that the upstream failed at while it answered another text.
  add column failures integer not null default 0,
  add column due_at timestamptz not null default '-infinity';
`;
