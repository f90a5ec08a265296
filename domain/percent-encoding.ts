/** Layers of encoding that are decoded at most; no client means more than one layer. */
const MAX_LAYERS = 8;
/** Pattern of an escape, also of one of four digits, which some servers read. */
const ESCAPE = /%(?:u([0-9A-Fa-f]{4})|([0-9A-Fa-f]{2}))/gi;

/**
 * Decodes one layer of percent-encoding, byte by byte. Each escape is decoded by itself, so that a broken escape
 * elsewhere hides nothing.
 */
export function decodeEscapes(text: string): string {
  return text.replace(ESCAPE, (_, long: string | undefined, short: string) =>
    String.fromCharCode(Number.parseInt(long ?? short, 16)),
  );
}

/**
 * Decodes a text until nothing in it is encoded any more; undefined after {@link MAX_LAYERS} layers.
 *
 * @param decode decodes one layer
 */
export function decodeWholly(text: string, decode = decodeEscapes): string | undefined {
  let decoded = text;
  for (let layer = 0; layer < MAX_LAYERS; layer += 1) {
    const next = decode(decoded);
    if (next === decoded) return decoded;
    decoded = next;
  }
  return undefined;
}
