import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_FIGURES } from "../../../../domain/usage/token-count.ts";
import { addTokenCounts } from "../../../../store/keys/uses/token-counts.ts";
import { type Pages, startPages } from "../pages.ts";

let folder: string;
let pages: Pages;
let key: { id: string; teamId: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyplane-costs-"));
  const file = join(folder, "prices.yaml");
  await writeFile(
    file,
    "currency: EUR\nprices:\n  - {model: gpt, from: 2020-01-01, input: 2}\n  - {model: tiny, from: 2020-01-01, input: 0.001}\n",
  );
  pages = await startPages(undefined, { KEYPLANE_PRICES: file });
  await pages.send("POST", "/teams", { name: "research", spec: {} });
  key = (await pages.send("POST", "/keys", { name: "agent", team: "research", spec: { preset: "MCPReadOnly" } })).body;
  const slot = Math.floor(Date.now() / 300_000) * 300_000;
  for (const [model, input, output] of [
    ["gpt", 617_283_945, 0],
    ["tiny", 1_000, 0],
    ["new", 5, 7],
  ] as const) {
    const of = { keyId: key.id, slot, gatewayId: "gw", routeId: "", model, teamId: key.teamId };
    const figures = { ...NO_FIGURES, calls: 1, input, output };
    await addTokenCounts(pages.store, [{ ...of, figures }], () => {});
  }
});
afterAll(async () => {
  await pages.close();
  await rm(folder, { recursive: true });
});

describe("What usage costs, in the console", () => {
  test.each(["/usage", "/keys/KEY?tab=usage", "/team/TEAM"])(
    "is on %s by model and in all, with what has no price, and what is unknown is not 0",
    async (path) => {
      const { text } = await pages.get(path.replace("KEY", key.id).replace("TEAM", key.teamId));
      const panel = text
        .slice(text.indexOf('id="usage"'))
        .replace(/<[^>]*>/g, " ")
        .replace(/\s+/g, " ");
      expect(panel).toContain("Cost at least 1,234.56 EUR No price is known of 12 tokens.");
      expect(panel).toContain("Cost in EUR");
      expect(panel).toMatch(/ gpt [^a-z]*1,234\.57 /);
      expect(panel).toMatch(/ tiny [^a-z]*under 0\.01 /);
      expect(panel).toMatch(/ new [^a-z]*unknown /);
    },
  );
});
