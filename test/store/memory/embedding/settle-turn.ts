import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Store } from "../../../../store/database/store.ts";
import { embeddingProgress } from "../../../../store/memory/embedding/embedding-progress.ts";
import { settleTurn } from "../../../../store/memory/embedding/settle-turn.ts";
import { endEmbedding } from "../../../../store/memory/libraries/library-embedding.ts";
import { run } from "../../fixtures.ts";
import { startWaiting } from "./waiting-library.ts";

export function endsOfTurns(store: () => Store): void {
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
      await settleTurn(store(), first, { kind: "failed", why: "too late", retryAfterMs: undefined });
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
  });
}
