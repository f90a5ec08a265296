import { API_VERSION, KINDS } from "../../kinds/kinds.ts";
import { isRecord, type ManifestIdentity } from "./identity.ts";
import { nearSpelling, suggest } from "./suggestion.ts";

const [GROUP = ""] = API_VERSION.split("/");
/** Path of a kustomization. It needs neither apiVersion nor kind, and kustomize writes neither. */
const KUSTOMIZATION = /(^|\/)[Kk]ustomization(\.ya?ml)?$/;

/**
 * Returns the kind of a document that is not one of Keyplane's, such as a Deployment among the manifests of an
 * application; undefined for a document that is, or was meant to be, one of Keyplane's.
 *
 * @param file its name
 */
export function otherKind(value: unknown, file: string): string | undefined {
  if (!isRecord(value)) return undefined;
  const { apiVersion, kind } = value;
  if (apiVersion === undefined && kind === undefined)
    return KUSTOMIZATION.test(file) || Array.isArray(value.nameReference) ? "Kustomization" : undefined;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || !/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind))
    return undefined;
  // Its items are checked one by one.
  if (kind === "List" && apiVersion === "v1") return undefined;
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  // Other groups have a Secret or a Model of their own.
  const ours: readonly ManifestIdentity["kind"][] = group === "" ? [...KINDS, "Secret"] : KINDS;
  const isMeantAsOurs = suggest(group, [GROUP]) !== undefined || nearSpelling(kind, ours) !== undefined;
  return isMeantAsOurs ? undefined : kind;
}
