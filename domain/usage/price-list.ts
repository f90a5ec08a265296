import type { TokenKind } from "./tokens.ts";

/**
 * Prices of a model: millionths of the currency's unit for a million tokens, and for a million of each other kind. Null
 * is unknown.
 */
export type Prices = Readonly<Record<TokenKind, bigint | null>>;

/** Prices of models by their names, from a day on. */
export type PriceEntry = {
  /** Name of a model, or the beginning of names. */
  readonly name: string;
  readonly isPrefix: boolean;
  /** First day of the prices: milliseconds since the epoch, the beginning of a day in UTC. */
  readonly from: number;
  readonly prices: Prices;
};

/** The prices of an installation, all in one currency. */
export type PriceList = {
  /** Currency code by ISO 4217. */
  readonly currency: string;
  /** The first twelve digits of the file's SHA-256, in hexadecimal. */
  readonly version: string;
  readonly entries: readonly PriceEntry[];
};

/** A price list in look-up order: the first name that fits a model decides, whatever the day. */
export type PriceOrder = {
  readonly names: readonly Pick<PriceEntry, "name" | "isPrefix">[];
  /** Days on which any price changes, ascending, in milliseconds since the epoch. */
  readonly days: readonly number[];
  /** Price spans: the index of the name in `names`, and positions in `days`, counted from 1, the end not included. */
  readonly spans: readonly {
    readonly name: number;
    readonly first: number;
    readonly end: number;
    readonly prices: Prices;
  }[];
};

/**
 * Sorts a price list for look-up. The longest name that fits wins, and a model's own name over the beginning of names.
 * Before the first day of that name its prices are unknown, even if a shorter name has some.
 */
export function priceOrder({ entries }: PriceList): PriceOrder {
  const byName = Map.groupBy(entries, ({ name, isPrefix }) => `${isPrefix ? "*" : "="}${name}`);
  const groups = [...byName.values()].toSorted(
    ([a], [b]) => Number(a?.isPrefix) - Number(b?.isPrefix) || (b?.name.length ?? 0) - (a?.name.length ?? 0),
  );
  const days = [...new Set(entries.map(({ from }) => from))].toSorted((a, b) => a - b);
  const positionOf = (day: number) => days.indexOf(day) + 1;
  return {
    days,
    names: groups.flatMap(([first]) => (first === undefined ? [] : [{ name: first.name, isPrefix: first.isPrefix }])),
    spans: groups.flatMap((group, name) => {
      const ordered = group.toSorted((a, b) => a.from - b.from);
      return ordered.map(({ from, prices }, i) => {
        const next = ordered[i + 1];
        return {
          name,
          first: positionOf(from),
          end: next === undefined ? days.length + 1 : positionOf(next.from),
          prices,
        };
      });
    }),
  };
}
