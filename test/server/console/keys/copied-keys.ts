import { sql } from "kysely";
import type { Store } from "../../../../store/database/store.ts";

/** Makes keys that are as another one but for their names, each a little later than the one before: quicker than by the API. */
export async function copyKey({ db }: Store, name: string, names: readonly string[]): Promise<void> {
  const made = sql`unnest(${[...names]}::text[]) with ordinality made (name, n)`;
  const id = sql`'key_' || left(translate(md5(made.name), '0189', 'wxyz'), 20)`;
  await db.transaction().execute(async (tx) => {
    await sql`insert into keys select copy.* from keys k, ${made}, jsonb_populate_record(k, jsonb_build_object(
        'id', ${id}, 'name', made.name, 'created_at', k.created_at + n * interval '1 millisecond')) copy
      where k.name = ${name}`.execute(tx);
    await sql`insert into key_versions select copy.* from keys k join key_versions v on v.key_id = k.id, ${made},
        jsonb_populate_record(v, jsonb_build_object('key_id', ${id}, 'digest', sha256(made.name::bytea),
          'prefix', 'inf_' || left(md5(made.name), 8))) copy
      where k.name = ${name}`.execute(tx);
  });
}

/** `page-00`, `page-01` and so on. */
export function pageNames(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `page-${String(n).padStart(2, "0")}`);
}
