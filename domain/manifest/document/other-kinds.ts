import { API_VERSION, KINDS } from "../../kinds/kinds.ts";
import { isRecord, type ManifestIdentity } from "./identity.ts";
import { suggest } from "./suggestion.ts";

const [GROUP = ""] = API_VERSION.split("/");
/** kustomize writes neither apiVersion nor kind into it, and needs neither; in its own configuration it takes neither. */
const KUSTOMIZATION = /(^|\/)[Kk]ustomization(\.ya?ml)?$/;

/**
 * The kind of a document that is not one of Keyplane's, such as a Deployment among the manifests of an application;
 * undefined for one that is, or was meant to be.
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
  // Its items are looked into.
  if (kind === "List" && apiVersion === "v1") return undefined;
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const ours: readonly ManifestIdentity["kind"][] = group === "" ? [...KINDS, "Secret"] : KINDS;
  const isMeantAsOurs = suggest(group, [GROUP]) !== undefined || suggest(kind, ours) !== undefined || kind === "Secret";
  return isMeantAsOurs ? undefined : kind;
}
