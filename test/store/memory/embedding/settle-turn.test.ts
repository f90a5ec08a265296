import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { parseKeyring } from "../../../../store/encryption/keyring.ts";
import { saveGateway } from "../../../../store/gateways/gateways.ts";
import { insertAtom } from "../../../../store/memory/atom-writes.ts";
import { embeddingProgress } from "../../../../store/memory/embedding/embedding-progress.ts";
import { declareEmbedding, endEmbedding } from "../../../../store/memory/embedding/library-embedding.ts";
import { settleTurn } from "../../../../store/memory/embedding/settle-turn.ts";
import { claimTurn, type EmbeddingTurn, takeBatch } from "../../../../store/memory/embedding/turns.ts";
import { saveLibrary } from "../../../../store/memory/libraries.ts";
import { describeOnEachEngineWithVectors } from "../../../env/database/engines.ts";
import { digestOf, gatewayDraft, libraryDraft, makeTeam, run, unique } from "../../fixtures.ts";
import { PLAIN } from "../plain-atom.ts";

const keyring = parseKeyring(randomBytes(32).toString("base64"));
const mint = () => ({ digest: digestOf(unique("secret")), prefix: "kp_" });

describeOnEachEngineWithVectors("The end of a turn of embedding", (store) => {
  /** A library with one atom that waits to be embedded, and nothing else to do in the database. */
  async function waiting() {
    const { db } = store();
    await sql`update library_embeddings set due_at = 'infinity'`.execute(db);
    const home = await makeTeam(store());
    const { gatewayId } = await run(store(), (tx) => saveGateway(tx, gatewayDraft(home), keyring));
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, libraryDraft(home)));
    const library = { ...home, id: libraryId, name: "notes" };
    const declare = (model: string) =>
      run(store(), (tx) => declareEmbedding(tx, { library, gatewayId, model, dimensions: null, generation: 1, mint }));
    await declare("small");
    const reach = { teamId: home.teamId, libraryIds: null };
    await insertAtom(store().db, reach, { ...PLAIN, libraryId, at: Date.now() });
    /** Claims a turn of it, also where another process has one. */
    const begin = async (): Promise<EmbeddingTurn> => {
      await sql`update library_embeddings set is_walked = true, due_at = '-infinity'
        where library_id = ${libraryId}`.execute(db);
      const turn = await claimTurn(store(), randomUUID());
      if (turn?.libraryId !== libraryId) throw new Error("the turn is of another library");
      return turn;
    };
    const embedded = async (turn: EmbeddingTurn, servedBy = "one") => {
      const atoms = await takeBatch(store(), turn);
      const vectors = atoms.map(() => [1, 2]);
      return () => settleTurn(store(), turn, { kind: "embedded", atoms, vectors, servedBy });
    };
    const states = async () => {
      const { rows } = await sql<{ vectors: number; queued: number }>`select
        (select count(*)::integer from atom_embeddings where library_id = ${libraryId}) as vectors,
        (select count(*)::integer from embedding_queue where library_id = ${libraryId}) as queued`.execute(db);
      return rows[0];
    };
    return { libraryId, declare, begin, embedded, states };
  }

  test("keeps the vectors of its atoms, which wait no more", async () => {
    const { begin, embedded, states } = await waiting();
    await (await embedded(await begin()))();
    expect(await states()).toEqual({ vectors: 1, queued: 0 });
  });

  test("writes nothing where another process has taken it over, and leaves that one its turn", async () => {
    const { libraryId, begin, embedded, states } = await waiting();
    const [first, second] = [await begin(), await begin()];
    await (await embedded(first))();
    await settleTurn(store(), first, { kind: "failed", why: "too late", retryAfterMs: undefined });
    expect(await states()).toEqual({ vectors: 0, queued: 1 });
    expect(await embeddingProgress(store().db, libraryId)).toMatchObject({ failure: null });
    await (await embedded(second))();
    expect(await states()).toEqual({ vectors: 1, queued: 0 });
  });

  test("writes nothing by a model that is the library's no longer, nor of one that is embedded no more", async () => {
    const { libraryId, declare, begin, embedded, states } = await waiting();
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
    const { libraryId, begin, embedded, states } = await waiting();
    const settle = await embedded(await begin());
    await sql`update atoms set content = 'Corrected.', revision = revision + 1
      where library_id = ${libraryId}`.execute(store().db);
    await settle();
    expect(await states()).toEqual({ vectors: 0, queued: 1 });
  });

  test("keeps no vector of another model than those before, and has all atoms embedded anew", async () => {
    const { libraryId, begin, embedded, states } = await waiting();
    await (await embedded(await begin(), "one"))();
    await sql`update atoms set content = 'Corrected.', revision = revision + 1
      where library_id = ${libraryId}`.execute(store().db);
    await (await embedded(await begin(), "another"))();
    expect(await states()).toEqual({ vectors: 1, queued: 1 });
    expect(await embeddingProgress(store().db, libraryId)).toMatchObject({ isMore: true });
  });
});
