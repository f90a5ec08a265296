import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { claimEmbedding, type EmbeddingLease, takeBatch } from "../../../../memory/store/embedding/embedding-leases.ts";
import { settleEmbedding } from "../../../../memory/store/embedding/settle-embedding.ts";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { parseKeyring } from "../../../../store/encryption/keyring.ts";
import { saveGateway } from "../../../../store/gateways/gateways.ts";
import { saveLibrary } from "../../../../store/libraries/libraries.ts";
import { declareEmbedding } from "../../../../store/libraries/library-embedding.ts";
import { digestOf, gatewayDraft, libraryDraft, makeTeam, run, unique } from "../../../store/fixtures.ts";
import { PLAIN } from "../plain-atom.ts";

const keyring = parseKeyring(randomBytes(32).toString("base64"));
const mint = () => ({ digest: digestOf(unique("secret")), prefix: "kp_" });

/** A library with one atom that waits to be embedded, and nothing else to do in the database. */
export async function startWaiting(store: Store, content = PLAIN.content) {
  const { db } = store;
  await sql`update library_embeddings set due_at = 'infinity'`.execute(db);
  const home = await makeTeam(store);
  const { gatewayId } = await run(store, (tx) => saveGateway(tx, gatewayDraft(home), keyring));
  const { libraryId } = await run(store, (tx) => saveLibrary(tx, libraryDraft(home)));
  const library = { ...home, id: libraryId, name: "notes" };
  const declare = (model: string) =>
    run(store, (tx) => declareEmbedding(tx, { library, gatewayId, model, dimensions: null, generation: 1, mint }));
  await declare("small");
  const reach = { teamId: home.teamId, libraryIds: null };
  const save = (said: string) => insertAtom(db, reach, { ...PLAIN, content: said, libraryId, at: Date.now() });
  const atomId = (await save(content))?.id ?? "";
  /** Claims a turn of it, also where another process has one. */
  const begin = async (): Promise<EmbeddingLease> => {
    await sql`update library_embeddings set is_walked = true, due_at = '-infinity'
      where library_id = ${libraryId}`.execute(db);
    const lease = await claimEmbedding(store, randomUUID());
    if (lease?.libraryId !== libraryId) throw new Error("the lease is of another library");
    return lease;
  };
  const embedded = async (lease: EmbeddingLease, servedBy = "one") => {
    const waiting = await takeBatch(store, lease);
    const atoms = waiting.map((atom) => ({ ...atom, vectors: atom.passages.map(() => [1, 2]) }));
    return () => settleEmbedding(store, lease, { kind: "embedded", atoms, servedBy });
  };
  const states = async () => {
    const { rows } = await sql<{ vectors: number; queued: number }>`select
      (select count(*)::integer from atom_embeddings where library_id = ${libraryId}) as vectors,
      (select count(*)::integer from embedding_queue where library_id = ${libraryId}) as queued`.execute(db);
    return rows[0];
  };
  return { libraryId, reach, atomId, save, declare, begin, embedded, states };
}
