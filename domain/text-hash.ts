const START = 0x811c9dc5;

/**
 * Hashes a text to 32 bits (FNV-1a), or goes on from the hash of a text before it. Texts that differ in their end alone
 * have hashes that are near each other.
 */
export function textHash(text: string, before = START): number {
  let hash = before;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Spreads the 32 bits of a hash over all of them, as the last step of MurmurHash3 does. */
export function mixed(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2_ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
