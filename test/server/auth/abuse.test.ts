/** threats.md b8-b17 and b41 over real sockets: what no well-behaved client sends. */
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checksum, keyDigest, mintKey } from "../../../domain/key/secret/key-format.ts";
import type { RoutePlugin } from "../../../server/app.ts";
import { parsePlaceholders } from "../../../server/context/placeholders.ts";
import { resolvePlaceholders } from "../../../server/key-index/placeholder-keys.ts";
import { cpuTimeOf, leastOfFive } from "../../env/cpu-time.ts";
import { until } from "../../env/until.ts";
import { type Harness, startHarness } from "../harness.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { withoutRequestIds } from "../request-ids.ts";

const routes: RoutePlugin = (app) => {
  app.get("/atoms", { config: { operation: "atoms.list" } }, async () => ({ items: [] }));
  app.post("/atoms", { config: { operation: "atoms.create" } }, async (request) => ({ got: request.body }));
  app.delete("/atoms/:id", { config: { operation: "atoms.delete" } }, async () => ({}));
  app.all("/g/:publicId/*", { config: { operation: () => "gateway.embeddings" } }, async (request) => ({
    gateway: request.gateway?.publicId,
  }));
};

let harness: Harness;
let key: string;
beforeEach(async () => {
  harness = await startHarness({ mounts: [{ at: "", routes }] });
  key = harness.addKey();
});
afterEach(() => harness.close());

const get = (headers: readonly string[], target = "/atoms") =>
  sendRaw(harness.port, requestHead(`GET ${target} HTTP/1.1`, headers));

async function lookUps(): Promise<number> {
  const { values } = (await harness.metrics.registry.getMetricsAsJSON()).find(
    ({ name }) => name === "keyplane_key_lookups_total",
  ) ?? { values: [] };
  return values[0]?.value ?? 0;
}

describe("b1-b4: over the wire", () => {
  test.each([
    ["bearer in lower case", (k: string) => [`authorization: bearer ${k}`], 200],
    ["BEARER in upper case", (k: string) => [`Authorization: BEARER ${k}`], 200],
    ["two spaces", (k: string) => [`Authorization: Bearer  ${k}`], 401],
    ["a tab", (k: string) => [`Authorization: Bearer\t${k}`], 401],
    ["two lines", (k: string) => [`Authorization: Bearer ${k}`, `Authorization: Bearer ${k}`], 401],
    ["two keys in a line", (k: string) => [`Authorization: Bearer ${k}, Bearer ${k}`], 401],
    ["no scheme", (k: string) => [`Authorization: ${k}`], 401],
    ["Basic", (k: string) => [`Authorization: Basic ${btoa(`${k}:`)}`], 401],
    ["Basic, and X-API-Key", (k: string) => ["Authorization: Basic eDp5", `X-API-Key: ${k}`], 200],
  ])("%s", async (_name, headers, status) => {
    expect((await get(headers(key))).status).toBe(status);
  });
});

/** Without what every answer has of its own. */
const sameForAll = ({ text }: { readonly text: string }) => withoutRequestIds(text.replace(/^date: .*$/im, "date"));

/** Of an answer under `/g/`, without the line that each error there has. */
const ofGateway = (answer: { readonly text: string }) => {
  expect(answer.text).toContain(SOURCE);
  return sameForAll({ text: answer.text.replace(SOURCE, "") });
};
const SOURCE = "x-keyplane-error-source: keyplane\r\n";

test("b16: every 401 is the same, byte for byte, whatever the cause: an unknown key's and a wrong checksum's too", async () => {
  const bad = {
    unknown: [`X-API-Key: ${mintKey(randomBytes)}`],
    missing: [],
    malformed: ["X-API-Key: nonsense"],
    "a wrong checksum": [`X-API-Key: ${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`],
    revoked: [`X-API-Key: ${harness.addKey({ state: "revoked" })}`],
    expired: [`X-API-Key: ${harness.addKey({ expiresAt: 1 })}`],
    suspended: [`X-API-Key: ${harness.addKey({ state: "suspended" })}`],
    repeated: [`X-API-Key: ${key}`, `X-API-Key: ${key}`],
  };
  const answers = new Set<string>();
  for (const headers of Object.values(bad)) {
    answers.add(sameForAll(await get(headers)));
    answers.add(ofGateway(await get(headers, "/g/nowhere/v1/models")));
  }
  for (const publicId of ["nowhere", harness.addGateway({ teamId: "team-b" }).publicId]) {
    answers.add(ofGateway(await get([`X-API-Key: ${key}`], `/g/${publicId}/v1/models`)));
  }
  expect([...answers]).toHaveLength(1);
  expect([...answers][0]).toMatch(/^HTTP\/1\.1 401 /);
});

test("each cause of a refusal is counted, and handed to the audit with the key that it found", async () => {
  await get([]);
  await get([`X-API-Key: ${harness.addKey({ keyId: "key_gone", state: "revoked" })}`]);
  await get([`X-API-Key: ${harness.addKey({ scopes: 0 })}`]);
  const { values } = (await harness.metrics.registry.getMetricsAsJSON()).find(
    ({ name }) => name === "keyplane_refusals_total",
  ) ?? { values: [] };
  expect(values.map(({ labels, value }) => [labels.cause, value])).toEqual([
    ["missing", 1],
    ["revoked", 1],
    ["no_scope_of_this_product", 1],
  ]);
  expect(harness.refused.map(({ code, cause, keyId, route }) => ({ code, cause, keyId, route }))).toMatchObject([
    { code: "unauthorized", cause: "missing", keyId: null, route: "/atoms" },
    { code: "unauthorized", cause: "revoked", keyId: "key_gone", route: "/atoms" },
    { code: "forbidden", cause: "no_scope_of_this_product", route: "/atoms" },
  ]);
});

describe("b8: floods of header bytes cost next to nothing", () => {
  test("a Bearer of 12 KiB is 401, without a look-up", async () => {
    expect((await get([`Authorization: Bearer inf_${"x".repeat(12 << 10)}`])).status).toBe(401);
    expect(await lookUps()).toBe(0);
  });

  test.each([
    ["64 KiB of Bearer", [`Authorization: Bearer inf_${"x".repeat(64 << 10)}`]],
    ["1 MiB of Bearer", [`Authorization: Bearer inf_${"x".repeat(1 << 20)}`]],
    ["10,000 headers", Array.from({ length: 10_000 }, (_, i) => `x-${i}: y`)],
  ])("%s is 431", async (_name, headers) => {
    const spent = await leastOfFive(100, () => cpuTimeOf(async () => expect((await get(headers)).status).toBe(431)));
    // The client's work is in this figure too: the promise is 5 ms for the server's.
    expect(spent).toBeLessThan(100);
  });

  test("a second credential behind thousands of headers is seen", async () => {
    const filler = Array.from({ length: 2_500 }, () => "a:");
    expect((await get([`X-API-Key: ${key}`, ...filler])).status).toBe(200);
    expect((await get([`X-API-Key: ${key}`, ...filler, `X-API-Key: ${key}`])).status).toBe(401);
  });
});

describe("b9: no byte is normalised away", () => {
  test.each([
    ["CR LF, encoded", (k: string) => `/atoms?key=${k}%0d%0aX-Admin:%201`],
    ["a NUL, encoded", (k: string) => `/atoms?key=${k}%00`],
    ["full-width letters", (k: string) => `/atoms?key=${encodeURIComponent(k.replace("inf_", "\uff49nf_"))}`],
    ["a zero-width joiner", (k: string) => `/atoms?key=${encodeURIComponent(`${k}\u200d`)}`],
    ["a trailing \\x85", (k: string) => `/atoms?key=${k}%85`],
    ["a trailing space", (k: string) => `/atoms?key=${k}+`],
  ])("%s", async (_name, target) => {
    expect((await get([], target(key))).status).toBe(401);
  });

  test("a raw NUL or \\x85 in a header is 400 or 401, never a key", async () => {
    expect((await get([`X-API-Key: ${key}\0`])).status).toBe(400);
    expect((await get([`X-API-Key: ${key}\x85`])).status).toBe(401);
  });
});

test("b10, b11: a cookie authenticates nothing on the key's API", async () => {
  expect((await get([`Cookie: session=${key}; keyplane=${key}`])).status).toBe(401);
  const answer = await get([`Cookie: session=${key}`, `X-API-Key: ${harness.addKey({ state: "revoked" })}`]);
  expect(answer.status).toBe(401);
});

describe("b12: a method override is ignored", () => {
  test.each(["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])("%s", async (name) => {
    const answer = await sendRaw(
      harness.port,
      requestHead("POST /atoms/1 HTTP/1.1", [`${name}: DELETE`, `X-API-Key: ${key}`, "Content-Length: 0"]),
    );
    expect(answer.status).toBe(405);
    const readOnly = harness.addKey({ scopes: 8 });
    expect((await get([`${name}: POST`, `X-API-Key: ${readOnly}`])).status).toBe(200);
  });
});

describe("b13: every other method on an authenticated path is 401 without a key", () => {
  for (const method of ["HEAD", "OPTIONS", "QUERY", "TRACE", "PUT", "PATCH"]) {
    test(method, async () => {
      const { publicId } = harness.addGateway();
      for (const path of ["/atoms", "/atoms/1", `/g/${publicId}/v1/models`]) {
        const preflight = ["Origin: https://evil.test", "Access-Control-Request-Method: POST", "Content-Length: 0"];
        const answer = await sendRaw(harness.port, requestHead(`${method} ${path} HTTP/1.1`, preflight));
        expect([path, answer.status]).toEqual([path, 401]);
        expect(answer.head).not.toMatch(/access-control|^allow/im);
      }
    });
  }
});

describe("b14: Expect: 100-continue", () => {
  const expecting = (credential: string) =>
    requestHead("POST /atoms HTTP/1.1", [
      `X-API-Key: ${credential}`,
      "Content-Type: application/json",
      "Content-Length: 7",
      "Expect: 100-continue",
    ]);

  test("a caller with a bad key is asked for no byte of the body", async () => {
    const answer = await sendRaw(harness.port, expecting("inf_bad").replace("Length: 7", "Length: 1073741824"));
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain("100 Continue");
    expect(answer.head).toMatch(/^connection: close/im);
  });

  test("a caller with a good key is asked for the body once, and it is read", async () => {
    const socket = connect(harness.port, "127.0.0.1");
    let got = "";
    socket.on("data", (chunk) => {
      got += chunk;
    });
    socket.write(expecting(key));
    await until("it is asked for", () => got.includes("\r\n\r\n"));
    expect(got).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    got = "";
    socket.write('{"a":1}');
    await until("the answer", () => got.endsWith("}}"));
    expect(got).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"got":\{"a":1\}\}$/);
    socket.destroy();
  });

  test("any other expectation is 417", async () => {
    const answer = await get(["Expect: the-unexpected", `X-API-Key: ${key}`, "Connection: close"]);
    expect(answer.status).toBe(417);
  });
});

describe("b15-b17: the key's text", () => {
  test("b15: a wrong checksum is 401 with no look-up", async () => {
    const wrong = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;
    expect((await get([`X-API-Key: ${wrong}`])).status).toBe(401);
    expect(await lookUps()).toBe(0);
    await get([`X-API-Key: ${key}`]);
    expect(await lookUps()).toBe(1);
  });

  test("b19: a key of another installation is refused, though its checksum is right", async () => {
    const other = await startHarness({ mounts: [{ at: "", routes }] });
    try {
      const foreign = other.addKey();
      const sent = requestHead("GET /atoms HTTP/1.1", [`X-API-Key: ${foreign}`]);
      expect((await sendRaw(other.port, sent)).status).toBe(200);
      expect((await sendRaw(harness.port, sent)).status).toBe(401);
    } finally {
      await other.close();
    }
  });

  test("an imported format is looked up only while imported or placeholder keys exist", async () => {
    expect((await get(["X-API-Key: inf_imported-and-long-enough-to-be-hard-to-guess"])).status).toBe(401);
    expect(await lookUps()).toBe(0);
    const imported = harness.addKey({}, "inf_imported-and-long-enough-to-be-hard-to-guess");
    expect((await get([`X-API-Key: ${imported}`])).status).toBe(200);
    expect((await get(["X-API-Key: inf_another-one-of-as-many-characters-or-more"])).status).toBe(401);
    expect(await lookUps()).toBe(2);
  });

  test("b90: a short secret that was imported by its hash opens nothing, and is not looked up", async () => {
    const short = harness.addKey({}, `inf_${"x".repeat(31)}`);
    harness.addKey({}, `inf_${"x".repeat(32)}`);
    expect((await get([`X-API-Key: ${short}`])).status).toBe(401);
    expect((await get(["X-API-Key: inf_x"])).status).toBe(401);
    expect(await lookUps()).toBe(0);
    expect((await get([`X-API-Key: ${short}x`])).status).toBe(200);
  });

  test("b90: a placeholder of development may be short, and makes no imported key of its length one", async () => {
    const shortImport = `inf_${"x".repeat(20)}`;
    const { placeholders } = parsePlaceholders("inf_dev");
    const { records } = resolvePlaceholders(placeholders, [
      { teamId: "team-1", name: "one", defaultLibraryId: null, allowedCIDRs: null, limits: null },
    ]);
    const developing = await startHarness({ mounts: [{ at: "", routes }], config: { placeholders } });
    try {
      developing.addKey({}, shortImport);
      developing.addKey(records.get(keyDigest("inf_dev")), "inf_dev");
      const ask = async (presented: string) =>
        (await sendRaw(developing.port, requestHead("GET /atoms HTTP/1.1", [`X-API-Key: ${presented}`]))).status;
      expect([await ask("inf_dev"), await ask(shortImport)]).toEqual([200, 401]);
    } finally {
      await developing.close();
    }
  });

  test("b17: near misses of a key are 401, also while imported formats are looked up", async () => {
    harness.addKey({}, "inf_imported-and-long-enough-to-be-hard-to-guess");
    const flipped = key.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase());
    for (const near of [key.slice(0, -1), `${key}0`, key.slice(0, 12), `${key}%20`, flipped, key.toUpperCase()]) {
      expect((await get([`X-API-Key: ${near}`])).status).toBe(near === key ? 200 : 401);
    }
  });

  test("b18: two keys with the same public id authenticate each itself alone", async () => {
    const sameId = () => `inf_SAMESAME${mintKey(randomBytes).slice(12, 55)}`;
    const [first, second] = [sameId(), sameId()].map((body) => body + checksum(body));
    const one = harness.addKey({ teamId: "team-1" }, first);
    const other = harness.addKey({ teamId: "team-2" }, second);
    expect((await get([`X-API-Key: ${one}`])).status).toBe(200);
    expect(harness.used.at(-1)?.key.teamId).toBe("team-1");
    await get([`X-API-Key: ${other}`]);
    expect(harness.used.at(-1)?.key.teamId).toBe("team-2");
    expect((await get(["X-API-Key: inf_SAMESAME"])).status).toBe(401);
  });
});

describe("b34, b35: the decision is the router's, never the URL's text or a header's", () => {
  test.each([
    ["an encoded prefix", (own: string) => `/%67/${own}/v1/embeddings`, 200],
    ["a prefix in upper case", (own: string) => `/G/${own}/v1/embeddings`, 404],
    ["two slashes", (own: string) => `//g//${own}/v1/embeddings`, 404],
    ["another gateway in the query", (own: string) => `/g/${own}/v1/embeddings?/g/other`, 200],
    ["a semicolon", (own: string) => `/g/${own};x=y/v1/embeddings`, 401],
    ["absolute form", (own: string) => `http://evil.test/g/${own}/v1/embeddings`, 200],
  ])("%s", async (_name, target, status) => {
    const { publicId } = harness.addGateway();
    expect((await get([`X-API-Key: ${key}`], target(publicId))).status).toBe(status);
    expect((await get([], target(publicId))).status).toBe(status === 404 ? 404 : 401);
  });

  test.each(["X-Original-URL: /atoms", "X-Rewrite-URL: /atoms", "X-Forwarded-Host: evil", "X-Forwarded-Prefix: /x"])(
    "%s changes nothing",
    async (header) => {
      expect((await get([header, `X-API-Key: ${key}`], "/nowhere")).status).toBe(404);
      expect((await get([header])).status).toBe(401);
    },
  );
});

describe("b41: what is not exactly one HTTP request is 400, and the connection is closed", () => {
  const smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
  test.each([
    ["two Content-Lengths", ["Content-Length: 5", "Content-Length: 6"]],
    ["Content-Length and Transfer-Encoding", ["Content-Length: 5", "Transfer-Encoding: chunked"]],
    ["chunked, identity", ["Transfer-Encoding: chunked, identity"]],
    ["a space before the colon", ["Content-Length : 5"]],
    ["a folded line", ["X-A: b\r\n c"]],
    ["a bare LF within a header", ["X-A: b\nX-B: c"]],
    ["a bare CR within a header", ["X-A: b\rX-B: c"]],
    ["a signed length", ["Content-Length: +5"]],
  ])("%s", async (_name, headers) => {
    const given = [`X-API-Key: ${key}`, "Content-Type: application/json", ...headers];
    const head = requestHead("POST /atoms HTTP/1.1", given);
    const answer = await sendRaw(harness.port, `${head}0\r\n\r\n${smuggled}`);
    expect(answer.status).toBe(400);
    expect(answer.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(answer.head).toMatch(/^connection: close/im);
    expect(harness.used).toEqual([]);
  });

  test("no Host", async () => {
    const answer = await sendRaw(harness.port, `GET /atoms HTTP/1.1\r\nX-API-Key: ${key}\r\n\r\n`);
    expect(answer.status).toBe(400);
    expect(answer.head).toMatch(/^connection: close/im);
    expect(harness.used).toEqual([]);
  });
});
