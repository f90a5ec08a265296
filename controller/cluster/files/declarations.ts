/** What the manifests declare, taken together: from parsed files to valid specs and faults, without any effect. */
import type { Fault } from "../../../domain/manifest/fault.ts";
import { isRecord, readIdentity } from "../../../domain/manifest/identity.ts";
import type { Spec } from "../../../domain/manifest/kinds.ts";
import type { ManifestDocument } from "../../../domain/manifest/parse.ts";
import { type ReadManifest, readManifest, type SecretManifest } from "../../../domain/manifest/validate.ts";
import type { ObjectRef } from "../port.ts";
import type { ParsedFile } from "./folder.ts";
import { refKey } from "./objects.ts";

/** A declaration that names its object and has faults. */
export type Refusal = { readonly ref: ObjectRef; readonly faults: readonly Fault[] };

export type Declarations = {
  /** Valid ones, by {@link refKey}. */
  readonly objects: ReadonlyMap<string, { readonly ref: ObjectRef; readonly spec: Spec }>;
  /** `Secret` manifests, by namespace and name. */
  readonly secrets: ReadonlyMap<string, SecretManifest>;
  readonly refusals: readonly Refusal[];
  /** Of all files, warnings too. */
  readonly faults: readonly Fault[];
  /** How many documents there are in all. */
  readonly documents: number;
};

/** What was read of a document, as long as the stored spec that it was checked with is the same. */
type Reading = { readonly old: Spec | undefined; readonly read: ReadManifest };

/**
 * Makes a reader of whole folders that checks each document once.
 *
 * @param storedSpec the spec of an object that is held: what may not change is compared with it
 */
export function createDeclarationReader(
  storedSpec: (ref: ObjectRef) => Spec | undefined,
): (files: readonly ParsedFile[]) => Declarations {
  const readings = new WeakMap<ManifestDocument, Reading>();

  function read(document: ManifestDocument): ReadManifest {
    const identity = isRecord(document.value) ? readIdentity(document.value).identity : undefined;
    const old = identity && identity.kind !== "Secret" ? storedSpec({ ...identity, kind: identity.kind }) : undefined;
    const known = readings.get(document);
    if (known !== undefined && known.old === old) return known.read;
    const reading = { old, read: readManifest(document, old) };
    readings.set(document, reading);
    return reading.read;
  }

  return (files) => {
    const objects = new Map<string, { ref: ObjectRef; spec: Spec }>();
    const secrets = new Map<string, SecretManifest>();
    const refusals: Refusal[] = [];
    const faults: Fault[] = [];
    const places = new Map<string, Fault>();
    for (const file of files) {
      faults.push(...file.faults);
      for (const document of file.documents) {
        const { identity, manifest, faults: own } = read(document);
        faults.push(...own);
        if (identity === undefined) continue;
        const key = `${identity.kind}/${identity.namespace}/${identity.name}`;
        const first = places.get(key);
        if (first !== undefined) {
          faults.push(
            document.fault(["metadata", "name"], `is declared at ${first.file}:${first.line} already: remove one`),
          );
          continue;
        }
        places.set(key, document.fault(["metadata", "name"], ""));
        if (manifest?.kind === "Secret") {
          secrets.set(`${manifest.namespace}/${manifest.name}`, manifest);
        } else if (identity.kind !== "Secret") {
          const ref = { kind: identity.kind, namespace: identity.namespace, name: identity.name };
          if (manifest === undefined)
            refusals.push({ ref, faults: own.filter(({ severity }) => severity === "error") });
          else objects.set(refKey(ref), { ref, spec: manifest.spec });
        }
      }
    }
    const documents = files.reduce((count, file) => count + file.documents.length + file.faults.length, 0);
    return { objects, secrets, refusals, faults, documents };
  };
}
