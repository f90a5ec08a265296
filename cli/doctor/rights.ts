/** Whether the controller's account may do what the controller does: what infra/rbac grants. */
import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { isNotServed } from "../../controller/cluster/kubernetes/api/api-error.ts";
import { objectsPath } from "../../controller/cluster/kubernetes/resources.ts";
import { errorText } from "../../domain/error-text.ts";
import { isRecord } from "../../domain/manifest/identity.ts";
import { listAll, namespaceOf } from "../source/list-all.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

/** Where infra/rbac has the controllers run, and as whom. */
export const CONTROLLER = { namespace: "keyplane-system", account: "keyplane-controller" } as const;

/** As a rule of a Role has it. */
export type Rule = {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** What needs the rule: a controller for which that is not used can do without. */
  readonly usedFor?: string;
};

/** The rules of infra/rbac/controller.yaml, by where each holds. */
export const CONTROLLER_RULES: Readonly<Record<"everywhere" | "own" | "default", readonly Rule[]>> = {
  everywhere: [
    {
      group: "keyplane.dev",
      resources: ["platformkeys", "platformteams", "modelgateways", "memorylibraries"],
      verbs: ["get", "list", "watch", "patch"],
    },
    {
      group: "keyplane.dev",
      resources: ["platformkeys/status", "platformteams/status", "modelgateways/status", "memorylibraries/status"],
      verbs: ["patch"],
    },
    { group: "", resources: ["namespaces"], verbs: ["get"] },
  ],
  own: [{ group: "coordination.k8s.io", resources: ["leases"], verbs: ["get", "create", "update"] }],
  default: [{ group: "events.k8s.io", resources: ["events"], verbs: ["create"] }],
};

/** The rules of infra/rbac/namespace.yaml, in each namespace that holds keys or gateways. */
export const NAMESPACE_RULES: readonly Rule[] = [
  { group: "", resources: ["secrets"], verbs: ["get", "list", "watch", "create", "update", "delete"] },
  { group: "events.k8s.io", resources: ["events"], verbs: ["create"] },
  {
    group: "apps",
    resources: ["deployments", "statefulsets", "daemonsets"],
    verbs: ["patch"],
    usedFor: "restartTargets",
  },
];

/** Whose rights are looked at. */
export type Account = {
  readonly namespace: string;
  readonly name: string;
  /** Whether it is us who ask. */
  readonly isSelf: boolean;
};

/** @param served the namespaces that the controller serves; null for all, of which those matter that hold something */
export async function checkRights(
  api: ApiClient,
  account: Account,
  served: readonly string[] | null,
): Promise<Finding[]> {
  const title = `system:serviceaccount:${account.namespace}:${account.name}`;
  try {
    const findings = await missingRights(api, account, title, served ?? (await declaringNamespaces(api)));
    return findings.length > 0 ? findings : [ok("rights", `${title} has the rights of infra/rbac`)];
  } catch (error) {
    const step = "ask as a cluster administrator, or as the controller's ServiceAccount itself";
    return [note("rights", `it cannot be told what ${title} may do: ${errorText(error)}`, step)];
  }
}

async function missingRights(
  api: ApiClient,
  account: Account,
  title: string,
  namespaces: readonly string[],
): Promise<Finding[]> {
  const isOfFiles = account.namespace === CONTROLLER.namespace && account.name === CONTROLLER.account;
  const chart = (values: string) => `helm upgrade of the release in ${account.namespace}${values}`;
  const once = isOfFiles ? "kubectl apply -f infra/rbac/controller.yaml" : chart("");
  const places = [
    { namespace: "", rules: CONTROLLER_RULES.everywhere, step: once },
    { namespace: account.namespace, rules: CONTROLLER_RULES.own, step: once },
    { namespace: "default", rules: CONTROLLER_RULES.default, step: once },
    ...namespaces.map((namespace) => {
      const step = isOfFiles
        ? `kubectl apply -n ${namespace} -f infra/rbac/namespace.yaml`
        : chart(`, with ${namespace} in its keyNamespaces`);
      return { namespace, rules: NAMESPACE_RULES, step };
    }),
  ];
  const findings: Finding[] = [];
  for (const { namespace, rules, step } of places) {
    const where = namespace === "" ? "in every namespace" : `in the namespace ${namespace}`;
    for (const rule of rules) {
      for (const right of await missingOf(api, account, namespace, rule)) {
        const message = `${title} may not ${right} ${where}`;
        findings.push(
          rule.usedFor === undefined
            ? wrong("rights", message, step)
            : note("rights", `${message}, which ${rule.usedFor} need`, step),
        );
      }
    }
  }
  return findings;
}

/** As `update, delete secrets`, one for each resource. */
async function missingOf(api: ApiClient, account: Account, namespace: string, rule: Rule): Promise<string[]> {
  const missing = rule.resources.map(async (full) => {
    const verbs = await Promise.all(
      rule.verbs.map(async (verb) =>
        (await isAllowed(api, account, namespace, rule.group, full, verb)) ? [] : [verb],
      ),
    );
    return verbs.flat().length === 0 ? [] : [`${verbs.flat().join(", ")} ${full}`];
  });
  return (await Promise.all(missing)).flat();
}

async function isAllowed(
  api: ApiClient,
  { namespace: home, name, isSelf }: Account,
  ...[namespace, group, full, verb]: readonly [namespace: string, group: string, full: string, verb: string]
): Promise<boolean> {
  const [resource, subresource = ""] = full.split("/");
  const resourceAttributes = { namespace, group, resource, subresource, verb };
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${home}`, "system:authenticated"];
  const user = isSelf ? {} : { user: `system:serviceaccount:${home}:${name}`, groups };
  const kind = isSelf ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  const answer = await api.request({
    method: "POST",
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    body: { apiVersion: "authorization.k8s.io/v1", kind, spec: { ...user, resourceAttributes } },
  });
  const { status } = isRecord(answer) ? answer : {};
  return isRecord(status) && status.allowed === true;
}

/** The namespaces in which keys or gateways are declared. */
async function declaringNamespaces(api: ApiClient): Promise<string[]> {
  const found = new Set<string>();
  for (const kind of ["PlatformKey", "ModelGateway"] as const) {
    for (const object of (await listAll(api, objectsPath(kind, "")).catch(whenNotServed)) ?? []) {
      const namespace = namespaceOf(object);
      if (namespace !== "") found.add(namespace);
    }
  }
  return [...found].sort();
}

/** Of a kind that is not served there is none, which another check says. */
function whenNotServed(error: unknown): undefined {
  if (!isNotServed(error)) throw error;
}
