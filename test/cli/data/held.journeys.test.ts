/** What is held as it was before, as those see it who run `keyplane up` and look at their keys. */
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../env/until.ts";
import { key, keyplane, makeHome, startUp, team, type Up } from "../up.ts";

const PROVIDER =
  "apiVersion: v1\nkind: Secret\nmetadata: { name: provider, namespace: dev }\nstringData: { token: sk-1 }\n";
const gateway = (port: number) => `apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: models, namespace: dev }
spec:
  publicID: models
  upstreams:
    - { name: main, dialect: openai, baseURL: "http://127.0.0.1:${port}", credentialRef: { name: provider, key: token } }
  routes:
    - { routeID: all, model: m, upstream: main, upstreamModel: m }
`;

const home = makeHome();
const data = ["--data", home.data];
const gatewayStatus = () => readFileSync(join(home.data, "status/dev/ModelGateway/models.json"), "utf8");
/** The credentials that the provider was called with. */
const given: unknown[] = [];
const provider = createServer(({ headers }, response) => {
  given.push(headers.authorization);
  response.setHeader("content-type", "application/json").end("{}");
});
let up: Up;
let secret: string;

beforeAll(async () => {
  home.write("team.yaml", team("research", "dev"));
  home.write("all.yaml", key("agent") + key("batch"));
  home.write("faulty.yaml", key("faulty"));
  await once(provider.listen(0, "127.0.0.1"), "listening");
  home.write("caller.yaml", key("caller", "preset: GatewayDefault"));
  home.write("gateway.yaml", gateway((provider.address() as AddressInfo).port));
  home.write("provider.yaml", PROVIDER);
  up = await startUp(home);
  for (const name of ["agent", "batch", "faulty", "caller"]) await up.waitFor("dev", name, "Ready");
  secret = up.secretOf("dev", "agent");
});
afterAll(async () => {
  await up?.stop();
  provider.close();
  home.remove();
});

/** The status of a call of a model. */
async function callModel(): Promise<number> {
  const answer = await fetch(`${up.url}/g/models/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${up.secretOf("dev", "caller")}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages: [] }),
  });
  await answer.text();
  return answer.status;
}

describe("c49: what is held as before", () => {
  test("is said on the terminal, by get and by doctor, with what to do, and works on", async () => {
    home.write("all.yaml", "");
    home.write("faulty.yaml", key("faulty", "preset: MCPReadOnli"));
    await until("it is said", () => up.output().includes("all.yaml is empty"));
    expect(up.output()).toMatch(
      /^\d\d:\d\d:\d\d warn {2}2 declarations are gone from the manifests \(PlatformKey dev\/agent, PlatformKey dev\/batch\): all\.yaml is empty\. Write it again; to end what was in it, delete it\.$/m,
    );
    await looksHeld();
    expect(await up.call(secret)).toBe(200);
  });

  test("is held after a restart, too, and the provider is called with the credential that it had", async () => {
    await until("the gateway", () => gatewayStatus().includes("Every upstream has its credential"));
    await until("it serves", async () => (await callModel()) !== 401);
    given.length = 0;
    expect(await callModel()).toBe(200);
    await up.stop();
    home.write("provider.yaml", "");
    up = await startUp(home);
    await until("it is said", () => gatewayStatus().includes("SecretUnreadable"));
    expect(await callModel()).toBe(200);
    expect(given).toEqual(["Bearer sk-1", "Bearer sk-1"]);
    await until("it is said", () => up.output().includes("all.yaml is empty"));
    await looksHeld();
    expect(await up.call(secret)).toBe(200);
  });

  test("ends within seconds once the file is deleted", async () => {
    home.write("faulty.yaml", key("faulty"));
    rmSync(join(home.manifests, "all.yaml"));
    await until("its end", async () => (await up.call(secret)) === 401);
    const removed = "gone from the manifests, and removed: PlatformKey dev/agent, PlatformKey dev/batch";
    await until("it is said", () => up.output().includes(removed));
    await until("nothing is held", async () => !(await keyplane(["get", "keys", ...data])).out.includes("held"));
  });
});

async function looksHeld(): Promise<void> {
  const { out } = await keyplane(["get", "keys", ...data]);
  expect(out).toMatch(/^dev +agent +True +Ready/m);
  expect(out).toContain(
    "\nheld as before: PlatformKey dev/agent, PlatformKey dev/batch\n  all.yaml is empty. Write it again;",
  );
  expect(out).toMatch(/\nheld as before: PlatformKey dev\/faulty\n {2}\S+faulty\.yaml:4:\d+: error: spec\.preset: /);
  const { items } = JSON.parse((await keyplane(["get", "keys", ...data, "-o", "json"])).out);
  const reasons = items.map(({ metadata: { name, annotations } }: Item) => [name, annotations?.["keyplane.dev/held"]]);
  expect(Object.fromEntries(reasons)).toMatchObject({ agent: expect.stringContaining("all.yaml is empty") });
  const { code, out: findings } = await keyplane(["doctor", ...data]);
  expect(code).toBe(1);
  expect(findings).toMatch(
    /^error {2}held-declarations: held as before: PlatformKey dev\/agent, PlatformKey dev\/batch: all\.yaml is empty/m,
  );
}

type Item = { readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> } };
