import { expect, test } from "vitest";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { releaseGateway, saveGateway } from "../../store/gateways/gateways.ts";
import { removeLibrary, saveLibrary } from "../../store/libraries/libraries.ts";
import { findOrphans } from "../../store/orphans.ts";
import { deleteTeam, saveTeam } from "../../store/teams/teams.ts";
import { describeNightlyOnEachEngine } from "../env/database/engines.ts";
import { gatewayDraft, libraryDraft, makeTeam, run, unique } from "./fixtures.ts";

const keyring = parseKeyring(Buffer.alloc(32, 7).toString("base64"));

describeNightlyOnEachEngine("What has lost its declaration", (store) => {
  const teamDraft = (cluster: string) => ({
    cluster,
    name: unique("team"),
    ownerUid: unique("uid"),
    displayName: "",
    namespaces: [],
    members: [],
    defaultLibrary: null,
    leakAction: "Alert" as const,
    allowedCIDRs: null,
    limits: null,
    webhooks: [],
    generation: 1,
  });

  test("c13: a library or gateway is found in its namespace and in no other, and not once it has ended", async () => {
    const home = await makeTeam(store());
    const { cluster, namespace } = home;
    const none = { cluster, namespaces: null, uids: [] };
    const libraries = [libraryDraft(home), libraryDraft(home)];
    for (const library of libraries) await run(store(), (tx) => saveLibrary(tx, library));
    const gateways = [gatewayDraft(home), gatewayDraft(home)];
    for (const gateway of gateways) await run(store(), (tx) => saveGateway(tx, gateway, keyring));
    for (const [kind, drafts] of [
      ["MemoryLibrary", libraries],
      ["ModelGateway", gateways],
    ] as const) {
      const [kept, orphan] = drafts.map(({ ownerUid }) => ownerUid);
      const found = await findOrphans(store().db, kind, { cluster, namespaces: [namespace], uids: [String(kept)] });
      expect(found.orphans.map(({ ownerUid }) => ownerUid)).toEqual([orphan]);
      expect(found.total).toBe(2);
      expect(await findOrphans(store().db, kind, { cluster, namespaces: ["elsewhere"], uids: [] })).toEqual({
        orphans: [],
        total: 0,
      });
      expect(await findOrphans(store().db, kind, { ...none, cluster: unique("cluster") })).toEqual({
        orphans: [],
        total: 0,
      });
    }
    for (const library of libraries) await run(store(), (tx) => removeLibrary(tx, { ...library, policy: "Retain" }));
    for (const { ownerUid } of gateways) await run(store(), (tx) => releaseGateway(tx, cluster, ownerUid));
    for (const kind of ["MemoryLibrary", "ModelGateway"] as const) {
      expect(await findOrphans(store().db, kind, none)).toEqual({ orphans: [], total: 0 });
    }
  });

  test("c13: a team is found in its cluster, and not once it was deleted", async () => {
    const cluster = unique("cluster");
    const [kept, orphan] = [teamDraft(cluster), teamDraft(cluster)];
    for (const draft of [kept, orphan]) await run(store(), (tx) => saveTeam(tx, draft));
    // A controller that serves namespaces sees the teams of the whole cluster.
    const list = { cluster, namespaces: ["a-namespace"], uids: [kept.ownerUid] };
    const found = await findOrphans(store().db, "PlatformTeam", list);
    expect(found.orphans.map(({ namespace, name }) => [namespace, name])).toEqual([["", orphan.name]]);
    expect(found.total).toBe(2);
    await run(store(), (tx) => deleteTeam(tx, orphan));
    expect(await findOrphans(store().db, "PlatformTeam", list)).toEqual({ orphans: [], total: 1 });
  });
});
