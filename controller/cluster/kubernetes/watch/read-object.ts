/** Reads objects of the API server into the form of the port. */

import { isDeepStrictEqual } from "node:util";
import { findCondition } from "../../../../domain/conditions.ts";
import { recordedLabels } from "../../../../domain/key/declaration/recorded-labels.ts";
import { isKeyId } from "../../../../domain/key/stored/key-id.ts";
import { SCHEMAS } from "../../../../domain/kinds/generated/schemas.ts";
import { API_VERSION, isClusterScoped, type Kind } from "../../../../domain/kinds/kinds.ts";
import type { Schema } from "../../../../domain/kinds/schema.ts";
import { type Complaint, formatPath } from "../../../../domain/manifest/document/diagnostic.ts";
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import type { Labels } from "../../../../domain/manifest/document/labels.ts";
import type { ManifestDocument } from "../../../../domain/manifest/document/parse.ts";
import { takeOverOf } from "../../../../domain/manifest/validation/take-over-annotation.ts";
import { type ReadManifest, readManifest } from "../../../../domain/manifest/validation/validate.ts";
import { type DeclaredObject, FINALIZER, type ObjectRef, type ObjectStatus } from "../../port.ts";

/**
 * Object, and what is wrong with its spec: then it is not to be worked on, and what it stands for stays as it is, unless
 * {@link DeclaredObject.isUnread}.
 */
export type CheckedObject = { readonly object: DeclaredObject; readonly problem: string | undefined };

/** Smallest valid spec of each kind. Removing what an object stands for needs no more than its policies. */
const LEAST: Readonly<Record<Kind, Record<string, unknown>>> = {
  PlatformKey: { scopes: ["memory:read"] },
  PlatformTeam: {},
  PlatformKeyPolicy: { teamSelector: {}, maxKeys: 1 },
  ModelGateway: {
    upstreams: [{ name: "none", dialect: "openai", baseURL: "https://none.invalid" }],
  },
  MemoryLibrary: {},
};

/** Fields of a spec that say whether and how what it stands for ends: kept if they are valid. */
const ENDINGS = ["state", "deletionPolicy", "deletionProtection", "secret", "publicID"];

/** Largest number of an object's finalizers that are kept, besides ours: a tenant may write any number. */
const MAX_FINALIZERS = 16;

/**
 * Reads an object. Its spec was valid when it was stored, by the schema of that day. New defaults are filled in. Fields
 * that this version does not know are left out, as is a display name that it refuses. What else is not valid by this
 * version is a problem, unless the object is being removed ({@link asDeleted}). A spec that a controller accepted before
 * is not judged by rules that came later.
 *
 * @param known returns the object as it was last read: a spec that is the same is not judged again
 * @throws Error for what is no object of a kind of ours
 */
export function readDeclaredObject(
  kind: Kind,
  raw: unknown,
  known: (ref: ObjectRef) => CheckedObject | undefined = () => undefined,
): CheckedObject {
  const { metadata, spec, status } = isRecord(raw) ? raw : {};
  if (!isRecord(metadata)) throw new Error(`the API server gave a ${kind} without metadata`);
  const ref = { kind, namespace: textOf(metadata.namespace), name: textOf(metadata.name) };
  const deleting = metadata.deletionTimestamp !== undefined;
  const rest = {
    ...ref,
    uid: textOf(metadata.uid),
    generation: typeof metadata.generation === "number" ? metadata.generation : 0,
    resourceVersion: textOf(metadata.resourceVersion),
    createdAt: Date.parse(textOf(metadata.creationTimestamp)),
    deleting,
    finalizers: keptFinalizers(finalizersOf(raw)),
    takeOver: keptTakeOver(takeOverOf(kind, metadata)),
    labels: labelsOf(kind, metadata),
    status: isRecord(status) ? (status as ObjectStatus) : undefined,
  };
  const before = known(ref);
  if (before !== undefined && before.problem === undefined && isDeepStrictEqual(spec, before.object.spec)) {
    return { object: { ...rest, spec: before.object.spec }, problem: undefined };
  }
  const read = readSpec(ref, spec, wasTaken(rest) && isRecord(spec) ? spec : undefined);
  if (read.spec !== undefined) return { object: { ...rest, spec: read.spec }, problem: undefined };
  const isUnread = kind === "PlatformKey" ? { isUnread: true as const } : {};
  const unread = { object: { ...rest, spec: ending(ref, spec), ...isUnread }, problem: read.problem };
  return deleting ? asDeleted(unread) : unread;
}

/**
 * Returns an object as it is read while it is being deleted. What is wrong with its spec does not matter then, unless a
 * protected key waits: what is kept of the spec is not what that key may do meanwhile.
 */
export function asDeleted({ object: { isUnread, ...object }, problem }: CheckedObject): CheckedObject {
  const deleted = { ...object, deleting: true };
  const isProtected = "deletionProtection" in object.spec && object.spec.deletionProtection === true;
  return isUnread && isProtected
    ? { object: { ...deleted, isUnread }, problem }
    : { object: deleted, problem: undefined };
}

type Ref = Pick<DeclaredObject, "kind" | "namespace" | "name">;

/** True if a controller found this generation of the spec valid. */
function wasTaken({ status, generation }: Pick<DeclaredObject, "status" | "generation">): boolean {
  const accepted = findCondition(status?.conditions, "Accepted");
  return status?.observedGeneration === generation && accepted !== undefined && accepted.reason !== "Invalid";
}

/** @param taken this spec, if a controller has accepted it before */
function readSpec(
  ref: Ref,
  spec: unknown,
  taken?: object,
): { spec: DeclaredObject["spec"] } | { spec: undefined; problem: string } {
  const first = readManifest(documentOf(ref, spec), taken);
  if (first.manifest !== undefined && first.manifest.kind !== "Secret") return { spec: first.manifest.spec };
  const schema = SCHEMAS[ref.kind].properties?.spec;
  // Without this, a rule that this version does not know would be dropped silently.
  const isWhole = schema === undefined || ref.kind === "PlatformKeyPolicy";
  const known = isWhole ? spec : withKnownFields(schema, spec);
  const { manifest, diagnostics } = readManifest(documentOf(ref, isNameRefused(first) ? unnamed(known) : known), taken);
  if (manifest !== undefined && manifest.kind !== "Secret") return { spec: manifest.spec };
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return { spec: undefined, problem: errors.map(({ path, message }) => `${path}: ${message}`).join("; ") };
}

/**
 * True if the display name is refused. It is for people alone: a stored name holds up no revocation that is declared
 * beside it.
 */
function isNameRefused({ diagnostics }: ReadManifest): boolean {
  return diagnostics.some(({ severity, path }) => severity === "error" && path === "spec.displayName");
}

function unnamed(spec: unknown): unknown {
  if (!isRecord(spec)) return spec;
  const { displayName: _, ...rest } = spec;
  return rest;
}

/**
 * Returns what of an invalid spec says how its object ends. The object's name is not judged: it may be what is invalid.
 */
function ending({ kind }: Ref, spec: unknown): DeclaredObject["spec"] {
  const ref = { kind, namespace: isClusterScoped(kind) ? "" : "any", name: "any" };
  let kept = LEAST[kind];
  for (const [field, value] of Object.entries(isRecord(spec) ? spec : {})) {
    const more = { ...kept, [field]: value };
    if (ENDINGS.includes(field) && readSpec(ref, more).spec !== undefined) kept = more;
  }
  const read = readSpec(ref, kept);
  if (read.spec === undefined) throw new Error(`the least ${kind} is not valid: ${read.problem}`);
  return read.spec;
}

/** Returns the object as a manifest, without what the cluster adds to it. */
function documentOf({ kind, namespace, name }: Ref, spec: unknown): ManifestDocument {
  const metadata = { name, ...(namespace === "" ? {} : { namespace }) };
  return {
    file: "",
    value: { apiVersion: API_VERSION, kind, metadata, spec },
    diagnostic: (path, message, { severity = "error" }: Partial<Complaint> = {}) => ({
      severity,
      file: "",
      line: 1,
      column: 1,
      path: formatPath(path),
      message,
    }),
  };
}

function withKnownFields(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value))
    return schema.items ? value.map((item) => withKnownFields(schema.items as Schema, item)) : value;
  if (!isRecord(value) || schema.properties === undefined) return value;
  const known = Object.entries(schema.properties).filter(([name]) => value[name] !== undefined);
  return Object.fromEntries(known.map(([name, field]) => [name, withKnownFields(field, value[name])]));
}

/**
 * Returns the labels that are kept: all of a team's, since policies select it by them; of a tenant's own objects, those
 * that are recorded.
 */
function labelsOf(kind: Kind, { labels }: Readonly<Record<string, unknown>>): Labels {
  const texts = Object.entries(isRecord(labels) ? labels : {}).filter(([, value]) => typeof value === "string");
  const all = Object.fromEntries(texts) as Labels;
  return isClusterScoped(kind) ? all : recordedLabels(all);
}

/**
 * Returns the id of a key to take over, or "" for a text that is no key's id: it is refused as such, and may be as long
 * as its tenant likes.
 */
function keptTakeOver(named: string | null): string | null {
  return named === null || isKeyId(named) ? named : "";
}

/** Returns all finalizers of an object, as the API server answers it. */
export function finalizersOf(raw: unknown): readonly string[] {
  const { metadata } = isRecord(raw) ? raw : {};
  const { finalizers } = isRecord(metadata) ? metadata : {};
  return Array.isArray(finalizers) ? finalizers.filter((one) => typeof one === "string") : [];
}

/** Returns all finalizers if they are few; else ours, and some of the others. */
function keptFinalizers(all: readonly string[]): readonly string[] {
  if (all.length <= MAX_FINALIZERS) return all;
  const some = all.filter((one) => one !== FINALIZER).slice(0, MAX_FINALIZERS);
  return all.includes(FINALIZER) ? [...some, FINALIZER] : some;
}

/** True if an object may have more finalizers than were kept of it. */
export function mayHaveMoreFinalizers({ finalizers }: Pick<DeclaredObject, "finalizers">): boolean {
  return finalizers.length >= MAX_FINALIZERS;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
