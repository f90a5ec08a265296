import { isDeepStrictEqual } from "node:util";
import { titleOf } from "../../controller/cluster/titles.ts";
import type { Spec } from "../../domain/kinds/kinds.ts";
import type { Diagnostic } from "../../domain/manifest/document/diagnostic.ts";
import { findDuplicateManifests } from "../../domain/manifest/set/manifest-set.ts";
import type { WorldObject } from "../../domain/manifest/set/manifest-world.ts";
import type { SecretManifest } from "../../domain/manifest/validation/validate.ts";
import { listDeclaredFiles, readManifestFile } from "../validate/manifest-files.ts";
import type { KnownSecrets } from "./known-secrets.ts";

/** Objects that manifests declare, and the faults in the manifests. */
export type DeclaredSet = {
  /** Declared objects by title. */
  readonly declared: ReadonlyMap<string, WorldObject>;
  /** Titles of all objects that the manifests name, faulty ones included. */
  readonly titles: ReadonlySet<string>;
  /** Secrets among the manifests, by `namespace/name`. */
  readonly secrets: KnownSecrets["declared"];
  readonly diagnostics: readonly Diagnostic[];
  readonly documents: number;
};

/**
 * Reads manifests. Of two declarations of one object the declaration equal to what is held counts, or else the first.
 *
 * @param stdin bytes of standard input, for the path `-`
 * @param isDecrypted true if Secrets are decrypted as they are applied, as by Flux; their values are not needed here
 * @throws UsageError for a path that does not exist
 */
export function readDeclared(
  paths: readonly string[],
  stdin: Uint8Array | undefined,
  storedSpec: (title: string) => Spec | undefined,
  isDecrypted: boolean,
): DeclaredSet {
  const files = listDeclaredFiles(paths).map((file) =>
    readManifestFile(file, {
      stdin,
      mayBeUnread: (kind) => isDecrypted && kind === "Secret",
      storedSpec: (kind, namespace, name) => storedSpec(titleOf({ kind, namespace, name })),
    }),
  );
  const entries = files.flatMap((file) => file.entries);
  const declared = new Map<string, WorldObject>();
  const titles = new Set<string>();
  const secrets = new Map<string, ReadonlySet<string> | null>();
  for (const { read } of entries) {
    const { identity, manifest } = read;
    if (identity === undefined) continue;
    if (identity.kind === "Secret") {
      secrets.set(`${identity.namespace}/${identity.name}`, manifest?.kind === "Secret" ? filledKeys(manifest) : null);
      continue;
    }
    const title = titleOf({ ...identity, kind: identity.kind });
    titles.add(title);
    if (manifest === undefined || manifest.kind === "Secret") continue;
    if (!declared.has(title) || isDeepStrictEqual(manifest.spec, storedSpec(title))) declared.set(title, manifest);
  }
  const diagnostics = [...files.flatMap((file) => file.diagnostics), ...findDuplicateManifests(entries)];
  return { declared, titles, secrets, diagnostics, documents: entries.length };
}

function filledKeys({ data }: SecretManifest): ReadonlySet<string> {
  return new Set(Object.keys(data).filter((key) => data[key]?.trim()));
}
