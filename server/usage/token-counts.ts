import type { KeyRecord } from "../../domain/access/key-record.ts";
import { REQUEST_SLOT_MS } from "../../domain/access/request-scope.ts";
import { containsKey } from "../../domain/redact.ts";
import { addFigures, figuresOf, type TokenCount } from "../../domain/usage/token-count.ts";
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

/** Counts what models' answers used on this thread. */
export class TokenCounter {
  readonly #countTokens: CountTokens;
  #counts: TokenCounts = new Map();
  #slot = Number.NaN;
  /** The models of each key within the slot, and how many of all keys. */
  readonly #models = new Map<string, Set<string>>();
  #named = 0;

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
    const slot = Math.floor(at / REQUEST_SLOT_MS) * REQUEST_SLOT_MS;
    if (slot !== this.#slot) {
      this.#slot = slot;
      this.#models.clear();
      this.#named = 0;
    }
    const { keyId, teamId } = key;
    const figures = figuresOf(usage);
    this.#countTokens(gatewayId, usage.ending, figures);
    const model = this.#modelOf(keyId, usage.model ?? askedModel);
    const name = `${keyId} ${slot} ${gatewayId} ${routeId} ${model}`;
    const known = this.#counts.get(name);
    if (known !== undefined) this.#counts.set(name, { ...known, teamId, figures: addFigures(known.figures, figures) });
    else if (this.#counts.size < MAX_COUNTS) {
      this.#counts.set(name, { keyId, slot, gatewayId, routeId, model, teamId, figures });
    }
  }

  /** Takes what was counted since the last time. */
  drain(): TokenCounts {
    const drained = this.#counts;
    this.#counts = new Map();
    return drained;
  }

  #modelOf(keyId: string, model: string | undefined): string {
    if (model === undefined) return UNKNOWN_MODEL;
    const known = this.#models.get(keyId) ?? new Set();
    if (known.has(model)) return model;
    if (known.size >= MAX_MODELS || this.#named >= MAX_NAMED) return OTHER_MODELS;
    if (!MODEL_NAME.test(model) || containsKey(model)) return OTHER_MODELS;
    this.#models.set(keyId, known.add(model));
    this.#named++;
    return model;
  }
}
