/** An object that the provider's token does not see is not one that is gone: what was made goes on working. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApi } from "../../../infra/pulumi/provider/api/api.ts";
import { diffResource } from "../../../infra/pulumi/provider/diff.ts";
import { failureOf } from "../../../infra/pulumi/provider/failure.ts";
import { createResource, deleteResource, updateResource } from "../../../infra/pulumi/provider/lifecycle.ts";
import { readResource } from "../../../infra/pulumi/provider/read-resource.ts";
import { RESOURCES, type ResourceKind } from "../../../infra/pulumi/provider/resources.ts";
import { revealAll, Secret, type Values } from "../../../infra/pulumi/provider/values.ts";
import { managementRoutes } from "../../../server/management/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { type Issuer, makeSigner, sign, startIssuer } from "../../server/management/issuer.ts";

let store: Store;
let issuer: Issuer;
let harness: Harness;
let token: (claims: Readonly<Record<string, unknown>>) => Promise<string>;
beforeAll(async () => {
  const signer = await makeSigner("first");
  [store, issuer] = await Promise.all([openMigrated(), startIssuer()]);
  issuer.keys = [signer.jwk];
  harness = await startHarness({
    mounts: [{ at: "/api/v1", routes: managementRoutes }],
    store,
    config: { oidc: { issuers: [issuer.url], audience: "keyplane", adminGroups: ["platform"] } },
  });
  token = (claims) => sign(issuer, signer, harness.clock.now(), { claims });
});
afterAll(async () => {
  await harness.close();
  issuer.close();
  await store.close();
});

const kindOf = (name: string): ResourceKind => RESOURCES.get(`keyplane:index:${name}`) ?? expect.fail(name);

const UPSTREAM = { name: "one", dialect: "openai", baseURL: "https://api.example.com", credential: "sk-one" };
const INPUTS: Readonly<Record<string, Values>> = {
  PlatformKey: { preset: "MCPReadOnly" },
  MemoryLibrary: { displayName: "Handbook" },
  ModelGateway: { upstreams: [UPSTREAM] },
};

/** An object of a team of its own whose one member is Bob, who has made it, and what others ask of it. */
async function made(kindName: string) {
  const team = `hidden-${kindName.toLowerCase()}`;
  const kind = kindOf(kindName);
  const inputs = { name: "one", team, ...INPUTS[kindName] };
  const [admin, bob, eve] = [
    await token({ groups: ["platform"] }),
    await token({ sub: "bob" }),
    await token({ sub: "eve" }),
  ];
  const resource = (token: string, url = harness.url) => {
    const subject = { type: kind.type, noun: kind.noun, resource: "one", name: "one" };
    return { api: openApi({ url, token, tokenFile: undefined }), kind, urn: "urn:pulumi:a", subject };
  };
  const { api } = resource(admin);
  await api.send("POST", "teams", { name: team, spec: { members: [{ subject: "bob", role: "admin" }] } });
  const { id, outputs } = await createResource(resource(bob), inputs, new Map());
  /** What a person reads, or that it is done. */
  const tell = (act: Promise<unknown>, { subject } = resource(bob)) =>
    act.then(
      (done) => (typeof done === "string" ? done : "done"),
      (error: unknown) => failureOf(error, subject, []).details,
    );
  return {
    isThere: async () => (await readResource(resource(bob), id, outputs, inputs)) !== "absent",
    bob,
    eve,
    admin,
    destroy: (token: string, url?: string) => tell(deleteResource(resource(token, url), id, outputs, new Set())),
    refresh: (token: string, url?: string) => tell(readResource(resource(token, url), id, outputs, inputs)),
    change(token: string, url?: string) {
      const news = { ...inputs, displayName: "Changed" };
      return tell(updateResource(resource(token, url), id, { olds: outputs, oldInputs: inputs, news }, Date.now()));
    },
  };
}

test.for(Object.keys(INPUTS))(
  "b350: a token that does not see a %s neither destroys it nor drops it from the state, nor calls it gone, and the error says so",
  async (kindName) => {
    const { isThere, destroy, refresh, change, bob, eve, admin } = await made(kindName);
    const elsewhere = `${harness.url}/keyplane`;
    for (const [token, url] of [[eve], [bob, elsewhere], [admin, elsewhere]] as const) {
      for (const act of [destroy, refresh, change]) expect(await act(token, url)).toMatch(HIDDEN);
    }
    expect(await isThere()).toBe(true);
    expect(await destroy(bob)).toBe("done");
    // Who sees its team sees that it is gone, or ended for ever.
    expect(await refresh(bob)).toMatch(/^(absent|revoked)$/);
    expect(await destroy(bob)).toBe("done");
  },
);

test.for(Object.keys(INPUTS))(
  "b351: a %s whose program names its team by its id, or by its name again, stays the same object",
  async (kindName) => {
    const kind = kindOf(kindName);
    const api = openApi({ url: harness.url, token: await token({ groups: ["platform"] }), tokenFile: undefined });
    const subject = { type: kind.type, noun: kind.noun, resource: "one", name: "one" };
    const resource = { api, kind, urn: "urn:pulumi:a", subject };
    const { body } = await api.send("POST", "teams", { name: `by-id-${kindName.toLowerCase()}`, spec: {} });
    const { id: team, name: teamName } = body as { id: string; name: string };
    const inputs = { name: "one", team, ...INPUTS[kindName] };
    const { id, outputs } = await createResource(resource, inputs, new Map());
    const read = await readResource(resource, id, outputs, inputs);
    if (typeof read === "string") return expect.fail(read);
    expect([outputs.team, read.outputs.team, read.inputs]).toEqual([team, team, inputs]);
    const other = await readResource(resource, id, outputs, {
      ...inputs,
      displayName: "Changed",
      team: new Secret(team),
    });
    expect(typeof other === "string" ? other : revealAll(other.inputs).team).toBe(team);
    // The name that a state may have of it, and the program's id, are one team.
    const update = { olds: revealAll(outputs), oldInputs: { ...inputs, team: "by-name" }, news: inputs };
    expect(diffResource(kind, update, 0).differences).toEqual([]);
    const back = { olds: revealAll(read.outputs), oldInputs: inputs, news: { ...inputs, team: teamName } };
    expect(diffResource(kind, back, 0).differences).toEqual([]);
    expect(diffResource(kind, { ...update, news: { ...inputs, team: "another" } }, 0).differences).toMatchObject([
      { path: "team", replaces: true },
    ]);
    // As for an import, or one that another program has made.
    const imported = await readResource(resource, id, {}, {});
    expect(typeof imported === "string" ? imported : imported.inputs.team).toBe(teamName);
  },
);

const HIDDEN = /: it is not to be seen with this token, and its team is not either: .*pulumi state delete/;

test.for([
  ["null", "null"],
  ["an empty object", "{}"],
  ["what a gateway says of itself", '{"message": "ok"}'],
  ["a list", "[]"],
])("b350: a deletion that is answered with %s is not taken for done", async ([, body]) => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const api = openApi({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: "t",
    tokenFile: undefined,
  });
  const kind = kindOf("PlatformKey");
  const subject = { type: kind.type, noun: kind.noun, resource: "one", name: "one" };
  const deletion = deleteResource({ api, kind, urn: "urn:pulumi:a", subject }, "key_1", {}, new Set());
  await expect(deletion).rejects.toThrow("see that keyplane:url is right");
  server.close();
});
