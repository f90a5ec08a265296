/** Something in the cluster that rewrites the Secrets which the controllers write (threats c69). */
import { isDeepStrictEqual } from "node:util";
import type { Kubernetes } from "../env/kubernetes/client.ts";
import { until } from "../env/until.ts";
import { base64 } from "../oracle/secrets.ts";
import { secretsPath } from "../oracle/watch.ts";
import { createAdmin } from "./admin.ts";
import { CONTROLLER_USER } from "./world.ts";

/** What becomes of a Secret: in CEL the operations of a JSON patch, and when they are made. */
const MUTATIONS = {
  "without its labels and its owner": {
    operations: ["CREATE", "UPDATE"],
    // One that lacks either could not be patched, and would be refused.
    when: "has(object.metadata.labels) && has(object.metadata.ownerReferences)",
    patch: ["labels", "ownerReferences"].map((field) => `JSONPatch{op: "remove", path: "/metadata/${field}"}`),
  },
  "with a data key more": {
    operations: ["CREATE", "UPDATE"],
    when: "has(object.data)",
    patch: [`JSONPatch{op: "add", path: "/data/added", value: "${base64("added")}"}`],
  },
  // Only as it is made: what a Secret has held is lost where it is written again, which is a cause for a version.
  "with another value": {
    operations: ["CREATE"],
    when: "has(object.data) && 'api-key' in object.data",
    patch: [`JSONPatch{op: "replace", path: "/data/api-key", value: "${base64("sealed")}"}`],
  },
} as const;

export type Alteration = keyof typeof MUTATIONS;
export const ALTERATIONS = [
  "without its labels and its owner",
  "with a data key more",
  "with another value",
] as const satisfies readonly Alteration[];

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const TRIAL = {
  metadata: {
    name: "trial",
    labels: { "example.com/trial": "trial" },
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "trial", uid: "trial" }],
  },
  data: { "api-key": base64("trial") },
};

/**
 * Has the API server alter what the controllers write into the Secrets of a namespace. Users' own writes stay as they
 * are.
 *
 * @returns ends it, and resolves once it has ended
 */
export async function alterSecrets(
  kubernetes: Kubernetes,
  namespace: string,
  how: Alteration,
): Promise<() => Promise<void>> {
  const admin = createAdmin(kubernetes);
  const name = `altered-${namespace}`;
  const { operations, when, patch } = MUTATIONS[how];
  const policies = `${REGISTRATION}/mutatingadmissionpolicies`;
  const bindings = `${REGISTRATION}/mutatingadmissionpolicybindings`;
  const isOurs = `request.userInfo.username == "${CONTROLLER_USER}" || object.metadata.name == "trial"`;
  await admin.create(policies, {
    metadata: { name },
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations, resources: ["secrets"] }],
      },
      matchConditions: [{ name: "of-the-controllers", expression: `(${isOurs}) && ${when}` }],
      reinvocationPolicy: "Never",
      mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: `[${patch.join(", ")}]` } }],
    },
  });
  await admin.create(bindings, { metadata: { name }, spec: { policyName: name } });

  /** Whether a Secret would be altered now; undefined where there is no saying. */
  async function isAltered(): Promise<boolean | undefined> {
    const path = `${secretsPath(namespace)}?dryRun=All`;
    const { status, body } = await kubernetes.request("POST", path, { body: JSON.stringify(TRIAL) });
    // A namespace that is gone, or is going, takes no Secret at all.
    if (status === 403 || status === 404) return false;
    if (status !== 201) return undefined;
    const { metadata, data } = body as typeof TRIAL;
    const { labels, ownerReferences } = metadata;
    return !isDeepStrictEqual(
      [labels, ownerReferences, data],
      [TRIAL.metadata.labels, TRIAL.metadata.ownerReferences, TRIAL.data],
    );
  }

  return async () => {
    await admin.remove(`${bindings}/${name}`);
    await admin.remove(`${policies}/${name}`);
    await until("Secrets are written as they are again", async () => (await isAltered()) === false, {
      timeoutMs: 300_000,
    });
  };
}
