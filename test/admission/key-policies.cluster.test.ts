import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { manifest } from "../domain/manifest/read.ts";
import { type LentKubernetes, lendKubernetes } from "../env/kubernetes/lent.ts";
import { until } from "../env/until.ts";
import { apply, createNamespaces, remove, urlOf } from "./apply.ts";

const NAMESPACE = "policed";
const NAME = "policed-key-policies";
const API = "admissionregistration.k8s.io/v1";
const key = (name: string, spec: string, metadata: object = {}) =>
  manifest("PlatformKey", spec, { name, namespace: NAMESPACE, ...metadata });
const POLICY = manifest(
  "PlatformKeyPolicy",
  `{ teamSelector: {}, expiry: { required: true, max: 48h }, rotation: { maxInterval: 24h },
    allowedScopes: [memory:read], allowedPresets: [MCPReadOnly],
    rateLimit: { requestsPerMinute: { max: 10 }, concurrent: { max: 5 } } }`,
  { name: "policed" },
);

/** The ends of older keys, by a time. */
const ENDS = [
  ["within-weeks", new Date(Date.now() + 1_000 * 3_600_000).toISOString(), "1001h"],
  ["within-ages", "9999-01-01T00:00:00Z", undefined],
] as const;

/** What keys from before the policy declare, and what they are narrowed to: each breaks it still. */
const NARROWED = [
  ["fewer scopes", "scopes", "{ scopes: [memory:read, memory:write, gateway:embed] }", "{ preset: MCPReadWrite }"],
  ["an end at all", "end", "{ preset: MCPReadOnly }", "{ preset: MCPReadOnly, expiresAfter: 900h }"],
  [
    "a nearer end",
    "nearer-end",
    "{ preset: MCPReadOnly, expiresAfter: 900h }",
    "{ preset: MCPReadOnly, expiresAfter: 800h }",
  ],
  [
    "more frequent rotations",
    "rotation",
    "{ preset: MCPReadOnly, rotation: { interval: 900h } }",
    "{ preset: MCPReadOnly, rotation: { interval: 800h } }",
  ],
  [
    "lower limits",
    "limits",
    "{ preset: MCPReadOnly, rateLimit: { requestsPerMinute: 60, burst: 100, concurrent: 9 } }",
    "{ preset: MCPReadOnly, rateLimit: { requestsPerMinute: 70, concurrent: 8 } }",
  ],
] as const;

// An API server of its own: a policy is of the whole cluster, and would hold the keys of other tests.
describe("b132: the API server, with the chart's admission policy for PlatformKeyPolicies", () => {
  let started: LentKubernetes;
  const kubernetes = () => started;
  const post = async (plural: string, body: object) => {
    const answer = await kubernetes().request("POST", `/apis/${API}/${plural}`, { body: JSON.stringify(body) });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  };
  const status = (text: string, body: string) =>
    kubernetes().request("PATCH", `${urlOf(text)}/status`, { body, contentType: "application/merge-patch+json" });

  beforeAll(async () => {
    started = await lendKubernetes();
    await createNamespaces(kubernetes(), [NAMESPACE, "unpoliced"]);
    await apply(kubernetes(), key("old", "{ scopes: [memory:write] }", { finalizers: ["keyplane.dev/finalizer"] }));
    for (const [, name, wide] of NARROWED) await apply(kubernetes(), key(name, wide));
    for (const [name, end] of ENDS)
      await apply(kubernetes(), key(name, `{ preset: MCPReadOnly, expiresAt: '${end}' }`));
    await apply(kubernetes(), POLICY);
    await status(POLICY, JSON.stringify({ status: { namespaces: [NAMESPACE] } }));
    const spec = parse(readFileSync(new URL("../../infra/chart/files/key-policies.yaml", import.meta.url), "utf8"));
    const metadata = { name: NAME };
    await post("validatingadmissionpolicies", { apiVersion: API, kind: "ValidatingAdmissionPolicy", metadata, spec });
    const paramRef = { selector: {}, parameterNotFoundAction: "Allow" };
    const binding = { policyName: NAME, validationActions: ["Deny"], paramRef };
    await post("validatingadmissionpolicybindings", {
      ...{ apiVersion: API, kind: "ValidatingAdmissionPolicyBinding", metadata, spec: binding },
    });
    await until("it is in effect", async () => {
      const { accepted } = await apply(kubernetes(), key("probe", "{ scopes: [memory:write] }"), { dryRun: true });
      return !accepted;
    });
    return () => started.close();
  });

  const REST = "expiresAfter: 24h, rateLimit: { requestsPerMinute: 10, burst: 10, concurrent: 5 }";
  test.for([
    ["{ preset: MCPReadOnly, rateLimit: { requestsPerMinute: 10, concurrent: 5 } }", "a key must have an end"],
    [`{ preset: MCPReadOnly, ${REST.replace("24h", "49h")}, rotation: { interval: 24h } }`, "for at most 48h"],
    [`{ preset: MCPReadOnly, ${REST.replace("24h", "25h")} }`, "at least every 24h"],
    [`{ preset: MCPReadWrite, ${REST} }`, "write none but memory:read"],
    [`{ scopes: [memory:write], ${REST} }`, "write preset: MCPReadOnly"],
    [`{ preset: MCPReadOnly, ${REST.replace("burst: 10", "burst: 11")} }`, "at most 10 requests a minute"],
    [`{ preset: MCPReadOnly, ${REST.replace("concurrent: 5", "concurrent: 6")} }`, "at most 5 calls"],
    ["{ preset: MCPReadOnly, expiresAt: '9999-01-01T00:00:00Z' }", "for at most 48h"],
  ] as const)("refuses %s, and says what to write", async ([spec, says]) => {
    const { accepted, message } = await apply(kubernetes(), key("agent", spec), { dryRun: true });
    expect([accepted, message]).toEqual([false, expect.stringContaining(NAME)]);
    if (says.startsWith("write")) expect(message).toMatch(/write (none but|preset)/);
    else expect(message).toContain(says);
    expect(message).toContain("(PlatformKeyPolicy policed)");
  });

  test("takes a key that keeps the policy, and one of another namespace", async () => {
    expect(await apply(kubernetes(), key("agent", `{ preset: MCPReadOnly, ${REST} }`), { dryRun: true })).toMatchObject(
      {
        accepted: true,
      },
    );
    const other = manifest("PlatformKey", "{ scopes: [memory:write] }", { name: "agent", namespace: "unpoliced" });
    expect(await apply(kubernetes(), other, { dryRun: true })).toMatchObject({ accepted: true });
  });

  test("leaves what an older key has, which can be changed otherwise, suspended, and lose its finalizer", async () => {
    const old = (spec: string) => key("old", spec, { finalizers: ["keyplane.dev/finalizer"] });
    const suspended = "{ scopes: [memory:write], state: Suspended }";
    expect(await apply(kubernetes(), old(suspended))).toMatchObject({ accepted: true });
    expect((await apply(kubernetes(), old("{ scopes: [memory:read, memory:write] }"))).accepted).toBe(false);
    const body = '{"metadata":{"finalizers":null}}';
    const contentType = "application/merge-patch+json";
    const answer = await kubernetes().request("PATCH", urlOf(key("old", "{}")) ?? "", { body, contentType });
    expect(answer.status).toBe(200);
    await remove(kubernetes(), key("old", "{}"));
  });

  test.for(NARROWED)(
    "b226: takes an edit of an older key to %s, and refuses it undone",
    async ([, name, wide, narrow]) => {
      expect(await apply(kubernetes(), key(name, narrow))).toMatchObject({ accepted: true });
      expect(await apply(kubernetes(), key(name, wide))).toMatchObject({ accepted: false });
    },
  );

  test.for(ENDS)(
    "b258: takes an end %s as one from the mint that is nearer, and no later one or none",
    async ([name, , later]) => {
      const ending = (end: string) => apply(kubernetes(), key(name, `{ preset: MCPReadOnly${end} }`), { dryRun: true });
      expect(await ending(", expiresAfter: 900h")).toMatchObject({ accepted: true });
      expect(await ending("")).toMatchObject({ accepted: false });
      if (later === undefined) return;
      expect(await ending(`, expiresAfter: ${later}`)).toMatchObject({ accepted: false });
    },
  );

  test("b219: asks nothing of a policy any more that is being deleted, as the controller does not", async () => {
    const held = manifest("PlatformKeyPolicy", "{ teamSelector: {}, allowedScopes: [gateway:embed] }", {
      ...{ name: "going", finalizers: ["example.com/held"] },
    });
    await apply(kubernetes(), held);
    await status(held, JSON.stringify({ status: { namespaces: [NAMESPACE] } }));
    const asked = () => apply(kubernetes(), key("agent", `{ preset: MCPReadOnly, ${REST} }`), { dryRun: true });
    await until("it is in effect", async () => !(await asked()).accepted);
    await kubernetes().request("DELETE", urlOf(held) ?? "");
    await until("it is in effect no more", async () => (await asked()).accepted);
    const body = '{"metadata":{"finalizers":null}}';
    await kubernetes().request("PATCH", urlOf(held) ?? "", { body, contentType: "application/merge-patch+json" });
  });
});
