import { SCHEMAS } from "../../kinds/generated/schemas.ts";
import type { Kind, Spec } from "../../kinds/kinds.ts";
import { type Complaint, type Diagnostic, listDiagnostics } from "../document/diagnostic.ts";
import { encryptedComplaint, ofClearValues, withClearData, withoutSops } from "../document/encrypted.ts";
import { isRecord, type ManifestIdentity, readManifestIdentity } from "../document/identity.ts";
import type { Labels } from "../document/labels.ts";
import type { ManifestDocument } from "../document/parse.ts";
import { checkRules } from "./rules.ts";
import { checkSchema } from "./schema-check.ts";
import { readSecretData } from "./secret-manifest.ts";
import { takeOverOf, takeOverWarnings } from "./take-over-annotation.ts";
import { upstreamWarnings, warningsFor } from "./warnings.ts";

/** A declaration that is valid as far as can be checked without a cluster, with the schema's defaults filled in. */
type Declaration<K extends Kind = Kind> = {
  [P in K]: {
    readonly kind: P;
    readonly namespace: string;
    readonly name: string;
    readonly spec: Spec<P>;
    /** As `DeclaredObject` of the cluster has it. */
    readonly takeOver: string | null;
    readonly labels: Labels;
  };
}[K];

/** A core Secret of a folder of manifests, its data in clear: never logged. */
export type SecretManifest = {
  readonly kind: "Secret";
  readonly namespace: string;
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
};

export type Manifest = Declaration | SecretManifest;

/** A document as it was read: `manifest` is undefined when there is an error among the faults. */
export type ReadManifest = {
  /** What the document calls itself, where that can be read; a faulty document may have one too. */
  readonly identity: ManifestIdentity | undefined;
  readonly manifest: Manifest | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Reads one document as admission would: schema, CEL rules and names, unknown fields refused. What needs other objects
 * (references, teams) is the controller's to say.
 *
 * @param old the spec of the stored object of this name, where there is one: the transition rules are checked with it
 * @param now milliseconds since the epoch, for warnings of what is over; without it there are none
 * @param mayBeUnread whether values of such a kind that SOPS has encrypted may stay unread: a note says so, and there is
 *   no manifest; without it they are at fault. The kind is undefined where it is encrypted too
 */
export function readManifest(
  document: ManifestDocument,
  old?: object,
  now?: number,
  mayBeUnread: (kind: Kind | "Secret" | undefined) => boolean = () => false,
): ReadManifest {
  if (!isRecord(document.value)) {
    const message = "this is no manifest: write apiVersion, kind, metadata and spec";
    return conclude(document, undefined, [{ path: [], message }], undefined);
  }
  const encryption = withoutSops(document.value);
  const { manifest: value, encrypted } = encryption;
  const { kind, identity, complaints } = readManifestIdentity(value);
  if (encrypted.length > 0) {
    const all = [...complaints, ...(kind === undefined ? [] : clearFaults(kind, value))];
    const unread = encryptedComplaint(encryption, mayBeUnread(kind));
    return {
      ...conclude(document, identity, [...ofClearValues(all, encrypted), ...unread], undefined),
      manifest: undefined,
    };
  }
  if (kind === undefined) return conclude(document, identity, complaints, undefined);
  if (kind === "Secret") {
    const { data, complaints: more } = readSecretData(value);
    return conclude(document, identity, [...complaints, ...more], { data });
  }
  if (value.status !== undefined) {
    const message = "has no effect in a manifest: remove it";
    complaints.push({ path: ["status"], of: "key", severity: "warning", message });
  }
  const copy = structuredClone({ ...value });
  complaints.push(...checkSchema(kind, copy));
  const oldSelf = old && { metadata: copy.metadata, spec: withDefaults(kind, old) };
  complaints.push(...checkRules(SCHEMAS[kind], { metadata: copy.metadata, spec: copy.spec }, oldSelf, complaints));
  const { metadata, spec: declared } = copy;
  const labels = (isRecord(metadata) && metadata.labels) || {};
  const read = conclude(document, identity, complaints, {
    ...{ spec: declared, takeOver: takeOverOf(kind, metadata), labels },
  });
  if (read.manifest === undefined) return read;
  const advice = adviceOn(read.manifest, now).map(({ path, message }) => document.diagnostic(path, message, WARNINGS));
  return { ...read, diagnostics: listDiagnostics([...read.diagnostics, ...advice]) };
}

/** What can be said of a manifest of which not all can be read: rules compare values. */
function clearFaults(kind: Kind | "Secret", value: Readonly<Record<string, unknown>>): Complaint[] {
  return kind === "Secret"
    ? readSecretData(withClearData(value)).complaints
    : checkSchema(kind, structuredClone({ ...value }));
}

const WARNINGS = { of: "key", severity: "warning" } as const;

/** What admission lets through, and its author will hardly have meant. */
function adviceOn(manifest: Manifest, now: number | undefined): Complaint[] {
  if (manifest.kind === "ModelGateway") return upstreamWarnings(manifest.spec);
  if (manifest.kind !== "PlatformKey") return [];
  return [...warningsFor(manifest.spec, now), ...takeOverWarnings(manifest.spec, manifest.takeOver)];
}

/** A spec as the API server stores it: one that was declared before a default came to be lacks it. */
function withDefaults(kind: Kind, spec: object): unknown {
  const stored: Record<string, unknown> = structuredClone({ spec });
  checkSchema(kind, stored);
  return stored.spec;
}

/** Complaints become faults with a place, and a document without an error becomes a manifest. */
function conclude(
  document: ManifestDocument,
  identity: ManifestIdentity | undefined,
  complaints: readonly Complaint[],
  body: { spec: unknown; takeOver: string | null; labels: unknown } | Pick<SecretManifest, "data"> | undefined,
): ReadManifest {
  const diagnostics = listDiagnostics(
    complaints.map(({ path, message, ...options }) => document.diagnostic(path, message, options)),
  );
  const valid = identity !== undefined && !diagnostics.some(({ severity }) => severity === "error");
  // What the schema has checked becomes its type here and nowhere else.
  return { identity, manifest: valid ? ({ ...identity, ...body } as Manifest) : undefined, diagnostics };
}
