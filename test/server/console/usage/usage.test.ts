import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_FIGURES } from "../../../../domain/usage/token-count.ts";
import { addRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../../store/keys/uses/token-counts.ts";
import { rollUp } from "../../../../store/usage/roll-up.ts";
import { HOUR } from "../../../store/fixtures.ts";
import { type Pages, startPages, type Visitor } from "../pages.ts";

const SLOT = 5 * 60_000;
let pages: Pages;
let research: { id: string; key: string };
let payments: { id: string; key: string };

beforeAll(async () => {
  pages = await startPages();
  research = await makeTeam("research");
  payments = await makeTeam("payments");
  const slot = Math.floor(Date.now() / SLOT) * SLOT;
  for (const [{ id, key }, model, input] of [
    [research, "gpt", 1_000],
    [payments, "claude", 7_000],
  ] as const) {
    // Within the last five minutes, some hours ago, and weeks ago in what is summed up already.
    for (const [at, times] of [
      [slot, 1],
      [slot - 4 * HOUR, 2],
      [slot - 6 * 24 * HOUR, 4],
    ] as const) {
      const figures = { ...NO_FIGURES, calls: times, input: input * times, reasoning: times };
      await addTokenCounts(
        pages.store,
        [{ keyId: key, slot: at, gatewayId: "gw", routeId: "", model, teamId: id, figures }],
        () => {},
      );
      await addRequestCounts(
        pages.store,
        [{ keyId: key, slot: at, scope: "gateway:generate", count: 10 * times }],
        () => {},
      );
    }
  }
  await rollUp(pages.store);
});
afterAll(() => pages.close());

async function makeTeam(name: string) {
  const spec = { members: [{ role: "viewer", subject: `${name}-viewer` }] };
  const { id } = (await pages.send("POST", "/teams", { name, spec })).body;
  const made = await pages.send("POST", "/keys", { name: `${name}-key`, team: name, spec: { preset: "MCPReadOnly" } });
  return { id, key: made.body.id as string };
}

/** The panel's text. */
async function panelOf(path: string, visitor: Visitor = pages): Promise<string> {
  const { status, text } = await visitor.get(path);
  expect(status).toBe(200);
  const panel = text.split('id="usage"')[1]?.split("</section>")[0] ?? "";
  return panel.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

describe("Usage in the console", () => {
  test("is of an hour, a day or 30 days, each as it was counted", async () => {
    for (const [query, requests, tokens] of [
      ["?usage=hour", "10", "1K"],
      ["?tab=usage", "30", "3K"],
      ["?usage=month", "70", "7K"],
    ] as const) {
      const panel = await panelOf(`/keys/${research.key}${query}`);
      expect(panel).toMatch(new RegExp(`Requests ${requests} .* Tokens ${tokens} `));
      expect(panel).toMatch(/By model .* gpt /);
    }
  });

  test("of a team is by key and model, with links to the keys", async () => {
    const panel = await panelOf(`/team/${payments.id}?usage=month`);
    expect(panel).toMatch(/By key .*payments-key 70 7 49K 49K 7 .*By model .* claude 7 49K/);
    expect(panel).not.toContain("research-key");
    expect((await pages.get(`/team/${payments.id}`)).text).toContain(
      `<a href="/dashboard/keys/${payments.key}">payments-key</a>`,
    );
  });

  test("of the installation is by team, those that used most first", async () => {
    const panel = await panelOf("/usage?usage=month");
    expect(panel).toMatch(/Requests 140 .*Tokens 56K .*By team .*payments 70 .*By model .*By key/);
    expect((await pages.get("/usage")).text).toContain("All teams of this installation.");
  });

  test("b66: is for a member of a team what that team used", async () => {
    const viewer = await pages.as("research-viewer");
    expect(await panelOf("/usage?usage=month", viewer)).toMatch(/Requests 70 .*By team .*research 70 /);
    expect((await viewer.get("/usage?usage=month")).text).not.toMatch(/payments|claude/);
    expect((await viewer.get(`/team/${payments.id}`)).status).toBe(404);
  });

  test("of one model is by the keys that use it, over a day as over 30 days, and its name leads there", async () => {
    const link = '<a href="/dashboard/usage?model=gpt&amp;usage=month" aria-label="Keys that use gpt">';
    expect((await pages.get("/usage?usage=month")).text).toContain(link);
    expect((await pages.get(`/keys/${research.key}?usage=month`)).text).toContain(link);
    expect((await pages.get(`/team/${research.id}`)).text).toContain(
      'href="/dashboard/usage?team=research&amp;model=gpt&amp;usage=day"',
    );
    for (const [range, answers, tokens] of [
      ["day", "3", "3K"],
      ["month", "7", "7K"],
    ]) {
      const panel = await panelOf(`/usage?model=gpt&usage=${range}`);
      expect(panel).toMatch(new RegExp(`Answers ${answers} .*By key .*research-key research ${answers} ${tokens} `));
      expect(panel).not.toMatch(/payments|Requests/);
    }
    expect((await pages.get("/usage?model=gpt")).text).toContain("Of answers of <code>gpt</code> alone");
  });

  test("of one model in a team is of that team's keys alone, and another model of theirs has none", async () => {
    expect(await panelOf("/usage?model=claude&team=payments")).toMatch(/By key .*payments-key 3 21K /);
    expect(await panelOf("/usage?model=claude&team=research")).toContain("Last day: no answers of models.");
    expect(await panelOf("/usage?model=%3Cb%3E")).toContain("Last day: no answers of models.");
    const text = (await pages.get("/usage?model=claude&team=payments")).text;
    expect(text).toContain('href="/dashboard/usage?team=payments&amp;model=claude&amp;usage=month#usage"');
    const viewer = await pages.as("research-viewer");
    expect((await viewer.get("/usage?model=claude&team=payments&usage=month")).text).not.toContain("payments-key");
  });

  test("is drawn by attributes alone, and says in words what is in the chart", async () => {
    const { text } = await pages.get("/usage");
    expect(text).not.toMatch(/ style=|<style/);
    expect(text).toMatch(/<svg class="chart"[^>]* aria-label="Tokens, last day, every hour: 24,000 input, 6 reasoning/);
  });

  test("of a range that there is not is that of a day", async () => {
    expect(await panelOf("/usage?usage=%3Cb%3E")).toContain("Requests 60 ");
  });
});
