import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { encryptionKeyFile } from "../../cli/data/data-folder.ts";
import { read } from "../architecture/sources.ts";
import { blocksIn } from "../env/blocks.ts";
import { copyEmbedded } from "../env/database/embedded-database.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { key, keyplane, makeHome, startUp, team, upArgs } from "./up.ts";

const home = makeHome();
/** DATA as it is when `up` has ended, for each test. */
const before = `${home.data}-before`;

const GATEWAY = `apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: models, namespace: dev }
spec:
  publicID: models
  upstreams:
    - { name: main, dialect: openai, baseURL: "https://provider.example.com", credentialRef: { name: provider, key: token } }
`;
const newKey = () => `${randomBytes(32).toString("base64")}\n`;

/** Starts `up` once, so that there is a key and a credential, and ends it. */
beforeAll(async () => {
  home.write("all.yaml", team("research", "dev") + key("reader") + GATEWAY);
  await copyEmbedded(join(home.data, "db"));
  mkdirSync(join(home.data, "secrets", "dev", "provider"), { recursive: true, mode: 0o700 });
  writeFileSync(join(home.data, "secrets", "dev", "provider", "token"), "sk-provider", { mode: 0o600 });
  const up = await startUp(home);
  await up.waitFor("dev", "reader", "Ready");
  await up.stop();
  await rename(home.data, before);
});
beforeEach(() => cpSync(before, home.data, { recursive: true }));
afterEach(() => rm(home.data, { recursive: true }));
afterAll(() => home.remove());

/** `up`, expected to refuse to start. */
const refused = (env: Record<string, string> = {}) => keyplane(upArgs(home), env);
const secret = () => readFileSync(join(home.data, "secrets", "dev", "reader", "api-key"), "utf8");

describe("c54: keyplane up whose encryption key", () => {
  test("is lost refuses to start, says what to do, makes no other; doctor knows it; once it is given up by its name, the next start goes on with a new one", async () => {
    const [file, before] = [encryptionKeyFile(home.data), secret()];
    rmSync(file);
    const { code, out, err } = await refused();
    expect(code).toBe(1);
    expect(out).not.toContain("ready");
    expect(err).toMatch(/^keyplane: this database's credentials are stored under the encryption key [0-9a-f]{16}.*\n$/);
    expect(err).toMatch(/no encryption key is given\. Give that key: put its file back/);
    expect(existsSync(file)).toBe(false);
    const doctor = await keyplane(["doctor", "--data", home.data]);
    expect(doctor.out).toMatch(
      /^error {2}encryption-key: \S+encryption-key is missing, and keyplane up does not start without it/m,
    );

    const [, command = ""] = /(keyplane forget-encryption-key [0-9a-f]{16})$/m.exec(err) ?? [];
    const forgotten = await keyplane([...command.split(" ").slice(1), "--data", home.data]);
    expect(forgotten.code).toBe(0);
    expect(forgotten.out).toMatch(/^forgotten; 1 credential is lost with it\n/);
    const up = await startUp(home);
    await up.waitFor("dev", "reader", "Ready");
    expect(secret()).toBe(before);
    await up.stop();
    expect((await keyplane(["forget-encryption-key", "0123456789abcdef", "--data", home.data])).code).toBe(1);
  });

  test("is another one refuses to start, whether it comes by the file or by the variable", async () => {
    const file = encryptionKeyFile(home.data);
    const other = newKey();
    const byVariable = await refused({ KEYPLANE_ENCRYPTION_KEY: other });
    writeFileSync(file, other, { mode: 0o600 });
    const byFile = await refused();
    for (const { code, err } of [byVariable, byFile]) {
      expect(code).toBe(1);
      expect(err).toMatch(/the encryption keys that are given are [0-9a-f]{16}\. Give that key/);
      expect(err).not.toContain(other.trim());
    }
  });

  test("is rotated by the page's steps keeps what it stored; doctor knows of a file that is lost or changed meanwhile", async () => {
    const file = encryptionKeyFile(home.data);
    const block = blocksIn(read("docs/operations/encryption-keys.md")).find(({ text }) => text.startsWith("mv DATA"));
    await promisify(execFile)("bash", ["-euc", (block?.text ?? "").replaceAll("DATA", home.data)]);
    const [next = "", old = ""] = readFileSync(file, "utf8").split("\n");
    expect([old, ""]).toEqual(readFileSync(`${file}.old`, "utf8").split("\n"));
    const rotating = await startUp(home);
    rmSync(file);
    const lost = await keyplane(["doctor", "--data", home.data]);
    expect(lost.out).toMatch(/^error {2}encryption-key: \S+encryption-key is missing/m);
    writeFileSync(file, newKey(), { mode: 0o600 });
    const changed = await keyplane(["doctor", "--data", home.data]);
    expect(changed.out).toMatch(
      /^error {2}encryption-key: \S+encryption-key holds other keys than keyplane up runs with/m,
    );
    await rotating.stop();
    writeFileSync(file, next, { mode: 0o600 });
    const up = await startUp(home);
    await up.waitFor("dev", "reader", "Ready");
    await up.stop();
  });
});

describe("c53: keyplane up, with the database kept,", () => {
  /** That it serves the key that it had. */
  async function expectToServe(before: string): Promise<string> {
    const up = await startUp(home);
    await up.waitFor("dev", "reader", "Ready");
    expect(secret()).toBe(before);
    expect(await up.call(before)).not.toBe(401);
    await up.stop();
    return up.output();
  }

  test.each(NIGHTLY ? ["gone", "empty"] : ["empty"])(
    "refuses to start where the cluster-id is another one, and where the objects' folder is %s, and ends no key; where the cluster-id is lost it takes that of the database, says so, and mints nothing",
    async (how) => {
      const [objects, file, before] = [join(home.data, "objects"), join(home.data, "cluster-id"), secret()];
      const id = readFileSync(file, "utf8");
      writeFileSync(file, "11111111-2222-4333-8444-555555555555\n");
      const another = await refused();
      expect(another.code).toBe(1);
      expect(another.err).toContain(
        `the database has keys of another: ${id.trim()} (1 living keys). Put the file back, or delete it`,
      );
      writeFileSync(file, id);

      renameSync(objects, `${objects}-away`);
      if (how === "empty") mkdirSync(objects);
      const { code, out, err } = await refused();
      expect(code).toBe(1);
      expect(out).not.toContain("ready");
      expect(err).toContain(`${objects} is empty, and the database has what was declared (1 living keys): put it back`);
      rmSync(objects, { recursive: true, force: true });
      renameSync(`${objects}-away`, objects);

      rmSync(file);
      const output = await expectToServe(before);
      expect(output).toMatch(/^\S+ warn {2}\S+cluster-id was missing: the id of the database is taken/m);
      expect(readFileSync(file, "utf8")).toBe(id);
    },
  );

  test("starts where the objects are lost for good, as it said how, and takes no Secret for that of a new key", async () => {
    const before = secret();
    rmSync(join(home.data, "objects"), { recursive: true });
    const [, folder = ""] = /make the folder (\S+):/.exec((await refused()).err) ?? [];
    mkdirSync(folder, { recursive: true });
    const up = await startUp(home);
    await up.waitFor("dev", "reader", "SecretConflict");
    expect(secret()).toBe(before);
    await up.stop();
  });
});
