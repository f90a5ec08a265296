import type { TokenKind } from "./tokens.ts";

/**
 * What models' answers cost: millionths of the currency's unit for a million tokens, and of `tool_calls` for a million
 * calls. Null is unknown.
 */
export type Prices = Readonly<Record<TokenKind, bigint | null>>;

/** The prices of models by their names, from a day on. */
export type PriceEntry = {
  /** A model's name, or what it begins with. */
  readonly name: string;
  readonly isPrefix: boolean;
  /** Milliseconds since the epoch, the beginning of a day in UTC. */
  readonly from: number;
  readonly prices: Prices;
};

/** The prices of an installation, all in one currency. */
export type PriceList = {
  /** By ISO 4217. */
  readonly currency: string;
  /** The first twelve digits of the file's SHA-256, in hexadecimal. */
  readonly version: string;
  readonly entries: readonly PriceEntry[];
};

/** A price list in the order in which it is looked up: the first name that fits a model decides, whatever the day. */
export type PriceOrder = {
  readonly names: readonly Pick<PriceEntry, "name" | "isPrefix">[];
  /** Days on which any price changes, ascending, in milliseconds since the epoch. */
  readonly days: readonly number[];
  /** Each holds for the name at a place of `names`, from a place in `days` up to another, counted from 1. */
  readonly spans: readonly {
    readonly name: number;
    readonly first: number;
    readonly end: number;
    readonly prices: Prices;
  }[];
};

/**
 * The longest name that fits wins, and a model's own name over what it begins with. Before the first day of that name its
 * prices are unknown, though a shorter one may have some.
 */
export function priceOrder({ entries }: PriceList): PriceOrder {
  const byName = Map.groupBy(entries, ({ name, isPrefix }) => `${isPrefix ? "*" : "="}${name}`);
  const groups = [...byName.values()].toSorted(
    ([a], [b]) => Number(a?.isPrefix) - Number(b?.isPrefix) || (b?.name.length ?? 0) - (a?.name.length ?? 0),
  );
  const days = [...new Set(entries.map(({ from }) => from))].toSorted((a, b) => a - b);
  const placeOf = (day: number) => days.indexOf(day) + 1;
  return {
    days,
    names: groups.flatMap(([first]) => (first === undefined ? [] : [{ name: first.name, isPrefix: first.isPrefix }])),
    spans: groups.flatMap((group, name) => {
      const ordered = group.toSorted((a, b) => a.from - b.from);
      return ordered.map(({ from, prices }, i) => {
        const next = ordered[i + 1];
        return { name, first: placeOf(from), end: next === undefined ? days.length + 1 : placeOf(next.from), prices };
      });
    }),
  };
}
