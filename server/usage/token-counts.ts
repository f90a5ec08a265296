import type { KeyRecord } from "../../domain/access/key-record.ts";
import { REQUEST_SLOT_MS } from "../../domain/access/request-scope.ts";
import { containsKey } from "../../domain/redact.ts";
import {
  addAnswer,
  addFigures,
  NO_FIGURES,
  type TokenCount,
  type TokenFigures,
} from "../../domain/usage/token-count.ts";
import { addTokenCounts } from "../../store/keys/token-counts.ts";
import { KeyRow } from "../key-index/key-row.ts";
import type { Countable } from "./count-buffer.ts";
import type { CountTokens } from "./token-metrics.ts";
import type { CountedAnswer } from "./usage-recorder.ts";

/** What models' answers used, by key, five minutes, gateway, route and model. */
export type TokenCounts = Map<string, TokenCount>;

/** How counts of tokens wait, some 25 MB at most, and are written. */
export const TOKENS: Countable<TokenCount> = {
  what: "tokens",
  maxWaiting: 50_000,
  sizeOf: ({ figures }) => figures.calls,
  add: (known, more) => ({ ...more, figures: addFigures(known.figures, more.figures) }),
  write: (store, counts, onBegun) => addTokenCounts(store, [...counts.values()], onBegun),
};

/** Models of a key that are counted by name within five minutes; the names are others' texts. */
const MAX_MODELS = 64;
/** Of all keys together, so that many keys with many models take some 30 MB at most. */
const MAX_NAMED = 1 << 17;
/** The model of all others, and that of answers that name none where none is known to have been asked for. */
const OTHER_MODELS = "other";
const UNKNOWN_MODEL = "unknown";
/** A name that is kept as it is, unless there may be a key in it. */
const MODEL_NAME = /^[!-~]{1,128}$/;
/** More than one thread lets through between two drains. */
const MAX_COUNTS = 1 << 16;

/** What a key used by one gateway, route and model, and is added to in place. */
type Tally = {
  readonly gatewayId: string;
  readonly routeId: string;
  readonly model: string;
  readonly figures: Record<keyof TokenFigures, number>;
};

/** A key within the slot: the models that are counted by name, and what it used since the last drain. */
type Counted = { teamId: string; readonly models: Set<string>; tallies: Tally[] };

/**
 * Counts what models' answers used on this thread. An answer costs one look-up by its key; what it takes to write a count
 * down is done when it is drained.
 */
export class TokenCounter {
  readonly #countTokens: CountTokens;
  /** By the key's id, for one slot. */
  readonly #keys = new Map<string, Counted>();
  /** Those of them that have tallies. */
  readonly #used = new Map<string, Counted>();
  #slot = Number.NaN;
  #tallies = 0;
  /** The models of all keys within the slot. */
  #named = 0;
  #drained: TokenCounts = new Map();

  constructor(countTokens: CountTokens) {
    this.#countTokens = countTokens;
  }

  /**
   * Counts an answer. Those to placeholder keys are not counted.
   *
   * @param at when it was over, in milliseconds since the epoch by the database's clock
   */
  count(key: KeyRecord, { gatewayId, routeId = "", askedModel, usage }: CountedAnswer, at: number): void {
    if (!(key instanceof KeyRow)) return;
    this.#countTokens(gatewayId, usage);
    if (!(at >= this.#slot && at < this.#slot + REQUEST_SLOT_MS)) this.#begin(at);
    const { keyId, teamId } = key;
    let counted = this.#keys.get(keyId);
    if (counted === undefined) {
      counted = { teamId, models: new Set(), tallies: [] };
      this.#keys.set(keyId, counted);
    }
    counted.teamId = teamId;
    const model = this.#modelOf(counted.models, usage.model ?? askedModel);
    const figures = this.#figuresOf(keyId, counted, { gatewayId, routeId, model });
    if (figures !== undefined) addAnswer(figures, usage);
  }

  /** Takes what was counted since the last time. */
  drain(): TokenCounts {
    this.#writeDown();
    const drained = this.#drained;
    this.#drained = new Map();
    return drained;
  }

  #begin(at: number): void {
    this.#writeDown();
    this.#keys.clear();
    this.#named = 0;
    this.#slot = Math.floor(at / REQUEST_SLOT_MS) * REQUEST_SLOT_MS;
  }

  /** Undefined where there is no room for one more. */
  #figuresOf(
    keyId: string,
    counted: Counted,
    { gatewayId, routeId, model }: Omit<Tally, "figures">,
  ): Tally["figures"] | undefined {
    for (const tally of counted.tallies) {
      if (tally.gatewayId === gatewayId && tally.routeId === routeId && tally.model === model) return tally.figures;
    }
    if (this.#drained.size + this.#tallies >= MAX_COUNTS) return undefined;
    this.#tallies++;
    this.#used.set(keyId, counted);
    const figures = { ...NO_FIGURES };
    counted.tallies.push({ gatewayId, routeId, model, figures });
    return figures;
  }

  #writeDown(): void {
    for (const [keyId, counted] of this.#used) {
      const { teamId } = counted;
      for (const { figures, ...of } of counted.tallies) {
        const name = `${keyId} ${this.#slot} ${of.gatewayId} ${of.routeId} ${of.model}`;
        const known = this.#drained.get(name);
        const sum = known === undefined ? figures : addFigures(known.figures, figures);
        this.#drained.set(name, { keyId, slot: this.#slot, ...of, teamId, figures: sum });
      }
      counted.tallies = [];
    }
    this.#used.clear();
    this.#tallies = 0;
  }

  #modelOf(known: Set<string>, model: string | undefined): string {
    if (model === undefined) return UNKNOWN_MODEL;
    if (known.has(model)) return model;
    if (known.size >= MAX_MODELS || this.#named >= MAX_NAMED) return OTHER_MODELS;
    if (!MODEL_NAME.test(model) || containsKey(model)) return OTHER_MODELS;
    known.add(model);
    this.#named++;
    return model;
  }
}
