import { parseAllDocuments } from "yaml";

const BANNER =
  "// Generated from infra/rbac by scripts/generate.ts. Change the rules there and run `node scripts/generate.ts`.\n";

/** Document of infra/rbac, with the fields that are read here. */
type Document = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
};

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
};

/**
 * Returns the rights of the controller as a TypeScript module, for `keyplane doctor`: the image has no YAML of
 * infra/rbac.
 *
 * @param cluster the text of infra/rbac/controller.yaml
 * @param namespace the text of infra/rbac/namespace.yaml
 */
export function renderControllerRights(cluster: string, namespace: string): string {
  const documents = documentsIn(cluster);
  const account = documents.find(({ kind }) => kind === "ServiceAccount")?.metadata;
  if (account?.namespace === undefined) throw new Error("controller.yaml has no ServiceAccount in a namespace");
  return `${BANNER}
/** Namespace and ServiceAccount of the controllers in infra/rbac. */
export const CONTROLLER = ${literal({ namespace: account.namespace, account: account.name })};

/** The roles of infra/rbac/controller.yaml, each with the namespace where it holds: "" for the whole cluster. */
export const CONTROLLER_ROLES = ${literal(rolesOf(documents))};

/** The rules of infra/rbac/namespace.yaml, in each namespace that holds keys or gateways. */
export const NAMESPACE_RULES = ${literal(rolesOf(documentsIn(namespace)).flatMap(({ rules }) => rules))};
`;
}

function documentsIn(text: string): Document[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Document);
}

/** Returns the roles among the documents, with a rule for each API group. */
function rolesOf(documents: readonly Document[]) {
  return documents.flatMap(({ metadata: { namespace = "" }, rules }) =>
    rules === undefined
      ? []
      : [
          {
            namespace,
            rules: rules.flatMap(({ apiGroups, ...rest }) => apiGroups.map((group) => ({ group, ...rest }))),
          },
        ],
  );
}

function literal(value: unknown): string {
  return `${JSON.stringify(value, null, 2)} as const`;
}
