import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { change } from "../../../../store/database/change.ts";
import { releaseKey } from "../../../../store/keys/lifecycle/release.ts";
import { makeTeam, reserveKey, unique } from "../../../store/fixtures.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;

beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "spaces", spec: { namespaces: ["here"] } });
  for (const [name, namespace] of [
    ["handbook", "here"],
    ["notes", "here"],
    ["loose", ""],
  ]) {
    const made = await pages.send("POST", "/libraries", { name, namespace, team: "spaces", spec: {} });
    expect(made.status).toBe(201);
  }
});
afterAll(() => pages.close());

async function makeKey(namespace: string, libraryRefs: object[], more: object = {}): Promise<string> {
  const spec = { preset: "MCPReadOnly", libraryAccess: { mode: "Restricted", libraryRefs }, ...more };
  const { status, body } = await pages.send("POST", "/keys", { name: unique("key"), namespace, team: "spaces", spec });
  expect([status, body]).toEqual([201, body]);
  return body.id;
}

/** The edit form of a key as a browser sends it where nothing is changed. */
async function openForm(id: string): Promise<URLSearchParams> {
  const { text } = await pages.get(`/keys/${id}/edit`);
  const form = new URLSearchParams();
  for (const [tag] of text.matchAll(/<input[^>]*>/g)) {
    const name = / name="([^"]+)"/.exec(tag)?.[1];
    const isSent = !tag.includes('type="checkbox"') || / checked/.test(tag);
    if (name !== undefined && isSent)
      form.append(name, / value="([^"]*)"/.exec(tag)?.[1]?.replaceAll("&quot;", '"') ?? "");
  }
  for (const [select, name = ""] of text.matchAll(/<select[^>]* name="([^"]+)"[^>]*>.*?<\/select>/gs)) {
    form.append(name, /value="([^"]*)"[^>]*selected/.exec(select)?.[1] ?? "");
  }
  return form;
}

const librariesOf = async (id: string) => {
  const { spec } = (await pages.send("GET", `/keys/${id}`)).body;
  return [spec.libraryAccess, spec.mcpDefaultLibraryRef];
};

describe("editing a key that the API made in a namespace", () => {
  test("b120: leaves it the subject that it is bound to, which its page shows", async () => {
    const subjectAccess = { mode: "Bound", subject: "user-4711" };
    const id = await makeKey("here", [{ name: "handbook" }], { subjectAccess });
    expect((await pages.get(`/keys/${id}?tab=access`)).text).toContain("user-4711");
    const form = await openForm(id);
    form.set("displayName", "Renamed");
    expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
    expect((await pages.send("GET", `/keys/${id}`)).body).toMatchObject({
      displayName: "Renamed",
      spec: { subjectAccess },
    });
  });

  test("is offered, and keeps what the key is bound to where nothing of it is changed", async () => {
    const id = await makeKey("here", [{ name: "handbook" }], { mcpDefaultLibraryRef: { name: "handbook" } });
    expect((await pages.get(`/keys/${id}`)).text).toContain(`href="/dashboard/keys/${id}/edit"`);
    const form = await openForm(id);
    form.set("displayName", "Renamed");
    const done = await pages.post(`/keys/${id}/edit`, form);
    expect([done.status, done.text]).toEqual([303, ""]);
    const handbook = { name: "handbook", namespace: "here" };
    expect(await librariesOf(id)).toEqual([{ mode: "Restricted", libraryRefs: [handbook] }, handbook]);
  });

  test("binds it to another of the namespace, and offers none that it cannot name", async () => {
    const id = await makeKey("here", [{ name: "handbook" }]);
    expect((await pages.get(`/keys/${id}/edit`)).text).not.toContain('value="loose"');
    const form = await openForm(id);
    form.append("libraries", "here/notes");
    expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
    const [access] = await librariesOf(id);
    expect(access.libraryRefs.map(({ name }: { name: string }) => name).sort()).toEqual(["handbook", "notes"]);
  });
});

describe("editing a key without a namespace", () => {
  test("keeps a library that the API named without its namespace", async () => {
    const id = await makeKey("", [{ name: "handbook" }, { name: "loose" }]);
    const form = await openForm(id);
    form.set("displayName", "Renamed");
    expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
    const [access] = await librariesOf(id);
    expect(access.libraryRefs.map(({ name }: { name: string }) => name).sort()).toEqual(["handbook", "loose"]);
  });
});

test("A key that its declaration has let go of says so, and offers nothing but its revocation", async () => {
  const { key } = await reserveKey(pages.store, await makeTeam(pages.store));
  await change(pages.store, null, (tx) => releaseKey(tx, key.id));
  const { text } = await pages.get(`/keys/${key.id}`);
  expect(text).toContain("Nowhere any more");
  expect([..."edit rotate manifest".split(" ")].filter((path) => text.includes(`/keys/${key.id}/${path}"`))).toEqual(
    [],
  );
  expect(text).toContain(`/keys/${key.id}/revoke"`);
  for (const path of ["edit", "rotate", "manifest"]) {
    expect((await pages.get(`/keys/${key.id}/${path}`)).status).toBe(409);
  }
});
