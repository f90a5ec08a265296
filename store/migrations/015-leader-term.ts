/**
 * Each leadership has a random name beside its number: a database that was put back in time gives its numbers again
 * (threats c59). The leaders of a build of before count on by the number alone.
 */
export const sql = `
alter table leaders add column term uuid not null default gen_random_uuid();
`;
