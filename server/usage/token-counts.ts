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
type Counted = { readonly keyId: string; teamId: string; readonly models: Set<string>; tallies: Tally[] };

/**
 * Counts what models' answers used on this thread. An answer costs one look-up by its key's row; what it takes to write
 * a count down is done when it is drained.
 */
export class TokenCounter {
  readonly #countTokens: CountTokens;
  /** By the key's id, for one slot. */
  readonly #keys = new Map<string, Counted>();
  /** The same by the rows of the table in use: a key's id has to be written out first, and hashed. */
  readonly #rows = new Map<number, Counted>();
  #generation = -1;
  /** Those of them that have tallies. */
  #used: Counted[] = [];
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
    const counted = this.#countedOf(key);
    counted.teamId = key.teamId;
    const named = usage.model ?? askedModel ?? UNKNOWN_MODEL;
    const figures =
      figuresOf(counted, gatewayId, routeId, named) ??
      this.#begun(counted, gatewayId, routeId, this.#modelOf(counted.models, named));
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
    this.#rows.clear();
    this.#named = 0;
    this.#slot = Math.floor(at / REQUEST_SLOT_MS) * REQUEST_SLOT_MS;
  }

  #countedOf(key: KeyRow): Counted {
    // A stream may outlast the table that its key is a row of: by its id it is counted with the others.
    if (key.generation < this.#generation) return this.#countedById(key);
    if (key.generation > this.#generation) {
      this.#rows.clear();
      this.#generation = key.generation;
    }
    const known = this.#rows.get(key.row);
    if (known !== undefined) return known;
    const counted = this.#countedById(key);
    this.#rows.set(key.row, counted);
    return counted;
  }

  #countedById({ keyId, teamId }: KeyRow): Counted {
    const known = this.#keys.get(keyId);
    if (known !== undefined) return known;
    const counted: Counted = { keyId, teamId, models: new Set(), tallies: [] };
    this.#keys.set(keyId, counted);
    return counted;
  }

  /** The figures of a tally that is there already or begins now; undefined where there is no room for one more. */
  #begun(counted: Counted, gatewayId: string, routeId: string, model: string): Tally["figures"] | undefined {
    const known = figuresOf(counted, gatewayId, routeId, model);
    if (known !== undefined) return known;
    if (this.#drained.size + this.#tallies >= MAX_COUNTS) return undefined;
    this.#tallies++;
    if (counted.tallies.length === 0) this.#used.push(counted);
    const figures = { ...NO_FIGURES };
    counted.tallies.push({ gatewayId, routeId, model, figures });
    return figures;
  }

  #writeDown(): void {
    const slot = this.#slot;
    for (const counted of this.#used) {
      const { keyId, teamId } = counted;
      for (const { gatewayId, routeId, model, figures } of counted.tallies) {
        const name = `${keyId} ${slot} ${gatewayId} ${routeId} ${model}`;
        const known = this.#drained.get(name);
        const sum = known === undefined ? figures : addFigures(known.figures, figures);
        this.#drained.set(name, { keyId, slot, gatewayId, routeId, model, teamId, figures: sum });
      }
      counted.tallies = [];
    }
    this.#used = [];
    this.#tallies = 0;
  }

  #modelOf(known: Set<string>, model: string): string {
    if (model === UNKNOWN_MODEL || known.has(model)) return model;
    if (known.size >= MAX_MODELS || this.#named >= MAX_NAMED) return OTHER_MODELS;
    if (!MODEL_NAME.test(model) || containsKey(model)) return OTHER_MODELS;
    known.add(model);
    this.#named++;
    return model;
  }
}

/** Of a tally that a key has; undefined for none. */
function figuresOf(
  { tallies }: Counted,
  gatewayId: string,
  routeId: string,
  model: string,
): Tally["figures"] | undefined {
  for (const tally of tallies) {
    if (tally.model === model && tally.routeId === routeId && tally.gatewayId === gatewayId) return tally.figures;
  }
  return undefined;
}
