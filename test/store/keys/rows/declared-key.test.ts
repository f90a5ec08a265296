import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { parseKeyring } from "../../../../store/encryption/keyring.ts";
import { saveGateway } from "../../../../store/gateways/gateways.ts";
import { reserveVersion } from "../../../../store/keys/lifecycle/key-reservations.ts";
import { findDeclaredKey } from "../../../../store/keys/rows/declared-key.ts";
import { recordKeySecret } from "../../../../store/keys/rows/key-secrets.ts";
import { saveLibrary } from "../../../../store/libraries/libraries.ts";
import { savePolicy, saveUnreadablePolicies } from "../../../../store/policies/key-policies.ts";
import { deleteTeam } from "../../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../../env/database/engines.ts";
import {
  gatewayDraft,
  type Home,
  libraryDraft,
  makeTeam,
  nextVersion,
  reserveKey,
  run,
  unique,
} from "../../fixtures.ts";
import { findKeyByOwner } from "../../questions.ts";

const SPEC = { teamSelector: { matchNames: ["team-a"] }, gracePeriod: "168h", maxKeys: 1 };
const keyring = parseKeyring(randomBytes(32).toString("base64"));

describeNightlyOnEachEngine("What is stored of a declaration", (store) => {
  const library = async (home: Home, name: string) =>
    (await run(store(), (tx) => saveLibrary(tx, libraryDraft(home, { name })))).libraryId;
  const gateway = async (home: Home, name: string) => {
    const draft = gatewayDraft(home, { name });
    const { gatewayId } = await run(store(), (tx) => saveGateway(tx, draft, keyring));
    return { id: gatewayId, publicId: draft.publicId };
  };
  const find = (
    { cluster, namespace }: Home,
    ownerUid: string,
    names: { gateway?: string; libraries?: string[]; seenPolicies?: string[] } = {},
  ) =>
    findDeclaredKey(store().db, {
      cluster,
      ownerUid,
      namespace,
      gateway: names.gateway === undefined ? null : { namespace, name: names.gateway },
      libraries: (names.libraries ?? []).map((name) => ({ namespace, name })),
      seenPolicies: names.seenPolicies ?? [],
    });

  test("is its key with all versions, its team, and what it refers to in the order that was asked for", async () => {
    const home = await makeTeam(store());
    const first = await reserveKey(store(), home);
    await run(store(), (tx) => reserveVersion(tx, nextVersion(first, 2)));
    const [one, two, main] = [await library(home, "one"), await library(home, "two"), await gateway(home, "main")];
    const ownerUid = first.key.ownerUid ?? "";
    const found = await find(home, ownerUid, { gateway: "main", libraries: ["two", "missing", "one", "two"] });
    expect(found).toEqual({
      now: expect.any(Number),
      stored: await findKeyByOwner(store().db, home.cluster, ownerUid),
      conditions: null,
      team: { id: home.teamId, name: home.name, labels: {} },
      unseenPolicies: [],
      gateway: main,
      libraryIds: [two, undefined, one, two],
    });
    expect(found.stored?.versions.map(({ number }) => number)).toEqual([2, 1]);
  });

  test("is the team alone before it has a key, and nothing where no team is", async () => {
    const home = await makeTeam(store());
    const noKey = { stored: undefined, conditions: null, unseenPolicies: [] };
    const nothing = { now: expect.any(Number), ...noKey, gateway: undefined, libraryIds: [undefined] };
    const names = { gateway: "main", libraries: ["one"] };
    expect(await find(home, "unknown", names)).toEqual({
      ...nothing,
      team: { id: home.teamId, name: home.name, labels: {} },
    });
    const nowhere = { ...home, namespace: unique("unclaimed") };
    expect(await find(nowhere, "unknown", names)).toEqual({ ...nothing, team: undefined });
  });

  test("c107: is which policies of its cluster are not among those that are seen, with what they select", async () => {
    const home = await makeTeam(store());
    const { cluster } = home;
    const policy = (uid: string) => ({ cluster, uid, name: uid, spec: { ...SPEC }, teams: [], rules: [] });
    for (const uid of ["seen", "unseen"]) await run(store(), (tx) => savePolicy(tx, policy(uid)));
    await run(store(), (tx) => savePolicy(tx, { ...policy("another"), cluster: unique("cluster") }));
    await run(store(), (tx) => saveUnreadablePolicies(tx, cluster, ["unread"]));
    const { unseenPolicies } = await find(home, "unknown", { seenPolicies: ["seen"] });
    expect(unseenPolicies).toEqual([
      { uid: "unread", name: "", spec: undefined },
      { uid: "unseen", name: "unseen", spec: SPEC },
    ]);
  });

  test("is found within the key's own team while none holds the namespace", async () => {
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    const one = await library(home, "one");
    await run(store(), (tx) => deleteTeam(tx, home));
    expect(await find(home, key.ownerUid ?? "", { libraries: ["one"] })).toMatchObject({
      team: undefined,
      libraryIds: [one],
    });
  });

  test("is what its Secret was last found to be", async () => {
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    const secretFound = async () => (await find(home, key.ownerUid ?? "")).stored?.secretFound;
    expect(await secretFound()).toBeNull();
    for (const resourceVersion of ["7", "8"]) {
      const found = { resourceVersion, number: 1, content: "c", marks: ["label a=b"] };
      await recordKeySecret(store().db, key.id, found);
      expect(await secretFound()).toEqual(found);
    }
  });
});

describeOnPostgres("What is stored of a declaration", (store) => {
  test("c42: is found by connections that have asked before a newer build's migration", async () => {
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    const asked = {
      cluster: home.cluster,
      namespace: home.namespace,
      ownerUid: key.ownerUid ?? "",
      gateway: null,
      libraries: [],
      seenPolicies: [],
    };
    await store()
      .db.connection()
      .execute(async (db) => {
        const before = await findDeclaredKey(db, asked);
        await sql`alter table keys add column of_a_newer_build text`.execute(db);
        expect(await findDeclaredKey(db, asked)).toEqual({ ...before, now: expect.any(Number) });
      });
  });
});
