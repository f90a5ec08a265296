import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keyDigest } from "../../../../domain/key/secret/key-format.ts";
import { systemClock } from "../../../../runtime/clock.ts";
import { createKey } from "../../../../server/management/keys/make/api-managed-keys.ts";
import { makeShownKey } from "../../../../server/management/keys/make/make-shown-key.ts";
import { createReceipts } from "../../../../server/management/keys/shown/receipt.ts";
import { NO_PRICES } from "../../../../server/usage/price-file.ts";
import { activateVersion } from "../../../../store/keys/lifecycle/key-versions.ts";
import { recordUsage } from "../../../../store/keys/uses/usage.ts";
import { makeTeam, reserveKey, run, unique } from "../../../store/fixtures.ts";
import { keyring } from "../../key-index/replica-fixtures.ts";
import { type Pages, startPages, type Visitor } from "../pages.ts";

let pages: Pages;

beforeAll(async () => {
  pages = await startPages();
  const members = [
    { role: "admin", subject: "ann" },
    { role: "admin", subject: "bea" },
  ];
  await pages.send("POST", "/teams", { name: "payments", spec: { members } });
});
afterAll(() => pages.close());

type Version = { readonly number: number; readonly state: string; readonly retiresAt: string | null };
type Form = Readonly<Record<string, string>>;

const versionsOf = async (id: string): Promise<Version[]> => (await pages.send("GET", `/keys/${id}`)).body.versions;
const statesOf = async (id: string) => (await versionsOf(id)).map(({ number, state }) => `${number} ${state}`);
const secretIn = (text: string): string => /id="secret"[^>]*>([^<]+)</.exec(text)?.[1] ?? "";
const idIn = (text: string): string => /data-shown-once="\/dashboard\/keys\/([^"]+)"/.exec(text)?.[1] ?? "";

/** What a page's form sends besides what is typed. */
async function formAt(path: string, visitor: Visitor = pages): Promise<Form> {
  const { text } = await visitor.get(path);
  return Object.fromEntries(
    [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
}

async function newKeyForm(visitor?: Visitor): Promise<Form> {
  return { ...(await formAt("/keys/new", visitor)), name: unique("twice"), team: "payments", preset: "MCPReadOnly" };
}

async function makeKey(): Promise<{ id: string; secret: string }> {
  const wanted = { name: unique("key"), team: "payments", spec: { preset: "MCPReadOnly" } };
  return (await pages.send("POST", "/keys", wanted)).body;
}

describe("A form that is sent again before its answer was seen", () => {
  test("b116: shows a key that works in place of the one that was lost, however often", async () => {
    const form = await newKeyForm();
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await pages.post("/keys/new", form));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(answers.map(({ text }) => text.includes("This form was sent twice."))).toEqual([false, true, true]);
    const works = await Promise.all(answers.map(({ text }) => pages.tryKey(secretIn(text))));
    expect(works).toEqual([401, 401, 200]);
    const [{ text = "" } = {}] = answers;
    expect(await statesOf(idIn(text))).toEqual(["3 active", "2 retired", "1 retired"]);
  });

  test("b116: at the same moment, ends all but one, and that one was shown", async () => {
    const form = await newKeyForm();
    const answers = await Promise.all(Array.from({ length: 3 }, () => pages.post("/keys/new", form)));
    const works = await Promise.all(answers.map(({ text }) => pages.tryKey(secretIn(text))));
    expect(works.filter((status) => status === 200)).toHaveLength(1);
    const shown = new Set(answers.map(({ text }) => idIn(text)));
    expect(shown.size).toBe(1);
    expect((await statesOf([...shown][0] ?? "")).filter((state) => !state.endsWith("retired"))).toEqual(["3 active"]);
  });

  test.for([
    ["1h", ["3 active", "2 retired", "1 retiring"], 200],
    ["0s", ["3 active", "2 retired", "1 retired"], 401],
  ] as const)(
    "b116: with an overlap of %s, leaves its deadline to the version before",
    async ([overlap, states, old]) => {
      const { id, secret } = await makeKey();
      const form = { ...(await formAt(`/keys/${id}/rotate`)), overlap };
      const first = await pages.post(`/keys/${id}/rotate`, form);
      const before = (await versionsOf(id)).at(-1);
      const second = await pages.post(`/keys/${id}/rotate`, form);
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(await statesOf(id)).toEqual(states);
      expect((await versionsOf(id)).at(-1)).toEqual(before);
      expect(await pages.tryKey(secretIn(first.text))).toBe(401);
      expect(await pages.tryKey(secretIn(second.text))).toBe(200);
      expect(await pages.tryKey(secret)).toBe(old);
    },
  );

  test("b116: finds room beside four earlier versions, and ends none of them", async () => {
    const { id } = await makeKey();
    for (let i = 0; i < 3; i++) await pages.send("POST", `/keys/${id}/versions`, { overlap: "24h" });
    const form = { ...(await formAt(`/keys/${id}/rotate`)), overlap: "24h" };
    for (let i = 0; i < 2; i++) expect((await pages.post(`/keys/${id}/rotate`, form)).status).toBe(201);
    expect(await statesOf(id)).toEqual([
      "6 active",
      "5 retired",
      "4 retiring",
      "3 retiring",
      "2 retiring",
      "1 retiring",
    ]);
  });

  test("b116: says in the audit log why a version that it had made has ended", async () => {
    const form = await newKeyForm();
    const { text } = await pages.post("/keys/new", form);
    await pages.post("/keys/new", form);
    const page = await pages.get(`/keys/${idIn(text)}`);
    expect(page.text).toContain("sent twice");
  });
});

describe("A form that is sent again where its answer was seen", () => {
  async function sentOnce(): Promise<{ form: Form; id: string; secret: string }> {
    const form = await newKeyForm();
    const { text } = await pages.post("/keys/new", form);
    return { form, id: idIn(text), secret: secretIn(text) };
  }

  async function expectNothingNew({ form, id, secret }: Awaited<ReturnType<typeof sentOnce>>): Promise<void> {
    const before = await statesOf(id);
    const works = await pages.tryKey(secret);
    const again = await pages.post("/keys/new", form);
    expect([again.status, secretIn(again.text)]).toEqual([409, ""]);
    expect(again.text).toContain("This key was shown already");
    expect(await statesOf(id)).toEqual(before);
    expect(await pages.tryKey(secret)).toBe(works);
  }

  test("b116: ends no version that is in use", async () => {
    const sent = await sentOnce();
    await recordUsage(pages.store, [{ keyId: sent.id, version: 1, at: Date.now() }]);
    await expectNothingNew(sent);
  });

  test("b116: ends no version that was made since", async () => {
    const sent = await sentOnce();
    const since = await pages.send("POST", `/keys/${sent.id}/versions`, { overlap: "1h" });
    await expectNothingNew(sent);
    expect(await pages.tryKey(since.body.secret)).toBe(200);
  });

  test("b116: brings no revoked key back, nor one that is managed elsewhere by now", async () => {
    const revoked = await sentOnce();
    await pages.send("POST", `/keys/${revoked.id}/revoke`, {});
    await expectNothingNew(revoked);
    const managed = await sentOnce();
    await pages.store.db.updateTable("keys").set({ managed_by: "urn:x" }).where("id", "=", managed.id).execute();
    await expectNothingNew(managed);
  });

  test("b116: is another form for other people, and nothing for a person who has left the team", async () => {
    const ann = await pages.as("ann");
    const form = await newKeyForm(ann);
    const { text } = await ann.post("/keys/new", form);
    const bea = await pages.as("bea");
    const hers = { ...form, ...(await formAt("/keys/new", bea)), once: form.once ?? "" };
    const taken = await bea.post("/keys/new", hers);
    expect([taken.status, secretIn(taken.text)]).toEqual([409, ""]);
    const { body: team } = await pages.send("GET", "/teams?name=payments");
    const [{ id, spec }] = team.items;
    const etag = (await pages.send("GET", `/teams/${id}`)).headers.get("etag") ?? "";
    const viewers = { ...spec, members: [{ role: "viewer", subject: "ann" }] };
    await pages.send("PUT", `/teams/${id}`, { spec: viewers }, { "if-match": etag });
    expect((await ann.post("/keys/new", form)).status).toBe(403);
    expect(await pages.tryKey(secretIn(text))).toBe(200);
    expect(await statesOf(idIn(text))).toEqual(["1 active"]);
  });
});

test("b116: replaces nothing where the browser has turned to another answer, however late its request is heard", async () => {
  const made = { name: unique("late"), team: "payments", namespace: "", spec: { preset: "MCPReadOnly" } };
  const { store } = pages;
  const receipts = createReceipts(store, systemClock);
  const management = { store, keyring, clock: systemClock, receipts, prices: NO_PRICES };
  const context = {
    store,
    keyring,
    author: { actor: "ann" },
    principal: { actor: "ann", as: "everything" },
    rights: "everything",
  } as const;
  const creation = { caller: "ann", key: keyDigest("once"), request: keyDigest("form") };
  const send = (isLeft: boolean) =>
    makeShownKey(management, { creation, context, isLeft: () => isLeft }, (tx) => createKey(tx, context, made));
  const { id, secret } = await send(false);
  expect((await send(true)).secret).toBeNull();
  expect(await statesOf(id)).toEqual(["1 active"]);
  expect(secret).not.toBeNull();
  expect((await send(false)).secret).toMatch(/^inf_/);
  expect(await statesOf(id)).toEqual(["2 active", "1 retired"]);
});

test("b116: asks a key's controller for one version, however often the form is sent and however soon it is done", async () => {
  const { key } = await reserveKey(pages.store, await makeTeam(pages.store));
  await run(pages.store, (tx) => activateVersion(tx, { keyId: key.id, number: 1, overlapMs: 0 }));
  const form = await formAt(`/keys/${key.id}/rotate`);
  const requests = () =>
    pages.store.db
      .selectFrom("audit_events")
      .select("id")
      .where("key_id", "=", key.id)
      .where("kind", "=", "key.rotation_requested")
      .execute();
  expect((await pages.post(`/keys/${key.id}/rotate`, form)).status).toBe(303);
  expect(await requests()).toHaveLength(1);
  const done = { rotation_requested_at: null, rotation_revoke_old: false };
  await pages.store.db.updateTable("keys").set(done).where("id", "=", key.id).execute();
  expect((await pages.post(`/keys/${key.id}/rotate`, form)).status).toBe(303);
  expect(await requests()).toHaveLength(1);
  // Filled in otherwise it is another request.
  expect((await pages.post(`/keys/${key.id}/rotate`, { ...form, revokeOld: "yes" })).status).toBe(303);
  expect(await requests()).toHaveLength(2);
});

test("Suspend and Resume, pressed twice at once, lead to the key's page both times", async () => {
  const { id } = await makeKey();
  const own = { ...(await pages.send("GET", `/keys/${id}`)).body.spec };
  for (const state of ["Suspended", "Active"]) {
    const answers = await Promise.all(Array.from({ length: 4 }, () => pages.post(`/keys/${id}/state`, { state })));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    expect((await pages.send("GET", `/keys/${id}`)).body.spec).toEqual({ ...own, state });
  }
});
