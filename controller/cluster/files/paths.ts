/**
 * Paths in a DATA folder. A name becomes part of a path here and nowhere else, after a check that it is a name of
 * Kubernetes': no `/`, no `..`, nothing that begins with a dot.
 */
import { join } from "node:path";
import type { ObjectRef } from "../port.ts";

/** Folder in paths of objects without a namespace. No namespace can have this name. */
const CLUSTER_SCOPE = "_cluster";
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const KIND = /^[A-Z][A-Za-z]{0,62}$/;
const DATA_KEY = /^(?!\.\.|\.$)[-._a-zA-Z0-9]{1,253}$/;
/** Largest length of a name: 253 in Kubernetes, but a file's name has 255 bytes, and `.json.tmp` needs nine of them. */
const MAX_NAME = 246;

export const isNamespaceName = (text: string): boolean => LABEL.test(text);
export const isObjectName = (text: string): boolean => text.length <= MAX_NAME && SUBDOMAIN.test(text);
export const isDataKey = (text: string): boolean => DATA_KEY.test(text);

/** Returns the path of an object's file below `root`: `<namespace or _cluster>/<Kind>/<name>.json`. */
export function objectFile(root: string, { kind, namespace, name }: ObjectRef): string {
  return join(
    root,
    namespace === "" ? CLUSTER_SCOPE : checked("namespace", isNamespaceName, namespace),
    checked("kind", (text) => KIND.test(text), kind),
    `${checked("name", isObjectName, name)}.json`,
  );
}

/** True if a folder below an object root is one of ours. */
export const isObjectFolder = (folder: string): boolean => folder === CLUSTER_SCOPE || isNamespaceName(folder);
/** Returns the namespace that a folder below an object root stands for. */
export const namespaceOfFolder = (folder: string): string => (folder === CLUSTER_SCOPE ? "" : folder);

/** Returns the path of a Secret below `root`: `<namespace>/<name>`. */
export function secretFolder(root: string, namespace: string, name: string): string {
  return join(root, checked("namespace", isNamespaceName, namespace), checked("name", isObjectName, name));
}

/** Returns the path of a data key in a Secret's folder. */
export const dataKeyPath = (folder: string, key: string): string => join(folder, checked("data key", isDataKey, key));

function checked(what: string, isValid: (text: string) => boolean, text: string): string {
  if (!isValid(text)) throw new Error(`${JSON.stringify(text)} is no ${what} that a file can be named after`);
  return text;
}
