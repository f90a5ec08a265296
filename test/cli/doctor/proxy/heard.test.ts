/** The verifier's own answers, as doctor reads them behind a proxy. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hear } from "../../../../cli/doctor/proxy/heard.ts";
import { judgeFirst } from "../../../../cli/doctor/proxy/judge-first.ts";
import { type Question, shownBy, startVerifier, type Verifier } from "../../../server/authz/verifier-harness.ts";

const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;
const TOKEN = "a-token-of-proxies-that-is-long-enough-to-be-one";
const MODELS = "/authz/envoy/g/research-main";
let verifier: Verifier;

beforeAll(async () => {
  verifier = await startVerifier();
  verifier.addGateway({ publicId: "research-main", upstreams: [OPENAI] });
});
afterAll(() => verifier.close());

async function heard(question: Question) {
  const { status, body } = await verifier.ask(question);
  return hear({ status, body, server: "", via: "", location: "" });
}

test.each<[string, Question, string]>([
  ["OpenAI's format", { path: `${MODELS}/v1/models` }, "gateway"],
  ["Anthropic's format", { path: `${MODELS}/v1/messages` }, "gateway"],
  ["Gemini's format", { path: `${MODELS}/v1beta/models` }, "gateway"],
  ["a problem document", { path: "/authz/envoy/scope/memory:read/x" }, "scope"],
])("c97: the verifier's 401 is known in %s", async (_what, question, protects) => {
  expect(await heard(question)).toMatchObject({ is: "refusal", status: 401, code: "unauthorized", protects });
});

test.each<[string, Question, string]>([
  ["a path of another proxy", { path: "/authz/nginx/g/research-main/v1/models" }, "proxy-requests"],
  ["no path of the verifier", { path: "/nowhere" }, "proxy-verifier"],
  [
    "a header that the proxy adds",
    {
      path: "/authz/caddy/g/research-main",
      headers: [...shownBy("caddy", "GET", "/v1/models", ""), "X-Original-URL: /"],
    },
    "proxy-requests",
  ],
])("c97: the verifier's reason is known for %s", async (_what, question, name) => {
  const outcome = { heard: await heard(question), arrived: undefined };
  const finding = judgeFirst(outcome, { url: "http://proxy/v1/models", proxy: undefined, location: "" });
  expect(finding).toMatchObject({ name, severity: "error" });
});

test("c97: the verifier's reason is known for a proxy that it does not know", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-doctor-"));
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, TOKEN, { mode: 0o600 });
  const other = await startVerifier({ tokenFile });
  context.onTestFinished(async () => {
    await other.close();
    await rm(folder, { recursive: true });
  });
  const { status, body } = await other.ask({
    path: `${MODELS}/v1/models`,
    headers: [`X-Keyplane-Authz-Token: x${TOKEN}`],
  });
  const outcome = { heard: hear({ status, body, server: "", via: "", location: "" }), arrived: undefined };
  const finding = judgeFirst(outcome, { url: "http://proxy/v1/models", proxy: "envoy", location: "" });
  expect(finding).toMatchObject({ name: "proxy-verifier", severity: "error" });
  expect(finding?.action).toContain("x-keyplane-authz-token");
});

test.each<[string, number, string]>([
  ["a page of its own", 401, "<html>401 Authorization Required</html>"],
  ["an error of another program", 401, '{"error":{"message":"no","code":"invalid_api_key"}}'],
  ["a code with another status", 403, '{"error":{"message":"no","code":"unauthorized"}}'],
  ["nginx's word for a verifier that is away", 503, '{"error":{"message":"try again","code":"unavailable"}}'],
  ["a member of every object", 400, '{"error":{"message":"no","code":"constructor"}}'],
  ["no object", 404, "null"],
])("c97: %s is no word of the verifier", (_what, status, body) => {
  expect(hear({ status, body, server: "", via: "", location: "" }).is).toBe("other");
});
