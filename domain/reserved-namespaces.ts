/**
 * Namespaces that no team may have: the cluster's own. The schema of PlatformTeam refuses them at admission. A
 * controller
 * checks again, and also refuses its own namespace, which has Keyplane's Secrets and its ServiceAccount.
 */
const RESERVED_NAMESPACES: readonly string[] = ["kube-system", "kube-public", "kube-node-lease"];

/**
 * True if no team may have the namespace.
 *
 * @param own the namespace that Keyplane runs in; undefined outside of a cluster
 */
export function isReservedNamespace(namespace: string, own: string | undefined): boolean {
  return RESERVED_NAMESPACES.includes(namespace) || namespace === own;
}
