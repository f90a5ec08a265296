import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import { PROBLEMS } from "../../../server/http/problems/catalogue.ts";
import { OPENAPI_TAGS } from "../../../server/openapi/areas.ts";
import { type Harness, startHarness } from "../harness.ts";
import { codesOf, operationsOf } from "../openapi/described.ts";
import { sendRaw } from "../raw-http.ts";
import { withoutRequestIds } from "../request-ids.ts";

const AREAS = ["/docs/memory", "/docs/mcp", "/docs/gateway", "/docs/keys", "/docs/teams", "/docs/libraries"];
const PATHS = ["/docs", ...AREAS, "/docs/gateways", "/docs/more"];

let harness: Harness;
/** By their paths. */
let pages: ReadonlyMap<string, string>;
beforeAll(async () => {
  harness = await startHarness({ mounts: products() });
  const texts = PATHS.map(async (path) => [path, await (await fetch(harness.url + path)).text()] as const);
  pages = new Map(await Promise.all(texts));
});
afterAll(() => harness.close());

const pageAt = (path: string): string => pages.get(path) ?? "";
/** By their pages, which are read once. */
const known = new Map<string, (string | undefined)[]>();
function idsOf(path: string): (string | undefined)[] {
  const ids = known.get(path) ?? [...pageAt(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  known.set(path, ids);
  return ids;
}
const linksOf = (path: string) => [...pageAt(path).matchAll(/href="([^"]+)"/g)].map(([, to = ""]) => to);

describe("the reference", () => {
  test("has every operation on the page of its tag, and in the overview by an anchor that leads there", () => {
    const operations = operationsOf(harness.app.describeApi());
    const shown = operations.filter(({ operation }) => idsOf("/docs").includes(operation.operationId));
    const missing = operations.filter((one) => !shown.includes(one)).map(({ path }) => path);
    expect(missing.filter((path) => !/models\/\{model\}:|^\/api\/v1\/memory\/atoms/.test(path))).toEqual([]);
    expect(shown.length).toBeGreaterThan(40);
    for (const { operation } of shown) {
      const page = `/docs/${operation.tags[0]?.toLowerCase()}`;
      expect(pageAt("/docs")).toContain(
        `<a class="name" id="${operation.operationId}" href="${page}#${operation.operationId}">`,
      );
      const pagesWithIt = PATHS.slice(1).filter((path) => idsOf(path).includes(operation.operationId));
      expect(pagesWithIt).toEqual([page]);
    }
  });

  test("has each schema on a page that refers to it, and each code of an error in the overview", () => {
    const document = harness.app.describeApi();
    const shown = new Set(PATHS.flatMap(idsOf));
    for (const name of Object.keys(document.components.schemas)) expect(shown).toContain(`schema-${name}`);
    expect(idsOf("/docs/memory")).toContain("schema-Atom");
    expect(idsOf("/docs/keys")).not.toContain("schema-Atom");
    const codes = operationsOf(document).flatMap(({ operation }) => codesOf(operation));
    for (const code of [...codes, ...Object.keys(PROBLEMS)]) expect(idsOf("/docs")).toContain(`code-${code}`);
  });

  test.for(PATHS)("links from %s to nothing that is not there, and has each anchor once", (path) => {
    const ids = idsOf(path);
    expect(new Set(ids).size).toBe(ids.length);
    const broken = linksOf(path).filter((to) => {
      const [target, anchor] = to.split("#");
      if (target !== "" && !target?.startsWith("/docs")) return false;
      return anchor === undefined ? !pages.has(to) : anchor !== "main" && !idsOf(target || path).includes(anchor);
    });
    expect(broken).toEqual([]);
    expect(linksOf(path).filter((to) => /^https?:/.test(to))).toEqual([]);
  });

  test.for(PATHS)("leads from %s to all of its pages, and says which of them it is", (path) => {
    const [, navigation = ""] = /<nav[^>]*>(.*?)<\/nav>/s.exec(pageAt(path)) ?? [];
    const links = [...navigation.matchAll(/href="(\/[^"]*)"( aria-current="page")?/g)];
    expect(links.map(([, to]) => to)).toEqual(PATHS);
    expect(links.filter(([, , present]) => present).map(([, to]) => to)).toEqual([path]);
  });

  test("has a page for each tag of the description", () => {
    expect(OPENAPI_TAGS.map(({ name }) => `/docs/${name.toLowerCase()}`)).toEqual(PATHS.slice(1));
  });

  test.for(["/docs/atoms", "/docs/Memory", "/docs/", "/docs/memory/"])("has no page %s", async (path) => {
    const [unknown, nowhere] = await Promise.all([fetch(harness.url + path), fetch(`${harness.url}/nowhere`)]);
    expect(unknown.status).toBe(404);
    expect(withoutRequestIds(await unknown.text())).toBe(withoutRequestIds(await nowhere.text()));
  });

  test.for(["/docs", "/docs/memory"])("answers at %s for its own host alone, and HEAD without a body", async (path) => {
    const foreign = await sendRaw(harness.port, `GET ${path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
    expect(foreign.status).toBe(403);
    const head = await fetch(harness.url + path, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(pageAt(path))));
  });

  const shownCalls = () =>
    PATHS.flatMap((path) => [...pageAt(path).matchAll(/<code id="example-[^"]+">([^<]+)</g)]).map(([, text = ""]) =>
      text.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&").replaceAll("&lt;", "<"),
    );

  test("b503: has calls whose paths zsh leaves as they are, which takes a colon behind a variable for its own", () => {
    const behindVariable = shownCalls().filter((call) => /\$\{?\w+\}?:/.test(call));
    expect(behindVariable.length).toBeGreaterThan(5);
    for (const call of behindVariable) expect(call).not.toMatch(/\$\w+:/);
  });

  test("b503: has calls with a form that curl sends as one, with each file by its name", () => {
    const forms = shownCalls().filter((call) =>
      /\/(images\/(edits|variations)|transcriptions|files|parts)"$/.test(call),
    );
    const sent = forms.filter((call) => call.startsWith("curl -X POST") && !call.includes("application/json"));
    expect(sent.length).toBeGreaterThan(4);
    for (const call of sent) {
      const script = `curl() { printf '%s\\n' "$@"; }; IMAGE=a.png FILE=a.png DATA=a.png PUBLIC_ID=p ID=i; ${call}`;
      const words = execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\n");
      const parts = words.filter((_, i) => words[i - 1] === "-F");
      expect(parts).toContainEqual(expect.stringMatching(/^(image|file|data)=@a\.png$/));
      expect(words).not.toContainEqual(expect.stringMatching(/^(-d|Content-Type: .*)$/));
    }
  });

  test("has calls that carry the key by a file, and bodies that a shell takes for one word", () => {
    const calls = shownCalls();
    expect(calls.length).toBeGreaterThan(40);
    for (const call of calls) {
      expect(call).toMatch(/^curl/);
      expect(call).not.toMatch(/-H '(Authorization|X-API-Key)/i);
      const [, body] = /-d '([^']*)'/.exec(call) ?? [];
      if (body !== undefined) expect(() => JSON.parse(body)).not.toThrow();
    }
  });

  test.for(["/docs", "/docs/memory"])(
    "is made once at %s, and not sent again to a client that has it",
    async (path) => {
      const first = await fetch(harness.url + path);
      const etag = first.headers.get("etag") ?? "";
      expect(first.headers.get("cache-control")).toBe("no-cache");
      expect(first.headers.get("content-security-policy")).toContain("default-src 'none'");
      const again = await fetch(harness.url + path, { headers: { "if-none-match": etag } });
      expect([again.status, await again.text()]).toEqual([304, ""]);
      expect((await fetch(harness.url + path, { headers: { "if-none-match": '"another"' } })).status).toBe(200);
    },
  );

  test("names the address that it was reached at, or the public one, for a shell", async () => {
    const exported = (text: string) =>
      text.match(/export KEYPLANE_BASE_URL=.*?(?=<)/g)?.map((line) => line.replaceAll("&#39;", "'"));
    const byName = harness.url.replace("127.0.0.1", "localhost");
    const named = await fetch(`${byName}/docs`);
    expect([exported(pageAt("/docs")), exported(await named.text())]).toEqual(
      [harness.url, byName].map((url) => [`export KEYPLANE_BASE_URL='${url}'`]),
    );
    const first = await fetch(`${harness.url}/docs`, { headers: { "if-none-match": named.headers.get("etag") ?? "" } });
    expect([first.status, exported(await first.text())]).toEqual([200, exported(pageAt("/docs"))]);
    const publicUrl = new URL("https://gateway.example.org/");
    const behindProxy = await startHarness({ mounts: products(), config: { publicUrl } });
    const text = await (await fetch(`${behindProxy.url}/docs`)).text();
    await behindProxy.close();
    expect(exported(text)).toEqual(["export KEYPLANE_BASE_URL='https://gateway.example.org'"]);
    expect(text).not.toContain("keys.example.com");
  });

  test("is one for every spelling of a name that the server is reached by", async () => {
    const { port } = new URL(harness.url);
    const tagAt = async (host: string) => {
      const asked = get(`${harness.url}/docs`, { headers: { host: `${host}:${port}` }, agent: false });
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      answer.destroy();
      return [answer.statusCode, answer.headers.etag];
    };
    const [byName, byNumber] = [await tagAt("localhost"), await tagAt("127.0.0.1")];
    expect(byName).toEqual([200, expect.any(String)]);
    for (const host of ["LOCALHOST", "localHost"]) expect(await tagAt(host)).toEqual(byName);
    for (const host of ["127.1", "0x7f.1", "2130706433"]) expect(await tagAt(host)).toEqual(byNumber);
  });

  test("has, like the description, no other's address in a call or a server", async () => {
    const description = await (await fetch(`${harness.url}/openapi.json`)).text();
    for (const text of [...pages.values(), description])
      expect(text.match(/https?:\/\/[\w.-]*example\.com[^"]{0,20}/g) ?? []).toEqual([]);
    expect(JSON.parse(description).servers).toEqual([{ url: "/", description: "This server." }]);
  });
});
