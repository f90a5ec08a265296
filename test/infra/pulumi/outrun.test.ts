/** What another client changes between the provider's reading of an object and its change of it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { openApi } from "../../../infra/pulumi/provider/api/api.ts";
import { updateResource } from "../../../infra/pulumi/provider/lifecycle.ts";
import { RESOURCES } from "../../../infra/pulumi/provider/resources.ts";

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
  const kind = RESOURCES.get("keyplane:index:ModelGateway");
  if (kind === undefined) return expect.fail();
  const resource = {
    ...{ api: openApi({ url, token: "t", tokenFile: undefined }), kind, urn: "urn:pulumi:a" },
    subject: { type: kind.type, noun: kind.noun, resource: "gateway", name: "gateway" },
  };
  const withCredential = (credential: string) => ({ name: "gateway", upstreams: [{ ...UPSTREAM, credential }] });
  const oldInputs = withCredential("sk-first");
  const update = { olds: oldInputs, oldInputs, news: withCredential("sk-second") };
  const end = await updateResource(resource, "gateway_1", update, 0).then(
    () => "changed",
    (error: { code?: string }) => error.code,
  );
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
