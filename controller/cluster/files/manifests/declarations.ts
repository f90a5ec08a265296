/** Declarations of all manifests taken together: from parsed files to valid specs and faults, without any effect. */

import type { Spec } from "../../../../domain/kinds/kinds.ts";
import type { Diagnostic } from "../../../../domain/manifest/document/diagnostic.ts";
import { isRecord, readManifestIdentity } from "../../../../domain/manifest/document/identity.ts";
import type { Labels } from "../../../../domain/manifest/document/labels.ts";
import type { ManifestDocument } from "../../../../domain/manifest/document/parse.ts";
import { type WorldObject, worldOf } from "../../../../domain/manifest/set/manifest-world.ts";
import { stubModels } from "../../../../domain/manifest/set/stub-models.ts";
import {
  type ReadManifest,
  readManifest,
  type SecretManifest,
} from "../../../../domain/manifest/validation/validate.ts";
import { redactKeys } from "../../../../domain/redact.ts";
import type { ObjectRef } from "../../port.ts";
import { type CurrentState, type DeclaringDocument, keyOf, manifestLocation, resolveDuplicates } from "./duplicates.ts";
import type { ParsedFile } from "./folder.ts";
import type { Rival } from "./governing.ts";

/** Declaration that names its object and has faults. */
export type InvalidManifest = { readonly ref: ObjectRef; readonly diagnostics: readonly Diagnostic[] };

/** Location where an object is declared. */
export type DeclaredAt = {
  /** File that counts. */
  readonly file: ParsedFile;
  /** Declarations of the same object in other files, which have no effect. */
  readonly rivals: readonly Rival[];
};

/** Declarations of an object in files of which none counts. */
export type Duplicated = {
  /** Positions of these declarations, as messages name them. */
  readonly at: readonly string[];
  /** True if one of them declares the object as it already is. */
  readonly isAlike: boolean;
};

/** Valid declaration. */
type DeclaredHere = {
  readonly ref: ObjectRef;
  readonly spec: Spec;
  readonly takeOver: string | null;
  readonly labels: Labels;
};

export type Declarations = {
  /** Valid declarations, by kind, namespace and name. */
  readonly objects: ReadonlyMap<string, DeclaredHere>;
  /** `Secret` manifests, by namespace and name. */
  readonly secrets: ReadonlyMap<string, SecretManifest>;
  readonly refusals: readonly InvalidManifest[];
  /** Location of each declared object, faulty or not, by kind, namespace and name. */
  readonly locations: ReadonlyMap<string, DeclaredAt>;
  /** Objects that only files declare that do not count, since the file that does cannot be seen; by the same key. */
  readonly contested: ReadonlyMap<string, Duplicated>;
  /** Diagnostics of all files, warnings too. */
  readonly diagnostics: readonly Diagnostic[];
  /** First error of each file that has an error. */
  readonly faultyFiles: ReadonlyMap<ParsedFile, Diagnostic>;
  /** Errors of those files that have a part too faulty to know what it declares. */
  readonly hidingFiles: ReadonlyMap<ParsedFile, Diagnostic>;
  /** Number of documents, with each file of which something could not be read counted as one more. */
  readonly documents: number;
};

/** Result of reading a document. It holds as long as the stored spec that the document was checked with is the same. */
type SpecReading = { readonly old: Spec | undefined; readonly read: ReadManifest };

/**
 * Makes a reader of whole folders that checks each document once.
 *
 * @returns a function of the files, and of a flag that is true if these are all files that there are
 */
export function createDeclarationReader(
  held: CurrentState,
): (files: readonly ParsedFile[], isComplete: boolean) => Declarations {
  const readings = new WeakMap<ManifestDocument, SpecReading>();

  function read(document: ManifestDocument): ReadManifest {
    const identity = isRecord(document.value) ? readManifestIdentity(document.value).identity : undefined;
    const old = identity && identity.kind !== "Secret" ? held.spec({ ...identity, kind: identity.kind }) : undefined;
    const known = readings.get(document);
    if (known !== undefined && known.old === old) return known.read;
    const reading = { old, read: readManifest(document, old) };
    readings.set(document, reading);
    return reading.read;
  }

  return (files, isComplete) => {
    const objects = new Map<string, DeclaredHere>();
    const secrets = new Map<string, SecretManifest>();
    const refusals: InvalidManifest[] = [];
    const locations = new Map<string, DeclaredAt>();
    const contested = new Map<string, Duplicated>();
    const diagnostics: Diagnostic[] = [];
    const faultyFiles = new Map<ParsedFile, Diagnostic>();
    const hidingFiles = new Map<ParsedFile, Diagnostic>();
    const note = (file: ParsedFile, all: readonly Diagnostic[], hides = false) => {
      diagnostics.push(...all);
      const error = all.find(isError);
      if (error === undefined) return;
      if (!faultyFiles.has(file)) faultyFiles.set(file, error);
      if (hides && !hidingFiles.has(file)) hidingFiles.set(file, error);
    };

    const named = files.flatMap((parsed) => {
      note(parsed, parsed.diagnostics, true);
      return parsed.documents.flatMap((document): DeclaringDocument[] => {
        const reading = read(document);
        const { identity } = reading;
        note(parsed, reading.diagnostics, identity === undefined);
        return identity === undefined ? [] : [{ document, read: reading, identity, parsed, file: parsed.name }];
      });
    });
    const governed: { readonly document: ManifestDocument; readonly object: WorldObject }[] = [];
    for (const [key, [one, ...more]] of Map.groupBy(named, ({ identity }) => keyOf(identity))) {
      if (one === undefined) continue;
      const {
        governing,
        first,
        others,
        isAlike,
        diagnostics: own,
      } = resolveDuplicates(held, [one, ...more], isComplete);
      for (const [i, { parsed }] of others.entries()) note(parsed, own.slice(i, i + 1));
      if (first === undefined) {
        contested.set(key, { at: [one, ...more].map(manifestLocation), isAlike });
        continue;
      }
      const rivals = others.filter(({ file }) => file !== first.file);
      locations.set(key, { file: first.parsed, rivals: rivals.map(({ file, content }) => ({ file, content })) });
      const { kind, namespace, name } = first.identity;
      const manifest = governing?.read.manifest;
      if (manifest?.kind === "Secret") secrets.set(`${namespace}/${name}`, manifest);
      if (kind === "Secret" || manifest?.kind === "Secret") continue;
      const ref = { kind, namespace, name };
      if (governing !== undefined && manifest !== undefined) {
        const { spec, takeOver, labels } = manifest;
        objects.set(key, { ref, spec, takeOver, labels });
        governed.push({ document: governing.document, object: manifest as WorldObject });
      } else refusals.push({ ref, diagnostics: governing === undefined ? own : errorsOf(governing.read) });
    }
    const gateways = worldOf(governed.flatMap(({ object }) => (object.kind === "ModelGateway" ? object : [])));
    for (const { document, object } of governed) {
      const warnings = stubModels(object, gateways);
      diagnostics.push(...warnings.map(({ path, message }) => document.diagnostic(path, redactKeys(message), WARNING)));
    }
    const documents = files.reduce((count, file) => count + file.documents.length, 0);
    return {
      objects,
      secrets,
      refusals,
      locations,
      contested,
      diagnostics,
      faultyFiles,
      hidingFiles,
      documents: documents + brokenFiles(files),
    };
  };
}

const WARNING = { severity: "warning" } as const;
const isError = ({ severity }: Diagnostic) => severity === "error";
const errorsOf = ({ diagnostics }: ReadManifest) => diagnostics.filter(isError);

/** Returns the number of files of which something could not be read: such a file is not an empty one. */
const brokenFiles = (files: readonly ParsedFile[]) =>
  files.filter(({ diagnostics }) => diagnostics.some(isError)).length;
