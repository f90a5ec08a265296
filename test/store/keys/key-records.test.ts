import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { changesAfter } from "../../../store/feed/change-feed.ts";
import { reserveVersion } from "../../../store/keys/key-reservations.ts";
import { activateVersion } from "../../../store/keys/key-versions.ts";
import { saveLibrary } from "../../../store/memory/libraries.ts";
import { describeOnEachEngine } from "../../env/engines.ts";
import { HOUR, makeTeam, NOW, nextVersion, policyOf, readSnapshot, reserveKey, run, unique } from "../fixtures.ts";

/** What a database's text may hold, and what its writing of a record has a meaning for. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', "\\", ",", "(", ")", " ", "\n", "\t", "\u0001", "a", "é", "💡") }),
  fc.string().filter((value) => !value.includes("\0")),
  fc.constantFrom("", "null", "NULL", '""', "t"),
);

describeOnEachEngine("What a decision reads of a key", (store) => {
  test("is the same by a snapshot and by the changes, for keys of all sorts", async () => {
    const home = await makeTeam(store());
    const library = { cluster: home.cluster, namespace: home.namespace, name: unique("lib"), ownerUid: unique("uid") };
    const { libraryId } = await run(store(), (tx) =>
      saveLibrary(tx, { ...library, teamId: home.teamId, displayName: "", description: "", deletionPolicy: "Retain" }),
    );
    const before = (await readSnapshot(store())).head;
    const plain = await reserveKey(store(), home);
    const restricted = await reserveKey(store(), home, {
      policy: policyOf({
        libraryIds: [libraryId],
        mcpDefaultLibraryId: libraryId,
        allowedModels: ["fast chat", "a,b"],
        rateLimit: { requestsPerMinute: 60, burst: 5 },
        concurrent: 3,
        expiresAt: NOW + HOUR,
      }),
    });
    const none = await reserveKey(store(), home, {
      policy: policyOf({ scopes: [], libraryIds: [], allowedModels: [] }),
    });
    const given = { id: unique("by_hand"), namespace: "" };
    const imported = await reserveKey(store(), home, {
      key: { ...given, source: "ImportHash" },
      prefix: "inf_given",
      expiresAfter: 2 * HOUR,
    });
    const placeholder = await reserveKey(store(), home, { key: { source: "Placeholder" }, prefix: "inf_placed" });
    const rotated = await reserveKey(store(), home);
    await run(store(), (tx) => activateVersion(tx, { keyId: rotated.key.id, number: 1, overlapMs: 0 }));
    await run(store(), (tx) => reserveVersion(tx, nextVersion(rotated, 2)));
    const later = await reserveKey(store(), home);
    await sql`update keys set state = 'quarantined', scopes = '{memory:read,memory:admin}' where id = ${later.key.id}`.execute(
      store().db,
    );
    await sql`update key_versions set state = 'doubted' where key_id = ${later.key.id}`.execute(store().db);

    const { keys } = await readSnapshot(store());
    const common = {
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
    };
    const key = (keyId: string, digest: string, attributes: object, version = 1) => ({
      digest,
      keyId,
      version,
      expiresAt: Number.POSITIVE_INFINITY,
      importedFormat: false,
      attributes: { ...common, ...attributes },
    });
    const byDigest = (a: { digest: string }, b: { digest: string }) => (a.digest < b.digest ? -1 : 1);
    const expected = [
      key(plain.key.id, plain.digest, {}),
      {
        ...key(restricted.key.id, restricted.digest, {
          libraryIds: [libraryId],
          mcpDefaultLibraryId: libraryId,
          allowedModels: ["fast chat", "a,b"],
          rateLimit: { requestsPerMinute: 60, burst: 5 },
          concurrent: 3,
        }),
        expiresAt: NOW + HOUR,
      },
      key(none.key.id, none.digest, { scopes: scopeSet([]), libraryIds: [], allowedModels: [] }),
      { ...key(imported.key.id, imported.digest, { namespace: "" }), importedFormat: true, expiresAt: NOW + 2 * HOUR },
      { ...key(placeholder.key.id, placeholder.digest, {}), importedFormat: true },
      key(rotated.key.id, rotated.digest, { versionState: "active" }),
      key(rotated.key.id, nextVersion(rotated, 2).digest, {}, 2),
      key(later.key.id, later.digest, { state: "quarantined", versionState: "doubted" }),
    ].sort(byDigest);
    expect([...keys].sort(byDigest)).toEqual(expected);
    expect([...(await changesAfter(store(), before, 50)).keys].sort(byDigest)).toEqual(expected);
    const [one, other] = [plain.digest, nextVersion(rotated, 2).digest].map(
      (digest) => keys.find((found) => found.digest === digest)?.attributes,
    );
    expect(one).toBe(other);
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
      { numRuns: 50 },
    );
  });
});
