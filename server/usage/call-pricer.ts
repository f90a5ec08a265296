import { type CallPrices, callPrices, type PricesInForce, pricesInForce } from "../../domain/usage/call-cost.ts";
import { type PriceList, type Prices, priceOrder } from "../../domain/usage/price-list.ts";
import { keepNewest } from "../context/bounded-map.ts";
import type { CurrentPrices } from "./price-file.ts";

/** Of so many models a thread remembers the prices: names are what callers send. */
const MOST_MODELS = 1_000;

/** What calls of models cost by the installation's price list as it is at the time. */
export class CallPricer {
  readonly #prices: CurrentPrices;
  #list: PriceList | null = null;
  #inForce: PricesInForce | undefined;
  readonly #known = new Map<string, Prices | "none">();

  constructor(prices: CurrentPrices) {
    this.#prices = prices;
  }

  /** By ISO 4217; null without a price list. */
  get currency(): string | null {
    return this.#prices.current()?.currency ?? null;
  }

  /**
   * The most that each kind of token costs by the prices of any of these models; undefined where one of them has none.
   *
   * @param now milliseconds since the epoch
   */
  of(models: readonly (string | undefined)[], now: number): CallPrices | undefined {
    const found = models.map((model) => (model === undefined ? undefined : this.#pricesOf(model, now)));
    const priced = found.filter((prices) => prices !== undefined);
    return priced.length === found.length ? callPrices(priced) : undefined;
  }

  #pricesOf(model: string, now: number): Prices | undefined {
    const list = this.#prices.current();
    if (list === null) return undefined;
    if (this.#inForce === undefined || list !== this.#list || now >= this.#inForce.until) {
      this.#inForce = pricesInForce(priceOrder(list), now);
      this.#list = list;
      this.#known.clear();
    }
    const known = this.#known.get(model) ?? this.#inForce.of(model) ?? "none";
    keepNewest(this.#known, model, known, MOST_MODELS);
    return known === "none" ? undefined : known;
  }
}
