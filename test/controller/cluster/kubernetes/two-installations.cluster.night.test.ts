/** Two installations in one cluster: each has a database of its own, and serves a namespace of its own. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../../../../cli/doctor/finding.ts";
import { keyplane } from "../../../cli/up.ts";
import { type Controller, startController } from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { API, inNamespace } from "../../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { keyManifest, LIBRARY, teamManifest } from "../../../env/kubernetes/manifests.ts";
import { until } from "../../../env/until.ts";

/** Longer than the time between two resyncs. */
const INTERVAL_MS = 30_000;
/** Each by the namespaces that it claims: of the one installation, of the other, of both, of neither, none. */
const TEAMS = { "of-a": "a", "of-b": "b", "of-both": "shared-a, shared-b", "of-neither": "c", without: "" };
type TeamName = keyof typeof TEAMS;

type Team = {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly controllerName?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};
type AuditEvent = { readonly verb: string; readonly userAgent?: string; readonly objectRef?: { resource?: string } };

describe("two installations in one cluster", () => {
  let kubernetes: LentKubernetes;
  const databases: Awaited<ReturnType<typeof migratedDatabase>>[] = [];
  const running: Controller[] = [];

  /** A controller with a database of its own. */
  async function install(namespaces: string): Promise<{ process: Controller; databaseUrl: string }> {
    const database = await migratedDatabase();
    databases.push(database);
    const process = await startController({
      kubeconfig: kubernetes.kubeconfigPath,
      databaseUrl: database.url,
      encryptionKey: randomBytes(32).toString("base64"),
      flags: ["--namespaces", namespaces],
    });
    running.push(process);
    await until("it leads", () => process.lines.some((line) => line.includes("leads")));
    return { process, databaseUrl: database.url };
  }

  const team = async (name: TeamName) => (await kubernetes.request("GET", `${API}/platformteams/${name}`)).body as Team;
  const writers = async () => {
    const names = Object.keys(TEAMS) as TeamName[];
    const entries = names.map(async (name) => [name, (await team(name)).status?.controllerName]);
    return Object.fromEntries(await Promise.all(entries)) as Record<TeamName, string | undefined>;
  };
  const untilReady = (name: TeamName) =>
    until(`${name} is ready as it is now`, async () => {
      const { metadata, status } = await team(name);
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return ready?.status === "True" && status?.observedGeneration === metadata.generation;
    });

  /** How often controllers have written anything but their Leases. */
  async function writes(): Promise<number> {
    const lines = (await readFile(kubernetes.auditLog ?? "", "utf8")).split("\n").filter((line) => line !== "");
    return lines
      .map((line): AuditEvent => JSON.parse(line))
      .filter(({ userAgent }) => userAgent === "keyplane-controller")
      .filter(({ verb }) => ["create", "update", "patch", "delete"].includes(verb))
      .filter(({ objectRef }) => !["leases", "selfsubjectreviews"].includes(objectRef?.resource ?? "")).length;
  }

  let ofA: Awaited<ReturnType<typeof install>>;
  let ofB: Awaited<ReturnType<typeof install>>;

  beforeAll(async () => {
    kubernetes = await lendKubernetes();
    for (const name of ["a", "b", "c", "shared-a", "shared-b"]) {
      await kubernetes.request("POST", "/api/v1/namespaces", { body: JSON.stringify({ metadata: { name } }) });
    }
    [ofA, ofB] = await Promise.all([install("a,shared-a"), install("b,shared-b")]);
    const teams = Object.entries(TEAMS).map(([name, namespaces]) => teamManifest(name, namespaces));
    await inNamespace(kubernetes, "a").apply(`${teams.join("")}${LIBRARY}${keyManifest("reader")}`);
    await inNamespace(kubernetes, "b").apply(`${LIBRARY}${keyManifest("reader")}`);
  });

  afterAll(async () => {
    await Promise.all([...running].map((controller) => controller.stop()));
    await Promise.all(databases.map((database) => database.drop()));
    await kubernetes?.close();
  });

  it("c70: write nothing at rest, and each the status of the teams whose namespaces it serves", async () => {
    await Promise.all(["a", "b"].map((namespace) => inNamespace(kubernetes, namespace).ready("reader")));
    await Promise.all((Object.keys(TEAMS) as TeamName[]).map(untilReady));
    await until("nothing was written for five seconds", async () => {
      const before = await writes();
      await delay(5_000);
      return (await writes()) === before;
    });
    const [before, settled] = [await writes(), await writers()];
    await delay(INTERVAL_MS);
    expect((await writes()) - before).toBe(0);
    expect(settled["of-a"]).toMatch(/^default\/keyplane-controller-/);
    expect(settled["of-b"]).toMatch(/^default\/keyplane-controller-/);
    expect(settled["of-b"]).not.toBe(settled["of-a"]);
    expect(await writers()).toEqual(settled);
  });

  it("c70: are both named by doctor, and by the log of the one that leaves a status to the other", async () => {
    const { "of-a": nameOfA, "of-b": nameOfB } = await writers();
    const flags = ["--kubeconfig", kubernetes.kubeconfigPath, "--controller-namespace", "default"];
    const { out } = await keyplane(["doctor", "-o", "json", ...flags, "--database-url", ofA.databaseUrl]);
    const { findings }: { findings: Finding[] } = JSON.parse(out);
    const named = findings.filter(({ message }) => message.includes(String(nameOfB)));
    expect(named).toEqual([expect.objectContaining({ name: "leases", severity: "note" })]);
    expect(named[0]?.message).toContain(`have the Leases ${nameOfA}`);
    expect(named[0]?.message).toContain("PlatformTeam of-b");
    const lines = ofA.process.lines.filter((line) => line.includes(String(nameOfB)));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toContain(nameOfA);
  });

  it("c70: take a team over once the controller that wrote its status has ended", async () => {
    const before = (await writers()).without;
    const first = before === (await writers())["of-a"] ? ofA : ofB;
    await first.process.stop();
    await inNamespace(kubernetes, "a").change(`${API}/platformteams/without`, { spec: { displayName: "Edited" } });
    await untilReady("without");
    expect((await writers()).without).not.toBe(before);
  });
});
