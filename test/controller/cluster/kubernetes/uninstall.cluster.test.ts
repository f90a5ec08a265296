/** What docs/operations/uninstalling.md says of uninstalling in another order. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectsPath } from "../../../../controller/cluster/kubernetes/resources.ts";
import { KINDS } from "../../../../domain/kinds/kinds.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { listKeys } from "../../../../store/keys/search/key-lists.ts";
import { keyplane } from "../../../cli/up.ts";
import { type Controller, startController } from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { inNamespace } from "../../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { keyManifest, LIBRARY, teamManifest } from "../../../env/kubernetes/manifests.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { until } from "../../../env/until.ts";

describe("uninstalling", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let store: Store;
  const running = new Set<Controller>();
  const encryptionKey = randomBytes(32).toString("base64");

  async function start(): Promise<Controller> {
    const { kubeconfigPath: kubeconfig } = kubernetes;
    const started = await startController({ kubeconfig, databaseUrl: database.url, encryptionKey });
    running.add(started);
    await until("it leads", () => started.lines.some((line) => line.includes("leads")));
    return started;
  }

  async function stop(controller: Controller): Promise<void> {
    running.delete(controller);
    expect(await controller.stop()).toBe(0);
  }

  const isServed = async () => {
    const answers = await Promise.all(KINDS.map((kind) => kubernetes.request("GET", objectsPath(kind, ""))));
    return answers.some(({ status }) => status !== 404);
  };

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    store = await openPostgres(database.url);
  });

  afterAll(async () => {
    await Promise.all([...running].map((controller) => controller.stop()));
    await store?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  it.each(NIGHTLY ? [true, false] : [false])(
    "the CRDs first: every key ends, and they go (controller up: %s)",
    async (isUp) => {
      await kubernetes.installCrds();
      let controller = await start();
      const world = inNamespace(kubernetes, "default");
      await world.apply(MANIFESTS);
      await world.ready("reader");
      const keyId = (await world.key("reader"))?.status?.keyID;
      const state = async () => (await listKeys(store.db, { limit: 10 })).find(({ id }) => id === keyId)?.state;
      if (!isUp) await stop(controller);
      await kubernetes.kubectl(["delete", "--wait=false", "--filename", "crds/"]);
      if (!isUp) {
        await until("it is being deleted", async () =>
          JSON.stringify(await world.key("reader")).includes("deletionTime"),
        );
        expect(await state()).toBe("active");
        controller = await start();
      }
      await until("the kinds are gone", async () => !(await isServed()));
      expect(await state()).toBe("revoked");
      await stop(controller);
      const flags = ["--database-url", database.url, "--kubeconfig", kubernetes.kubeconfigPath];
      const { out } = await keyplane(["doctor", ...flags, "--controller-namespace", "default"]);
      expect(out).toContain(
        "error  custom-resources: Keyplane is not installed in this cluster: it has none of the kinds",
      );
    },
  );
});

const MANIFESTS = [
  teamManifest("research", "default"),
  LIBRARY,
  keyManifest("reader", "libraryAccess: { mode: Restricted, libraryRefs: [{ name: handbook }] }"),
].join("");
