import { isScope, type Scope } from "../../domain/access/scopes.ts";
import { isProxy, type ProxyKind } from "./asked-request.ts";

/** Resource that a proxy protects: a gateway's calls, or a service of others that takes a scope. */
type Protected = { readonly publicId: string } | { readonly scope: Scope };

/** Question of a proxy, as the path in its configuration puts it. */
export type VerifierPath = {
  readonly proxy: ProxyKind;
  /** True if limits that the verifier cannot hold do not matter. */
  readonly isUnmetered: boolean;
  readonly protects: Protected;
  /** Rest of the target behind the configured path. Envoy puts the caller's target there. */
  readonly rest: string;
  /** Pattern of the path, as the audit log has it. */
  readonly pattern: string;
};

const PATH =
  /^\/authz\/([a-z]+)(\/unmetered)?\/(?:g\/([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)|scope\/([a-z]+:[a-z]+))((?:[/?].*)?)$/;

/** Targets that are remembered: most proxies ask at the same target each time. */
const MAX_KNOWN = 1_000;
const known = new Map<string, VerifierPath>();

/** Reads the path that a proxy's configuration asks the verifier at; undefined for any other. */
export function readVerifierPath(target: string): VerifierPath | undefined {
  const before = known.get(target);
  if (before !== undefined) return before;
  const path = parsed(target);
  if (path?.rest === "" && known.size < MAX_KNOWN) known.set(target, path);
  return path;
}

function parsed(target: string): VerifierPath | undefined {
  const [, proxy = "", unmetered = "", publicId, scope = "", rest = ""] = PATH.exec(target) ?? [];
  if (!isProxy(proxy)) return undefined;
  const isUnmetered = unmetered !== "";
  const pattern = `/authz/${proxy}${unmetered}`;
  if (publicId !== undefined) {
    return { proxy, isUnmetered, protects: { publicId }, rest, pattern: `${pattern}/g/:publicId` };
  }
  return isScope(scope)
    ? { proxy, isUnmetered, protects: { scope }, rest, pattern: `${pattern}/scope/:scope` }
    : undefined;
}
