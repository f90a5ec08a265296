import { hash } from "node:crypto";
import type { DeclaredKey } from "../../domain/key/declaration/declared-key.ts";
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
  type SecretDraft,
  type SecretObject,
} from "../cluster/port.ts";
import type { AlteredWrite, Delivered } from "./key-memory.ts";

/** A key's Secret is the one that its declaration names; these decide what it should be. */
export type SecretContext = {
  readonly object: DeclaredObject<"PlatformKey">;
  readonly declared: DeclaredKey;
  /** The key as the plan has it, with what is recorded of its Secret. */
  readonly stored: LoadedKey | undefined;
  /** What the Secret's template writes of addresses. */
  readonly endpoints: Endpoints;
};

type VersionName = { readonly keyId: string; readonly number: number };

/** The Secret that delivers a version: the whole of it, as the declaration wants it. */
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
      ? { apiVersion: PREFERRED_API_VERSION, uid: object.uid, name: object.name }
      : null,
  };
}

/**
 * What a plan may know of a Secret as it was read. It is ours by its owner reference; where it has none, by what it
 * holds, a secret that was minted for a key of this name, or, where it is declared to outlive its key, by the key id it
 * carries. That a value is ours is decided by its digest alone (I3).
 *
 * @param isOurs whether it is ours also without an owner reference: by what it holds, or since we have just written it
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
  const unowned = secret.owner === null && (isOurs || (carriesId && !declared.secret.deleteWithKey));
  if (!owned && !unowned) return { state: "unmanaged" };
  const value = secret.data[declared.secret.dataKey];
  const holds = value === undefined ? "nothing" : (versionHolding(value, stored)?.number ?? "unknown");
  return {
    state: "ours",
    holds,
    immutable: secret.immutable,
    owned,
    deleting: secret.deleting,
    rendered:
      value === undefined ||
      stored === undefined ||
      typeof holds === "string" ||
      changedFields(secret, draftSecret(context, value, { keyId: stored.id, number: holds })).length === 0,
  };
}

/** Stands for the key where what surrounds it is compared. */
const NO_KEY = "";

/** What is remembered of a Secret that was answered: undefined unless it is ours and as declared. */
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

/** What a Secret that has not changed since is now: undefined where something else is declared of it by now. */
export function observeDelivered({ digest, content }: Delivered, context: SecretContext): ObservedSecret | undefined {
  const { declared, stored } = context;
  const version = stored?.versions.find((one) => one.digest === digest);
  if (stored === undefined || version === undefined) return undefined;
  if (contentOf(context, { keyId: stored.id, number: version.number }) !== content) return undefined;
  const { deleteWithKey } = declared.secret;
  // Whether it is immutable, or goes, matters to what would write to it, or delete it, and that is decided by a read.
  return {
    ...{ state: "ours", holds: version.number, rendered: true, owned: deleteWithKey },
    ...{ immutable: false, deleting: false },
  };
}

function contentOf(context: SecretContext, version: VersionName): string {
  const draft = draftSecret(context, NO_KEY, version);
  return hash("sha256", JSON.stringify(draft), "base64url");
}

/**
 * What something else has changed of a Secret: of what was written, as the answer shows it; or since it was last as it
 * is declared now. Undefined where nothing has.
 *
 * @param before the Secret as it was read before it was written; undefined for a new one
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
  const isAnswered = answered.length > 0;
  const isPutRight = before !== undefined && stored.secretFound?.content === content;
  const fields = !isAnswered && isPutRight ? changedFields(before, draft) : answered;
  if (fields.length === 0) return undefined;
  return { version, fields, isAnswered, writtenAt, content, secretUid: written.uid };
}

/** A write of a Secret: what was sent, over what, and what was answered. */
export type SecretWrite = {
  readonly draft: SecretDraft;
  readonly before: SecretObject | undefined;
  readonly written: SecretObject;
};

/**
 * What is known of the last write of a Secret: null where nothing was changed by something else, or something else is
 * declared by now. Where its key stands in it, its fields are those of the Secret as it is now.
 *
 * @param secret as it was read; undefined where it was not, or is gone
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

/** The version whose secret a value is. */
function versionHolding(value: string, key: StoredKey | undefined) {
  const digest = keyDigest(value);
  return key?.versions.find((version) => version.digest === digest);
}

/**
 * The fields of a Secret that are not as declared; what others add to its labels and annotations is theirs. An immutable
 * one is not made anew for the version alone by which its owner is named.
 */
function changedFields(read: SecretObject, wanted: SecretDraft): SecretField[] {
  const changed = (want: Readonly<Record<string, string>>, have: Readonly<Record<string, string>>) =>
    Object.keys(want).filter((name) => have[name] !== want[name]);
  const hasMore = Object.keys(read.data).some((name) => !Object.hasOwn(wanted.data, name));
  const isOwnerKept =
    read.owner?.uid === wanted.owner?.uid && (read.immutable || read.owner?.apiVersion === wanted.owner?.apiVersion);
  return [
    ...changed(wanted.data, read.data).map((name) => `data[${name}]` as const),
    ...(hasMore ? (["data"] as const) : []),
    ...changed(wanted.labels, read.labels).map((name) => `metadata.labels[${name}]` as const),
    ...changed(wanted.annotations, read.annotations).map((name) => `metadata.annotations[${name}]` as const),
    ...(isOwnerKept ? [] : (["metadata.ownerReferences"] as const)),
  ];
}
