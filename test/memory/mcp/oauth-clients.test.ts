import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { products } from "../../../processes/products.ts";
import type { Store } from "../../../store/database/store.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { openMemoryStore } from "../memory-store.ts";
import { CALLBACK, startAuthorizationServer } from "./authorization-server.ts";

const PUBLIC = "https://keys.example.com";
const ENDPOINT = new URL(`${PUBLIC}/api/v1/memory/mcp`);
const IDENTITY = { name: "a-client", version: "1.0.0" };
const BOTH = "memory:read memory:write";
const SAVE = { name: "memory_save_atom", arguments: { content: "Signed in by OAuth.", library: "a-dev/handbook" } };

let store: Store;
let issuer: Awaited<ReturnType<typeof startAuthorizationServer>>;
let server: Harness;
beforeAll(async () => {
  store = await openMemoryStore();
  issuer = await startAuthorizationServer();
  const oidc = { issuers: [issuer.url], audience: "keyplane", adminGroups: [] };
  server = await startHarness({ mounts: products(), store, config: { publicUrl: new URL(PUBLIC), oidc } });
  // What the provider signs is by this machine's clock.
  server.clock.set(Date.now());
  await sql`insert into team_members (team_id, role, kind, value)
    values ('team-a', 'member', 'subject', 'ann')`.execute(store.db);
  const members = [{ role: "member", name: "subject ann", libraryIds: null }];
  server.index.applyTeam({
    teamId: "team-a",
    name: "team-a",
    cluster: "c",
    defaultLibraryId: "lib-handbook",
    allowedCIDRs: null,
    limits: null,
    members,
    revoked: [],
  });
});
afterAll(async () => {
  await server.close();
  issuer.close();
  await store.close();
});

/** Reaches the server as through a proxy that ends the TLS. */
const throughProxy = (url: string | URL, init?: RequestInit) => fetch(String(url).replace(PUBLIC, server.url), init);

/** What an application gives its MCP library: where it keeps what it learns, and how it shows a person a page. */
function application() {
  let client: { client_id: string } | undefined;
  let tokens: { access_token: string; token_type: string } | undefined;
  let verifier = "";
  const asked: URL[] = [];
  return {
    asked,
    redirectUrl: CALLBACK,
    clientMetadata: {
      ...{ redirect_uris: [CALLBACK], token_endpoint_auth_method: "none", client_name: "A client" },
      ...{ grant_types: ["authorization_code"], response_types: ["code"] },
    },
    clientInformation: () => client,
    saveClientInformation: (information: { client_id: string }) => {
      client = information;
    },
    tokens: () => tokens,
    saveTokens: (given: { access_token: string; token_type: string }) => {
      tokens = given;
    },
    redirectToAuthorization: (url: URL) => {
      asked.push(url);
    },
    saveCodeVerifier: (text: string) => {
      verifier = text;
    },
    codeVerifier: () => verifier,
  };
}

type Application = ReturnType<typeof application>;
type Connected = { call(): Promise<unknown>; finish(back: URLSearchParams): Promise<void> };

function connectLegacy(authProvider: Application, endpoint = ENDPOINT): Connected {
  const client = new LegacyClient(IDENTITY);
  const transport = new LegacyTransport(endpoint, { authProvider, fetch: throughProxy });
  return {
    call: () => client.connect(transport).then(() => client.callTool(SAVE)),
    finish: (back) => transport.finishAuth(back.get("code") ?? ""),
  };
}

function connectModern(authProvider: Application, endpoint = ENDPOINT): Connected {
  const client = new ModernClient(IDENTITY);
  const transport = new ModernTransport(endpoint, { authProvider, fetch: throughProxy });
  return {
    call: () => client.connect(transport).then(() => client.callTool(SAVE)),
    finish: (back) => transport.finishAuth(back),
  };
}

describe.each([
  ["sdk 1.x", connectLegacy],
  ["client 2.x", connectModern],
])("an unmodified MCP client: %s", (_name, connect) => {
  test.each([
    ["", ENDPOINT],
    [", also where its address names a team", new URL("?team=team-a", ENDPOINT)],
  ])("goes from a bare 401 to a call of a tool by its own sign-in%s", async (_where, endpoint) => {
    const provider = application();
    const first = connect(provider, endpoint);
    await expect(first.call()).rejects.toThrow("Unauthorized");
    const [authorization = ENDPOINT] = provider.asked;
    expect(Object.fromEntries(authorization.searchParams)).toMatchObject({
      ...{ resource: ENDPOINT.href, scope: BOTH, code_challenge_method: "S256" },
    });
    await first.finish(await issuer.signIn(authorization, "ann"));
    expect(JSON.stringify(await connect(provider, endpoint).call())).toContain("a-dev/handbook");
    expect(provider.asked).toHaveLength(1);
  });

  test("asks for what its token was not asked for, when a tool takes it", async () => {
    const provider = application();
    const first = connect(provider);
    await expect(first.call()).rejects.toThrow("Unauthorized");
    const [narrowed = ENDPOINT] = provider.asked;
    narrowed.searchParams.set("scope", "memory:read");
    await first.finish(await issuer.signIn(narrowed, "ann"));
    const second = connect(provider);
    await expect(second.call()).rejects.toThrow("Unauthorized");
    const [, widened = ENDPOINT] = provider.asked;
    expect(widened.searchParams.get("scope")).toBe(BOTH);
    await second.finish(await issuer.signIn(widened, "ann"));
    expect(JSON.stringify(await connect(provider).call())).toContain("a-dev/handbook");
    expect(provider.asked).toHaveLength(2);
  });
});
