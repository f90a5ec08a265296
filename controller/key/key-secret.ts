import { hash } from "node:crypto";
import { type DeclaredKey, isSecretCollected } from "../../domain/key/declaration/declared-key.ts";
import type { AlteredSecret, ObservedSecret, SecretField } from "../../domain/key/observed/observed-key.ts";
import { keyDigest } from "../../domain/key/secret/key-format.ts";
import { type Endpoints, renderSecretData } from "../../domain/key/secret/secret-template.ts";
import type { StoredKey } from "../../domain/key/stored/stored-key.ts";
import { PREFERRED_API_VERSION } from "../../domain/kinds/kinds.ts";
import type { LoadedKey } from "../../store/keys/rows/key-rows.ts";
import {
  type DeclaredObject,
  KEY_ID_ANNOTATION,
  KEY_LABEL,
  KEY_VERSION_ANNOTATION,
  OWNER_ANNOTATION,
  type SecretDraft,
  type SecretObject,
} from "../cluster/port.ts";
import type { AlteredWrite, Delivered } from "./key-memory.ts";

/** Inputs that decide what a key's Secret should be. A key's Secret is the Secret that its declaration names. */
export type SecretContext = {
  readonly object: DeclaredObject<"PlatformKey">;
  readonly declared: DeclaredKey;
  /** Key as the plan has it, with what is recorded of its Secret. */
  readonly stored: LoadedKey | undefined;
  /** Addresses that the Secret's template may write. */
  readonly endpoints: Endpoints;
};

type VersionName = { readonly keyId: string; readonly number: number };

/** Returns the whole Secret that delivers a version, as the declaration wants it. */
export function draftSecret(
  { object, declared, endpoints }: SecretContext,
  plaintext: string,
  version: VersionName,
): SecretDraft {
  return {
    namespace: object.namespace,
    name: declared.secret.name,
    data: renderSecretData(plaintext, declared, endpoints),
    labels: { [KEY_LABEL]: object.name },
    annotations: { [KEY_ID_ANNOTATION]: version.keyId, [KEY_VERSION_ANNOTATION]: String(version.number) },
    owner: declared.secret.deleteWithKey
      ? {
          apiVersion: PREFERRED_API_VERSION,
          uid: object.uid,
          name: object.name,
          byReference: isSecretCollected(declared),
        }
      : null,
  };
}

/**
 * Returns what a plan may know of a Secret as it was read. The Secret is ours by the owner that it names. If no owner
 * reference names another, it is ours by its content, a secret that was minted for a key of this name, or, if it is
 * declared to outlive its key, by the key id it carries. Its digest alone decides that a value is ours (I3).
 *
 * @param isOurs true if it is ours whatever owner it names: by its content, or since we have just written it
 */
export function observedSecret(
  secret: SecretObject | undefined,
  isOurs: boolean,
  context: SecretContext,
): ObservedSecret {
  const { object, declared, stored } = context;
  if (secret === undefined) return { state: "absent" };
  const owned = secret.owner?.uid === object.uid;
  const carriesId = stored !== undefined && secret.annotations[KEY_ID_ANNOTATION] === stored.id;
  const unowned = mayBeUnowned(secret) && (isOurs || (carriesId && !declared.secret.deleteWithKey));
  if (!owned && !unowned) return { state: "unmanaged" };
  const value = secret.data[declared.secret.dataKey];
  const holds = value === undefined ? "nothing" : (versionHolding(value, stored)?.number ?? "unknown");
  return {
    state: "ours",
    holds,
    immutable: secret.immutable,
    owned,
    collected: owned && secret.owner?.byReference === true,
    deleting: secret.deleting,
    rendered:
      value === undefined ||
      stored === undefined ||
      typeof holds === "string" ||
      changedFields(secret, draftSecret(context, value, { keyId: stored.id, number: holds })).length === 0,
  };
}

/** True if a Secret is no other declaration's by an owner reference: an annotation outlives its declaration. */
export function mayBeUnowned({ owner }: SecretObject): boolean {
  return owner?.byReference !== true;
}

/** Fields that name the owner of a Secret. */
const OWNER_REFERENCES: SecretField = "metadata.ownerReferences";
const OWNER_FIELD: SecretField = `metadata.annotations[${OWNER_ANNOTATION}]`;

/** Placeholder for the key, for comparing the rest of a Secret. */
const NO_KEY = "";

/**
 * Returns what is remembered of a Secret that the cluster answered with; undefined unless it is ours and as declared.
 */
export function deliveredAs(
  secret: SecretObject,
  observed: ObservedSecret,
  context: SecretContext,
): Delivered | undefined {
  const { stored } = context;
  if (stored === undefined || observed.state !== "ours" || !observed.rendered) return undefined;
  const version = stored.versions.find(({ number }) => number === observed.holds);
  if (version === undefined) return undefined;
  const { resourceVersion } = secret;
  const content = contentOf(context, { keyId: stored.id, number: version.number });
  return { resourceVersion, digest: version.digest, content, marks: secret.marks };
}

/**
 * Returns the state of a Secret that is unchanged since it was remembered; undefined if its declaration has changed.
 */
export function observeDelivered({ digest, content }: Delivered, context: SecretContext): ObservedSecret | undefined {
  const { declared, stored } = context;
  const version = stored?.versions.find((one) => one.digest === digest);
  if (stored === undefined || version === undefined) return undefined;
  if (contentOf(context, { keyId: stored.id, number: version.number }) !== content) return undefined;
  const { deleteWithKey } = declared.secret;
  // That it is immutable, or being deleted, matters only to a write or a deletion, which are decided by a read.
  return {
    ...{ state: "ours", holds: version.number, rendered: true, owned: deleteWithKey },
    ...{ collected: isSecretCollected(declared), immutable: false, deleting: false },
  };
}

function contentOf(context: SecretContext, version: VersionName): string {
  const draft = draftSecret(context, NO_KEY, version);
  return hash("sha256", JSON.stringify(draft), "base64url");
}

/**
 * Returns what something else has changed of a Secret: of what was written, as the answer shows it, or since the Secret
 * was last as it is declared now. undefined if nothing was changed.
 *
 * @param before the Secret as it was read before it was written; undefined for a new Secret
 * @param version the number of the version that was written
 * @param writtenAt milliseconds since the epoch, by the database's clock
 */
export function alteredWrite(
  context: SecretContext & { readonly stored: LoadedKey },
  { draft, before, written }: SecretWrite,
  version: number,
  writtenAt: number,
): AlteredWrite | undefined {
  const { stored } = context;
  const content = contentOf(context, { keyId: stored.id, number: version });
  const answered = changedFields(written, draft);
  const isShownInAnswer = answered.length > 0;
  const isPutRight = before !== undefined && stored.secretFound?.content === content;
  const fields = !isShownInAnswer && isPutRight ? changedFields(before, draft) : answered;
  if (fields.length === 0) return undefined;
  return { version, fields, isShownInAnswer, writtenAt, content, secretUid: written.uid };
}

/** Write of a Secret: the draft that was sent, the Secret that it replaced, and the Secret of the answer. */
export type SecretWrite = {
  readonly draft: SecretDraft;
  readonly before: SecretObject | undefined;
  readonly written: SecretObject;
};

/**
 * Returns what is known of the last write of a Secret: null if nothing else changed it, or if something else is
 * declared by now. If the Secret holds the written version, the fields are those of the Secret as it is now.
 *
 * @param secret the Secret as it was read; undefined if it was not read, or is gone
 */
export function observeAltered(
  altered: AlteredWrite | undefined,
  context: SecretContext,
  secret: SecretObject | undefined,
): AlteredSecret | null {
  const { declared, stored } = context;
  if (altered === undefined || stored === undefined) return null;
  const version = { keyId: stored.id, number: altered.version };
  if (contentOf(context, version) !== altered.content) return null;
  const value = secret?.data[declared.secret.dataKey];
  if (secret === undefined || value === undefined) return altered;
  if (versionHolding(value, stored)?.number !== version.number) return altered;
  return { ...altered, fields: changedFields(secret, draftSecret(context, value, version)) };
}

/** Returns the version whose secret a value is; undefined if there is none. */
function versionHolding(value: string, key: StoredKey | undefined) {
  const digest = keyDigest(value);
  return key?.versions.find((version) => version.digest === digest);
}

/**
 * Returns the fields of a Secret that are not as declared. Labels and annotations that others add are theirs. An
 * immutable Secret is not made anew only because its owner is named by another API version.
 */
function changedFields(read: SecretObject, wanted: SecretDraft): SecretField[] {
  const changed = (want: Readonly<Record<string, string>>, have: Readonly<Record<string, string>>) =>
    Object.keys(want).filter((name) => have[name] !== want[name]);
  const hasMore = Object.keys(read.data).some((name) => !Object.hasOwn(wanted.data, name));
  const isOwnerKept =
    read.owner?.uid === wanted.owner?.uid &&
    read.owner?.byReference === wanted.owner?.byReference &&
    (read.immutable || read.owner?.apiVersion === wanted.owner?.apiVersion);
  return [
    ...changed(wanted.data, read.data).map((name) => `data[${name}]` as const),
    ...(hasMore ? (["data"] as const) : []),
    ...changed(wanted.labels, read.labels).map((name) => `metadata.labels[${name}]` as const),
    ...changed(wanted.annotations, read.annotations).map((name) => `metadata.annotations[${name}]` as const),
    ...(isOwnerKept ? [] : [read.owner?.byReference || wanted.owner?.byReference ? OWNER_REFERENCES : OWNER_FIELD]),
  ];
}
