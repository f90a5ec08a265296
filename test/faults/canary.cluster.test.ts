/** Keys go through mint, rotation, faults and errors of a real controller; then everything that it left is searched. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyDigest } from "../../domain/key/secret/key-format.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { type ControllerProcess, startControllerProcess } from "../env/controller.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../env/database/postgres.ts";
import { type LentKubernetes, lendKubernetes } from "../env/kubernetes/lent.ts";
import { until } from "../env/until.ts";

const manifest = (kind: string, name: string, spec: object, namespace?: string) =>
  JSON.stringify({ apiVersion: "keyplane.dev/v1alpha1", kind, metadata: { name, namespace }, spec });
const key = (name: string, trigger = "first") =>
  manifest("PlatformKey", name, { preset: "MCPReadOnly", rotation: { trigger } }, "dev");

describe("a real controller", () => {
  let kubernetes: LentKubernetes;
  let postgres: OwnPostgresServer;
  let store: Store;
  let controller: ControllerProcess;
  /** Every secret that was ever seen in a Secret. */
  const seen = new Set<string>();

  const kubectl = (args: readonly string[], stdin?: string) => kubernetes.kubectl(args, stdin);

  async function keyIn(name: string): Promise<string | undefined> {
    const { body } = await kubernetes.request("GET", `/api/v1/namespaces/dev/secrets/${name}`);
    const value = (body as { data?: Record<string, string> }).data?.["api-key"];
    const plaintext = value && Buffer.from(value, "base64").toString();
    if (plaintext) seen.add(plaintext);
    return plaintext;
  }

  const another = (name: string, than: string | undefined) =>
    until(`another key in ${name}`, async () => {
      const now = await keyIn(name);
      return now !== undefined && now !== than && now.length === 61 ? now : undefined;
    });

  beforeAll(async () => {
    const settings = {
      log_statement: "all",
      log_parameter_max_length: "0",
      log_min_messages: "debug1",
      shared_preload_libraries: "pg_stat_statements",
    };
    [kubernetes, postgres] = await Promise.all([lendKubernetes(), startOwnPostgres(settings)]);
    store = await openPostgres(postgres.url);
    await migrate(store);
    await sql`create extension pg_stat_statements`.execute(store.db);
    controller = await startControllerProcess({
      kubeconfig: kubernetes.kubeconfigPath,
      databaseUrl: postgres.url,
      encryptionKey: randomBytes(32).toString("base64"),
    });
  });
  afterAll(async () => {
    controller?.child.kill("SIGKILL");
    await store?.close();
    await Promise.all([kubernetes?.close(), postgres?.stop()]);
  });

  it("b74, b78: leaves no key and no digest in an object, an event, a log, a metric or the database's memory", async () => {
    const apply = (text: string) => kubectl(["apply", "--server-side", "--filename", "-"], text);
    const edited = `inf_${randomBytes(30).toString("hex")}`.slice(0, 61);
    await kubectl(["create", "namespace", "dev"]);
    await apply(manifest("PlatformTeam", "research", { namespaces: ["dev"] }));
    await kubectl(["create", "secret", "generic", "taken", "--namespace", "dev", `--from-literal=api-key=${edited}`]);
    for (const name of ["agent", "second", "taken"]) await apply(key(name));
    const first = await another("agent", undefined);
    await another("second", undefined);
    await apply(key("agent", "next"));
    const rotated = await another("agent", first);
    const patch = JSON.stringify({ stringData: { "api-key": edited } });
    await kubectl(["patch", "secret", "agent", "--namespace", "dev", "--type", "merge", "--patch", patch]);
    await until("it was edited, and is healed", async () => ![edited, rotated].includes(String(await keyIn("agent"))));
    seen.add(edited);
    const statements = await sql<{ query: string }>`
      select query from pg_stat_statements union all select query from pg_stat_activity
      union all select statement from pg_prepared_statements`.execute(store.db);
    await postgres.kill();
    await kubectl(["delete", "secret", "agent", "--namespace", "dev"]);
    await apply(key("second", "while the database is away"));
    const complaint = () => controller.lines.some((line) => line.includes("PlatformKey dev/second"));
    await until("the controller complains", complaint);
    await postgres.restart();
    await another("agent", undefined);
    await kubectl(["delete", "platformkey", "second", "--namespace", "dev", "--timeout=60s"]);
    expect(seen.size).toBeGreaterThanOrEqual(5);

    const listed = await kubectl(["api-resources", "--verbs=list", "--output=name"]);
    const kinds = listed
      .trim()
      .split("\n")
      .filter((kind) => kind !== "secrets");
    const objects = ["get", kinds.join(","), "--all-namespaces", "--show-managed-fields", "--output", "yaml"];
    const described = ["platformkeys", "platformteams", "events"].map((kind) =>
      kubectl(["describe", kind, "--all-namespaces"]),
    );
    const places: Record<string, string> = {
      "kubectl get": await kubectl(objects),
      "kubectl describe": (await Promise.all(described)).join("\n"),
      "the controller's output": controller.lines.join("\n"),
      "the metrics": await (await fetch(`${controller.url}/metrics`)).text(),
      "PostgreSQL's log": postgres.log.join("\n"),
      "PostgreSQL's statements": statements.rows.map(({ query }) => query).join("\n"),
      "the audit log": await readFile(kubernetes.auditLog ?? expect.fail("there is none"), "utf8"),
    };
    for (const [place, text] of Object.entries(places)) {
      expect(text.length, place).toBeGreaterThan(500);
      const found = [...seen].flatMap(tracesOf).filter(([, trace]) => text.includes(trace));
      expect(
        found.map(([what]) => what),
        place,
      ).toEqual([]);
    }
  });
});

/** What would give a key away: the secret part of it, and its digest in each usual encoding. */
function tracesOf(plaintext: string): [string, string][] {
  const digest = Buffer.from(keyDigest(plaintext), "latin1");
  return [
    ["a key", plaintext.slice(12, 40)],
    ["a key in base64", Buffer.from(plaintext).toString("base64").slice(16, 52)],
    ["a digest in hex", digest.toString("hex")],
    ["a digest in base64", digest.toString("base64").slice(0, 42)],
    ["a digest in base64url", digest.toString("base64url").slice(0, 42)],
  ];
}
