/** Two `keyplane server`, each a process of its own, on one PostgreSQL: what the console does on one holds on the other. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownCommand } from "../../cli/output/own-command.ts";
import { LEASE_MS } from "../../domain/protocol.ts";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { type Serving, startServing } from "../env/serving.ts";
import { until, untilNoLonger } from "../env/until.ts";
import { type Browser, ownPage, signIn } from "../server/auth/session/sign-in.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam, policyOf } from "../store/fixtures.ts";
import { keyplane } from "./up.ts";

const ISSUER = "https://issuer.invalid";

describeOnPostgres("The console of two servers", (store) => {
  let one: Serving;
  let other: Serving;
  const token = randomBytes(32).toString("base64");
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "keyplane-console-"));
    await writeFile(join(folder, "token"), token);
    const env = {
      KEYPLANE_DATABASE_URL: (await databaseUrl(store())).href,
      KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
      KEYPLANE_BOOTSTRAP_TOKEN_FILE: join(folder, "token"),
    };
    const flags = ["--port", "0", "--admin-port", "0", "--oidc-issuer", ISSUER, "--oidc-audience", "keyplane"];
    const start = () => startServing(["server", ...flags], env);
    // One after the other: the first writes down which encryption key the database has.
    one = await start();
    other = await start();
  });
  afterAll(async () => {
    await Promise.all([one, other].map((server) => server?.stop()));
    await rm(folder, { recursive: true });
  });

  const signInAnn = () => signIn(store(), { person: { issuer: ISSUER, subject: "ann", groups: [] } });
  const look = (server: Serving, { cookie }: Browser, path = "/keys") =>
    fetch(`${server.url}/dashboard${path}`, { headers: { cookie }, redirect: "manual" });
  const send = (server: Serving, browser: Browser, path: string, form: Readonly<Record<string, string>> = {}) =>
    fetch(`${server.url}/dashboard${path}`, {
      ...{ method: "POST", body: new URLSearchParams(form), redirect: "manual" },
      headers: ownPage(server, browser),
    });

  test("b66: ends a session on both with the next request, whichever of them was signed out of", async () => {
    const browser = await signInAnn();
    for (const server of [one, other]) expect((await look(server, browser)).status).toBe(200);
    expect((await send(one, browser, "/sign-out")).status).toBe(303);
    for (const server of [other, one]) {
      const { status, headers } = await look(server, browser);
      expect([status, headers.get("location")]).toEqual([303, expect.stringContaining("/dashboard/sign-in")]);
    }
  });

  test("b117: ends all sessions of a subject on both with the next request, by keyplane end-sessions", async () => {
    const [first, second] = [await signInAnn(), await signInAnn()];
    const bob = await signIn(store(), { person: { issuer: ISSUER, subject: "bob", groups: [] } });
    const end = (...more: string[]) =>
      keyplane(["end-sessions", "ann", "--server", one.url, ...more], { KEYPLANE_TOKEN: token });
    for (const browser of [first, second]) expect((await look(other, browser)).status).toBe(200);
    expect(await end("--reason", "a lost laptop")).toEqual({
      ...{ code: 0, err: "" },
      out: "ended 2 sessions of ann: every server refuses what comes by them\n",
    });
    for (const server of [one, other]) {
      for (const browser of [first, second]) expect((await look(server, browser)).status).toBe(303);
      expect((await look(server, bob)).status).toBe(200);
    }
    expect((await end()).out).toBe("ann has no session of the console: there was nothing to end\n");
    expect(JSON.parse((await end("-o", "json")).out)).toEqual({ subject: "ann", ended: 0 });
  });

  test("b117: names the keys that a revoked subject has made, by keyplane revoke-subject, and how each is ended", async () => {
    const home = await makeTeam(store(), { members: [{ role: "member", kind: "subject", value: "ann" }] });
    const answer = await fetch(`${one.url}/api/v1/keys`, {
      method: "POST",
      headers: { ...ownPage(one, await signInAnn()), "content-type": "application/json" },
      body: JSON.stringify({ name: "mine", team: home.name, spec: { preset: "MCPReadOnly" } }),
    });
    const { id, prefix } = JSON.parse(await answer.text());
    const args = ["revoke-subject", "ann", "--team", home.name, "--server", one.url];
    const { code, out, err } = await keyplane(args, { KEYPLANE_TOKEN: token });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(
      `works on, made by ann: mine (${prefix}...); to end it: ${ownCommand({})} revoke ${id} --server '${one.url}'\n`,
    );
  });

  test("b22: revokes a key on both within the lease, whichever of them was asked", async () => {
    const home = await makeTeam(store(), { members: [{ role: "admin", kind: "subject", value: "ann" }] });
    const key = await storeKey(store(), home, {
      policy: policyOf({ scopes: ["memory:read"] }),
      key: { name: "to-be-revoked" },
    });
    const browser = await signInAnn();
    const statusOn = async (server: Serving) =>
      (await fetch(`${server.url}/atoms`, { headers: { "x-api-key": key.plaintext } })).status;
    for (const server of [one, other]) await until("the key is known", async () => (await statusOn(server)) === 200);
    const askedAt = performance.now();
    expect((await send(one, browser, `/keys/${key.keyId}/revoke`, { confirm: "to-be-revoked" })).status).toBe(303);
    await Promise.all(
      [one, other].map(async (server) => {
        const refusedAt = await untilNoLonger("the key is accepted", async () => (await statusOn(server)) !== 401);
        expect(refusedAt - askedAt).toBeLessThan(LEASE_MS);
      }),
    );
    await until("the receipt is there, of both", async () =>
      (await (await look(other, browser, `/keys/${key.keyId}`)).text()).includes("Revoked everywhere"),
    );
  });
});
