/** Budgets and limits of a key that was made by hand, in the form to edit it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTeam, reserveKey, unique } from "../../../store/fixtures.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;

beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "admin", subject: "ada" }] } });
});
afterAll(() => pages.close());

const TOKENS = { tokens: 9_000, period: "Week", timeZone: "UTC", onExhausted: "Refuse" };

async function makeKey(more: object): Promise<string> {
  const spec = { preset: "GatewayDefault", ...more };
  const made = await pages.send("POST", "/keys", { name: unique("key"), team: "payments", spec });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

const specOf = async (id: string) => (await pages.send("GET", `/keys/${id}`)).body.spec;

/** The form to edit a key as a browser sends it where nothing is changed. */
async function openForm(id: string): Promise<Record<string, string>> {
  const { status, text } = await pages.get(`/keys/${id}/edit`);
  expect(status).toBe(200);
  return formIn(text);
}

function formIn(text: string): Record<string, string> {
  const inputs = [...text.matchAll(/<input(?! type="checkbox")[^>]*? name="([^"]+)"[^>]*? value="([^"]*)"/g)];
  const selects = [...text.matchAll(/<select[^>]* name="([^"]+)"[^>]*>.*?<\/select>/gs)].map(
    ([all, name = ""]) => ["", name, /value="([^"]*)"[^>]*selected/.exec(all)?.[1] ?? ""] as const,
  );
  return Object.fromEntries(
    [...inputs, ...selects].map(([, name, value = ""]) => [name, value.replaceAll("&quot;", '"')]),
  );
}

async function save(id: string, changed: Record<string, string>) {
  return pages.post(`/keys/${id}/edit`, { ...(await openForm(id)), ...changed });
}

test("Budgets and limits are shown as the form to make a key shows them, and stay where nothing is changed", async () => {
  const limits = { requestsPerMinute: 60, scope: "Installation", concurrent: 3 };
  const id = await makeKey({ budgets: [TOKENS], rateLimit: limits, allowedCIDRs: ["10.0.0.0/8"] });
  expect(await openForm(id)).toMatchObject({
    ...{ budgetOf: "tokens", budgetAmount: "9,000", budgetPeriod: "Week", networks: "10.0.0.0/8" },
    ...{ requestsPerMinute: "60", rateScope: "Installation", concurrent: "3" },
  });
  const before = await specOf(id);
  expect((await save(id, {})).status).toBe(303);
  expect(await specOf(id)).toEqual(before);
});

test("A key without a budget gets one, and then none", async () => {
  const id = await makeKey({});
  expect(await openForm(id)).toMatchObject({ budgetOf: "", budgetAmount: "" });
  const cost = { budgetOf: "cost", budgetAmount: "12.50", budgetCurrency: "USD", budgetPeriod: "Month" };
  expect((await save(id, cost)).status).toBe(303);
  expect((await specOf(id)).budgets).toMatchObject([{ cost: "12.50", currency: "USD", period: "Month" }]);
  expect((await save(id, { budgetOf: "" })).status).toBe(303);
  expect((await specOf(id)).budgets).toBeUndefined();
});

test("Of a budget the form keeps what it does not show, and leaves the key's others as they are, which it names", async () => {
  const first = { tokens: 1_000, period: "Day", timeZone: "Europe/Berlin", onExhausted: "Alert" };
  const id = await makeKey({ budgets: [first, { ...TOKENS, period: "Total" }] });
  const { text } = await pages.get(`/keys/${id}/edit`);
  expect(text).toContain("In Europe/Berlin.");
  expect(text).toContain("once it is used up, they pass, and it is reported");
  expect(text).toContain("Beside it the key has 9,000 tokens in all, refuses");
  expect((await save(id, { budgetAmount: "2000" })).status).toBe(303);
  expect((await specOf(id)).budgets).toEqual([
    { ...first, tokens: 2_000 },
    { ...TOKENS, period: "Total" },
  ]);
  expect((await save(id, { budgetOf: "" })).status).toBe(303);
  expect((await specOf(id)).budgets).toEqual([{ ...TOKENS, period: "Total" }]);
});

test("A form that gives a budget and limits, sent twice, leads to the key both times", async () => {
  const id = await makeKey({});
  const limits = { requestsPerMinute: "60", burst: "5", concurrent: "3" };
  const form = { ...(await openForm(id)), ...limits, budgetOf: "tokens", budgetAmount: "5000" };
  for (const _ of [1, 2]) expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
});

test("What is wrong with a budget is said at its field, keeps what was typed, and changes nothing", async () => {
  const id = await makeKey({ budgets: [TOKENS] });
  const refused = await save(id, { budgetAmount: "many" });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('id="budgetAmount-error">Amount: write a whole number of tokens');
  expect(refused.text).toContain('value="many"');
  expect((await specOf(id)).budgets).toEqual([TOKENS]);
});

test("A budget that another has given the key meanwhile is shown beside the form, and what was typed stays", async () => {
  const id = await makeKey({});
  const form = { ...(await openForm(id)), displayName: "Mine" };
  expect((await save(id, { budgetOf: "tokens", budgetAmount: "5000" })).status).toBe(303);
  const outdated = await pages.post(`/keys/${id}/edit`, form);
  expect(outdated.status).toBe(412);
  expect(outdated.text).toContain("<dt>Budget</dt><dd>tokens</dd>");
  expect(outdated.text).toContain("<dt>Amount</dt><dd>5,000</dd>");
  expect(outdated.text).not.toContain("<dt>Currency</dt>");
  expect((await specOf(id)).budgets).toMatchObject([{ tokens: 5_000 }]);
});

test("What another has changed of a key meanwhile is listed in the order of the form", async () => {
  const id = await makeKey({});
  const form = { ...(await openForm(id)), displayName: "Mine" };
  const limits = {
    networks: "10.0.0.0/8",
    requestsPerMinute: "60",
    burst: "5",
    tokensPerMinute: "9000",
    concurrent: "3",
  };
  const budget = { budgetOf: "cost", budgetAmount: "5.00", budgetCurrency: "EUR", budgetPeriod: "Day" };
  expect((await save(id, { ...budget, ...limits, rateScope: "Installation" })).status).toBe(303);
  const { text } = await pages.post(`/keys/${id}/edit`, form);
  const listed = [...text.matchAll(/<dt>([^<]+)<\/dt>/g)].map(([, label]) => label);
  const labels = [...text.matchAll(/<label for="\w+">([^<]+)<\/label>/g)].map(([, label]) => label);
  expect(listed).toHaveLength(11);
  expect(listed).toEqual(labels.filter((label) => listed.includes(label)));
});

test("b207: A form that is outdated takes none of a key's budgets for the one that it was opened with", async () => {
  const first = { ...TOKENS, tokens: 1_000, period: "Day" };
  const id = await makeKey({ budgets: [first, TOKENS] });
  const form = { ...(await openForm(id)), budgetAmount: "2000" };
  expect((await save(id, { budgetOf: "" })).status).toBe(303);
  const outdated = await pages.post(`/keys/${id}/edit`, form);
  expect(outdated.status).toBe(412);
  expect(outdated.text).toContain("Beside it the key has 9,000 tokens a week");
  expect((await pages.post(`/keys/${id}/edit`, formIn(outdated.text))).status).toBe(303);
  expect((await specOf(id)).budgets).toEqual([{ ...first, tokens: 2_000 }, TOKENS]);
});

test("b207: A form that takes away the first of two budgets, sent twice, leaves the other", async () => {
  const id = await makeKey({ budgets: [{ ...TOKENS, period: "Day" }, TOKENS] });
  const form = { ...(await openForm(id)), budgetOf: "" };
  for (const _ of [1, 2]) expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
  expect((await specOf(id)).budgets).toEqual([TOKENS]);
});

test("b207: A form that gives the first of two budgets another period, sent twice, leads to the key both times", async () => {
  const id = await makeKey({ budgets: [{ ...TOKENS, period: "Day" }, TOKENS] });
  const form = { ...(await openForm(id)), budgetPeriod: "Month" };
  for (const _ of [1, 2]) expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
  expect((await specOf(id)).budgets).toEqual([{ ...TOKENS, period: "Month" }, TOKENS]);
});

test("A declared key's budgets are changed where it is declared, and nowhere else", async () => {
  const { key } = await reserveKey(pages.store, await makeTeam(pages.store));
  expect((await pages.get(`/keys/${key.id}/edit`)).status).toBe(409);
  const form = { preset: "MCPReadOnly", budgetOf: "tokens", budgetAmount: "5000" };
  expect((await pages.post(`/keys/${key.id}/edit`, form)).status).toBe(409);
  expect((await specOf(key.id)).budgets).toBeUndefined();
});
