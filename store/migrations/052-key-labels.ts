/** By which labels of keys usage is added up (docs/decisions/usage.md). */
export const sql = `
alter table key_declarations add column labels jsonb not null default '{}';
`;
