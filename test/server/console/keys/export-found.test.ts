import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { foundCsv } from "../../../../server/console/keys/selected/export-found.ts";
import { fillWithKeys } from "../../../store/keys/search/filled-keys.ts";
import { type Pages, startPages, type Visitor } from "../pages.ts";
import { copyKey, pageNames } from "./copied-keys.ts";

let pages: Pages;
let viewer: Visitor;
let prefix: string;
const MADE = 55;

beforeAll(async () => {
  pages = await startPages();
  const members = [{ role: "viewer", subject: "vera" }];
  await pages.send("POST", "/teams", { name: "payments", spec: { members } });
  await pages.send("POST", "/teams", { name: "research", spec: {} });
  const [first = "", ...others] = pageNames(MADE);
  await makeKey(first, "payments");
  await copyKey(pages.store, first, others);
  prefix = (await makeKey("secretive", "research")).prefix;
  viewer = await pages.as("vera");
});
afterAll(() => pages.close());

async function makeKey(name: string, team: string): Promise<{ prefix: string }> {
  const made = await pages.send("POST", "/keys", { name, team, spec: { preset: "MCPReadOnly" } });
  return made.body;
}

async function namesIn(search: string, visitor: Visitor = pages): Promise<string[]> {
  const { status, text } = await visitor.get(`/keys/found.csv${search}`);
  expect(status).toBe(200);
  return text
    .split("\r\n")
    .slice(1, -1)
    .map((line) => line.split(",")[0] ?? "");
}

describe("the export of the keys that a search finds", () => {
  test("has those of all pages in the list's order, and the list leads there with its filters", async () => {
    const names = await namesIn("");
    expect(names).toHaveLength(MADE + 1);
    expect(names).toEqual(names.toSorted());
    const { text, headers } = await pages.get("/keys/found.csv?q=page-1");
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="keyplane-keys-[\w-]+\.csv"$/);
    expect(text.split("\r\n")[0]).toMatch(/^Name,Display name,Team,Owner,Prefix,State,/);
    expect(await namesIn("?q=page-1")).toHaveLength(10);
    expect(await namesIn("?state=suspended")).toEqual([]);
    const list = (await pages.get("/keys?q=page-&order=newest")).text;
    expect(list).toContain('href="/dashboard/keys/found.csv?q=page-&amp;order=newest">Export all as CSV</a>');
  });

  test("has a key by what identifies it, and for a member nothing of another team", async () => {
    expect(await namesIn(`?q=${prefix}`)).toEqual(["secretive"]);
    expect(await namesIn(`?q=${prefix}`, viewer)).toEqual([]);
    expect(await namesIn("", viewer)).toHaveLength(MADE);
    expect(await namesIn("?team=research", viewer)).toEqual([]);
    expect(await namesIn("", await pages.as("stranger"))).toEqual([]);
  });

  test("says in its last line what was cut, and checks the reader's roles between its parts", async () => {
    const of = async (most: number, checkAgain = async () => {}) => {
      const search = { name: "", state: undefined, teamIds: undefined, order: "name" } as const;
      const asked = { db: pages.store.db, search, identified: [], clusters: new Map(), checkAgain };
      const lines = foundCsv({ ...asked, show: async () => [] }, most);
      return (await Array.fromAsync(lines)).at(-1);
    };
    expect(await of(3)).toBe("Cut here: there are more keys than the 3 first. Search for fewer.\r\n");
    expect(await of(MADE + 1)).not.toContain("Cut here");
    await fillWithKeys(pages.store, 600);
    expect(await of(500)).toContain("than the 500 first");
    await expect(of(5_000, () => Promise.reject(new Error("no more")))).rejects.toThrow("no more");
  });
});
