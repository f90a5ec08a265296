/** Checks that the controller's account has the rights that infra/rbac grants. */
import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { isNotServed } from "../../controller/cluster/kubernetes/api/api-error.ts";
import { objectsPath } from "../../controller/cluster/kubernetes/resources.ts";
import { errorText } from "../../domain/error-text.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { listAll, metadataNamespace } from "../source/list-all.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { CONTROLLER, CONTROLLER_ROLES, NAMESPACE_RULES } from "./generated/rights.ts";

/** Rule of a Role. */
type Rule = {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

/**
 * Features that need the rights on an API group. A controller for which the feature is not used can do without them.
 */
const USED_FOR: Readonly<Record<string, string>> = { apps: "restartTargets" };

/** Account whose rights are checked. */
export type Account = {
  readonly namespace: string;
  readonly name: string;
  /** True if the check itself runs as this account. */
  readonly isSelf: boolean;
};

/**
 * Checks the account's rights.
 *
 * @param served namespaces that the controller serves; null for all, of which those with declarations are checked
 */
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
    const step = "run it as a cluster administrator, or as the controller's ServiceAccount itself";
    return [note("rights", `cannot find out what ${title} may do: ${errorText(error)}`, step)];
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
  const expectedRoles: readonly {
    readonly namespace: string;
    readonly rules: readonly Rule[];
    readonly step: string;
  }[] = [
    ...CONTROLLER_ROLES.map(({ namespace, rules }) => ({
      namespace: namespace === CONTROLLER.namespace ? account.namespace : namespace,
      rules,
      step: once,
    })),
    ...namespaces.map((namespace) => {
      const step = isOfFiles
        ? `kubectl apply -n ${namespace} -f infra/rbac/namespace.yaml # with the chart, ${namespace} in its keyNamespaces and helm upgrade instead`
        : chart(`, with ${namespace} in its keyNamespaces`);
      return { namespace, rules: NAMESPACE_RULES, step };
    }),
  ];
  const findings: Finding[] = [];
  for (const { namespace, rules, step } of expectedRoles) {
    const where = namespace === "" ? "in every namespace" : `in the namespace ${namespace}`;
    for (const rule of rules) {
      for (const right of await missingOf(api, account, namespace, rule)) {
        const message = `${title} may not ${right} ${where}`;
        const usedFor = USED_FOR[rule.group];
        findings.push(
          usedFor === undefined
            ? wrong("rights", message, step)
            : note("rights", `${message}, which ${usedFor} need`, step),
        );
      }
    }
  }
  return findings;
}

/** Returns the missing rights, such as `update, delete secrets`, one for each resource. */
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

/** Returns the namespaces in which keys or gateways are declared. */
async function declaringNamespaces(api: ApiClient): Promise<string[]> {
  const found = new Set<string>();
  for (const kind of ["PlatformKey", "ModelGateway"] as const) {
    for (const object of (await listAll(api, objectsPath(kind, "")).catch(whenNotServed)) ?? []) {
      const namespace = metadataNamespace(object);
      if (namespace !== "") found.add(namespace);
    }
  }
  return [...found].sort();
}

/** Returns undefined if the kind is not served, since there are then no objects of it; another check reports that. */
function whenNotServed(error: unknown): undefined {
  if (!isNotServed(error)) throw error;
}
