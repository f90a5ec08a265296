import type { Unit } from "../../domain/access/gateway-operations.ts";
import { type CallPrices, callPrices, type PricesInForce, pricesInForce } from "../../domain/usage/call-cost.ts";
import { type PriceList, type Prices, priceOrder } from "../../domain/usage/price-list.ts";
import { keepNewest } from "../context/bounded-map.ts";
import type { CurrentPrices } from "./price-file.ts";

/** Models whose prices a thread remembers: names are what callers send. */
const MOST_MODELS = 1_000;

/** Prices calls by the installation's price list, which is corrected while they are under way. */
export class CallPricer {
  readonly #prices: CurrentPrices;
  #list: PriceList | null = null;
  #listed = new ListedPrices(null, undefined);

  constructor(prices: CurrentPrices) {
    this.#prices = prices;
  }

  /**
   * Returns the prices that the list has at a time; they stay as they are.
   *
   * @param now milliseconds since the epoch
   */
  at(now: number): ListedPrices {
    const list = this.#prices.current();
    if (list !== this.#list || now >= this.#listed.until) {
      this.#list = list;
      this.#listed = new ListedPrices(
        list?.currency ?? null,
        list === null ? undefined : pricesInForce(priceOrder(list), now),
      );
    }
    return this.#listed;
  }
}

/** Prices of calls by one price list, until its prices are others. */
export class ListedPrices {
  /** Currency by ISO 4217; null without a price list. */
  readonly currency: string | null;
  readonly #inForce: PricesInForce | undefined;
  readonly #known = new Map<string, Prices | "none">();

  constructor(currency: string | null, inForce: PricesInForce | undefined) {
    this.currency = currency;
    this.#inForce = inForce;
  }

  /** End of these prices in milliseconds since the epoch; Infinity if no later prices are listed. */
  get until(): number {
    return this.#inForce?.until ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Returns the most that each kind costs with any of these models; undefined if a model has no prices.
   *
   * @param unit unit that the call is counted in beside tokens; undefined for none
   */
  of(models: readonly (string | undefined)[], unit?: Unit): CallPrices | undefined {
    const found = models.map((model) => (model === undefined ? undefined : this.#pricesOf(model)));
    const priced = found.filter((prices) => prices !== undefined);
    return priced.length === found.length ? callPrices(priced, unit) : undefined;
  }

  #pricesOf(model: string): Prices | undefined {
    const known = this.#known.get(model) ?? this.#inForce?.of(model) ?? "none";
    keepNewest(this.#known, model, known, MOST_MODELS);
    return known === "none" ? undefined : known;
  }
}
