/** `keyplane server` as production starts it: what it listens on, what it says, and whom its bootstrap token lets in. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { checkBootstrapToken } from "../../cli/doctor/database-contents.ts";
import { mintKey } from "../../domain/key/secret/key-format.ts";
import type { Store } from "../../store/database/store.ts";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { ask } from "../server/management/api.ts";
import { type Issuer, makeSigner, startIssuer } from "../server/management/issuer.ts";
import { makeTeam, reserveKey, unique } from "../store/fixtures.ts";
import { keyplane } from "./up.ts";

const ENCRYPTION_KEY = randomBytes(32).toString("base64");
/** An address of this machine that is not 127.0.0.1: the network's, or on a Linux without one another of loopback's. */
const outside =
  Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === "IPv4" && !address.internal)?.address ?? "127.0.0.2";

describeOnPostgres("keyplane server", (store) => {
  let issuer: Issuer;
  let folder: string;
  /** One with a bootstrap token and no issuer. */
  let plain: Awaited<ReturnType<typeof startServer>> & ReturnType<typeof tokenFile>;
  beforeAll(async () => {
    issuer = await startIssuer();
    issuer.keys = [(await makeSigner("k")).jwk];
    folder = mkdtempSync(join(tmpdir(), "keyplane-server-"));
    const given = tokenFile("token");
    chmodSync(given.file, 0o644);
    plain = { ...given, ...(await startServer({}, ...given.flags, "--workers", "2")) };
  });
  afterAll(async () => {
    await plain?.stop();
    await issuer.close();
    rmSync(folder, { recursive: true });
  });

  async function serverEnv(): Promise<Record<string, string>> {
    return { KEYPLANE_DATABASE_URL: (await databaseUrl(store())).href, KEYPLANE_ENCRYPTION_KEY: ENCRYPTION_KEY };
  }
  async function startServer(env: Record<string, string> = {}, ...flags: string[]) {
    const args = ["server", "--port", "0", "--admin-port", "0", ...flags];
    const server = await startServing(args, { ...(await serverEnv()), ...env });
    const said = (text: string) => server.lines.some((line) => line.includes(text));
    return { ...server, said };
  }
  async function start(...args: Parameters<typeof startServer>) {
    const server = await startServer(...args);
    onTestFinished(async () => void (await server.stop()));
    return server;
  }
  function tokenFile(name: string, token = randomBytes(32).toString("base64")) {
    const file = join(folder, name);
    writeFileSync(file, `${token}\n`);
    return { file, token, flags: ["--bootstrap-token-file", file] };
  }
  const oidc = () => ["--oidc-issuer", issuer.url, "--oidc-audience", "keyplane"];
  const usesOf = async (db: Store["db"]) =>
    db.selectFrom("audit_events").select(["actor", "detail"]).where("kind", "=", "bootstrap_token.used").execute();

  test("listens on all addresses, says that MCP needs --public-url, and refuses placeholder keys, whatever NODE_ENV says", async () => {
    await makeTeam(store(), { name: "only" });
    const key = mintKey(randomBytes);
    const env = { KEYPLANE_HOST: "", NODE_ENV: "development", PLATFORM_API_KEYS: `${key}@only` };
    const server = await start(env);
    const { port } = new URL(server.url);
    expect((await fetch(`http://${outside}:${port}/atoms`)).status).toBe(401);
    expect((await fetch(`${server.url}/atoms`)).status).toBe(401);
    expect(server.said("until --public-url says where clients reach it")).toBe(true);
    expect(server.said("PLATFORM_API_KEYS is ignored in production")).toBe(true);
    expect((await fetch(`${server.url}/atoms`, { headers: { "x-api-key": key } })).status).toBe(401);
  });

  test("c62: given a host listens there alone, and another one on its port says at once that it is taken", async () => {
    expect(plain.said("--public-url")).toBe(false);
    const { port } = new URL(plain.url);
    await expect(fetch(`http://${outside}:${port}/atoms`)).rejects.toThrow("fetch failed");
    const args = ["server", "--host", "127.0.0.1", "--port", port, "--admin-port", "0", "--workers", "2"];
    const second = await keyplane(args, await serverEnv());
    expect([second.code, second.err]).toEqual([
      1,
      expect.stringMatching(`EADDRINUSE.*:${port}: choose another with --port`),
    ]);
  });

  test("with a bootstrap token and no issuer makes a team and its first keys, and nothing else", async () => {
    const { token, ...server } = plain;
    const asked = (...args: Parameters<typeof ask> extends [string, string, ...infer Rest] ? Rest : never) =>
      ask(server.url, token, ...args);
    const team = await asked("POST", "/teams", { name: unique("team"), spec: { members: [] } });
    expect(team.status).toBe(201);
    const made = await asked("POST", "/keys", { name: "first", team: team.body.id, spec: { preset: "MCPReadOnly" } });
    expect(made.status).toBe(201);
    await until("it works", async () => {
      const answer = await fetch(`${server.url}/atoms`, { headers: { "x-api-key": made.body.secret } });
      return answer.status === 200;
    });
    const refused = [
      await asked("POST", "/libraries", { name: "l", team: team.body.id, spec: { displayName: "L" } }),
      await asked("POST", `/keys/${made.body.id}/versions`, {}),
      await asked(
        "PUT",
        `/keys/${made.body.id}`,
        { spec: { preset: "MCPReadWrite" } },
        { "if-match": made.body.etag ?? "*" },
      ),
      await asked("DELETE", `/teams/${team.body.id}`),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [403, "forbidden"]));
    const uses = await usesOf(store().db);
    expect(uses.length).toBeGreaterThanOrEqual(6);
    expect(uses[0]).toMatchObject({
      actor: "bootstrap-token",
      detail: { address: "127.0.0.1", method: "POST", route: "/api/v1/teams" },
    });
    expect(server.lines.join("\n")).not.toContain(token.slice(0, 12));
  });

  test("with a bootstrap token beside an issuer lists, suspends and revokes in every team, and doctor says so", async () => {
    expect(await checkBootstrapToken(store())).toMatchObject([{ name: "bootstrap-token", severity: "ok" }]);
    const { flags, file, token } = tokenFile("other-token");
    const home = await makeTeam(store());
    const { key: declared } = await reserveKey(store(), home);
    const made = await ask(plain.url, plain.token, "POST", "/keys", {
      ...{ name: unique("key"), team: home.teamId, spec: { preset: "MCPReadOnly" } },
    });

    const server = await start({}, ...flags, ...oidc());
    expect(server.said("both an issuer and a bootstrap token are configured")).toBe(true);
    expect(await checkBootstrapToken(store())).toMatchObject([
      { severity: "note", message: expect.stringMatching(/^1 server takes a bootstrap token although an issuer/) },
    ]);
    const put = (spec: object) =>
      ask(server.url, token, "GET", `/keys/${made.body.id}`).then(({ headers }) =>
        ask(server.url, token, "PUT", `/keys/${made.body.id}`, { spec }, { "if-match": headers.get("etag") ?? "" }),
      );
    const team = await ask(server.url, token, "POST", "/teams", { name: unique("team"), spec: {} });
    const key = await ask(server.url, token, "POST", "/keys", {
      name: "k",
      team: home.teamId,
      spec: { preset: "MCPReadOnly" },
    });
    const wider = await put({ preset: "MCPReadWrite", state: "Suspended" });
    const suspended = await put({ preset: "MCPReadOnly", state: "Suspended" });
    const resumed = await put({ preset: "MCPReadOnly", state: "Active" });
    expect([team, key, wider, suspended, resumed].map(({ status }) => status)).toEqual([403, 403, 403, 200, 403]);
    expect(await fetch(`${server.url}/atoms`, { headers: { "x-api-key": made.body.secret } })).toMatchObject({
      status: 401,
    });

    const revoked = await keyplane(["revoke", declared.id, "--server", server.url, "--token-file", file]);
    expect([revoked.code, revoked.out]).toEqual([0, expect.stringMatching(/^revoked .*\nconfirmed: every replica/)]);
    const rotated = await keyplane(["rotate", made.body.id, "--server", server.url], { KEYPLANE_TOKEN: token });
    expect([rotated.code, rotated.err]).toEqual([1, expect.stringContaining("403 forbidden")]);
    await server.stop();
    expect(await checkBootstrapToken(store())).toMatchObject([{ name: "bootstrap-token", severity: "ok" }]);
  });

  test("follows the bootstrap token's file: another token, none, and one that a person typed, which it says once, of all its threads", async () => {
    const { file, token } = plain;
    const lines = (text: string) => plain.lines.filter((line) => line.includes(text));
    const statusOf = async (presented: string) => (await ask(plain.url, presented, "GET", "/keys")).status;
    /** Whether each of its threads answers so, as far as many calls at once show: what takes seconds is waited for by one. */
    const allAnswer = async (presented: string, status: number) =>
      (await statusOf(presented)) === status &&
      (await Promise.all(Array.from({ length: 12 }, () => statusOf(presented)))).every((answer) => answer === status);
    const allRefuse = (what: string, presented: string) => until(what, () => allAnswer(presented, 401));
    await until("all threads take it", () => allAnswer(token, 200));
    const next = randomBytes(32).toString("hex");
    writeFileSync(`${file}.next`, next);
    renameSync(`${file}.next`, file);
    await until("the new one is taken", () => allAnswer(next, 200));
    expect(await statusOf(token)).toBe(401);
    const typed = "password-password-password-password";
    writeFileSync(file, typed);
    await allRefuse("the new one is refused", next);
    expect(await statusOf(typed)).toBe(401);
    const refused = `no bootstrap token is accepted: ${file} holds no random token`;
    await until("that is said", () => lines(refused).length > 0);
    writeFileSync(file, token);
    await until("the first one is taken again", () => allAnswer(token, 200));
    await until("that is said", () => lines(`the bootstrap token in ${file} has changed`).length > 0);
    expect(lines(refused)).toHaveLength(1);
    expect(lines(`${file} can be read by everybody on this machine: chmod o-r '${file}', or defaultMode`)).toHaveLength(
      1,
    );
    rmSync(file);
    await allRefuse("the file that is gone lets no caller in", token);
  });

  test("does not start with a bootstrap token that can be guessed", async () => {
    const { flags } = tokenFile("guessed", "a".repeat(64));
    const { code, err } = await keyplane(["server", "--port", "0", "--admin-port", "0", ...flags], await serverEnv());
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/--bootstrap-token-file: .* holds no random token: make one/),
    ]);
    expect(err).not.toContain("aaa");
  });
});
