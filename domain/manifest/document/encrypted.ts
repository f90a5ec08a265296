/** What SOPS has encrypted in a manifest: each value in its place, and how in a top-level `sops`. */
import type { Complaint, Path } from "./diagnostic.ts";
import { isRecord } from "./identity.ts";

type Fields = Readonly<Record<string, unknown>>;

const ENCRYPTED = /^ENC\[[A-Z0-9_]+,[^\]]*\]$/;

/** Whether it is a value as SOPS writes it. */
function isEncrypted(value: unknown): boolean {
  return typeof value === "string" && ENCRYPTED.test(value);
}

/** A manifest without what SOPS adds, and where its values are encrypted: none in one that SOPS has not written. */
export function withoutSops(manifest: Fields): { readonly manifest: Fields; readonly encrypted: readonly Path[] } {
  const { sops, ...rest } = manifest;
  return isRecord(sops) ? { manifest: rest, encrypted: encryptedIn(rest, []) } : { manifest, encrypted: [] };
}

function encryptedIn(value: unknown, path: Path): Path[] {
  if (isEncrypted(value)) return [path];
  if (Array.isArray(value)) return value.flatMap((item: unknown, place) => encryptedIn(item, [...path, place]));
  return isRecord(value) ? Object.entries(value).flatMap(([name, item]) => encryptedIn(item, [...path, name])) : [];
}

/** A Secret with nothing in place of what is encrypted in its data. */
export function withClearData(secret: Fields): Fields {
  const cleared = (entries: unknown) =>
    isRecord(entries)
      ? Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, isEncrypted(value) ? "" : value]))
      : entries;
  return { ...secret, data: cleared(secret.data), stringData: cleared(secret.stringData) };
}

/** Leaves out what is only at fault for being encrypted. A name is in clear. */
export function ofClearValues(complaints: readonly Complaint[], encrypted: readonly Path[]): Complaint[] {
  const places = new Set(encrypted.map((path) => JSON.stringify(path)));
  return complaints.filter(({ path, of }) => of === "key" || !places.has(JSON.stringify(path)));
}

/** That values were not read, or, where they are needed, that they have to be decrypted. */
export function encryptedComplaint(encrypted: readonly Path[], mayBeUnread: boolean): Complaint[] {
  const [path, ...others] = encrypted;
  if (path === undefined) return [];
  const what = others.length === 0 ? "is encrypted by SOPS" : `and ${others.length} more are encrypted by SOPS`;
  return mayBeUnread
    ? [{ path, of: "key", severity: "note", message: `${what}: not read` }]
    : [{ path, of: "key", message: `${what}: decrypt the file first, as \`sops decrypt\` does` }];
}
