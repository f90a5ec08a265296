/** What is in a namespace before its first key: what the keys of the runs refer to. */
import { setTimeout as delay } from "node:timers/promises";
import { everDeclared, type Model } from "../oracle/model.ts";
import type { Report } from "../oracle/report.ts";
import { base64, type SecretLedger } from "../oracle/secrets.ts";
import { keysPath, secretsPath } from "../oracle/watch.ts";
import type { Admin } from "./admin.ts";
import { DEPLOYMENT, GATEWAY, LIBRARY } from "./specs.ts";
import type { World } from "./world.ts";

const PAUSE_MS = 1_000;

export type FurnishDeps = {
  readonly admin: Admin;
  readonly world: World;
  readonly model: Model;
  readonly secrets: SecretLedger;
  readonly report: Report;
};

/** Makes a namespace, empty even where another of that name was before, and what its keys refer to. */
export async function furnish({ admin, world, model, secrets, report }: FurnishDeps, namespace: string): Promise<void> {
  await seeOff(admin, namespace);
  await admin.create("/api/v1/namespaces", { metadata: { name: namespace } });
  for (const grant of world.grants) {
    const kind = `${grant.kind.toLowerCase()}s`;
    await admin.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${kind}`, grant);
  }
  const ofKeyplane = `/apis/keyplane.dev/v1alpha1/namespaces/${namespace}`;
  const [provider] = await Promise.all([
    admin.create(secretsPath(namespace), providerSecret(namespace)),
    admin.create(`${ofKeyplane}/memorylibraries`, library(namespace)),
    admin.create(`${ofKeyplane}/modelgateways`, gateway(namespace)),
    admin.create(`/apis/apps/v1/namespaces/${namespace}/deployments`, deployment(namespace)),
  ]);
  secrets.keepUntouched(provider);
  await clearOut(namespace, { admin, model, report });
}

/**
 * Waits until a namespace that is ending has gone. Kubernetes' controller looks at it again after ever longer pauses, of
 * up to a minute, but also 5 s after it was changed: so it is changed.
 */
async function seeOff(admin: Admin, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}`;
  const isEnding = async () => (await admin.read(path))?.metadata.deletionTimestamp !== undefined;
  for (let change = 1; await isEnding(); change++) {
    await admin.patch(path, { metadata: { annotations: { "example.com/awaited": String(change) } } });
    await delay(PAUSE_MS);
  }
}

const apiVersion = "keyplane.dev/v1alpha1";

const providerSecret = (namespace: string) => ({
  metadata: { namespace, name: "provider" },
  data: { "api-key": base64("sk-provider") },
});

const library = (namespace: string) => ({
  apiVersion,
  kind: "MemoryLibrary",
  metadata: { namespace, name: LIBRARY },
  spec: {},
});

const gateway = (namespace: string) => ({
  apiVersion,
  kind: "ModelGateway",
  metadata: { namespace, name: GATEWAY },
  spec: {
    upstreams: [
      {
        name: "openai",
        dialect: "openai",
        baseURL: "https://models.example.com",
        credentialRef: { name: "provider", key: "api-key" },
      },
    ],
  },
});

const deployment = (namespace: string) => ({
  metadata: { namespace, name: DEPLOYMENT },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: DEPLOYMENT } },
    template: { metadata: { labels: { app: DEPLOYMENT } }, spec: { containers: [{ name: "main", image: "none" }] } },
  },
});

/**
 * Deletes the declarations that outlived their namespace: one that ends while the API server, just started, does not
 * list our kinds as yet takes only the others along. What is left is declared in the namespace made anew.
 */
async function clearOut(
  namespace: string,
  { admin, model, report }: Pick<FurnishDeps, "admin" | "model" | "report">,
): Promise<void> {
  for (const { metadata } of await admin.list(keysPath(namespace))) {
    const { uid, name, deletionTimestamp } = metadata;
    report.log(`${namespace}/${name} has outlived its namespace`);
    const one = everDeclared(model).find((other) => other.uid === uid);
    // Its Secret went with the namespace, and may have come back by now.
    if (one !== undefined && deletionTimestamp === undefined) one.causes++;
    await admin.remove(`${keysPath(namespace)}/${name}`);
  }
}
