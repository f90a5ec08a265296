import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { read } from "../architecture/sources.ts";
import { accountKubeconfig, type Controller, startController } from "../env/controller.ts";
import { migratedDatabase } from "../env/database/engines.ts";
import { API, createNamespace, inNamespace } from "../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../env/kubernetes/lent.ts";
import { teamManifest } from "../env/kubernetes/manifests.ts";
import { applyAll } from "../env/kubernetes/server-side-apply.ts";
import { until } from "../env/until.ts";
import { CLUSTER_MISTAKES, type ClusterMistake } from "./cluster.rows.ts";

type ShownObject = {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
};

const readyOf = ({ status }: ShownObject) => status?.conditions?.find(({ type }) => type === "Ready");

/** Of the kinds of the rows' objects. */
const PLURALS: Readonly<Record<string, string>> = {
  ...{ platformkey: "platformkeys", platformteam: "platformteams", platformkeypolicy: "platformkeypolicies" },
  ...{ modelgateway: "modelgateways", memorylibrary: "memorylibraries" },
};

describe("a mistake with a cluster", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let controller: Controller;

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    await applyAll(kubernetes, read("infra/rbac/controller.yaml"));
    controller = await startController({
      kubeconfig: await accountKubeconfig(kubernetes),
      databaseUrl: database.url,
      encryptionKey: randomBytes(32).toString("base64"),
    });
  });

  afterAll(async () => {
    await controller?.stop();
    await database?.drop();
    await kubernetes?.close();
  });

  const apply = (namespace: string, manifest: string) =>
    kubernetes.runKubectl(["apply", "--server-side", "--namespace", namespace, "--filename", "-"], manifest);

  async function prepare({ namespace, isUnclaimed, isWithoutRole }: ClusterMistake): Promise<void> {
    await createNamespace(kubernetes, namespace);
    if (isUnclaimed === undefined) {
      const team = `${namespace}-team`;
      await applyAll(kubernetes, teamManifest(team, namespace));
      await until(
        `${team} is Ready`,
        async () => readyOf(await shown(namespace, `platformteam/${team}`))?.status === "True",
      );
    }
    if (isWithoutRole === undefined) {
      await applyAll(kubernetes, read("infra/rbac/namespace.yaml"), { namespace });
    }
  }

  /** An object by its kind and name. */
  async function shown(namespace: string, object: string): Promise<ShownObject> {
    const [kind = "", name = ""] = object.split("/");
    const { path, read } = inNamespace(kubernetes, namespace);
    const plural = PLURALS[kind] ?? expect.fail(`no plural of ${kind}`);
    return (
      (await read<ShownObject>(kind === "platformteam" ? `${API}/${plural}/${name}` : path(plural, name))) ??
      expect.fail(`${object} is gone`)
    );
  }

  /** The message of `Ready`, once the controller has looked at the object as it is. */
  async function readyMessage(namespace: string, object: string): Promise<string> {
    return until(`${object} is looked at`, async () => {
      const found = await shown(namespace, object);
      const { status, metadata } = found;
      const ready = readyOf(found);
      return status?.observedGeneration === metadata.generation && ready?.status === "False"
        ? ready.message
        : undefined;
    });
  }

  /** What the events of an object warn of, as `kubectl describe` shows them: those of a team are in `default`. */
  async function warnings(namespace: string, object: string): Promise<string[]> {
    const [kind = "", name = ""] = object.split("/");
    const place = kind === "platformteam" ? "default" : namespace;
    const selected = new URLSearchParams({ fieldSelector: `type=Warning,involvedObject.name=${name}` });
    const { body } = await kubernetes.request("GET", `/api/v1/namespaces/${place}/events?${selected}`);
    return (body as { items: { message: string }[] }).items.map(({ message }) => message);
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
