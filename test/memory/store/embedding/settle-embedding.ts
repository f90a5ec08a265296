import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { takeBatch } from "../../../../memory/store/embedding/embedding-leases.ts";
import { type EmbeddingResult, settleEmbedding } from "../../../../memory/store/embedding/settle-embedding.ts";
import type { Store } from "../../../../store/database/store.ts";
import { embeddingProgress } from "../../../../store/libraries/embedding-progress.ts";
import { endEmbedding } from "../../../../store/libraries/library-embedding.ts";
import { run } from "../../../store/fixtures.ts";
import { startWaiting } from "./waiting-library.ts";

export function endsOfLeases(store: () => Store): void {
  describe("The end of a turn of embedding", () => {
    test("keeps the vectors of its atoms, which wait no more", async () => {
      const { begin, embedded, states } = await startWaiting(store());
      await (await embedded(await begin()))();
      expect(await states()).toEqual({ vectors: 1, queued: 0 });
    });

    test("writes nothing where another process has taken it over, and leaves that one its turn", async () => {
      const { libraryId, begin, embedded, states } = await startWaiting(store());
      const [first, second] = [await begin(), await begin()];
      await (await embedded(first))();
      await settleEmbedding(store(), first, { kind: "failed", why: "too late", retryAfterMs: undefined });
      expect(await states()).toEqual({ vectors: 0, queued: 1 });
      expect(await embeddingProgress(store().db, libraryId)).toMatchObject({ failure: null });
      await (await embedded(second))();
      expect(await states()).toEqual({ vectors: 1, queued: 0 });
    });

    test("writes nothing by a model that is the library's no longer, nor of one that is embedded no more", async () => {
      const { libraryId, declare, begin, embedded, states } = await startWaiting(store());
      const bySmall = await embedded(await begin());
      await declare("large");
      await bySmall();
      expect(await states()).toEqual({ vectors: 0, queued: 1 });
      const byLarge = await embedded(await begin());
      await run(store(), (tx) => endEmbedding(tx, libraryId));
      await byLarge();
      expect(await states()).toEqual({ vectors: 0, queued: 1 });
    });

    test("keeps no vector of what an atom said before it was corrected meanwhile, and has it wait", async () => {
      const { libraryId, begin, embedded, states } = await startWaiting(store());
      const settle = await embedded(await begin());
      await sql`update atoms set content = 'Corrected.', revision = revision + 1
        where library_id = ${libraryId}`.execute(store().db);
      await settle();
      expect(await states()).toEqual({ vectors: 0, queued: 1 });
    });

    test("keeps no vector of another model than those before, and has all atoms embedded anew", async () => {
      const { libraryId, begin, embedded, states } = await startWaiting(store());
      await (await embedded(await begin(), "one"))();
      await sql`update atoms set content = 'Corrected.', revision = revision + 1
        where library_id = ${libraryId}`.execute(store().db);
      await (await embedded(await begin(), "another"))();
      expect(await states()).toEqual({ vectors: 1, queued: 1 });
      expect(await embeddingProgress(store().db, libraryId)).toMatchObject({ isMore: true });
    });

    /** What is left to do of a library whose one atom has come to this so often, and the pauses from try to try. */
    async function putOff(
      times: number,
      result: Omit<Extract<EmbeddingResult, { kind: "refused" }>, "kind" | "atoms">,
    ) {
      const waiting = await startWaiting(store());
      const { libraryId, begin } = waiting;
      const pauses: (number | null)[] = [];
      const counts: (string | undefined)[] = [];
      for (let at = 0; at < times; at++) {
        await sql`update embedding_queue set due_at = clock_timestamp() where library_id = ${libraryId}`.execute(
          store().db,
        );
        const lease = await begin();
        await settleEmbedding(store(), lease, { kind: "refused", atoms: await takeBatch(store(), lease), ...result });
        const { rows } = await sql<{ pause: number | null }>`select
          case when due_at < 'infinity' then round(extract(epoch from due_at - clock_timestamp()))::integer end as pause
          from embedding_queue where library_id = ${libraryId}`.execute(store().db);
        pauses.push(rows[0]?.pause ?? null);
        const progress = await embeddingProgress(store().db, libraryId);
        counts.push(`${progress?.waiting} ${progress?.setAside} ${progress?.refusal}`);
      }
      return { ...waiting, pauses, counts };
    }

    test("b330: spaces the tries of what an upstream fails at, and has what is set aside come again by itself", async () => {
      const why = "the upstream answered 503";
      const doubtful = { why, isForGood: false, retryAfterMs: undefined };
      const { libraryId, save, begin, embedded, pauses, counts } = await putOff(10, doubtful);
      expect(pauses).toEqual([10, 60, 300, 600, 1_200, 2_400, 4_800, 9_600, 14_400, 14_400]);
      expect(counts).toEqual([...Array(3).fill("1 0 null"), ...Array(7).fill(`0 1 ${why}`)]);
      // Due again it is as it was, and goes behind what has not failed.
      await sql`update embedding_queue set due_at = clock_timestamp() - interval '1 minute'
        where library_id = ${libraryId}`.execute(store().db);
      const later = await save("Saved later.");
      expect(await embeddingProgress(store().db, libraryId)).toMatchObject({ waiting: 1, setAside: 1, refusal: why });
      const first = await begin();
      expect((await takeBatch(store(), first)).map(({ id }) => id)).toEqual([later?.id]);
      await (await embedded(first))();
      await (await embedded(await begin()))();
      expect(await embeddingProgress(store().db, libraryId)).toMatchObject({ waiting: 0, setAside: 0, refusal: null });
    });

    test("b330: leaves an atom for as long as the upstream says, and one that it refuses for good", async () => {
      const doubtful = { why: "the upstream answered 503", isForGood: false, retryAfterMs: 120_000 };
      expect((await putOff(3, doubtful)).pauses).toEqual([120, 120, 300]);
      const refused = { why: "the upstream answered 400", isForGood: true, retryAfterMs: undefined };
      const { pauses, counts } = await putOff(3, refused);
      expect(pauses).toEqual([0, 1, null]);
      expect(counts.at(-1)).toBe("0 1 the upstream answered 400");
    });
  });
}
