/** Money as whole numbers: no figure passes through a floating point. */

/** Of a currency's unit: what prices are written in. */
const DECIMALS = 6;
/** In a currency's unit. */
export const MICROS = 10n ** BigInt(DECIMALS);

/**
 * The millionths of a currency's unit that a decimal text says, such as 1,250,000 for `1.25`.
 *
 * @returns undefined for what is negative, has more than six decimals or seven digits before them, or is no number
 */
export function parseMicros(text: string): bigint | undefined {
  const [, whole, part = ""] = /^(\d{1,7})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : BigInt(whole) * MICROS + BigInt(part.padEnd(DECIMALS, "0"));
}

/**
 * An amount in the currency's unit with six decimals, rounded half up.
 *
 * @param trillionths of the currency's unit, not negative: tokens times their price in millionths for a million
 */
export function formatAmount(trillionths: bigint): string {
  const micros = (trillionths + MICROS / 2n) / MICROS;
  return `${micros / MICROS}.${String(micros % MICROS).padStart(DECIMALS, "0")}`;
}
