/** The image, without a container engine: its root file system, run as a restricted pod runs it. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { ROOT } from "../architecture/sources.ts";
import { firstProcessOf, killContainer, runContained } from "../env/contained.ts";
import { makeDatabaseFolder } from "../env/database/database-folder.ts";
import { freshDatabase } from "../env/database/engines.ts";
import { askDesk } from "../env/desk.ts";
import { findImageRoot } from "../env/image-root.ts";
import { itByNight } from "../env/night-test.ts";
import { NIGHTLY } from "../env/nightly.ts";
import type { PackageOfRun } from "../env/package-of-run.ts";
import { readyUrl } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam } from "../store/fixtures.ts";

const MIB = 2 ** 20;
/** What distroless has beside Node.js and the libraries that are counted here: OpenSSL, time zones, certificates. */
const REST_OF_BASE = { unpacked: 20 * MIB, compressed: 10 * MIB };

const folder = mkdtempSync(join(tmpdir(), "keyplane-image-"));
let root: string;
beforeAll(async () => {
  // By day of the package that is packed anyway: image.test.ts checks that the image's build has all that this takes.
  root = await findImageRoot(
    folder,
    NIGHTLY ? undefined : async () => (await askDesk<PackageOfRun>(inject("packagePort"))).tarball,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the image", () => {
  const files = () => readdirSync(root, { encoding: "utf8", recursive: true });

  test("takes at most 300 MiB", async (context) => {
    const sizes = files()
      .map((file) => statSync(join(root, file)))
      .filter((entry) => entry.isFile());
    const unpacked = sizes.reduce((sum, { size }) => sum + size, REST_OF_BASE.unpacked);
    await context.annotate(`${Math.round(unpacked / MIB)} MiB`);
    expect(unpacked).toBeLessThan(300 * MIB);
  });

  itByNight("takes at most 120 MiB compressed", async (context) => {
    const tar = execFile("sh", ["-c", "tar --create . | gzip | wc --bytes"], { cwd: root });
    const compressed = Number(await text(tar.stdout ?? Readable.from([]))) + REST_OF_BASE.compressed;
    await context.annotate(`${Math.round(compressed / MIB)} MiB compressed`);
    expect(compressed).toBeLessThan(120 * MIB);
  });

  test("has the packages that Keyplane runs on, with their licenses, and nothing of its development", () => {
    const all = files();
    const names = new Set(all);
    const has = (name: string) => names.has(join("keyplane/node_modules", name, "package.json"));
    expect(Object.keys(packageJson.dependencies).filter((name) => !has(name))).toEqual([]);
    expect(Object.keys(packageJson.devDependencies).filter((name) => has(name) && name !== "@types/node")).toEqual([]);
    for (const license of ["keyplane/LICENSE", "keyplane/node_modules/pg/LICENSE"]) expect(names).toContain(license);
    expect(all.filter((file) => /\.(d\.ts|map)$|\/(test|docs)\/[^/]*\.ts$/.test(file))).toEqual([]);
  });
});

describe("a container of the image", () => {
  let env: Record<string, string>;
  let store: Store;
  let key: string;
  /** The first test looks at it, and the last one ends it. */
  let server: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    const database = await freshDatabase();
    env = { KEYPLANE_DATABASE_URL: database.url, KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64") };
    const migrating = runContained(root, ["migrate"], env);
    expect(await once(migrating, "exit")).toEqual([0, null]);
    store = await openPostgres(database.url);
    ({ plaintext: key } = await storeKey(store, await makeTeam(store)));
    server = await serve(["server"]);
    return async () => {
      await server.kill();
      await store.close();
      await database.drop();
    };
  });

  /** A container that serves: its first process as this machine sees it, and where. */
  async function serve(command: readonly string[], volume?: string) {
    const args = [...command, "--host", "127.0.0.1", "--port", "0", "--admin-port", "0"];
    const container = runContained(root, args, command[0] === "server" ? env : {}, volume);
    const ended = once(container, "exit").then(([code]) => code);
    let output = "";
    for (const stream of [container.stdout, container.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
    const kill = async () => {
      killContainer(container);
      await ended;
    };
    const url = await until("it serves", () => {
      if (container.exitCode !== null) throw new Error(output);
      return output
        .split("\n")
        .map(readyUrl)
        .find((found) => found !== undefined);
    });
    return { pid: firstProcessOf(container), url, ended, kill, output: () => output };
  }

  test("has one unprivileged process on a read-only root", async () => {
    const { pid, url } = server;
    expect((await fetch(`${url}/atoms`, { headers: { "x-api-key": key } })).status).toBe(200);
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const lineOf = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1]?.split("\t");
    expect(lineOf("NSpid")).toEqual([String(pid), "1"]);
    expect([lineOf("Uid"), lineOf("Gid")]).toEqual([Array(4).fill("65532"), Array(4).fill("65532")]);
    expect([lineOf("CapEff"), lineOf("CapPrm"), lineOf("NoNewPrivs")]).toEqual([
      ["0".repeat(16)],
      ["0".repeat(16)],
      ["1"],
    ]);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    expect(children).toBe("");
    const mounts = readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n");
    expect(mounts.filter((line) => line.includes(` ${root} `)).map((line) => line.split(" ")[5])).toEqual([
      expect.stringMatching(/^ro,/),
    ]);
  });

  test("with a volume runs keyplane up, which writes there and nowhere else", async (context) => {
    const volume = makeDatabaseFolder("keyplane-volume-");
    context.onTestFinished(() => rmSync(volume, { recursive: true }));
    chownSync(volume, 65_532, 65_532);
    cpSync(join(ROOT, "examples/quickstart/manifests"), join(volume, "manifests"), { recursive: true });
    const args = ["up", "--manifests", "/data/manifests", "--data", "/data/store"];
    const { url, kill } = await serve(args, volume);
    context.onTestFinished(kill);
    await until("a key works", async () => {
      const made = readFileSync(join(volume, "store/secrets/research/docs-agent/api-key"), "utf8");
      return (await fetch(`${url}/atoms`, { headers: { "x-api-key": made } })).status === 200;
    });
  });

  test("c61: on SIGTERM answers what is under way, takes nothing new, and ends with exit code 0", async () => {
    const { pid, url, ended, output } = server;
    const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: client });
    const headers = {
      "x-api-key": key,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": body.length,
      expect: "100-continue",
    };
    const asking = request(`${url}/api/v1/memory/mcp`, { method: "POST", headers });
    asking.flushHeaders();
    const answered = once(asking, "response");
    await Promise.race([once(asking, "continue"), answered.then(([{ statusCode }]) => expect.fail(`${statusCode}`))]);
    process.kill(pid, "SIGTERM");
    await until("it takes nothing new", () =>
      fetch(url).then(
        () => false,
        () => true,
      ),
    );
    asking.end(body);
    const [answer] = await answered;
    expect([answer.statusCode, await text(answer)]).toEqual([200, expect.stringContaining('"serverInfo"')]);
    expect(await ended).toBe(0);
    expect(output()).toMatch(/"msg":"stopped"}$/m);
  });
});
