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
import { gatewayWarnings, warningsFor } from "./warnings.ts";

/** A declaration that is valid as far as can be checked without a cluster, with the schema's defaults filled in. */
type Declaration<K extends Kind = Kind> = {
  [P in K]: {
    readonly kind: P;
    readonly namespace: string;
    readonly name: string;
    readonly spec: Spec<P>;
    /** Id of the key to take over, as in `DeclaredObject` of the cluster. */
    readonly takeOver: string | null;
    readonly labels: Labels;
  };
}[K];

/** A core Secret of a folder of manifests, with its data in clear: never logged. */
export type SecretManifest = {
  readonly kind: "Secret";
  readonly namespace: string;
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
};

export type Manifest = Declaration | SecretManifest;

/** Result of reading a document: `manifest` is undefined if there is an error among the findings. */
export type ReadManifest = {
  /** Identity that the document states, if it can be read; a faulty document may have one too. */
  readonly identity: ManifestIdentity | undefined;
  readonly manifest: Manifest | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Reads one document as admission would: schema, CEL rules and names, unknown fields refused. The controller checks
 * what
 * depends on other objects (references, teams).
 *
 * @param old the spec of the stored object of this name, if there is one: the transition rules are checked against it
 * @param now milliseconds since the epoch, for warnings about times in the past; without it there are none
 * @param mayBeUnread true if SOPS-encrypted values of such a kind may stay unread: a note then says so, and there is no
 * manifest; otherwise they are at fault. The kind is undefined if it is encrypted too
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

/** Checks a manifest that is partly encrypted, without the rules: these compare values. */
function clearFaults(kind: Kind | "Secret", value: Readonly<Record<string, unknown>>): Complaint[] {
  return kind === "Secret"
    ? readSecretData(withClearData(value)).complaints
    : checkSchema(kind, structuredClone({ ...value }));
}

const WARNINGS = { of: "key", severity: "warning" } as const;

/** Returns warnings about valid declarations whose author hardly meant them. */
function adviceOn(manifest: Manifest, now: number | undefined): Complaint[] {
  if (manifest.kind === "ModelGateway") return gatewayWarnings(manifest.spec);
  if (manifest.kind !== "PlatformKey") return [];
  return [...warningsFor(manifest.spec, now), ...takeOverWarnings(manifest.spec, manifest.takeOver)];
}

/** Returns a spec as the API server stores it: a spec that was declared before a default existed lacks that default. */
function withDefaults(kind: Kind, spec: object): unknown {
  const stored: Record<string, unknown> = structuredClone({ spec });
  checkSchema(kind, stored);
  return stored.spec;
}

/** Turns complaints into findings with a position, and a document without an error into a manifest. */
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
  // The schema has checked the body: the one place that casts it to its type.
  return { identity, manifest: valid ? ({ ...identity, ...body } as Manifest) : undefined, diagnostics };
}
