/** Sizes of budgets, in whole parts of a unit: tokens, or millionths of a currency's unit. */
import { MICROS, parseMicros } from "../money.ts";

/** Amount that may be used in a period: tokens, or their cost, a decimal number in a currency by ISO 4217. */
export type BudgetSize = { readonly tokens: number } | { readonly cost: string; readonly currency: string };

/** Unit of a budget without a currency. */
const TOKENS = "tokens";
const PARTS = Number(MICROS);
/** Hundredth of a currency's unit, in parts. */
const CENT = PARTS / 100;
/** Number format, made once: making one takes longer than refusing a call. */
const WHOLE = withDecimals(0);
const MONEY = { 2: withDecimals(2), 6: withDecimals(6) } as const;

function withDecimals(decimals: number): Intl.NumberFormat {
  return new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Returns the unit of a budget: `tokens`, or a currency. */
export function budgetUnit(size: BudgetSize): string {
  return "cost" in size ? size.currency : TOKENS;
}

/** Returns the size of a budget in parts of its unit. */
export function mostOf(size: BudgetSize): number {
  return "cost" in size ? Number(parseMicros(size.cost) ?? 0n) : size.tokens;
}

/** Converts parts to a number of the unit, such as 12,500,000 parts of a currency to 12.5. */
export function inUnit(unit: string, parts: number): number {
  return unit === TOKENS ? parts : parts / PARTS;
}

/** Converts a number of the unit back to parts, the inverse of {@link inUnit}. */
export function partsIn(unit: string, amount: number): number {
  return unit === TOKENS ? amount : Math.round(amount * PARTS);
}

/** Returns the size that has a number of parts of a unit. */
export function sizeOf(unit: string, parts: number): BudgetSize {
  return unit === TOKENS ? { tokens: parts } : { cost: decimal(parts), currency: unit };
}

/** Formats parts for people if the unit has been mentioned, such as `5,000,000`, or `1,250.00 USD`. */
export function partsText(unit: string, parts: number): string {
  return unit === TOKENS ? WHOLE.format(parts) : `${MONEY[decimalsOf(parts)].format(parts / PARTS)} ${unit}`;
}

/** Formats a size for people, such as `5,000,000 tokens` or `1,250.00 USD`. */
export function sizeText(size: BudgetSize): string {
  const text = partsText(budgetUnit(size), mostOf(size));
  return "cost" in size ? text : `${text} ${TOKENS}`;
}

/** Formats a size as a declaration accepts it, without groups of digits: `5000000 tokens`, `1250.00 USD`. */
export function sizeToWrite(size: BudgetSize): string {
  return "cost" in size ? `${size.cost} ${size.currency}` : `${size.tokens} ${TOKENS}`;
}

function decimal(parts: number): string {
  return (parts / PARTS).toFixed(decimalsOf(parts));
}

function decimalsOf(parts: number): 2 | 6 {
  return parts % CENT === 0 ? 2 : 6;
}
