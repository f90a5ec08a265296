/** What a gateway behind ours would take for the place to send a call to, with the credential that we add. */
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Harness } from "../harness.ts";
import { allDialects, PROVIDER_KEY, routeOf, startGateway } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let key: string;
let ids: readonly string[];

beforeAll(async () => {
  upstream = await startUpstream();
  harness = await startGateway();
  const plain = harness.addGateway(allDialects(upstream.url)).publicId;
  const routed = harness.addGateway({ ...allDialects(upstream.url), routes: [routeOf("fast")] }).publicId;
  ids = [plain, routed];
  key = harness.addKey();
});
beforeEach(() => {
  upstream.received.length = 0;
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

const post = (path: string, headers: Record<string, string> = {}, body = '{"model":"m"}') =>
  fetch(`${harness.url}/g/${path}`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
  });

test.each([
  "X-Portkey-Custom-Host",
  "x_portkey_custom_host",
  "X-Portkey-Config",
  "X-Portkey-Provider",
  "X-Portkey-Virtual-Key",
  "X-Portkey-Api-Key",
  "X-Portkey-Forward-Headers",
  "X-Portkey-Azure-Resource-Name",
  "X-Portkey-Azure-Foundry-Url",
  "X-Portkey-What-Comes-Next",
  "Helicone-Target-Url",
  "Helicone-OpenAI-Api-Base",
  "Helicone-Target-Provider",
  "Helicone-Fallbacks",
  "Helicone-Posthog-Host",
  "X-Gateway-Destination-Endpoint",
  "X-Envoy-Original-Dst-Host",
  "X-Amz-Target",
  "Destination",
  "X-BaseURL",
  "Base_Url",
  "OpenAI.Api.Base",
  "X-Target-URI",
  "X-Target-Url_",
  "_x--portkey_.config",
  "X-Upstream",
  "X-Backend",
  "X-Provider",
  "X-Pass-X-Portkey-Config",
  "X-Pass-X-Forwarded-Host",
])("b125: the header %s, by which a gateway behind ours sends a call elsewhere, stays here", async (name) => {
  for (const id of ids) {
    const answer = await post(`${id}/v1/chat/completions`, { [name]: "https://elsewhere.example", "x-trace": "1" });
    expect(answer.status).toBe(200);
    const { headers, rawHeaders } = upstream.received.at(-1) ?? { headers: {}, rawHeaders: [] };
    expect(headers).toMatchObject({ authorization: `Bearer ${PROVIDER_KEY}`, "x-trace": "1" });
    expect(rawHeaders).not.toContain("https://elsewhere.example");
  }
});

test("b125: a header that says what a call is, of a gateway behind ours or of an SDK, passes as it is", async () => {
  const sent = {
    "x-portkey-trace-id": "t",
    "x-portkey-metadata": "{}",
    "x-portkey-cache-force-refresh": "true",
    "helicone-auth": "Bearer h",
    "helicone-user-id": "u",
    "helicone-property-app": "p",
    "x-litellm-tags": "a",
    "x-pass-anthropic-beta": "b",
    "anthropic-beta": "b",
    "http-referer": "https://app.example",
    "x-title": "x",
    "x-stainless-runtime": "node",
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  };
  for (const id of ids) {
    expect((await post(`${id}/v1/chat/completions`, sent)).status).toBe(200);
    expect(upstream.received.at(-1)?.headers).toMatchObject(sent);
  }
});

test.each([
  "OpenAI-Organization",
  "openai_project",
  "OpenAI-Project",
  "X-Goog-User-Project",
  "X-HF-Bill-To",
  "CF-AIG-BYOK-Alias",
  "X-LiteLLM-Api-Key",
  "x_litellm_api_key",
  "X-Pass-OpenAI-Organization",
  "x_pass_X-Goog-User-Project",
])("b125: the header %s, by which a client chooses the account that pays, stays here", async (name) => {
  for (const id of ids) {
    expect((await post(`${id}/v1/chat/completions`, { [name]: "of-the-client" })).status).toBe(200);
    expect(upstream.received.at(-1)?.rawHeaders).not.toContain("of-the-client");
  }
});

test.each([
  "Anthropic-Workspace-Id",
  "anthropic_workspace_id",
  "Anthropic-User-Profile-Id",
  "X-Pass-Anthropic-User-Profile-Id",
])("b452: the header %s, by which a client chooses whom Anthropic bills, stays here", async (name) => {
  for (const id of ids) {
    expect((await post(`${id}/v1/messages`, { [name]: "of-the-client" })).status).toBe(200);
    expect(upstream.received.at(-1)?.rawHeaders).not.toContain("of-the-client");
  }
});

test.each([
  ["messages", { user_profile_id: "uprof_1" }],
  ["messages", { extra_body: { "User-Profile-Id": "uprof_1" } }],
  ["messages/batches", { requests: [{ custom_id: "1", params: { model: "m", user_profile_id: "uprof_1" } }] }],
])(
  "b452: who posts to v1/%s a user profile for Anthropic to bill gets 404, and nothing is sent: %j",
  async (path, body) => {
    const { publicId } = harness.addGateway({ ...allDialects(upstream.url), operations: ["generate", "batches"] });
    const answer = await post(`${publicId}/v1/${path}`, {}, JSON.stringify({ model: "m", ...body }));
    expect([answer.status, upstream.received.length]).toEqual([404, 0]);
  },
);

test.each([
  "access_token",
  "oauth_token",
  "bearer_token",
  "$key",
  "%24key",
  "Access%5Ftoken",
  "$userProject",
  "userProject",
])(
  "b125: the parameter %s, by which a client has Google take another credential or account, stays here",
  async (name) => {
    for (const id of ids) {
      expect((await post(`${id}/v1beta/models/m:generateContent?alt=json&${name}=of-the-client`)).status).toBe(200);
      expect(upstream.received.at(-1)?.url).toMatch(/:generateContent\?alt=json$/);
    }
  },
);

test.each([
  "x-portkey-config",
  "x_portkey_custom_host",
  "api_base",
  "base%5Furl",
  "Helicone-Target-URL",
  "custom-host",
])("b125: the parameter %s, by which a gateway behind ours could send a call elsewhere, stays here", async (name) => {
  for (const id of ids) {
    expect((await post(`${id}/v1/chat/completions?alt=sse&${name}=x&order=1`)).status).toBe(200);
    expect(upstream.received.at(-1)?.url).toBe("/v1/chat/completions?alt=sse&order=1");
  }
});

test("b125: what follows a body as a trailer goes nowhere", async () => {
  for (const id of ids) {
    const status = await new Promise((resolve, reject) => {
      const call = httpRequest(`${harness.url}/g/${id}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          trailer: "x-portkey-custom-host",
        },
      });
      call.on("response", ({ statusCode }) => resolve(statusCode)).on("error", reject);
      call.write('{"model":"m"}');
      call.addTrailers({ "x-portkey-custom-host": "https://elsewhere.example" });
      call.end();
    });
    expect(status).toBe(200);
    expect(JSON.stringify(upstream.received.at(-1)?.rawHeaders)).not.toContain("custom-host");
  }
});
