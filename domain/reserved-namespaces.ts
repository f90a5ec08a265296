/**
 * Namespaces that no team may have: the cluster's own. The schema of PlatformTeam refuses them at admission; a
 * controller checks again, and its own namespace with them, where Keyplane's Secrets and its ServiceAccount are.
 */
const RESERVED_NAMESPACES: readonly string[] = ["kube-system", "kube-public", "kube-node-lease"];

/** @param own the namespace that Keyplane runs in; undefined outside of a cluster */
export function isReservedNamespace(namespace: string, own: string | undefined): boolean {
  return RESERVED_NAMESPACES.includes(namespace) || namespace === own;
}
