import { createCipheriv, createDecipheriv, createSecretKey, hash, type KeyObject, randomBytes } from "node:crypto";
import { KeyringError } from "../database/errors.ts";

/**
 * Keys under which provider credentials and webhooks' signing secrets are stored: the first encrypts, all decrypt
 * (threats b21). The keys are KeyObjects, which print nothing of themselves.
 */
export type Keyring = readonly EncryptionKey[];

type EncryptionKey = {
  /** Key id within an encrypted text: the fingerprint's first bytes. */
  readonly id: string;
  /** Identifies a key and reveals nothing of it: the first bytes of a hash of its 32 random bytes, in hexadecimal. */
  readonly fingerprint: string;
  readonly key: KeyObject;
};

/** Layout of an encrypted text: layout version, key id, nonce, tag, ciphertext. */
const LAYOUT = 1;
const KEY_ID_BYTES = 4;
const FINGERPRINT_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;

/**
 * Parses the lines of an encryption-key file or variable: each line is 32 bytes in base64. Skips empty lines.
 *
 * @throws KeyringError saying which line is wrong and what it must be, never what it is
 */
export function parseKeyring(text: string): Keyring {
  const keyring: EncryptionKey[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const encoded = line.trim();
    if (encoded === "") continue;
    const bytes = Buffer.from(encoded, "base64");
    if (bytes.length !== 32 || bytes.toString("base64") !== encoded) {
      throw new KeyringError(
        `encryption key, line ${index + 1}: must be 32 bytes in base64 (44 characters), as openssl rand -base64 32 makes`,
      );
    }
    const hashed = hash("sha256", Buffer.concat([Buffer.from("keyplane encryption key\0"), bytes]), "buffer");
    keyring.push({
      id: hashed.toString("latin1", 0, KEY_ID_BYTES),
      fingerprint: hashed.toString("hex", 0, FINGERPRINT_BYTES),
      key: createSecretKey(bytes),
    });
  }
  if (keyring.length === 0) {
    throw new KeyringError(
      "encryption key: none given; a line must be 32 bytes in base64, as openssl rand -base64 32 makes",
    );
  }
  return keyring;
}

/**
 * Encrypts a text under the keyring's first key.
 *
 * @param aad additional data that names the owner of the text: the text can be decrypted only with the same value
 */
export function seal(keyring: Keyring, plaintext: string, aad: string): Buffer {
  const [first] = keyring;
  if (first === undefined) throw new KeyringError("no encryption key: nothing can be stored encrypted");
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", first.key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(aad));
  const ciphertext = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
  return Buffer.concat([
    Buffer.from([LAYOUT]),
    Buffer.from(first.id, "latin1"),
    nonce,
    cipher.getAuthTag(),
    ciphertext,
  ]);
}

/**
 * Decrypts a text of {@link seal}, under any key of the keyring.
 *
 * @throws KeyringError if its key is not in the keyring, or if it was changed or has another `aad`
 */
export function unseal(keyring: Keyring, sealed: Uint8Array, aad: string): string {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const entry = keyring.find(({ id }) => id === keyIdOf(bytes));
  if (bytes.length < HEADER_BYTES || bytes[0] !== LAYOUT || entry === undefined) {
    throw new KeyringError(
      "a stored credential is encrypted under a key that is not given: add that key as a further line of the encryption keys",
    );
  }
  const nonceEnd = 1 + KEY_ID_BYTES + NONCE_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", entry.key, bytes.subarray(1 + KEY_ID_BYTES, nonceEnd), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(aad))
    .setAuthTag(bytes.subarray(nonceEnd, HEADER_BYTES));
  try {
    return decipher.update(bytes.subarray(HEADER_BYTES), undefined, "utf8") + decipher.final("utf8");
  } catch (error) {
    throw new KeyringError("a stored credential cannot be decrypted: it was changed, or belongs to something else", {
      cause: error,
    });
  }
}

/** Decrypts like {@link unseal}; null for a text that none of our keys decrypts. */
export function openSealed(keyring: Keyring, sealed: Uint8Array, aad: string): string | null {
  try {
    return unseal(keyring, sealed, aad);
  } catch (error) {
    if (error instanceof KeyringError) return null;
    throw error;
  }
}

/** True if the stored text is this plaintext under the keyring's first key, so that it may stay; null means no text. */
export function isSealedAs(keyring: Keyring, sealed: Uint8Array | null, text: string | null, aad: string): boolean {
  if (sealed === null || text === null) return sealed === text;
  return isSealedByFirst(keyring, sealed) && openSealed(keyring, sealed, aad) === text;
}

/** True if a text is encrypted under the keyring's first key; otherwise it is due to be encrypted anew. */
export function isSealedByFirst(keyring: Keyring, sealed: Uint8Array): boolean {
  return keyring[0]?.id === keyIdOf(Buffer.from(sealed));
}

function keyIdOf(sealed: Buffer): string {
  return sealed.toString("latin1", 1, 1 + KEY_ID_BYTES);
}
