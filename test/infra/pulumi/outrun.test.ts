/** What counts as another client's change of an object, and what does not. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApi } from "../../../infra/pulumi/provider/api/api.ts";
import { createResource, type PulumiResource, updateResource } from "../../../infra/pulumi/provider/lifecycle.ts";
import { readResource } from "../../../infra/pulumi/provider/read-resource.ts";
import { RESOURCES } from "../../../infra/pulumi/provider/resources.ts";
import type { Values } from "../../../infra/pulumi/provider/values.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { type Api, startApi, TOKEN } from "../../server/management/api.ts";

function resourceAt(url: string, token: string, type: string, name: string): PulumiResource {
  const kind = RESOURCES.get(`keyplane:index:${type}`) ?? expect.fail(`no ${type}`);
  const subject = { type: kind.type, noun: kind.noun, resource: name, name };
  return { api: openApi({ url, token, tokenFile: undefined }), kind, urn: `urn:pulumi:dev::app::${name}`, subject };
}

async function endOf(update: Promise<unknown>): Promise<string | undefined> {
  return update.then(
    () => "changed",
    (error: { code?: string }) => error.code,
  );
}

const UPSTREAM = { name: "one", dialect: "openai", baseURL: "https://api.example.com" };

/** A gateway that looks as its program has it, and whose credential another client has changed by the time of a PUT. */
async function changeCredential(before: readonly number[]) {
  const put: (string | undefined)[] = [];
  const first = [...before];
  const server = createServer((request, response) => {
    request.resume();
    const answer = (status: number, body: object) =>
      response
        .writeHead(status, { "content-type": "application/json", etag: `"${put.length}"` })
        .end(JSON.stringify(body));
    const gateway = { id: "gateway_1", name: "gateway", spec: { upstreams: [UPSTREAM] } };
    if (request.method === "GET") return answer(200, gateway);
    put.push(request.headers["if-match"]);
    const status = first.shift() ?? 412;
    return answer(status, status === 200 ? gateway : { code: status === 412 ? "precondition_failed" : "unavailable" });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resource = resourceAt(url, "t", "ModelGateway", "gateway");
  const withCredential = (credential: string) => ({ name: "gateway", upstreams: [{ ...UPSTREAM, credential }] });
  const oldInputs = withCredential("sk-first");
  const update = { olds: oldInputs, oldInputs, news: withCredential("sk-second") };
  const end = await endOf(updateResource(resource, "gateway_1", update, 0));
  server.close();
  return { end, put };
}

test("b205: a credential that another client has just changed is written over by none that was sent once", async () => {
  expect(await changeCredential([412, 200])).toEqual({ end: "precondition_failed", put: ['"0"'] });
});

test("b205: nor by one that the server has put off before", async () => {
  expect(await changeCredential([429, 412, 200])).toEqual({ end: "precondition_failed", put: ['"0"', '"0"'] });
});

test("a credential whose answer stands behind a 503 is sent once more, under the tag that was read", async () => {
  expect(await changeCredential([503, 412, 200])).toEqual({ end: "changed", put: ['"0"', '"0"', '"2"'] });
});

describeOnEitherEngine("a team whose program writes it otherwise than the API answers", (store) => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi(store());
  });
  afterAll(() => api.close());

  test.each<[string, Values]>([
    ["a rate and no `burst` beside it", { rateLimit: { requestsPerMinute: 60 } }],
    [
      "members in another order than the server's",
      {
        members: [
          { role: "admin", subject: "zoe" },
          { role: "member", group: "readers" },
        ],
      },
    ],
    [
      "a member who is named twice",
      {
        members: [
          { role: "member", subject: "zoe", libraryRefs: [{ name: "notes" }] },
          { role: "member", subject: "zoe", libraryRefs: [{ name: "diary" }] },
        ],
      },
    ],
    ["namespaces in another order than the server's", { namespaces: ["team-b", "team-a"] }],
    ["a default that is written out", { leaks: { action: "Alert" } }],
    ["fields that say nothing", { leaks: {}, mcpAgentPolicy: {}, budgets: [], webhooks: [] }],
  ])("b460: is found unchanged, and changed by the next `up`, with %s", async (what, spec) => {
    const name = what.replaceAll(/\W+/g, "-");
    const resource = resourceAt(api.url, TOKEN, "PlatformTeam", name);
    const oldInputs = { name, ...spec };
    const { id, outputs: olds } = await createResource(resource, oldInputs, new Map());
    expect(await readResource(resource, id, olds, oldInputs)).toEqual(expect.objectContaining({ inputs: oldInputs }));
    const news = { ...oldInputs, displayName: "Changed" };
    expect(await endOf(updateResource(resource, id, { olds, oldInputs, news }, 0))).toBe("changed");
  });

  test("shows of what another client has changed nothing else, in the words of its program", async () => {
    const resource = resourceAt(api.url, TOKEN, "PlatformTeam", "drifted");
    const rest: Values = { rateLimit: { requestsPerMinute: 60 }, namespaces: ["team-d", "team-c"], leaks: {} };
    const inputs = { name: "drifted", displayName: "Ours", ...rest };
    const { id, outputs } = await createResource(resource, inputs, new Map());
    const found = await api.send("GET", `/teams/${id}`);
    const spec = { ...found.body.spec, displayName: "Theirs" };
    await api.send("PUT", `/teams/${id}`, { spec }, { "if-match": found.headers.get("etag") ?? "" });
    const now = { ...inputs, displayName: "Theirs" };
    expect(await readResource(resource, id, outputs, inputs)).toEqual(expect.objectContaining({ inputs: now }));
  });
});
