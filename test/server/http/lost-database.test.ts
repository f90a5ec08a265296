/** A replica that has lost its database, behind a balancer of connections, which leaves it out of new ones alone. */
import { Agent, request } from "undici";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import type { RoutePlugin } from "../../../server/app.ts";
import type { ServerDeps } from "../../../server/product/deps.ts";
import { DatabaseUnavailableError } from "../../../store/database/errors.ts";
import { freePort } from "../../env/free-port.ts";
import { startBalancer } from "../../env/node/balancer.ts";
import { type Harness, startHarness } from "../harness.ts";

/** Whose database does not answer. */
let cutOff: ServerDeps | undefined;
const asksTheDatabase: RoutePlugin = (app, deps) => {
  app.all("/asks-the-database", { config: { operation: "atoms.list" } }, async () => {
    if (cutOff === deps) throw new DatabaseUnavailableError("the database does not answer");
    return {};
  });
};

let own: Harness;
let other: Harness;
/** Where new connections go. */
let target: Harness;
let balancer: { close(): void };
let url: string;
let key: string;

beforeAll(async () => {
  const mounts = [...products(), { at: "", routes: asksTheDatabase }];
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const options = { mounts, config: { publicUrl: new URL(url) } };
  [own, other] = await Promise.all([startHarness(options), startHarness(options)]);
  key = own.addKey();
  other.addKey({}, key);
  for (const { addGateway } of [own, other]) addGateway({ publicId: "models" });
  balancer = await startBalancer({ host: "127.0.0.1", port }, () => ({ host: "127.0.0.1", port: target.port }));
});
afterEach(() => {
  own.setCurrent(true);
  cutOff = undefined;
});
afterAll(async () => {
  balancer.close();
  await Promise.all([own.close(), other.close()]);
});

const loseTheView = () => own.setCurrent(false);
const loseTheDatabase = () => {
  cutOff = own.deps;
};
const LIST_TOOLS = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
const LOSSES: readonly [what: string, lose: () => void, path: string, body?: string][] = [
  ["the memory of a replica whose view is not current", loseTheView, "/asks-the-database"],
  ["the gateway of a replica whose view is not current", loseTheView, "/g/models/v1/models"],
  ["MCP of a replica whose view is not current", loseTheView, "/api/v1/memory/mcp", LIST_TOOLS],
  ["a read of a replica whose database does not answer", loseTheDatabase, "/asks-the-database"],
  ["a change at a replica whose database does not answer", loseTheDatabase, "/asks-the-database", "{}"],
];

test.each(LOSSES)("c36: %s costs a kept connection one 503", async (_what, lose, path, body) => {
  const dispatcher = new Agent({ connections: 1 });
  const headers = { "x-api-key": key, accept: "application/json, text/event-stream" };
  const posted = { ...headers, "content-type": "application/json" };
  const call = async () => {
    const answer = await (body === undefined
      ? request(url + path, { dispatcher, headers })
      : request(url + path, { dispatcher, headers: posted, method: "POST", body }));
    await answer.body.dump();
    return answer.statusCode;
  };
  target = own;
  expect(await call()).toBe(200);
  lose();
  target = other;
  expect(await call()).toBe(503);
  expect(await call()).toBe(200);
  await dispatcher.close();
});
