import { afterAll, beforeAll, expect, test } from "vitest";
import { takeLeadership } from "../../../store/database/change.ts";
import { recordClusterName } from "../../../store/objects/cluster-names.ts";
import { makeTeam, reserveKey } from "../../store/fixtures.ts";
import { type Pages, startPages } from "./pages.ts";

let pages: Pages;
beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages.close());

const CLUSTERS = { north: "6d0c5bf2-0001", south: "7e1d6ca3-0002", other: "8f2e7db4-0003" };

async function lead(cluster: string, name?: string): Promise<void> {
  const fence = await takeLeadership(pages.store, cluster);
  if (name !== undefined) await recordClusterName(pages.store, fence, name);
}

/** What a page says of where something is declared, as its reader sees it. */
async function locationOn(path: string): Promise<string> {
  const { text } = await pages.get(path);
  return (/<dt>Declared in<\/dt><dd>(.*?)<\/dd>/s.exec(text)?.[1] ?? "").trim();
}

test("where a key is declared is said without a cluster while there is one, and by the clusters' names from then on", async () => {
  const team = await makeTeam(pages.store, { cluster: CLUSTERS.north });
  const { key } = await reserveKey(pages.store, team);
  const ref = `${key.namespace}/${key.name}`;
  await lead(CLUSTERS.north, "north <b>");
  expect(await locationOn(`/keys/${key.id}`)).toBe(ref);
  expect((await pages.get("/keys")).text).not.toContain(CLUSTERS.north);

  await lead(CLUSTERS.south, "south");
  expect(await locationOn(`/keys/${key.id}`)).toBe(`${ref} in <bdi>north &lt;b&gt;</bdi>`);
  expect((await pages.get("/keys")).text).toContain("in <bdi>north &lt;b&gt;</bdi>");
  expect(await locationOn(`/team/${team.teamId}`)).toBe(`${team.name} in <bdi>north &lt;b&gt;</bdi>`);

  await lead(`${CLUSTERS.other}/namespace-a`, "north <b>");
  expect(await locationOn(`/keys/${key.id}`)).toBe(
    `${ref} in <bdi>north &lt;b&gt;</bdi> (<code>${CLUSTERS.north.slice(0, 8)}</code>)`,
  );
});

test("a cluster without a name is shown by its id, where there are several", async () => {
  const team = await makeTeam(pages.store, { cluster: "cluster-without-a-name" });
  const { key } = await reserveKey(pages.store, team);
  await lead(team.cluster);
  expect(await locationOn(`/keys/${key.id}`)).toContain(" in <code>cluster-without-a-name</code>");
});
