/**
 * Objects that are declared more than once: decides which declaration counts, and what faults the others have. Pure.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Spec } from "../../../../domain/kinds/kinds.ts";
import type { ManifestIdentity } from "../../../../domain/manifest/document/identity.ts";
import type { ManifestDocument } from "../../../../domain/manifest/document/parse.ts";
import type { Manifest, ReadManifest } from "../../../../domain/manifest/validation/validate.ts";
import type { ObjectRef } from "../../port.ts";
import type { DeclaredSecrets } from "./declared-secrets.ts";
import type { ParsedFile } from "./folder.ts";
import { chooseGoverning, isRival, type KnownDeclaration } from "./governing.ts";
import type { LastSeen } from "./origins.ts";

/** State that is held already, and the locations where it was declared. */
export type CurrentState = {
  /** Returns the spec of an existing object; undefined if there is no such object. */
  spec(ref: ObjectRef): Spec | undefined;
  readonly secrets: Pick<DeclaredSecrets, "compare" | "isDeclared">;
  /** Returns where an object was last seen, by kind, namespace and name; also for an object that has gone since. */
  sighting(key: string): LastSeen | undefined;
};

/** Document that names its object. */
export type DeclaringDocument = {
  readonly document: ManifestDocument;
  readonly read: ReadManifest;
  readonly identity: ManifestIdentity;
  readonly parsed: ParsedFile;
  readonly file: string;
};

/**
 * Decides between all documents that declare one object.
 *
 * @param isComplete true if these are all such documents that there are
 * @returns `governing`, the document that counts, if one does; `first`, the governing document, or else a document of
 * the file that counted; `others`, which have no effect, and in `diagnostics` a fault for each of these; `isAlike`,
 * true if a document declares the object as it already is
 */
export function resolveDuplicates(
  held: CurrentState,
  all: readonly [DeclaringDocument, ...DeclaringDocument[]],
  isComplete: boolean,
) {
  const known = knownOf(held, all[0].identity);
  const isPlain = all.length === 1 && (known === undefined || known.file === all[0].file);
  const states = isPlain ? [] : all.map(({ read: { manifest } }) => manifest && compare(held, manifest));
  const candidates = all.map((one, i) => {
    return { ...one, content: isPlain ? "" : contentOf(one), isAsHeld: states[i] === "same" };
  });
  const isHeld = states.some((state) => state === "same" || state === "different");
  const governing = chooseGoverning(candidates, { known, isHeld, isComplete });
  const first = governing ?? candidates.find(({ file }) => file === known?.file);
  const others = candidates.filter((one) => one !== first && (first !== undefined || isRival(known, one)));
  const where = first === undefined ? known?.file : manifestLocation(first);
  const message = `is declared at ${where} already: remove one`;
  const isAlike = candidates.some(({ isAsHeld }) => isAsHeld);
  return {
    governing,
    first,
    others,
    isAlike,
    diagnostics: others.map(({ document }) => document.diagnostic(NAME, message)),
  };
}

/**
 * Compares a manifest with the state: `none` if its object does not exist, `same` if the object is as declared already.
 */
function compare(held: CurrentState, manifest: Manifest): "none" | "same" | "different" {
  if (manifest.kind === "Secret") return held.secrets.compare(manifest);
  const spec = held.spec(manifest);
  if (spec === undefined) return "none";
  return isDeepStrictEqual(spec, manifest.spec) ? "same" : "different";
}

/** Returns where an existing object is known to be declared; undefined for an object that has gone. */
function knownOf(held: CurrentState, identity: ManifestIdentity): KnownDeclaration | undefined {
  const { kind, namespace, name } = identity;
  const isThere = kind === "Secret" ? held.secrets.isDeclared(identity) : held.spec({ kind, namespace, name });
  const sighting = isThere && held.sighting(keyOf(identity));
  return sighting ? { file: sighting.origin.file, rivals: sighting.rivals } : undefined;
}

const NAME = ["metadata", "name"];

/** Returns the key of an object: its kind, namespace and name. */
export const keyOf = ({ kind, namespace, name }: ManifestIdentity): string => `${kind}/${namespace}/${name}`;

/**
 * Returns a hash of what a document declares. All Secrets, of which nothing is kept, have one hash: none of two takes
 * over by a rename.
 */
function contentOf({ document, identity }: DeclaringDocument): string {
  if (identity.kind === "Secret") return "";
  return createHash("sha256").update(JSON.stringify(document.value)).digest("base64url");
}

/** Returns the position of a document as messages name it: its file and line. */
export function manifestLocation({ document }: DeclaringDocument): string {
  const { file, line } = document.diagnostic(NAME, "");
  return `${file}:${line}`;
}
