/** Replacing what runs, process by process, under load: by the next version and back, as docs/operations/upgrading.md says. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { freshDatabase } from "../env/database/engines.ts";
import { takeOutPrevious, thisVersion, type Version } from "../env/database/previous-version.ts";
import { inNamespace } from "../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../env/kubernetes/lent.ts";
import { LIBRARY, teamManifest } from "../env/kubernetes/manifests.ts";
import { type Serving, startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { startCallers, startRevocations } from "./upgrade-traffic.ts";

const SERVERS = 3;
/** From leaving the endpoints to SIGTERM: what a preStop hook waits. Milliseconds. */
const PRE_STOP_MS = 200;
/** How long each state of the world is looked at. Milliseconds. */
const STAYS_MS = 1_500;

const MANIFESTS = `${teamManifest("research", "default")}${LIBRARY}
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: agent }
spec: { preset: MCPReadWrite, rotation: { overlap: { mode: Fixed, duration: 1h }, trigger: "0" } }
`;

let kubernetes: LentKubernetes;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let older: Version;

beforeAll(async () => {
  older = await takeOutPrevious();
  [kubernetes, database] = await Promise.all([lendKubernetes(), freshDatabase()]);
});

afterAll(async () => {
  await database?.drop();
  await kubernetes?.close();
  await older?.remove();
});

it("c42: every process is replaced by the next version, and back: no call fails, and no key is let in after its receipt", async () => {
  const world = await startInstallation(older);
  await kubernetes.kubectl(["apply", "--server-side", "--namespace", "default", "--filename", "-"], MANIFESTS);
  const declared = inNamespace(kubernetes, "default");
  await declared.ready("agent");
  const callers = startCallers(world, await secretOf("agent"));
  const revocations = startRevocations(world, world.token, await world.makeTeam("probes"));
  let rotations = 0;
  for (const to of [thisVersion, older]) {
    await delay(STAYS_MS);
    if (to === thisVersion) await world.migrate(to);
    await world.applyDefinitions(to);
    await world.replaceController(to);
    await rotate();
    for (let n = 0; n < SERVERS; n++) await world.replaceServer(to);
    await rotate();
    await delay(STAYS_MS);
  }
  await Promise.all([callers.stop(), revocations.stop()]);
  expect([...callers.wrong, ...revocations.wrong], world.errors()).toEqual([]);
  expect(callers.good).toBeGreaterThan(100);
  expect(revocations.good).toBeGreaterThan(4);

  /** Works as ever: a new version comes into use everywhere, and the old one works on. */
  async function rotate(): Promise<void> {
    const before = await secretOf("agent");
    await declared.changeKey("agent", { rotation: { trigger: `${++rotations}` } });
    await until("another version is in the Secret", async () => (await secretOf("agent")) !== before);
    const now = await secretOf("agent");
    for (const url of world.urls) {
      for (const key of [before, now]) {
        const answer = await fetch(`${url}/atoms`, { headers: { authorization: `Bearer ${key}` } });
        expect(answer.status).toBe(200);
      }
    }
  }
});

async function secretOf(name: string): Promise<string> {
  const { status, body } = await kubernetes.request("GET", `/api/v1/namespaces/default/secrets/${name}`);
  expect(status).toBe(200);
  return Buffer.from((body as { data: Record<string, string> }).data["api-key"] ?? "", "base64").toString();
}

/** Three servers, two controllers and what an operator does to them. */
async function startInstallation(version: Version) {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-upgrade-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const token = randomBytes(32).toString("base64url");
  const tokenFile = join(folder, "bootstrap-token");
  await writeFile(tokenFile, token, { mode: 0o600 });
  const env = {
    KEYPLANE_DATABASE_URL: database.url,
    KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    KEYPLANE_BOOTSTRAP_TOKEN_FILE: tokenFile,
  };
  const running = new Set<Serving>();
  const started: Serving[] = [];
  onTestFinished(async () => {
    for (const { child } of running) child.kill("SIGKILL");
  });

  async function start({ root }: Version, ...args: string[]): Promise<Serving> {
    const serving = await startServing([...args, "--admin-port", "0"], env, [], join(root, "cli/main.ts"));
    running.add(serving);
    started.push(serving);
    return serving;
  }
  async function stop(serving: Serving): Promise<void> {
    expect(await serving.stop()).toBe(0);
    running.delete(serving);
  }
  const startServer = (of: Version) => start(of, "server", "--port", "0");
  const startController = (of: Version) => start(of, "controller", "--kubeconfig", kubernetes.kubeconfigPath);
  const migrate = async ({ root }: Version) => {
    await promisify(execFile)(process.execPath, [join(root, "cli/main.ts"), "migrate"], {
      env: { ...process.env, ...env },
    });
  };
  const applyDefinitions = async ({ root }: Version) => {
    await kubernetes.kubectl(["apply", "--server-side", "--filename", join(root, "crds")]);
  };

  await migrate(version);
  await applyDefinitions(version);
  const isServed = async () => (await kubernetes.request("GET", "/apis/keyplane.dev/v1alpha1")).status === 200;
  await until("the kinds are served", isServed);
  const controllers = [await startController(version), await startController(version)];
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => startServer(version)));
  const endpoints = { urls: servers.map(({ url }) => url) };
  return {
    token,
    get urls() {
      return endpoints.urls;
    },
    migrate,
    applyDefinitions,
    /** Errors that any of the processes has logged, a line each. */
    errors: () => started.flatMap(({ lines }) => lines.filter((line) => line.includes('"level":50'))).join("\n"),
    async makeTeam(name: string): Promise<string> {
      const answer = await fetch(`${endpoints.urls[0]}/api/v1/teams`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ name, spec: {} }),
      });
      expect(answer.status).toBe(201);
      return ((await answer.json()) as { id: string }).id;
    },
    /** One after the other: the new ones are there before the old ones go. */
    async replaceController(to: Version): Promise<void> {
      for (const old of controllers.splice(0)) {
        controllers.push(await startController(to));
        await stop(old);
      }
    },
    async replaceServer(to: Version): Promise<void> {
      const next = await startServer(to);
      servers.push(next);
      endpoints.urls = [...endpoints.urls, next.url];
      const old = servers.shift();
      if (old === undefined) throw new Error("there is no server to replace");
      endpoints.urls = endpoints.urls.filter((url) => url !== old.url);
      await delay(PRE_STOP_MS);
      await stop(old);
    },
  };
}
