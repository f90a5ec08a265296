/** How much a budget has, and in what: whole parts of a unit, which are tokens or millionths of a currency's unit. */
import { MICROS, parseMicros } from "../money.ts";

/** What may be used in a period: tokens, or what they cost, a decimal number in a currency by ISO 4217. */
export type BudgetSize = { readonly tokens: number } | { readonly cost: string; readonly currency: string };

/** What a budget without a currency counts. */
const TOKENS = "tokens";
const PARTS = Number(MICROS);
/** Of a currency's unit. */
const CENT = PARTS / 100;
/** Made once: to make one takes longer than to refuse a call. */
const WHOLE = withDecimals(0);
const MONEY = { 2: withDecimals(2), 6: withDecimals(6) } as const;

function withDecimals(decimals: number): Intl.NumberFormat {
  return new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** What a budget counts: `tokens`, or a currency. */
export function budgetUnit(size: BudgetSize): string {
  return "cost" in size ? size.currency : TOKENS;
}

/** How many parts of its unit a budget has. */
export function mostOf(size: BudgetSize): number {
  return "cost" in size ? Number(parseMicros(size.cost) ?? 0n) : size.tokens;
}

/** Parts as a number of the unit, such as 12.5 for 12,500,000 of a currency. */
export function inUnit(unit: string, parts: number): number {
  return unit === TOKENS ? parts : parts / PARTS;
}

/** The other way round: what {@link inUnit} has made. */
export function partsIn(unit: string, amount: number): number {
  return unit === TOKENS ? amount : Math.round(amount * PARTS);
}

/** The size that has so many parts of a unit. */
export function sizeOf(unit: string, parts: number): BudgetSize {
  return unit === TOKENS ? { tokens: parts } : { cost: decimal(parts), currency: unit };
}

/** Parts as people read them where the unit was said, such as `5,000,000`, or `1,250.00 USD`. */
export function partsText(unit: string, parts: number): string {
  return unit === TOKENS ? WHOLE.format(parts) : `${MONEY[decimalsOf(parts)].format(parts / PARTS)} ${unit}`;
}

/** A size as people read it, such as `5,000,000 tokens` or `1,250.00 USD`. */
export function sizeText(size: BudgetSize): string {
  const text = partsText(budgetUnit(size), mostOf(size));
  return "cost" in size ? text : `${text} ${TOKENS}`;
}

/** A size as a declaration takes it, without groups of digits: `5000000 tokens`, `1250.00 USD`. */
export function sizeToWrite(size: BudgetSize): string {
  return "cost" in size ? `${size.cost} ${size.currency}` : `${size.tokens} ${TOKENS}`;
}

function decimal(parts: number): string {
  return (parts / PARTS).toFixed(decimalsOf(parts));
}

function decimalsOf(parts: number): 2 | 6 {
  return parts % CENT === 0 ? 2 : 6;
}
