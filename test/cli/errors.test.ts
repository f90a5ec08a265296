/** What each command says of what it cannot work with: one line that names the flag, what is wrong and what to do. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrate, SCHEMA_VERSION } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { freshDatabase } from "../env/database/engines.ts";
import { freePort } from "../env/free-port.ts";
import { keyplane } from "./up.ts";

const folder = mkdtempSync(join(tmpdir(), "keyplane-errors-"));
const PASSWORD = "hunter-two";
const KEY = `inf_${"A".repeat(57)}`;
const file = (name: string) => join(folder, name);
const unreachable = `postgres://me:${PASSWORD}@127.0.0.1:1/x`;
const files: Readonly<Record<string, string>> = {
  good: `${randomBytes(32).toString("base64")}\n`,
  short: "c2hvcnQ=\n",
  key: KEY,
  empty: "",
  "bad.yaml": "clusters: [\n  - token: very-secret\n",
  "none.yaml": "apiVersion: v1\nkind: Config\n",
  "x.pem": "not in PEM",
  url: `${unreachable}?sslrootcert=${file("open")}\n`,
};

type Case = readonly [args: readonly string[], code: 1 | 2, said: RegExp, env?: Readonly<Record<string, string>>];

/** A server and a controller that lack nothing but what a case has wrong. */
const server = (...args: string[]) => ["server", ...PORTS, "--database-url", unreachable, ...args];
const PORTS = ["--host", "127.0.0.1", "--port", "0", "--admin-port", "0"];
const KEYS = ["--encryption-key-file", file("good")];
const get = (...args: string[]) => ["get", "keys", ...args];

const CASES: Readonly<Record<string, Case>> = {
  "a misspelt command": [["upp"], 2, /^unknown command 'upp': did you mean up\?: see keyplane --help$/],
  "a subject that reads as a flag": [
    ["memory-erase-subject", "-x", "--library", "l"],
    2,
    /^unknown option '-x'; a <subject> that begins with - stands last, behind --: see keyplane memory-erase-subject --help$/,
  ],
  "a flag that get does not have": [
    ["get", "usage", "--month", "2026-11"],
    2,
    /^unknown option '--month': see keyplane get --help$/,
  ],
  "a subject behind --": [["memory-erase-subject", "--library", "l", "--", "-x"], 2, /^say which server: /],
  "b265: a word that other programs have for a command": [
    ["status"],
    2,
    /^unknown command 'status': did you mean get all, or doctor\?: see keyplane --help$/,
  ],
  "b265: a word that looks like another command, and does not mean it": [
    ["create"],
    2,
    /^unknown command 'create': did you mean init\?: see keyplane --help$/,
  ],
  "b265: a kind where a command belongs": [
    ["keys"],
    2,
    /^unknown command 'keys': did you mean get keys\?: see keyplane --help$/,
  ],
  "a command that is none, but a name of every object's": [
    ["constructor"],
    2,
    /^unknown command 'constructor': see keyplane --help$/,
  ],
  "a name that no Lease can have": [
    ["controller", "--database-url", unreachable, "--lease-name", "Team_A"],
    2,
    /^--lease-name: write lower-case letters, digits, "-" and "\." instead of "Team_A"$/,
  ],
  "what is a server's alone, and wrong, beside a controller": [
    ["controller", "--database-url", unreachable],
    2,
    /^give the encryption keys: --encryption-key-file FILE, or KEYPLANE_ENCRYPTION_KEY$/,
    { KEYPLANE_WORKERS: "many", KEYPLANE_TRUSTED_PROXIES: "loopback", KEYPLANE_LEASE: "1h", PLATFORM_API_KEYS: "key" },
  ],
  "a controller's variable": [
    ["controller", "--database-url", unreachable],
    2,
    /^KEYPLANE_LEADER_ELECT: must be true or false$/,
    { KEYPLANE_LEADER_ELECT: "yes", KEYPLANE_WORKERS: "many" },
  ],
  "a misspelt flag": [
    ["up", "--manifets", "x"],
    2,
    /^unknown option '--manifets': did you mean --manifests\?: see keyplane up --help$/,
  ],
  "a flag without its value": [
    ["up", "--port"],
    2,
    /^option '--port <port>' argument missing: see keyplane up --help$/,
  ],
  "a flag with none of its values": [
    ["doctor", "-o", "xml"],
    2,
    /^option '-o, --output .* Allowed choices are json, yaml: see keyplane doctor --help$/,
  ],
  "a missing argument": [["revoke"], 2, /^missing required argument 'key': see keyplane revoke --help$/],
  "a key where a command belongs": [[KEY], 2, /^unknown command 'inf_\.\.\.: see keyplane --help$/],
  "no flag at all": [["up"], 2, /^--manifests is needed, or the variable KEYPLANE_MANIFESTS$/],
  "a wrong number": [server("--port", "99999"), 2, /^--port: must be a port from 0 to 65535/],
  "an issuer with a password": [
    server("--oidc-audience", "k", "--oidc-issuer", `https://me:${PASSWORD}@login.example.com`),
    2,
    /^--oidc-issuer: must be https URLs .*; "https:\/\/\.\.\.@login\.example\.com" is none$/,
  ],
  "a wrong number in a variable": [
    ["server", "--database-url", unreachable],
    2,
    /^KEYPLANE_WORKERS: must be a number of threads/,
    { KEYPLANE_WORKERS: "x" },
  ],
  "a wrong duration": [
    ["migrate", "--database-url", unreachable, "--timeout", "soon"],
    2,
    /^--timeout: write a duration/,
  ],
  "a database that is none": [
    ["migrate", "--database-url", `nonsense:${PASSWORD}`],
    2,
    /^--database-url, or KEYPLANE_DATABASE_URL: must be a URL such as postgres:/,
  ],
  "a database that does not run": [
    ["migrate", "--database-url", unreachable],
    1,
    /^--database-url: the database does not answer: .*ECONNREFUSED.*: start PostgreSQL there/,
  ],
  "a database's host that is not known": [
    ["migrate", "--database-url", `postgres://me:${PASSWORD}@nowhere.invalid/x`],
    1,
    /^--database-url: .*: see the host's name in the URL/,
  ],
  "a server's URL with the path of its API": [
    get("--server", "https://keys.example.com/api/v1/"),
    2,
    /^--server: name the server alone, without \/api\/v1: such a path is put behind it$/,
  ],
  "a database's URL whose password has a character that is a URL's own": [
    ["migrate", "--database-url", `postgres://me:${PASSWORD}#1@127.0.0.1:1/x`],
    2,
    /^--database-url, .* with %23, %2F and %3F for #, \/ and \? in a password$/,
  ],
  "no encryption key": [server(), 2, /^give the encryption keys: --encryption-key-file FILE/],
  "an encryption key's file that is missing": [
    server("--encryption-key-file", file("nope")),
    2,
    /^--encryption-key-file \S+nope: there is no such file$/,
  ],
  "an encryption key's file that is a folder": [
    server("--encryption-key-file", folder),
    2,
    /^--encryption-key-file \S+: that is a folder: name a file$/,
  ],
  "an encryption key of the wrong length": [
    server("--encryption-key-file", file("short")),
    2,
    /^--encryption-key-file \S+short: encryption key, line 1: must be 32 bytes in base64/,
  ],
  "an encryption key's file that is empty": [
    server("--encryption-key-file", file("empty")),
    2,
    /^--encryption-key-file \S+empty: encryption key: none given/,
  ],
  "an encryption key of the wrong length in the variable": [
    server(),
    2,
    /^KEYPLANE_ENCRYPTION_KEY: encryption key, line 1: must be/,
    { KEYPLANE_ENCRYPTION_KEY: "c2hvcnQ=" },
  ],
  "a certificate without its key": [
    server(...KEYS, "--tls-cert", file("x.pem")),
    2,
    /^--tls-cert: must be given together with --tls-key$/,
  ],
  "a kubeconfig that is missing": [
    get("--kubeconfig", file("nope")),
    2,
    /^--kubeconfig: \S+nope: there is no such file$/,
  ],
  "a kubeconfig that is no YAML": [
    get("--kubeconfig", file("bad.yaml")),
    2,
    /^--kubeconfig: \S+bad\.yaml: it is no kubeconfig in YAML$/,
  ],
  "a kubeconfig that names no cluster": [
    get("--kubeconfig", file("none.yaml")),
    2,
    /^--kubeconfig: its current context names no server$/,
  ],
  "a server's URL that is none": [
    get("--server", `htp://me:${PASSWORD}@h`),
    2,
    /^--server: must be an http or https URL/,
  ],
  "a server's URL with a password": [
    get("--server", `https://me:${PASSWORD}@h`),
    2,
    /^--server: must be an http or https URL without a user/,
  ],
  "a server's URL with a query, as of an MCP client that has its key there": [
    get("--server", `http://127.0.0.1:1/mcp?key=${PASSWORD}`),
    2,
    /^--server: must be an http or https URL without/,
    { KEYPLANE_TOKEN: "t" },
  ],
  "a key in the middle of an argument, which is not sent": [
    ["revoke", `dev/${KEY}`, "--server", "http://127.0.0.1:1"],
    2,
    /^a key belongs on no command line/,
    { KEYPLANE_TOKEN: "t" },
  ],
  "a certificate without its key for doctor": [
    ["doctor", "--tls-cert", file("x.pem")],
    2,
    /^--tls-cert: give it together with --tls-key$/,
  ],
  "a token's file that is missing": [
    get("--server", "http://127.0.0.1:1", "--token-file", file("nope")),
    2,
    /^--token-file \S+nope: there is no such file$/,
  ],
  "a token's file that is empty": [
    get("--server", "http://127.0.0.1:1", "--token-file", file("empty")),
    2,
    /^--token-file \S+empty holds no token/,
  ],
  "a token's file that holds a key": [
    get("--server", "http://127.0.0.1:1", "--token-file", file("key")),
    2,
    /^--token-file \S+key holds an API key, which manages nothing/,
  ],
  "a folder that is no data folder": [
    get("--data", folder),
    2,
    /is no data folder of keyplane up: name it with --data/,
  ],
  ...Object.fromEntries(
    [
      server("--prices", file("open")),
      server("--database-ca-file", file("open")),
      server("--oidc-client-secret-file", `-,${file("open")}`),
      ["migrate", "--database-password-file", file("open")],
      ["migrate-api-version", "--kubeconfig", file("open")],
      get("--server", "http://127.0.0.1:1", "--token-file", file("open")),
      ["can-i", "memory:read", "--key-file", file("open")],
    ].map((args): [string, Case] => [
      `b327: a file of ${args.at(-2)} that every user can write`,
      [args, 2, /^--[a-z-]+ \S+open: every user of this machine can change it: name a copy of your own/],
    ]),
  ),
  ...Object.fromEntries(
    [
      `?sslrootcert=${file("open")}`,
      `?sslmode=verify-full&sslcert=${encodeURIComponent(file("open"))}`,
      `?sslkey=${file("open").replace("open", "%6Fpen")}&sslcert=${file("good")}`,
      `?sslrootcert=${file("open")}&sslrootcert=${file("good")}`,
    ].map((query): [string, Case] => [
      `b327: a file that every user can write in the database's URL: ${query.replaceAll(folder, "")}`,
      [
        ["migrate", "--database-url", `${unreachable}${query}`],
        2,
        /^--database-url \S+open: every user of this machine can change it: name a copy of your own/,
      ],
    ]),
  ),
  "b327: the same in the database's URL in a variable": [
    ["migrate"],
    2,
    /^--database-url \S+open: every user of this machine can change it/,
    { KEYPLANE_DATABASE_URL: `${unreachable}?sslrootcert=${file("open")}` },
  ],
  "b327: the same in the database's URL in a file": [
    ["migrate"],
    2,
    /^--database-url-file \S+open: every user of this machine can change it/,
    { KEYPLANE_DATABASE_URL_FILE: file("url") },
  ],
  "b327: the same in a variable": [
    server(),
    2,
    /^--bootstrap-token-file \S+open: every user of this machine can change it/,
    { KEYPLANE_BOOTSTRAP_TOKEN_FILE: file("open") },
  ],
  "b327: the same in the variable of Kubernetes' clients": [
    ["controller", "--database-url", unreachable, ...KEYS],
    2,
    /^--kubeconfig \S+open: every user of this machine can change it/,
    { KUBECONFIG: `${file("none.yaml")}:${file("open")}` },
  ],
  "manifests that are missing": [
    ["validate", "-f", file("nope")],
    2,
    /^--filename \S+nope: there is no such file or folder$/,
  ],
  "manifests to plan that are missing": [
    ["plan", "-f", file("nope")],
    2,
    /^--filename \S+nope: there is no such file or folder$/,
  ],
  "manifests to watch that are missing": [
    ["up", ...PORTS, "--manifests", file("nope"), "--data", file("data")],
    2,
    /^--manifests \S+nope: there is no such folder$/,
  ],
  "a data folder that is a file": [
    ["up", ...PORTS, "--manifests", folder, "--data", file("good")],
    1,
    /good.*: move it away, or choose another folder with --data$/,
  ],
};

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text);
  writeFileSync(file("open"), files.good ?? "");
  chmodSync(file("open"), 0o666);
  mkdirSync(file("manifests"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The one line that a command says of what is wrong, without its prefix; and its exit code. */
async function refusal(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, err, out } = await keyplane(args, env);
  const [line = "", ...more] = inWords(err).split("\n");
  expect([line.slice(0, 10), more]).toEqual(["keyplane: ", [""]]);
  for (const secret of [PASSWORD, KEY, "very-secret", "    at "]) expect(`${out}${err}`).not.toContain(secret);
  return { code, said: line.slice(10) };
}

/** What a command has said of errors. A server and a controller say it in JSON, as their log is. */
function inWords(err: string): string {
  return err.replaceAll(/^\{.*\}$/gm, (line) => `keyplane: ${JSON.parse(line).msg}`);
}

describe("an error of a command, in one line:", () => {
  test.each(Object.entries(CASES))("%s", async (_, [args, code, said, env]) => {
    expect(await refusal(args, env)).toEqual({ code, said: expect.stringMatching(said) });
  });

  test("a plan that was asked for with --detailed-exitcode=yes is no plan with changes", async () => {
    expect(await refusal(["plan", "-f", folder, "--detailed-exitcode=yes"])).toMatchObject({ code: 1 });
  });

  test("several flags at fault are a line each", async () => {
    const { code, err } = await keyplane(server("--port", "x", "--workers", "0"));
    expect([code, inWords(err)]).toEqual([
      2,
      expect.stringMatching(/^keyplane: --port: .*\nkeyplane: --workers: .*\n$/),
    ]);
  });

  test("a port in use", async (context) => {
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    context.onTestFinished(() => void other.close());
    const args = [...server(...KEYS), "--port", String(port)];
    expect(await refusal(args)).toEqual({
      ...{ code: 1, said: expect.stringMatching(/EADDRINUSE.*: choose another with --port or --admin-port$/) },
    });
  });

  test("a database of another schema, a wrong user and a controller's kubeconfig", async (context) => {
    const { url, drop } = await freshDatabase();
    context.onTestFinished(drop);
    const controller = ["controller", "--database-url", url, ...KEYS, "--admin-port", "0", "--kubeconfig"];
    const missing = await refusal([...controller, file("nope")]);
    expect(missing).toEqual({
      ...{ code: 1, said: expect.stringMatching(/^--database-url: .* version 0, .*: run keyplane migrate$/) },
    });
    const store = await openPostgres(url);
    await migrate(store);
    expect(await refusal([...controller, file("nope")])).toEqual({
      ...{ code: 2, said: expect.stringMatching(/^--kubeconfig: \S+nope: there is no such file$/) },
    });
    await sql`insert into schema_migrations (version, name) values (${SCHEMA_VERSION + 2}, 'later')`.execute(store.db);
    await store.close();
    const future = `--database-url: the database's schema is version ${SCHEMA_VERSION + 2}, `;
    for (const args of [
      ["migrate", "--database-url", url],
      [...controller, file("nope")],
    ]) {
      expect(await refusal(args)).toEqual({ code: 1, said: expect.stringContaining(future) });
    }
    const unknownUser = Object.assign(new URL(url), { username: "absent", password: PASSWORD });
    expect(await refusal(["migrate", "--database-url", unknownUser.href])).toEqual({
      ...{
        code: 1,
        said: expect.stringMatching(/^--database-url: .*"absent".*: give the URL (of a user|with the user)/),
      },
    });
    const nowhere = Object.assign(new URL(url), { pathname: "/nowhere" });
    expect(await refusal(["migrate", "--database-url", nowhere.href])).toEqual({
      ...{ code: 1, said: expect.stringMatching(/^--database-url: .*"nowhere" does not exist: create that database/) },
    });
  });
});
