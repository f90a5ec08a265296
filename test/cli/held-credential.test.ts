/** A provider's credential whose manifest cannot be seen when `keyplane up` starts. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../env/until.ts";
import { key, makeHome, startUp, team } from "./up.ts";

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

test("c49: keyplane up calls the provider with the credential that it had, though its manifest is empty at a start", async () => {
  const given: unknown[] = [];
  const provider = createServer(({ headers }, response) => {
    given.push(headers.authorization);
    response.setHeader("content-type", "application/json").end("{}");
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  const home = makeHome();
  home.write("all.yaml", `${team("research", "dev")}${key("agent", "preset: GatewayDefault")}`);
  home.write("gateway.yaml", gateway((provider.address() as AddressInfo).port));
  home.write("provider.yaml", PROVIDER);
  const status = join(home.data, "status/dev/ModelGateway/models.json");
  let up = await startUp(home);
  const call = async () => {
    const answer = await fetch(`${up.url}/g/models/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${up.secretOf("dev", "agent")}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", messages: [] }),
    });
    await answer.text();
    return answer.status;
  };
  try {
    await up.waitFor("dev", "agent", "Ready");
    await until("the gateway", () => readFileSync(status, "utf8").includes("Every upstream has its credential"));
    await until("it serves", async () => (await call()) !== 401);
    given.length = 0;
    expect(await call()).toBe(200);
    await up.stop();
    home.write("provider.yaml", "");
    up = await startUp(home);
    await until("it is said", () => readFileSync(status, "utf8").includes("SecretUnreadable"));
    expect(await call()).toBe(200);
    expect(given).toEqual(["Bearer sk-1", "Bearer sk-1"]);
  } finally {
    await up.stop();
    provider.close();
    home.remove();
  }
});
