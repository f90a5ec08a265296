/** What controllers found of what is declared: the console shows what is wrong (docs/decisions/console-views.md). */
export const sql = `
-- As the object's status has them; null for what no controller of this build has looked at, and for what the API made.
alter table teams add column conditions jsonb;
alter table libraries add column conditions jsonb;
alter table gateways add column conditions jsonb;
alter table key_declarations add column conditions jsonb;
`;
