/** Who is to be cut off: how old what an issuer has said of a session is, and who has made which version by hand. */
export const sql = `
-- When the issuer last said who it is, and in which groups.
alter table sessions add column claims_at timestamptz not null default clock_timestamp();

-- As the audit log names who made it by hand, and so may have its secret. Null for one that was minted for a Secret.
alter table key_versions add column made_by text;
update key_versions v set made_by = (
  select actor from audit_events a
  where a.key_id = v.key_id and a.kind = 'key.reserved' and a.detail ->> 'version' = v.number::text limit 1)
where v.state in ('reserved', 'active', 'retiring') and exists (select from keys k where k.id = v.key_id and k.cluster = 'api');
`;
