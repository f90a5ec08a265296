/**
 * Secrets of the API server: read by GET and never kept, written under exactly the uid and resourceVersion that were
 * read.
 */
import { PREFERRED_API_VERSION } from "../../../../domain/kinds/kinds.ts";
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import { secretData } from "../../../../domain/secret-data.ts";
import {
  ClusterError,
  KEY_LABEL,
  OWNER_ANNOTATION,
  type SecretDraft,
  type SecretObject,
  type SecretOwner,
} from "../../port.ts";
import { titleOf } from "../../titles.ts";
import type { ApiClient } from "../api/api-client.ts";
import { ApiError, isConflict, isNotFound, readError, writeError } from "../api/api-error.ts";
import { secretPath, secretResource, secretsPath } from "../resources.ts";
import { admissionRefusal } from "./admission-refusal.ts";
import { invalidSecret } from "./invalid-secret.ts";
import type { SecretChanges } from "./secret-changes.ts";
import { secretMarks } from "./secret-marks.ts";

export type KubernetesSecrets = {
  read(namespace: string, name: string): Promise<SecretObject | undefined>;
  create(draft: SecretDraft): Promise<SecretObject>;
  replace(read: SecretObject, draft: SecretDraft): Promise<SecretObject>;
  remove(read: SecretObject): Promise<void>;
};

/** Parts of a Secret that the port does not have: they are others', and are written back as they were. */
type Others = {
  readonly metadata: Record<string, unknown>;
  readonly owners: readonly unknown[];
  readonly type: unknown;
  /** Data as it was read, in base64: some of it may be no text (threats b470). */
  readonly data: unknown;
};

const NO_OTHERS: Others = { metadata: {}, owners: [], type: "Opaque", data: undefined };

/**
 * @param changes notified of each version that is read or written
 * @param confirm rejects if another cluster answers, which has none of our Secrets
 */
export function createSecrets(
  api: ApiClient,
  fieldManager: string,
  changes: Pick<SecretChanges, "seen" | "forbidden" | "writing">,
  confirm: () => Promise<void> = async () => {},
): KubernetesSecrets {
  const others = new WeakMap<SecretObject, Others>();

  function take(raw: unknown): SecretObject {
    const { secret, rest } = readSecret(raw, fieldManager);
    others.set(secret, rest);
    changes.seen(secret.namespace, secret.name, secret.resourceVersion);
    return secret;
  }

  async function read(namespace: string, name: string): Promise<SecretObject | undefined> {
    const ref = { namespace, name };
    try {
      return take(await api.request({ method: "GET", path: secretPath(ref) }));
    } catch (error) {
      if (isNotFound(error, secretResource(name))) {
        await confirm();
        changes.seen(namespace, name, null);
        return undefined;
      }
      const failed = readError(error, `reading ${title(ref)}`);
      if (failed instanceof ClusterError && failed.code === "Forbidden") changes.forbidden(namespace, name);
      throw failed;
    }
  }

  async function create(draft: SecretDraft): Promise<SecretObject> {
    const { namespace, name, labels } = draft;
    const annotations = { ...draft.annotations, ...ownerAnnotation(draft) };
    const metadata = { namespace, name, labels, annotations, ownerReferences: ownerReferences(draft, []) };
    const path = secretsPath(namespace);
    const body = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: encode(draft.data) };
    try {
      return take(await api.request({ method: "POST", path, query: { fieldManager }, body, isConfidential: true }));
    } catch (error) {
      throw secretWriteError(error, `creating ${title(draft)}`);
    }
  }

  async function replace(secret: SecretObject, draft: SecretDraft): Promise<SecretObject> {
    const { metadata, owners, type, data } = others.get(secret) ?? NO_OTHERS;
    const { namespace, name, uid, resourceVersion, labels, annotations } = secret;
    const body = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        ...metadata,
        namespace,
        name,
        uid,
        resourceVersion,
        labels: { ...labels, ...draft.labels },
        annotations: { ...annotations, ...draft.annotations, ...ownerAnnotation(draft) },
        ownerReferences: ownerReferences(draft, owners),
      },
      type,
      // The metadata of an immutable Secret may change, but it must stay immutable.
      ...(secret.immutable ? { immutable: true } : {}),
      data: (draft.data === secret.data ? data : undefined) ?? encode(draft.data),
    };
    const path = secretPath(secret);
    try {
      return take(await api.request({ method: "PUT", path, query: { fieldManager }, body, isConfidential: true }));
    } catch (error) {
      throw secretWriteError(error, `replacing ${title(secret)}`);
    }
  }

  async function remove(secret: SecretObject): Promise<void> {
    const { uid, resourceVersion } = secret;
    const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid, resourceVersion } };
    try {
      await api.request({ method: "DELETE", path: secretPath(secret), body, isConfidential: true });
    } catch (error) {
      if (isNotFound(error, secretResource(secret.name))) return;
      // A different Secret of the same name means that this Secret is gone.
      if (isConflict(error) && (await read(secret.namespace, secret.name))?.uid !== uid) return;
      throw secretWriteError(error, `deleting ${title(secret)}`);
    }
  }

  /** Does a write while versions that are heard of the Secret meanwhile are not announced as changes. */
  async function writing<T>({ namespace, name }: SecretDraft, write: () => Promise<T>): Promise<T> {
    const written = changes.writing(namespace, name);
    try {
      return await write();
    } finally {
      written();
    }
  }

  return {
    read,
    create: (draft) => writing(draft, () => create(draft)),
    replace: (secret, draft) => writing(secret, () => replace(secret, draft)),
    remove: (secret) => writing(secret, () => remove(secret)),
  };
}

/** @throws ClusterError if the answer is no Secret: the request may have been carried out */
function readSecret(raw: unknown, fieldManager: string): { secret: SecretObject; rest: Others } {
  const { metadata, data, type, immutable } = isRecord(raw) ? raw : {};
  if (!isRecord(metadata) || typeof metadata.name !== "string" || typeof metadata.namespace !== "string") {
    throw new ClusterError("Unclear", "the API server's answer is no Secret");
  }
  const { name, namespace, uid, resourceVersion, labels, annotations, ownerReferences: owners, ...more } = metadata;
  const { finalizers } = more;
  const ownerList = Array.isArray(owners) ? owners : [];
  const reference = ownerList
    .filter(isOurs)
    .sort((a, b) => Number(b.controller === true) - Number(a.controller === true))[0];
  const { [OWNER_ANNOTATION]: annotated, ...otherAnnotations } = texts(annotations);
  return {
    secret: {
      namespace,
      name,
      data: decode(data),
      labels: texts(labels),
      annotations: otherAnnotations,
      owner: referencedOwner(reference) ?? annotatedOwner(annotated, texts(labels)),
      uid: String(uid),
      resourceVersion: String(resourceVersion),
      immutable: immutable === true,
      deleting: metadata.deletionTimestamp !== undefined,
      marks: secretMarks(metadata, fieldManager),
    },
    rest: {
      metadata: finalizers === undefined ? {} : { finalizers },
      owners: ownerList.filter((one) => one !== reference),
      type,
      data,
    },
  };
}

function isOurs(owner: unknown): owner is Record<string, unknown> {
  return isRecord(owner) && owner.kind === "PlatformKey" && String(owner.apiVersion).startsWith("keyplane.dev/");
}

function referencedOwner(reference: Record<string, unknown> | undefined): SecretOwner | undefined {
  if (reference === undefined) return undefined;
  const { apiVersion, uid, name } = reference;
  return { apiVersion: String(apiVersion), uid: String(uid), name: String(name), byReference: true };
}

function annotatedOwner(uid: string | undefined, labels: Readonly<Record<string, string>>): SecretOwner | null {
  if (uid === undefined) return null;
  return { apiVersion: PREFERRED_API_VERSION, uid, name: labels[KEY_LABEL] ?? "", byReference: false };
}

function ownerReferences({ owner }: SecretDraft, others: readonly unknown[]): unknown[] {
  if (owner === null || !owner.byReference) return [...others];
  const { apiVersion, uid, name } = owner;
  const isControlled = others.some((one) => isRecord(one) && one.controller === true);
  return [...others, { kind: "PlatformKey", apiVersion, uid, name, controller: !isControlled }];
}

function ownerAnnotation({ owner }: SecretDraft): Readonly<Record<string, string>> {
  return owner === null || owner.byReference ? {} : { [OWNER_ANNOTATION]: owner.uid };
}

const encode = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));

const decode = (data: unknown) =>
  secretData(Object.entries(texts(data)).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]));

function texts(map: unknown): Record<string, string> {
  const entries = Object.entries(isRecord(map) ? map : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Message of the API server's own authorizer, which names verb, resource and namespace. */
const FORBIDDEN =
  /^secrets( "[^"]*")? is forbidden: User "[^"]*" cannot \w+ resource "secrets" in API group "" in the namespace "[^"]*"/;

/** Pattern for a reason of Kubernetes' own, which is one word; a webhook chooses its own, which may be any text. */
const REASON = /^[A-Z][A-Za-z]{1,30}$/;

/**
 * Returns the error of a failed write. A refusal by an admission control is `Refused` and names it, whatever status it
 * chose. A refusal by the API server's own validation is `Refused` and names the fields. Nothing was written.
 */
function secretWriteError(error: unknown, doing: string): Error {
  const refusal = error instanceof ApiError ? (admissionRefusal(error.message) ?? invalidSecret(error)) : undefined;
  return refusal === undefined
    ? writeError(error, doing, publicMessage)
    : new ClusterError("Refused", `while ${doing}: ${refusal}`);
}

/** Returns what may be said of another answer, whose message may quote the Secret: only the status and its reason. */
function publicMessage({ status, reason, message }: ApiError): string {
  if (status === null || status === 0) return message;
  const word = REASON.test(reason) ? reason : "";
  return FORBIDDEN.exec(message)?.[0] ?? `the API server answered ${status} ${word}`.trim();
}

const title = (ref: { namespace: string; name: string }) => titleOf({ kind: "Secret", ...ref });
