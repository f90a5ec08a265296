import type { Reach } from "../../domain/access/reach.ts";
import { keepNewest } from "../../server/context/bounded-map.ts";
import { SharedCache } from "../../server/context/shared-cache.ts";
import type { EmbedRequest, EmbedResult } from "../../server/gateway/library/embed-request.ts";
import type { QuestionSpace, QuestionVector } from "../store/search/candidates/nearest.ts";

/** Milliseconds that a search waits for the vectors of its question at most. */
const TIMEOUT_MS = 1_000;
/**
 * Limits of two caches: of the vectors of questions of all teams (entries, age in milliseconds), and of the teams that
 * have no library embedded (age in milliseconds, entries).
 */
const MAX_CACHED = 256;
const CACHED_MS = 5 * 60_000;
const NONE_MS = 5_000;
const MAX_TEAMS = 10_000;

export type QuestionEmbedder = {
  /**
   * Returns the vectors of a question, by the models of the libraries that it is asked of.
   *
   * @param spacesOf asks the database; not called while the team is known to have no library embedded
   * @returns undefined if the search goes by words alone: nothing is embedded, or not every model answered in time
   */
  vectorsOf(
    question: Question,
    spacesOf: () => Promise<QuestionSpace[] | undefined>,
  ): Promise<QuestionVectors | undefined>;
};

/** Embedder that embeds nothing: every search goes by words alone. */
export const WORDS_ALONE: QuestionEmbedder = { vectorsOf: async () => undefined };

/** Vectors of a question. */
export type QuestionVectors = readonly QuestionVector[];

type Question = { readonly reach: Pick<Reach, "teamId" | "subject">; readonly text: string };

/** @param monotonic milliseconds on a clock that never jumps */
export function createQuestionEmbedder(
  embed: (request: EmbedRequest) => Promise<EmbedResult>,
  monotonic: () => number,
): QuestionEmbedder {
  const vectors = new SharedCache<{ readonly vector: readonly number[]; readonly at: number }>(MAX_CACHED);
  /** Times at which a team was found to have no embedded library, by the team. */
  const none = new Map<string, number>();

  async function vectorIn(space: QuestionSpace, { reach, text }: Question): Promise<readonly number[] | undefined> {
    const { digest, publicId, model, askedDimensions, servedBy, dimensions } = space;
    // By its key and its subject too: what was embedded for one library is no answer for another whose key may not ask,
    // and how soon an answer comes does not show what another subject has asked.
    const id = JSON.stringify([digest, publicId, model, askedDimensions, servedBy, reach.subject ?? null, text]);
    const known = vectors.get(reach.teamId, id);
    if (known !== undefined && monotonic() - known.at < CACHED_MS) return known.vector;
    const result = await embed({
      ...{ digest, publicId, model },
      dimensions: askedDimensions,
      texts: [text],
      timeoutMs: TIMEOUT_MS,
    });
    if (result.kind !== "vectors" || result.servedBy !== servedBy) return undefined;
    const [vector] = result.vectors;
    if (vector?.length !== dimensions) return undefined;
    vectors.set(reach.teamId, id, { vector, at: monotonic() });
    return vector;
  }

  return {
    async vectorsOf(question, spacesOf) {
      const { teamId } = question.reach;
      if (monotonic() - (none.get(teamId) ?? Number.NEGATIVE_INFINITY) < NONE_MS) return undefined;
      const spaces = await spacesOf();
      none.delete(teamId);
      if (spaces === undefined) keepNewest(none, teamId, monotonic(), MAX_TEAMS);
      if (spaces === undefined || spaces.length === 0) return undefined;
      const found = await Promise.all(spaces.map((space) => vectorIn(space, question)));
      const meaning = spaces.flatMap((space, i) => {
        const vector = found[i];
        return vector === undefined ? [] : [{ space, vector }];
      });
      return meaning.length === spaces.length ? meaning : undefined;
    },
  };
}
