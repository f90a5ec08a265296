/** Money as whole numbers, never as floating-point numbers. */

/** Number of decimals of a price in a currency's unit. */
const DECIMALS = 6;
/** Number of millionths in a currency's unit. */
export const MICROS = 10n ** BigInt(DECIMALS);

/**
 * Parses a decimal text to millionths of a currency's unit, such as `1.25` to 1,250,000.
 *
 * @returns undefined if it is negative, has more than six decimals or seven digits before them, or is no number
 */
export function parseMicros(text: string): bigint | undefined {
  return parseDecimal(text, DECIMALS);
}

/** Parses a decimal text as {@link parseMicros}, to trillionths: of the price of one, where others are of a million. */
export function parseTrillionths(text: string): bigint | undefined {
  return parseDecimal(text, 2 * DECIMALS);
}

function parseDecimal(text: string, decimals: number): bigint | undefined {
  const [, whole, part = ""] = /^(\d{1,7})(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  if (whole === undefined || part.length > decimals) return undefined;
  return BigInt(whole + part.padEnd(decimals, "0"));
}

/**
 * Formats an amount in the currency's unit with six decimals, rounded half up.
 *
 * @param trillionths of the currency's unit, not negative: tokens times their price in millionths for a million
 */
export function formatAmount(trillionths: bigint): string {
  const micros = (trillionths + MICROS / 2n) / MICROS;
  return `${micros / MICROS}.${String(micros % MICROS).padStart(DECIMALS, "0")}`;
}
