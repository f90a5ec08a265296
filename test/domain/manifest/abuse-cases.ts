import { SCOPES } from "../../../domain/access/scopes.ts";
import { key, manifest, team } from "./read.ts";

const CHOICE = `write one of ${SCOPES.join(", ")}`;

/** b67: what tries to climb out of its place, and a manifest that does. */
export const CLIMBING: readonly [what: string, manifest: string][] = [
  ["a name", manifest("PlatformKey", "{ preset: MCPReadOnly }", { name: "../x", namespace: "a" })],
  ["a namespace", manifest("PlatformKey", "{ preset: MCPReadOnly }", { name: "x", namespace: "../a" })],
  ["a team's name", manifest("PlatformTeam", "{}", { name: "../x" })],
  ["a team's namespace", team("{ namespaces: [../x] }")],
  ["a gateway", key("{ preset: GatewayDefault, gatewayRef: { name: ../x } }")],
  ["a gateway's namespace", key("{ preset: GatewayDefault, gatewayRef: { name: x, namespace: ../x } }")],
  ["a library", key("{ preset: MCPReadOnly, mcpDefaultLibraryRef: { name: ../x } }")],
  [
    "a library of the list",
    key("{ preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: ../x }] } }"),
  ],
  ["a Secret", key("{ preset: MCPReadOnly, secret: { name: ../x } }")],
  ["a data key", key("{ preset: MCPReadOnly, secret: { dataKey: ../x } }")],
  ["a data key of dots", key("{ preset: MCPReadOnly, secret: { dataKey: .. } }")],
  ["an imported Secret", key("{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: ../x } } }")],
  ["a workload", key("{ preset: MCPReadOnly, restartTargets: [{ kind: Deployment, name: ../x }] }")],
  ["a Secret's own name", "apiVersion: v1\nkind: Secret\nmetadata: { name: ../x, namespace: a }\n"],
];

/** b72: a list of scopes that is not one, as YAML, and what is said of each entry. */
export const SCOPES_OUTSIDE_THE_LIST: readonly [what: string, scopes: string, says: string[]][] = [
  ["a wildcard", '["*"]', [`spec.scopes[0]: unknown value "*": ${CHOICE}`]],
  ["a wildcard of a product", '["memory:*"]', ['spec.scopes[0]: unknown value "memory:*": ']],
  ["an unknown scope", "[admin]", [`spec.scopes[0]: unknown value "admin": ${CHOICE}`]],
  ["a duplicate", "[memory:read, memory:read]", ["spec.scopes[1]: is in the list twice: remove one of the two"]],
  ["another case", "[MEMORY:READ]", ['spec.scopes[0]: unknown value "MEMORY:READ": did you mean memory:read?']],
  ["a space behind", "['memory:read ']", ['spec.scopes[0]: unknown value "memory:read ": did you mean memory:read?']],
  ["no scope at all", "[]", ["spec.scopes: is empty: write at least one entry"]],
  ["a scope that is no text", "[[memory:read]]", ["spec.scopes[0]: must be text"]],
];
