import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_MANAGED_BY, managedByOf } from "../../../../domain/key/declaration/managed-by.ts";
import { until } from "../../../env/until.ts";
import { makeTeam, unique } from "../../../store/fixtures.ts";
import { auditOfKey } from "../../../store/questions.ts";
import { type Pages, startPages } from "../pages.ts";

const URN = "urn:pulumi:prod::billing::keyplane:index:PlatformKey::nightly <b>job</b>";
const SPEC = { preset: "MCPReadOnly" } as const;

let pages: Pages;
let team: Awaited<ReturnType<typeof makeTeam>>;

beforeAll(async () => {
  pages = await startPages();
  team = await makeTeam(pages.store);
});
afterAll(() => pages.close());

const make = (managedBy?: unknown) =>
  pages.send("POST", "/keys", { name: unique("key"), team: team.teamId, spec: SPEC, managedBy });
const replace = (id: string, body: object) =>
  pages.send("PUT", `/keys/${id}`, { spec: SPEC, ...body }, { "if-match": "*" });

describe("A key that a Pulumi program manages", () => {
  test("is shown with its URN in the list and on its page, which says what to change and offers the revocation alone", async () => {
    const { body } = await make(URN);
    expect(body.managedBy).toBe(URN);
    const shown = URN.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    expect((await pages.get(`/keys?q=${body.name}`)).text).toContain(
      `<i class="place">${shown.replaceAll(/(?<=[:/.@])(?![:/.@\d\s])/g, "<wbr>")}<`,
    );
    const { text } = await pages.get(`/keys/${body.id}`);
    expect(text).toContain(`aria-label="What manages the key">${shown}</pre>`);
    const offered = [...text.matchAll(new RegExp(`/keys/${body.id}/(\\w+)"`, "g"))].map(([, path]) => path);
    expect(offered).toEqual(["revoke"]);
  });

  test("is not changed by the console, nor exported, and is revoked by it", async () => {
    const { id, name, secret } = (await make(URN)).body;
    for (const path of ["edit", "rotate", "manifest", "manifest.yaml"]) {
      const { status, text } = await pages.get(`/keys/${id}/${path}`);
      expect([path, status, text.includes("manages this key")]).toEqual([path, 409, true]);
    }
    const etag = (await pages.send("GET", `/keys/${id}`)).headers.get("etag") ?? "";
    const once = "a".repeat(24);
    for (const [path, form] of [
      ["edit", { preset: "MCPReadWrite", etag }],
      ["rotate", { once, overlap: "0s" }],
      ["state", { state: "Suspended" }],
    ] as const) {
      expect([path, (await pages.post(`/keys/${id}/${path}`, form)).status]).toEqual([path, 409]);
    }
    expect((await pages.send("GET", `/keys/${id}/manifest`)).body.code).toBe("managed");
    const { body } = await pages.send("GET", `/keys/${id}`);
    expect([body.scopes, body.versions.length, await pages.tryKey(secret)]).toEqual([["memory:read"], 1, 200]);
    expect((await pages.post(`/keys/${id}/revoke`, { confirm: name })).status).toBe(303);
    await until("it is refused", async () => (await pages.tryKey(secret)) === 401);
  });

  test("stays so at a change that says nothing of it, and is let go of by null; the audit log says both", async () => {
    const { id } = (await make(URN)).body;
    expect((await replace(id, { spec: { ...SPEC, displayName: "Renamed" } })).body.managedBy).toBe(URN);
    expect((await replace(id, { managedBy: null })).body.managedBy).toBeNull();
    expect((await pages.get(`/keys/${id}/edit`)).status).toBe(200);
    expect((await replace(id, { managedBy: URN })).body.managedBy).toBe(URN);
    const details = (await auditOfKey(pages.store.db, id)).map(({ detail }) => JSON.stringify(detail.changed ?? {}));
    expect(details.filter((text) => text.includes("managedBy"))).toHaveLength(3);
  });

  let id = "";
  beforeAll(async () => {
    id = (await make()).body.id;
  });
  test.for<[string, unknown]>([
    ["is no URN of Pulumi's", "https://example.com"],
    ["is too long", `urn:pulumi:${"x".repeat(MAX_MANAGED_BY)}`],
    ["moves a terminal's cursor", "urn:pulumi:a\u001b[2J"],
    ["turns the direction of writing", "urn:pulumi:a\u202eb"],
    ["holds a key", `urn:pulumi:inf_${"k".repeat(57)}`],
    ["is no text", 7],
  ])("has no name that %s", async ([, managedBy]) => {
    for (const refused of [await make(managedBy), await replace(id, { managedBy })]) {
      expect([Math.floor(refused.status / 100), refused.text.includes("inf_k")]).toEqual([4, false]);
    }
    expect((await pages.send("GET", `/keys/${id}`)).body.managedBy).toBeNull();
  });
});

test("A URN is sent as the API takes it, whatever its author called the resource", async () => {
  const odd = managedByOf(`urn:pulumi:s::p::t::\u001b\u202e${"\u{1f511}".repeat(MAX_MANAGED_BY)}`);
  const { status, body } = await make(odd);
  expect([status, body.managedBy]).toEqual([201, odd]);
});
