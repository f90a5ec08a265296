import type { KeyRecord } from "../../domain/access/key-record.ts";
import { REQUEST_SLOT_MS } from "../../domain/access/request-scope.ts";
import { isPlainModelName } from "../../domain/usage/model-name.ts";
import {
  addAnswer,
  addFigures,
  NO_FIGURES,
  type TokenCount,
  type TokenFigures,
} from "../../domain/usage/token-count.ts";
import { addTokenCounts } from "../../store/keys/uses/token-counts.ts";
import { KeyRow } from "../key-index/key-row.ts";
import type { Countable } from "./count-buffer.ts";
import type { CountTokens } from "./token-metrics.ts";
import type { CountedAnswer } from "./usage-recorder.ts";

/** Usage of models' answers, by key, five minutes, gateway, route and model. */
export type TokenCounts = Map<string, TokenCount>;

/** Way in which counts of tokens wait, some 25 MB at most, and are written. */
export const TOKENS: Countable<TokenCount> = {
  what: "tokens",
  maxWaiting: 50_000,
  sizeOf: ({ figures }) => figures.calls,
  teamOf: ({ teamId }) => teamId,
  add: (known, more) => ({ ...more, figures: addFigures(known.figures, more.figures) }),
  write: (store, counts, onBegun) => addTokenCounts(store, [...counts.values()], onBegun),
};

/** Models of a key that are counted by name within five minutes; the names are others' texts. */
const MAX_MODELS = 64;
/**
 * Models of all keys together that are counted by name, so that many keys with many models take some 30 MB at most;
 * below, those of one team.
 */
const MAX_NAMED = 1 << 17;
const MAX_NAMED_OF_TEAM = MAX_NAMED / 4;
/** Model of all others; below, the model of answers that name none if none is known to have been asked for. */
const OTHER_MODELS = "other";
const UNKNOWN_MODEL = "unknown";
/** Counts at most: more than one thread lets through between two drains. */
const MAX_COUNTS = 1 << 16;
/** Tallies that are kept from one drain to the next, so that most need not be named anew: some 4 MB. */
const KEPT_TALLIES = 1 << 14;

type Figures = Record<keyof TokenFigures, number>;

/** Usage of a key by one gateway, route and model within the slot. */
type Tally = {
  readonly of: Counted;
  readonly gatewayId: string;
  readonly routeId: string;
  readonly model: string;
  /** Name under which it is counted. */
  readonly name: string;
  /** Usage since the last drain, added to in place; undefined for none. */
  figures: Figures | undefined;
};

/** A key within the slot: the models that are counted by name, and its tallies. */
type Counted = { readonly keyId: string; teamId: string; readonly models: Set<string>; tallies: Tally[] };

/**
 * Counts what models' answers used on this thread. An answer costs one look-up by its key's row: what it is counted
 * under is named once in the five minutes, as long as few keys are in use.
 */
export class TokenCounter {
  readonly #countTokens: CountTokens;
  /** Keys by their id, for one slot. */
  readonly #keys = new Map<string, Counted>();
  /** The same keys by the rows of the table in use: a key's id has to be written out first, and hashed. */
  readonly #rows = new Map<number, Counted>();
  #generation = -1;
  /** Tallies that have figures. */
  #used: Tally[] = [];
  #slot = Number.NaN;
  /** Number of tallies of all keys. */
  #tallies = 0;
  /** Number of models of all keys within the slot; below, the number by team. */
  #named = 0;
  readonly #namedOf = new Map<string, number>();
  #drained: TokenCounts = new Map();

  constructor(countTokens: CountTokens) {
    this.#countTokens = countTokens;
  }

  /**
   * Counts an answer. Answers to placeholder keys are not counted.
   *
   * @param at time when it was over, in milliseconds since the epoch by the database's clock
   */
  count(key: KeyRecord, { gatewayId, routeId = "", askedModel, usage }: CountedAnswer, at: number): void {
    if (!(key instanceof KeyRow)) return;
    this.#countTokens(gatewayId, usage);
    if (!(at >= this.#slot && at < this.#slot + REQUEST_SLOT_MS)) this.#begin(at);
    const counted = this.#countedOf(key);
    counted.teamId = key.teamId;
    const named = usage.model ?? askedModel ?? UNKNOWN_MODEL;
    const tally =
      tallyOf(counted, gatewayId, routeId, named) ??
      this.#begun(counted, gatewayId, routeId, this.#modelOf(counted, named));
    const figures = tally && (tally.figures ?? this.#beginFigures(tally));
    if (figures !== undefined) addAnswer(figures, usage);
  }

  /** Takes what was counted since the last time. */
  drain(): TokenCounts {
    this.#writeDown();
    if (this.#tallies > KEPT_TALLIES) this.#forget();
    const drained = this.#drained;
    this.#drained = new Map();
    return drained;
  }

  #forget(): void {
    for (const counted of this.#keys.values()) counted.tallies = [];
    this.#tallies = 0;
  }

  #begin(at: number): void {
    this.#writeDown();
    this.#keys.clear();
    this.#rows.clear();
    this.#tallies = 0;
    this.#named = 0;
    this.#namedOf.clear();
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

  /** Returns a tally that is there already or begins now; undefined if there is no space for one more. */
  #begun(of: Counted, gatewayId: string, routeId: string, model: string): Tally | undefined {
    const known = tallyOf(of, gatewayId, routeId, model);
    if (known !== undefined || !this.#hasCapacity()) return known;
    const name = `${of.keyId} ${this.#slot} ${gatewayId} ${routeId} ${model}`;
    const begun: Tally = { of, gatewayId, routeId, model, name, figures: undefined };
    of.tallies.push(begun);
    this.#tallies++;
    return begun;
  }

  /** Begins the figures of a tally that has none yet; undefined if there is no space for them. */
  #beginFigures(tally: Tally): Figures | undefined {
    if (!this.#hasCapacity()) return undefined;
    this.#used.push(tally);
    tally.figures = { ...NO_FIGURES };
    return tally.figures;
  }

  #hasCapacity(): boolean {
    return this.#drained.size + this.#used.length < MAX_COUNTS;
  }

  #writeDown(): void {
    const slot = this.#slot;
    for (const tally of this.#used) {
      const { of, gatewayId, routeId, model, name, figures = NO_FIGURES } = tally;
      const { keyId, teamId } = of;
      const known = this.#drained.get(name);
      const sum = known === undefined ? figures : addFigures(known.figures, figures);
      this.#drained.set(name, { keyId, slot, gatewayId, routeId, model, teamId, figures: sum });
      tally.figures = undefined;
    }
    this.#used = [];
  }

  #modelOf({ models, teamId }: Counted, model: string): string {
    if (model === UNKNOWN_MODEL || models.has(model)) return model;
    const ofTeam = this.#namedOf.get(teamId) ?? 0;
    const isFull = models.size >= MAX_MODELS || ofTeam >= MAX_NAMED_OF_TEAM || this.#named >= MAX_NAMED;
    if (isFull || !isPlainModelName(model)) return OTHER_MODELS;
    models.add(model);
    this.#named++;
    this.#namedOf.set(teamId, ofTeam + 1);
    return model;
  }
}

/** Returns the tally of a key with this gateway, route and model; undefined if it has none. */
function tallyOf({ tallies }: Counted, gatewayId: string, routeId: string, model: string): Tally | undefined {
  for (const tally of tallies) {
    if (tally.model === model && tally.routeId === routeId && tally.gatewayId === gatewayId) return tally;
  }
  return undefined;
}
