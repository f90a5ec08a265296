/** Encryption by SOPS in a manifest: each value in its place, and the metadata in a top-level `sops`. */
import type { Complaint, Path } from "./diagnostic.ts";
import { isRecord } from "./identity.ts";

type Fields = Readonly<Record<string, unknown>>;

const ENCRYPTED = /^ENC\[[A-Z0-9_]+,[^\]]*\]$/;

/** True if it is a value as SOPS writes it, possibly with the newline of a block. */
function isEncrypted(value: unknown): boolean {
  return typeof value === "string" && ENCRYPTED.test(value.trim());
}

/** True if it is such a value of a Secret, in clear or in base64. */
function isEncryptedData(value: unknown): boolean {
  return isEncrypted(value) || (typeof value === "string" && isEncrypted(Buffer.from(value, "base64").toString()));
}

/** Result of looking for SOPS encryption in a manifest. */
type Encryption = {
  /** Manifest without the fields that SOPS adds. */
  readonly manifest: Fields;
  /** Paths of the encrypted values. */
  readonly encrypted: readonly Path[];
  /** True if it has a `sops`, by which the values can be decrypted. */
  readonly isMarked: boolean;
};

/** Finds the encrypted values: in all of a manifest that has a `sops`, and in the data of a Secret in any case. */
export function withoutSops(manifest: Fields): Encryption {
  const { sops, ...rest } = manifest;
  const { kind, data, stringData } = manifest;
  const isIts = kind === "Secret" ? isEncryptedData : isEncrypted;
  if (isRecord(sops)) return { manifest: rest, encrypted: encryptedIn(rest, [], isIts), isMarked: true };
  const read = kind === "Secret" ? { data, stringData } : {};
  return { manifest, encrypted: encryptedIn(read, [], isIts), isMarked: false };
}

function encryptedIn(value: unknown, path: Path, isIts: (value: unknown) => boolean): Path[] {
  if (isIts(value)) return [path];
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => encryptedIn(item, [...path, index], isIts));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => encryptedIn(item, [...path, name], isIts));
}

/** Returns a Secret with empty texts for the encrypted values of its data. */
export function withClearData(secret: Fields): Fields {
  const cleared = (entries: unknown) =>
    isRecord(entries)
      ? Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, isEncryptedData(value) ? "" : value]))
      : entries;
  return { ...secret, data: cleared(secret.data), stringData: cleared(secret.stringData) };
}

/** Drops complaints about values that are at fault only for being encrypted. Names are in clear, so theirs stay. */
export function ofClearValues(complaints: readonly Complaint[], encrypted: readonly Path[]): Complaint[] {
  const paths = new Set(encrypted.map((path) => JSON.stringify(path)));
  return complaints.filter(({ path, of }) => of === "key" || !paths.has(JSON.stringify(path)));
}

/** Returns a note that values were not read, or an error if they are needed or have lost their `sops`. */
export function encryptedComplaint({ encrypted, isMarked }: Encryption, mayBeUnread: boolean): Complaint[] {
  const [path, ...others] = encrypted;
  if (path === undefined) return [];
  const what = others.length === 0 ? "is encrypted by SOPS" : `and ${others.length} more are encrypted by SOPS`;
  if (!isMarked) {
    const message = `${what}, without the field sops, by which it is decrypted: take the file as SOPS wrote it, or decrypted`;
    return [{ path, of: "key", message }];
  }
  return mayBeUnread
    ? [{ path, of: "key", severity: "note", message: `${what}: not read` }]
    : [{ path, of: "key", message: `${what}: decrypt the file first, as \`sops decrypt\` does` }];
}
