/** What SOPS has encrypted in a manifest: each value in its place, and how in a top-level `sops`. */
import type { Complaint, Path } from "./diagnostic.ts";
import { isRecord } from "./identity.ts";

type Fields = Readonly<Record<string, unknown>>;

const ENCRYPTED = /^ENC\[[A-Z0-9_]+,[^\]]*\]$/;

/** Whether it is a value as SOPS writes it, also with the newline of a block. */
function isEncrypted(value: unknown): boolean {
  return typeof value === "string" && ENCRYPTED.test(value.trim());
}

/** Whether it is such a value of a Secret, as it stands or in base64. */
function isEncryptedData(value: unknown): boolean {
  return isEncrypted(value) || (typeof value === "string" && isEncrypted(Buffer.from(value, "base64").toString()));
}

/** What SOPS has to do with a manifest. */
type Encryption = {
  /** Without what SOPS adds. */
  readonly manifest: Fields;
  /** Where its values are encrypted. */
  readonly encrypted: readonly Path[];
  /** Whether it has a `sops`, by which they can be decrypted. */
  readonly isMarked: boolean;
};

/** Finds what is encrypted: all of a manifest that has a `sops`, and the data of a Secret whatever it has. */
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
  if (Array.isArray(value)) return value.flatMap((item: unknown, place) => encryptedIn(item, [...path, place], isIts));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => encryptedIn(item, [...path, name], isIts));
}

/** A Secret with nothing in place of what is encrypted in its data. */
export function withClearData(secret: Fields): Fields {
  const cleared = (entries: unknown) =>
    isRecord(entries)
      ? Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, isEncryptedData(value) ? "" : value]))
      : entries;
  return { ...secret, data: cleared(secret.data), stringData: cleared(secret.stringData) };
}

/** Leaves out what is only at fault for being encrypted. A name is in clear. */
export function ofClearValues(complaints: readonly Complaint[], encrypted: readonly Path[]): Complaint[] {
  const places = new Set(encrypted.map((path) => JSON.stringify(path)));
  return complaints.filter(({ path, of }) => of === "key" || !places.has(JSON.stringify(path)));
}

/** That values were not read, or, where they are needed or have lost their `sops`, what to do. */
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
