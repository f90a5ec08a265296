/** Two controllers whose namespaces overlap, as while a release changes `keyNamespaces`: one of them decides. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { listKeys } from "../../../../store/keys/search/key-lists.ts";
import { type Controller, startController } from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { inNamespace } from "../../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { until } from "../../../env/until.ts";

const MANIFESTS = `
apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata: { name: research }
spec: { namespaces: [a, b, c] }
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: reader }
spec: { preset: MCPReadOnly }
`;
const RELEASE = ["--lease-name", "release-controller"];
const BEFORE = ["--namespaces", "a,b"];
const AFTER = ["--namespaces", "b,c"];

const leads = ({ lines }: Controller) => lines.some((line) => line.includes("leads"));

describe("controllers that have a namespace in common", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let store: Store;
  const encryptionKey = randomBytes(32).toString("base64");

  async function start(context: TestContext, ...flags: string[]): Promise<Controller> {
    const { kubeconfigPath: kubeconfig } = kubernetes;
    const started = await startController({ kubeconfig, databaseUrl: database.url, encryptionKey, flags });
    context.onTestFinished(() => void started.stop());
    return started;
  }

  /** Asks for another version of the key in b, waits for it, and says how many have been made for it. */
  async function rotate(): Promise<number> {
    const world = inNamespace(kubernetes, "b");
    await world.ready("reader");
    const before = await lastNumber();
    await world.changeKey("reader", { rotation: { trigger: `after-${before}` } });
    await world.holds("is rotated", "reader", ({ status }) => (status?.currentVersion ?? 0) > before);
    await world.ready("reader");
    return (await lastNumber()) - before;
  }

  /** Of the newest version that the key in b has ever had, delivered or not. */
  async function lastNumber(): Promise<number> {
    const { status } = (await inNamespace(kubernetes, "b").key("reader")) ?? {};
    const stored = await listKeys(store.db, { limit: 10 });
    return stored.find(({ id }) => id === status?.keyID)?.lastNumber ?? expect.fail("the key is not stored");
  }

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    store = await openPostgres(database.url);
    for (const name of ["a", "b", "c"]) {
      await kubernetes.request("POST", "/api/v1/namespaces", { body: JSON.stringify({ metadata: { name } }) });
    }
    await inNamespace(kubernetes, "b").apply(MANIFESTS);
  });

  afterAll(async () => {
    await store?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  it("c72: of one release wait for one Lease: the next one leads as the leader ends, and each trigger is one version", async (context) => {
    const before = await start(context, ...RELEASE, ...BEFORE);
    await until("it leads", () => leads(before));
    const after = await start(context, ...RELEASE, ...AFTER);
    expect(await rotate()).toBe(1);
    expect(leads(after)).toBe(false);
    expect(await before.stop()).toBe(0);
    await until("the next one leads", () => leads(after));
    expect(await rotate()).toBe(1);
    expect(await after.stop()).toBe(0);
  });

  it("c72: with Leases of their own depose one another: who is deposed ends at its next write, and each trigger is one version", async (context) => {
    const before = await start(context, ...BEFORE);
    await until("it leads", () => leads(before));
    expect(await rotate()).toBe(1);
    const after = await start(context, ...AFTER);
    await until("it leads, too", () => leads(after));
    expect(await rotate()).toBe(1);
    await inNamespace(kubernetes, "a").apply(MANIFESTS);
    await until("the first ends", () => before.exitCode() !== undefined);
    expect(before.lines.join("\n")).toContain("another controller leads");
    expect(await after.stop()).toBe(0);
  });
});
