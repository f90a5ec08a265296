/** Which letters are the same, small or capital, wherever a database is and whatever its locale says. */
import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { SEARCH_BOUNDS } from "../../../../memory/store/search/candidates/search-bounds.ts";
import { resolveScope } from "../../../../memory/store/search/candidates/search-scope.ts";
import { prepareComparison, similarTexts } from "../../../../memory/store/search/candidates/similar-atoms.ts";
import { readTopic } from "../../../../memory/store/search/words/search-words.ts";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { migrate } from "../../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { databaseUrl, describeNightlyOnEachEngine, describeOnEitherEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { PLAIN } from "../plain-atom.ts";

const REACH = { teamId: "team-a", libraryIds: null };

/** The atom that has the most of a topic's words, of one that has all in capitals, and newer ones that have the first. */
async function mostOf(store: Store, topic: string): Promise<string | undefined> {
  const [first = ""] = topic.split(" ");
  await addTeamsWithLibraries(store);
  await sql`insert into atoms (id, library_id, team_id, content, tags, importance, created_at, updated_at)
    select md5(n::text)::uuid, 'lib-diary', 'team-a', case n when 0 then ${topic.toUpperCase()} else ${first} || ' ' || n end,
      '{}', 5, at, at
    from generate_series(0, 9) n, lateral (select timestamptz '2026-11-14' + n * interval '1 hour' as at) made`.execute(
    store.db,
  );
  return store.db.transaction().execute(async (tx) => {
    const words = readTopic(topic);
    const asked = { query: sql`''::tsquery`, words: words.wanted };
    const scope = await resolveScope(tx, REACH, asked, { libraryId: "lib-diary", tags: [] });
    const frequencies = { share: () => 0, matching: 0, isShort: true };
    const comparison = prepareComparison({ scope, words, frequencies, sample: [] });
    const [found] = await similarTexts(tx, scope, comparison, { of: "any", most: 1, bounds: SEARCH_BOUNDS });
    return found?.text.trim();
  });
}

describeNightlyOnEachEngine("What has most of the words of a topic", (store) => {
  test("c84: is found in capitals of any script", async () => {
    expect(await mostOf(store(), "ротация ключей éclair")).toBe("РОТАЦИЯ КЛЮЧЕЙ ÉCLAIR");
  });
});

describeNightlyOnEachEngine("A text with points, or with digits of its script", (store) => {
  beforeAll(() => addTeamsWithLibraries(store()));
  beforeEach(() => sql`delete from atoms`.execute(store().db));

  test.each([
    ["اجتماع مُحَمَّد يوم الاثنين", "محمد"],
    ["اجتماع محمود", "مَحْمُود"],
    ["פגישה עם שָׁרָה מחר", "שרה"],
    ["قیمت کتـــاب", "قيمت كتاب"],
    ["السعر ١٢٣٤", "1234"],
    ["السعر 5678", "٥٦٧٨"],
  ])("is found as a keyboard writes it: %s by %s", async (content, query) => {
    const { db } = store();
    await insertAtom(db, REACH, { ...PLAIN, content, libraryId: "lib-diary", at: Date.now() });
    const { items } = await searchAtoms(db, REACH, { query, libraryId: "lib-diary", tags: [], limit: 5 });
    expect(items).toMatchObject([{ atom: { content } }]);
  });
});

describeOnEitherEngine("What has most of the words of a topic, in a database that is Turkish", (store) => {
  test("c84: is found in capitals, of which the small letter of I is another there", async (context) => {
    const url = await databaseUrl(store());
    url.pathname += "_turkish";
    const name = sql.id(url.pathname.slice(1));
    await sql`create database ${name} encoding 'UTF8' locale_provider icu icu_locale 'tr' template template0`.execute(
      store().db,
    );
    const turkish = await openPostgres(url.href);
    context.onTestFinished(async () => {
      await turkish.close();
      await sql`drop database ${name}`.execute(store().db);
    });
    await migrate(turkish);
    const { rows } = await sql`select lower('I') as small`.execute(turkish.db);
    expect(rows).toEqual([{ small: "ı" }]);
    expect(await mostOf(turkish, "indigo directive")).toBe("INDIGO DIRECTIVE");
  });
});
