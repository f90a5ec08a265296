import { hash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseManifests } from "../../../../domain/manifest/document/parse.ts";
import { readManifest } from "../../../../domain/manifest/validation/validate.ts";
import { change } from "../../../../store/database/change.ts";
import { saveLibrary } from "../../../../store/libraries/libraries.ts";
import { libraryDraft, makeTeam, reserveKey, unique } from "../../../store/fixtures.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
let team: Awaited<ReturnType<typeof makeTeam>>;
const SPACES = ["export-a", "export-b"];

beforeAll(async () => {
  pages = await startPages();
  const members = (["admin", "member", "viewer"] as const).map((role) => ({
    ...({ role, kind: "subject", value: role } as const),
  }));
  team = await makeTeam(pages.store, { namespaces: SPACES, members });
  const library = libraryDraft({ ...team, namespace: "export-b" }, { name: "handbook" });
  await change(pages.store, null, (tx) => saveLibrary(tx, library));
});
afterAll(() => pages.close());

type Made = { readonly id: string; readonly name: string; readonly secret: string; readonly prefix: string };

async function makeKey(spec: object = { preset: "MCPReadOnly" }, named = team.teamId): Promise<Made> {
  const { status, body } = await pages.send("POST", "/keys", { name: unique("key"), team: named, spec });
  expect([status, body]).toEqual([201, body]);
  return body;
}

/** What a page shows in its `pre`, as a person copies it. */
function manifestIn(text: string): string {
  const shown = /<pre id="manifest"[^>]*>(.*?)<\/pre>/s.exec(text)?.[1] ?? expect.fail("there is no manifest");
  return shown.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">");
}

function diagnosticsOf(text: string): readonly unknown[] {
  const { documents, diagnostics } = parseManifests(text, "f.yaml");
  return [...diagnostics, ...documents.flatMap((document) => readManifest(document).diagnostics)];
}

describe("Export as manifest", () => {
  test("gives a valid PlatformKey that takes over this key, alike as page, file and answer", async () => {
    const libraryAccess = { mode: "Restricted", libraryRefs: [{ name: "handbook" }] };
    const key = await makeKey({
      ...{ scopes: ["memory:read", "gateway:embed"], libraryAccess, expiresAfter: "720h", state: "Suspended" },
      ...{ rateLimit: { requestsPerMinute: 60 }, allowedModels: ["a"], displayName: "'Quoted': <b> & \u{1f511}" },
    });
    expect((await pages.get(`/keys/${key.id}`)).text).toContain(
      `href="/dashboard/keys/${key.id}/manifest">Export as manifest</a>`,
    );
    const page = await pages.get(`/keys/${key.id}/manifest`);
    expect([page.status, page.text.match(/<h1/g)?.length]).toEqual([200, 1]);
    expect(page.headers.get("cache-control")).toBe("no-store");
    const file = await pages.get(`/keys/${key.id}/manifest.yaml?namespace=export-a`);
    expect(file.headers.get("content-disposition")).toBe(`attachment; filename="${key.name}.yaml"`);
    expect(diagnosticsOf(file.text)).toEqual([]);
    const answer = await pages.send("GET", `/keys/${key.id}/manifest`);
    expect(parse(file.text)).toEqual(answer.body);
    expect(parse(manifestIn(page.text).replaceAll("&amp;", "&"))).toEqual(answer.body);
    expect(answer.body).toEqual({
      apiVersion: "keyplane.dev/v1alpha1",
      kind: "PlatformKey",
      metadata: { name: key.name, namespace: "export-a", annotations: { "keyplane.dev/take-over": key.id } },
      spec: {
        ...{ displayName: "'Quoted': <b> & \u{1f511}", scopes: ["memory:read", "gateway:embed"], allowedModels: ["a"] },
        ...{ expiresAfter: "720h", rateLimit: { requestsPerMinute: 60 }, state: "Suspended" },
        libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook", namespace: "export-b" }] },
        source: { type: "ImportHash", hash: { sha256: hash("sha256", key.secret), prefix: key.prefix } },
      },
    });
    expect(page.text + file.text).not.toContain(key.secret);
  });

  test("is read alike by kubectl, as YAML 1.1, and by YAML 1.2, whatever the key is called", async () => {
    for (const name of ["no", "123"]) {
      const spec = {
        preset: "MCPReadOnly",
        displayName: "12:30:45",
        allowedModels: ["y", "0b1", "1_000", "#", "=", "1e3", "0o7", "null", "1-2"],
      };
      const { id } = (await pages.send("POST", "/keys", { name, team: team.teamId, spec })).body;
      const { body } = await pages.send("GET", `/keys/${id}/manifest`);
      const { text } = await pages.get(`/keys/${id}/manifest.yaml`);
      for (const version of ["1.1", "1.2"] as const) expect(parse(text, { version })).toEqual(body);
      expect(diagnosticsOf(text).filter((one) => JSON.stringify(one).includes("YAML 1.1"))).toEqual([]);
    }
  });

  test("is of the namespace that is chosen among the team's, and of no other", async () => {
    const { id } = await makeKey();
    const { text } = await pages.get(`/keys/${id}/manifest?namespace=export-b`);
    expect(parse(manifestIn(text)).metadata.namespace).toBe("export-b");
    expect(text).toContain('<option value="export-b" selected>');
    const other = await makeTeam(pages.store);
    for (const path of ["manifest", "manifest.yaml"]) {
      const refused = await pages.get(`/keys/${id}/${path}?namespace=${other.namespace}`);
      expect([refused.status, refused.text.includes("sha256")]).toEqual([422, false]);
    }
    expect((await pages.send("GET", `/keys/${id}/manifest?namespace=${other.namespace}`)).body.errors).toEqual([
      { path: "namespace", message: "is none of the team's: write one of export-a, export-b" },
    ]);
  });

  test("is of the version in use: after a rotation it is another", async () => {
    const { id } = await makeKey();
    const { secret } = (await pages.send("POST", `/keys/${id}/versions`)).body;
    const { body } = await pages.send("GET", `/keys/${id}/manifest`);
    expect(body.spec.source.hash.sha256).toBe(hash("sha256", secret));
  });

  test("is refused where it would bind the key to another library: one of that name that the namespace has declared", async () => {
    const name = unique("notes");
    await pages.send("POST", "/libraries", { name, team: team.teamId, spec: {} });
    const libraryAccess = { mode: "Restricted", libraryRefs: [{ name }] };
    const { id } = await makeKey({ preset: "MCPReadOnly", libraryAccess });
    const namesake = libraryDraft({ ...team, namespace: "export-b" }, { name });
    await change(pages.store, null, (tx) => saveLibrary(tx, namesake));
    const { status, body } = await pages.send("GET", `/keys/${id}/manifest?namespace=export-b`);
    expect([status, body.detail]).toEqual([409, expect.stringContaining(`another one, export-b/${name}.`)]);
    expect((await pages.send("GET", `/keys/${id}/manifest?namespace=export-a`)).status).toBe(200);
  });

  test("says what is to be declared first, where the API made what the key is bound to", async () => {
    await pages.send("POST", "/libraries", { name: "by-hand", team: team.teamId, spec: {} });
    const { id } = await makeKey({ preset: "MCPReadOnly", mcpDefaultLibraryRef: { name: "by-hand" } });
    const { text } = await pages.get(`/keys/${id}/manifest`);
    expect(text).toContain("<li>MemoryLibrary by-hand</li>");
    expect(parse(manifestIn(text)).spec.mcpDefaultLibraryRef).toEqual({ name: "by-hand" });
  });

  test("is for admins and members alone: a viewer and another team get no digest", async () => {
    const { id } = await makeKey();
    const statuses = async (subject: string) => {
      const visitor = await pages.as(subject);
      const answers = await Promise.all(
        ["manifest", "manifest.yaml"].map((path) => visitor.get(`/keys/${id}/${path}`)),
      );
      if (answers[0]?.status !== 200) expect(answers.map(({ text }) => text).join("")).not.toContain("sha256");
      return answers.map(({ status }) => status);
    };
    expect(await Promise.all(["admin", "member", "viewer", "stranger"].map(statuses))).toEqual([
      [200, 200],
      [200, 200],
      [403, 403],
      [404, 404],
    ]);
    const viewer = await pages.as("viewer");
    for (const tab of ["", "?tab=yaml"]) {
      expect((await viewer.get(`/keys/${id}${tab}`)).text).not.toContain("Export as manifest");
    }
  });

  test("is refused of a declared key, of a revoked one, and of a team without a namespace of a cluster", async () => {
    const declared = (await reserveKey(pages.store, team)).key;
    const revoked = await makeKey();
    await pages.send("DELETE", `/keys/${revoked.id}`);
    await pages.send("POST", "/teams", { name: "made-here", spec: { namespaces: ["of-the-api"] } });
    const homeless = await makeKey(undefined, "made-here");
    for (const [id, why] of [
      [declared.id, "declares this key"],
      [revoked.id, "revoked, which is final"],
      [homeless.id, "holds no namespace of a cluster"],
    ] as const) {
      const { status, text } = await pages.get(`/keys/${id}/manifest`);
      expect([status, text.includes("sha256")]).toEqual([409, false]);
      expect(text).toContain(why);
    }
    expect((await pages.get(`/keys/${homeless.id}/manifest?namespace=of-the-api`)).status).toBe(409);
    expect((await pages.get(`/keys/${declared.id}`)).text).not.toContain("Export as manifest");
  });
});
