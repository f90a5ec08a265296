import { expect, test } from "vitest";
import { change, takeLeadership } from "../../store/database/change.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { saveGateway } from "../../store/gateways/gateways.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import { listKeys } from "../../store/keys/search/key-lists.ts";
import { recordUsage } from "../../store/keys/uses/usage.ts";
import { saveLibrary } from "../../store/libraries/libraries.ts";
import { findActiveObject } from "../../store/objects/objects.ts";
import { findOrphans } from "../../store/orphans.ts";
import { deregisterReplica, heartbeat, registerReplica } from "../../store/replicas/replicas.ts";
import { findTeam, findTeamOfNamespace } from "../../store/teams/teams.ts";
import { describeNightlyOnEachEngine } from "../env/database/engines.ts";
import {
  gatewayDraft,
  libraryDraft,
  makeTeam,
  NOW,
  policyOf,
  readSnapshot,
  reserveKey,
  run,
  unique,
} from "./fixtures.ts";
import { auditOfKey, findKeyByOwner, membersOfTeam } from "./questions.ts";

const keyring = parseKeyring(Buffer.alloc(32, 1).toString("base64"));

describeNightlyOnEachEngine("SQL metacharacters", (store) => {
  const nasty = `'; drop table keys; -- "x" \\ {a,b} \${1} $1 %s ,NULL ☃\n\t`;
  const named = (what: string) => `${what} ${unique("n")} ${nasty}`;
  const member = { role: "admin", kind: "subject", value: named("subject") } as const;
  const makeNastyTeam = async () => {
    const [name, cluster, namespace] = [named("team"), named("cluster"), named("namespace")];
    const defaultLibrary = { namespace, name: named("library") };
    const texts = { name, cluster, ownerUid: named("uid"), displayName: nasty };
    const team = { ...texts, namespaces: [namespace], members: [member], defaultLibrary };
    return { ...(await makeTeam(store(), team)), defaultLibrary };
  };
  const saveDefaultLibrary = async (home: Awaited<ReturnType<typeof makeNastyTeam>>) => {
    const texts = { name: home.defaultLibrary.name, ownerUid: nasty, displayName: nasty, description: nasty };
    const library = libraryDraft(home, texts);
    return { ...library, ...(await run(store(), (tx) => saveLibrary(tx, library))) };
  };

  test("b63: are data in a team, its namespaces and its members", async () => {
    const { cluster, namespace, name, teamId } = await makeNastyTeam();
    expect(await findTeamOfNamespace(store().db, cluster, namespace)).toEqual({ id: teamId, name });
    expect(await findTeam(store().db, cluster, name)).toEqual({ id: teamId, namespaces: [namespace] });
    expect(await membersOfTeam(store().db, teamId)).toEqual([member]);
  });

  test("b63: are data in a library", async () => {
    const { libraryId, ...library } = await saveDefaultLibrary(await makeNastyTeam());
    expect(await findActiveObject(store().db, "library", library)).toEqual({ id: libraryId });
  });

  test("b63: are data in a gateway, its upstreams and its routes", async () => {
    const upstream = { name: nasty, dialect: "openai", baseUrl: nasty, credential: nasty } as const;
    const route = { model: nasty, routeId: nasty, upstream: nasty, upstreamModel: nasty, fallbacks: [] };
    const gateway = gatewayDraft(await makeNastyTeam(), {
      ...{ name: named("gateway"), ownerUid: named("uid"), publicId: named("public") },
      ...{ upstreams: [upstream], routes: [route] },
    });
    await run(store(), (tx) => saveGateway(tx, gateway, keyring));
    const served = (await readSnapshot(store())).gateways.find(({ publicId }) => publicId === gateway.publicId);
    expect(served).toMatchObject({ routes: [route], upstreams: [{ name: nasty, baseUrl: nasty }] });
  });

  test("b63: are data in a key, what is declared of it, and what a decision reads of it", async () => {
    const home = await makeNastyTeam();
    const { cluster, namespace, teamId } = home;
    const { libraryId } = await saveDefaultLibrary(home);
    const policy = policyOf({ displayName: nasty, allowedModels: [nasty, "", "null", "a,b"], libraryIds: [libraryId] });
    const names = { id: named("key"), name: nasty, ownerUid: named("uid") };
    const given = { policy, prefix: nasty, rotationTrigger: nasty, key: names };
    const { key, digest } = await reserveKey(store(), home, given);
    expect(await findKeyByOwner(store().db, cluster, names.ownerUid)).toMatchObject({
      ...key,
      policy,
      versions: [{ prefix: nasty, rotationTrigger: nasty }],
    });
    expect(await listKeys(store().db, { cluster, team: teamId, afterId: "'", limit: 9 })).toHaveLength(1);
    const place = { cluster, namespaces: [namespace, nasty] };
    expect(await findOrphans(store().db, "PlatformKey", { ...place, uids: [nasty] })).toMatchObject({ total: 1 });
    const owned = { ...place, uids: [names.ownerUid] };
    expect(await findOrphans(store().db, "PlatformKey", owned)).toMatchObject({ orphans: [] });
    const record = (await readSnapshot(store())).keys.find((one) => one.digest === digest);
    const { allowedModels } = policy;
    expect(record).toMatchObject({
      keyId: key.id,
      attributes: { namespace, teamHoldsNamespace: true, allowedModels, teamDefaultLibraryId: libraryId },
    });
  });

  test("b63: are data in who uses a key, and who revokes it", async () => {
    const { key } = await reserveKey(store(), await makeNastyTeam());
    await recordUsage(store(), [{ keyId: key.id, version: 1, at: NOW, address: nasty, userAgent: nasty }]);
    await run(store(), (tx) => revokeKey(tx, key.id, "ByHand", { actor: nasty }));
    expect((await auditOfKey(store().db, key.id)).at(-1)?.actor).toBe(nasty);
  });

  test("b63: are data in the names of replicas and of the clusters that leaders lead", async () => {
    await registerReplica(store(), nasty);
    expect((await heartbeat(store(), nasty, { seq: 0, id: null })).registered).toBe(true);
    await deregisterReplica(store(), nasty);
    const fence = await takeLeadership(store(), named("cluster"));
    expect((await change(store(), fence, async () => 1)).result).toBe(1);
  });
});
