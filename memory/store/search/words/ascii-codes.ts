/** Code of each character of ASCII: 1 to 36 for a digit or a letter, whatever its case, and 0 for what parts words. */
export const CODES = new Uint8Array(128);
/** Number of these codes. */
export const CODE_COUNT = 37;

for (const [at, character] of [..."0123456789abcdefghijklmnopqrstuvwxyz"].entries()) {
  CODES[character.charCodeAt(0)] = at + 1;
  CODES[character.toUpperCase().charCodeAt(0)] = at + 1;
}
