import type { Dialect, UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { AnswerUsage } from "../../../domain/usage/tokens.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { needleOf } from "../headers/credential-mask.ts";
import { withoutCredential } from "../tokens/answer-tap.ts";
import { BatchResults } from "../tokens/batch-results.ts";
import type { AnswerReading, JsonObject } from "./whole-answer.ts";

type ChargingDeps = {
  readonly dialect: Dialect;
  /** Query to ask with once more. */
  readonly query: string;
  /**
   * Notes that the results are charged, and calls `onFirst` if they were not before; returns the problem to answer if
   * that is not known in time.
   */
  readonly charge: (upstream: UpstreamRecord, onFirst: () => void) => Promise<Problem | undefined>;
  /** Counts what was used. */
  readonly count: (usage: AnswerUsage) => void;
  /** Called once all was read, and is charged if that can be. */
  readonly onRead: () => void;
};

/**
 * Reads results of a batch to their end, and has them charged, before they are asked for once more and leave: a client
 * that goes away at any moment has seen nothing, or what is charged.
 */
export function chargedResults({ dialect, query, charge, count, onRead }: ChargingDeps): AnswerReading {
  const results = new BatchResults(dialect);
  return {
    push(piece) {
      results.push(piece);
      return undefined;
    },
    async take(upstream, _body, _headers, status) {
      if (status !== 200) return NOT_ALL;
      if (results.isUnreadable) return NO_LINES;
      const refusal = await charge(upstream, () => {
        const needle = needleOf(upstream.credential || "");
        for (const used of results.end()) count(withoutCredential(used, needle));
      });
      onRead();
      return refusal ?? { query, passes: true };
    },
  };
}

/** Returns a batch with the URL of its results at the gateway: Anthropic's SDK would send its key to the provider's. */
export function withOwnResults(batch: JsonObject, id: string | undefined, gatewayUrl: string): JsonObject {
  if (typeof batch.results_url !== "string") return batch;
  const own = id === undefined ? null : `${gatewayUrl}/v1/messages/batches/${encodeURIComponent(id)}/results`;
  return { ...batch, results_url: own };
}

const NO_LINES = problem(
  "bad_gateway",
  "The upstream's results are not lines of JSON, one for each: what was used is not known, so none is passed on.",
);
const NOT_ALL = problem("bad_gateway", "The upstream did not answer with all of the results, so none is passed on.");
