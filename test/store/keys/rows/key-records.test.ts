import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { KeyAttributes } from "../../../../domain/access/key-record.ts";
import { scopeSet } from "../../../../domain/access/scopes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { changesAfter } from "../../../../store/feed/change-feed.ts";
import { type Reservation, reserveVersion } from "../../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../../store/keys/lifecycle/key-versions.ts";
import type { IndexedKey } from "../../../../store/keys/rows/key-records.ts";
import { saveLibrary } from "../../../../store/libraries/libraries.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { examples } from "../../../env/nightly.ts";
import {
  HOUR,
  type Home,
  libraryDraft,
  makeTeam,
  NOW,
  nextVersion,
  policyOf,
  readSnapshot,
  reserveKey,
  run,
  unique,
} from "../../fixtures.ts";

/** What a database's text may hold, and what its writing of a record has a meaning for. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', "\\", ",", "(", ")", " ", "\n", "\t", "\u0001", "a", "é", "💡") }),
  fc.string().filter((value) => !value.includes("\0")),
  fc.constantFrom("", "null", "NULL", '""', "t"),
);

/** Attributes with what each writing of a record, a row or an array has a meaning for. */
const WRITTEN_WITH_CARE = [
  {
    allowedModels: ["a,b", 'a"b', "NULL", ""],
    mcpDefaultLibraryId: "",
    namespace: "\\N",
    state: "{",
    versionState: "\\.",
  },
  { allowedModels: [], mcpDefaultLibraryId: "null", namespace: "a\tb\nc\r", state: "}", versionState: "\u0001\\" },
  { allowedModels: ["\\", " a ", "(é)"], mcpDefaultLibraryId: "\\N", namespace: "💡", state: '""', versionState: "," },
];

/** Those of a key, some of which may be unknown to this build. */
type Attributes = Partial<Record<keyof KeyAttributes, unknown>>;

const byDigest = (a: { digest: string }, b: { digest: string }) => (a.digest < b.digest ? -1 : 1);

/** What is known of the keys of a team by a snapshot, and by the changes since an earlier one. */
async function bothWays(store: Store, { teamId }: Home, since: number): Promise<IndexedKey[][]> {
  const read = [await readSnapshot(store), await changesAfter(store, since, 50)];
  return read.map(({ keys }) => keys.filter(({ attributes }) => attributes.teamId === teamId).sort(byDigest));
}

/** The record of a reserved version, whose attributes are those of a key as `reserveKey` makes it but for these. */
function recordOf(home: Home, { key, digest, number }: Reservation, attributes: Attributes = {}) {
  return {
    digest,
    keyId: key.id,
    version: number,
    expiresAt: Number.POSITIVE_INFINITY,
    importedFormat: false,
    attributes: {
      teamId: home.teamId,
      namespace: home.namespace,
      teamHoldsNamespace: true,
      state: "active",
      versionState: "reserved",
      scopes: scopeSet(["memory:read"]),
      boundGatewayId: null,
      libraryIds: null,
      mcpDefaultLibraryId: null,
      teamDefaultLibraryId: null,
      allowedModels: null,
      rateLimit: null,
      concurrent: null,
      tokenLimit: null,
      subject: null,
      allowedCIDRs: null,
      teamAllowedCIDRs: null,
      teamLimits: null,
      ...attributes,
    },
  };
}

type Sort = {
  readonly given: Parameters<typeof reserveKey>[2];
  /** What is particular in its record. */
  readonly record?: Partial<IndexedKey>;
  readonly attributes?: Attributes;
};

/** Keys that differ in all that a decision reads. */
function sortsOf(libraryId: string): Sort[] {
  const restriction = {
    libraryIds: [libraryId],
    mcpDefaultLibraryId: libraryId,
    allowedModels: ["fast chat", "a,b"],
    rateLimit: { requestsPerMinute: 60, burst: 5, scope: "Installation" as const },
    concurrent: 3,
    allowedCIDRs: ["203.0.113.0/24", "::/0"],
  };
  const nothing = { libraryIds: [], allowedModels: [] };
  const byHand = { id: unique("by_hand"), namespace: "", source: "ImportHash" } as const;
  return [
    { given: {} },
    {
      given: { policy: policyOf({ ...restriction, expiresAt: NOW + HOUR }) },
      record: { expiresAt: NOW + HOUR },
      attributes: restriction,
    },
    { given: { policy: policyOf({ ...nothing, scopes: [] }) }, attributes: { ...nothing, scopes: scopeSet([]) } },
    {
      given: { key: byHand, prefix: "inf_given", expiresAfter: 2 * HOUR },
      record: { importedFormat: true, expiresAt: NOW + 2 * HOUR },
      attributes: { namespace: "" },
    },
    { given: { key: { source: "Placeholder" }, prefix: "inf_placed" }, record: { importedFormat: true } },
  ];
}

describeNightlyOnEachEngine("What a decision reads of a key", (store) => {
  test("is the same by a snapshot and by the changes, for keys of all sorts", async () => {
    const home = await makeTeam(store());
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(home)));
    const { head } = await readSnapshot(store());
    const expected: ReturnType<typeof recordOf>[] = [];
    for (const { given, record = {}, attributes } of sortsOf(libraryId)) {
      expected.push({ ...recordOf(home, await reserveKey(store(), home, given), attributes), ...record });
    }
    for (const keys of await bothWays(store(), home, head)) expect(keys).toEqual(expected.toSorted(byDigest));
  });

  test("is the same by a snapshot and by the changes for each version of a key, each of which comes once", async () => {
    const home = await makeTeam(store());
    const { head } = await readSnapshot(store());
    const [plain, rotated] = [await reserveKey(store(), home), await reserveKey(store(), home)];
    const next = nextVersion(rotated, 2);
    await run(store(), (tx) => activateVersion(tx, { keyId: rotated.key.id, number: 1, overlapMs: 0 }));
    await run(store(), (tx) => reserveVersion(tx, next));
    const expected = [
      recordOf(home, plain),
      recordOf(home, rotated, { versionState: "active" }),
      recordOf(home, next),
    ].sort(byDigest);
    for (const keys of await bothWays(store(), home, head)) expect(keys).toEqual(expected);
  });

  test("is one object for keys that differ in nothing that a decision reads", async () => {
    const home = await makeTeam(store());
    const [one, other] = [await reserveKey(store(), home), await reserveKey(store(), home)];
    const { keys } = await readSnapshot(store());
    const attributesOf = ({ digest }: Reservation) => keys.find((key) => key.digest === digest)?.attributes;
    expect(attributesOf(one)).toBeDefined();
    expect(attributesOf(one)).toBe(attributesOf(other));
  });

  test("is the same by a snapshot and by the changes in states and scopes that this build does not know", async () => {
    const home = await makeTeam(store());
    const { head } = await readSnapshot(store());
    const later = await reserveKey(store(), home);
    const { id } = later.key;
    await sql`update keys set state = 'quarantined', scopes = '{memory:read,memory:admin}' where id = ${id}`.execute(
      store().db,
    );
    await sql`update key_versions set state = 'doubted' where key_id = ${id}`.execute(store().db);
    const expected = recordOf(home, later, { state: "quarantined", versionState: "doubted" });
    for (const keys of await bothWays(store(), home, head)) expect(keys).toEqual([expected]);
  });

  test("has every text as it was written, whatever is in it", async () => {
    const home = await makeTeam(store());
    const { key, digest } = await reserveKey(store(), home);
    const versionOf = (keys: readonly { digest: string; attributes: object }[]) =>
      keys.find((one) => one.digest === digest);
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          allowedModels: fc.option(fc.array(text, { maxLength: 4 })),
          mcpDefaultLibraryId: fc.option(text),
          namespace: text,
          state: text,
          versionState: text,
        }),
        async (attributes) => {
          const before = (await readSnapshot(store())).head;
          await sql`update keys set allowed_models = ${attributes.allowedModels}::text[], namespace = ${attributes.namespace},
            mcp_default_library_id = ${attributes.mcpDefaultLibraryId}, state = ${attributes.state} where id = ${key.id}`.execute(
            store().db,
          );
          await sql`update key_versions set state = ${attributes.versionState} where key_id = ${key.id}`.execute(
            store().db,
          );
          const snapshot = await readSnapshot(store());
          expect(versionOf(snapshot.keys)?.attributes).toMatchObject(attributes);
          if (snapshot.head > before) {
            expect(versionOf((await changesAfter(store(), before, 50)).keys)?.attributes).toMatchObject(attributes);
          }
        },
      ),
      { numRuns: examples(15), examples: WRITTEN_WITH_CARE.map((attributes): [typeof attributes] => [attributes]) },
    );
  });
});
