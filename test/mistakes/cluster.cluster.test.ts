import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { accountKubeconfig, type ControllerProcess, startControllerProcess } from "../env/controller.ts";
import { freshDatabase } from "../env/database/engines.ts";
import { teamManifest } from "../env/kubernetes/manifests.ts";
import { type StartedKubernetes, startKubernetes } from "../env/kubernetes.ts";
import { until } from "../env/until.ts";
import { CLUSTER_MISTAKES, type ClusterMistake } from "./cluster.rows.ts";

const RBAC = join(import.meta.dirname, "../../infra/rbac");

/** As `kubectl get -o json` prints it. */
type Shown = {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
};

describe("a mistake with a cluster", () => {
  let kubernetes: StartedKubernetes;
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let controller: ControllerProcess;

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([startKubernetes({ controllerManager: true }), freshDatabase()]);
    const store = await openPostgres(database.url);
    await migrate(store).finally(() => store.close());
    await kubernetes.kubectl(["apply", "--filename", join(RBAC, "controller.yaml")]);
    controller = await startControllerProcess({
      kubeconfig: await accountKubeconfig(kubernetes),
      databaseUrl: database.url,
      encryptionKey: randomBytes(32).toString("base64"),
    });
  });

  afterAll(async () => {
    controller?.child.kill("SIGKILL");
    await database?.drop();
    await kubernetes?.close();
  });

  const apply = (namespace: string, manifest: string) =>
    kubernetes.runKubectl(["apply", "--server-side", "--namespace", namespace, "--filename", "-"], manifest);

  async function prepare({ namespace, isUnclaimed, isWithoutRole }: ClusterMistake): Promise<void> {
    await kubernetes.kubectl(["create", "namespace", namespace]);
    if (isUnclaimed === undefined) {
      const team = `${namespace}-team`;
      await kubernetes.kubectl(["apply", "--filename", "-"], teamManifest(team, namespace));
      await kubernetes.kubectl(["wait", "--for=condition=Ready", `platformteam/${team}`, "--timeout=120s"]);
    }
    if (isWithoutRole === undefined) {
      await kubernetes.kubectl(["apply", "--namespace", namespace, "--filename", join(RBAC, "namespace.yaml")]);
    }
  }

  /** The message of `Ready`, once the controller has looked at the object as it is. */
  async function readyMessage(namespace: string, object: string): Promise<string> {
    return until(`${object} is looked at`, async () => {
      const { status, metadata } = JSON.parse(
        await kubernetes.kubectl(["get", object, "--namespace", namespace, "--output", "json"]),
      ) as Shown;
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return status?.observedGeneration === metadata.generation && ready?.status === "False"
        ? ready.message
        : undefined;
    });
  }

  /** What the events of an object warn of, as `kubectl describe` shows them: those of a team are in `default`. */
  async function warnings(namespace: string, object: string): Promise<string[]> {
    const [kind = "", name = ""] = object.split("/");
    const place = kind === "platformteam" ? "default" : namespace;
    const selected = `--field-selector=type=Warning,involvedObject.name=${name}`;
    const list = await kubernetes.kubectl(["get", "events", "--namespace", place, selected, "--output", "json"]);
    return (JSON.parse(list) as { items: { message: string }[] }).items.map(({ message }) => message);
  }

  it.concurrent.each(CLUSTER_MISTAKES)("$done", async (mistake) => {
    const { namespace, manifests, object, says } = mistake;
    await prepare(mistake);
    const refusals: string[] = [];
    for (const manifest of manifests) refusals.push((await apply(namespace, manifest)).stderr);
    expect(refusals.join("").trim()).toBe(object === undefined ? says : "");
    if (object === undefined) return;
    expect(await readyMessage(namespace, object)).toBe(says);
    // The right to write events comes with that Role.
    if (mistake.isWithoutRole) return;
    await until("an event says it too", async () => (await warnings(namespace, object)).includes(says));
  });
});
