import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Dialect, RouteRecord } from "../../../domain/access/key-record.ts";
import { keyDigest, keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { startLibraryEmbedder } from "../../../memory/embedding/library-embedder.ts";
import { insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createLog } from "../../../runtime/log.ts";
import { parseServerConfig } from "../../../server/context/config.ts";
import { createTextEmbedder } from "../../../server/gateway/library/embed-texts.ts";
import type { Store } from "../../../store/database/store.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { embeddingProgress } from "../../../store/libraries/embedding-progress.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { declareEmbedding, type EmbeddingDraft } from "../../../store/libraries/library-embedding.ts";
import { until } from "../../env/until.ts";
import { budgetsOn, ledgerThatIsAway } from "../../server/budgets/ledger.ts";
import { PROVIDER_KEY } from "../../server/gateway/gateway.ts";
import { keyring, startReplica } from "../../server/key-index/replica-fixtures.ts";
import { gatewayDraft, libraryDraft, makeTeam, run } from "../../store/fixtures.ts";
import { feedHead } from "../../store/questions.ts";
import { PLAIN } from "../store/plain-atom.ts";
import type { Ending } from "./embedding-upstream.ts";

/** Each look for work is a question to the database, which on PGlite takes its time. */
const POLL_MS = 100;

type LibraryOptions = {
  readonly upstream: { readonly url: string };
  readonly dialect?: Dialect;
  readonly routes?: readonly RouteRecord[];
  readonly allowPrivate?: string;
  readonly declared?: Partial<EmbeddingDraft>;
};

/** A library that is to be embedded, and the part of a server that does it, on a replica's index; both end with the test. */
export async function startEmbeddedLibrary(
  context: Ending,
  store: Store,
  { upstream, dialect = "openai", routes = [], allowPrivate = "127.0.0.0/8", declared = {} }: LibraryOptions,
) {
  const home = await makeTeam(store);
  const upstreams = [{ name: "embedder", dialect, baseUrl: upstream.url, credential: PROVIDER_KEY }];
  const gateway = gatewayDraft(home, { upstreams, routes });
  const { gatewayId } = await run(store, (tx) => saveGateway(tx, gateway, keyring));
  const library = libraryDraft(home);
  const { libraryId } = await run(store, (tx) => saveLibrary(tx, library));
  const draft = {
    library: { ...home, id: libraryId, name: library.name },
    ...{ gatewayId, model: "stub-embedding", dimensions: null, generation: 1 },
    mint() {
      const plaintext = mintKey(randomBytes);
      return { digest: keyDigest(plaintext), prefix: keyPrefix(plaintext) };
    },
    ...declared,
  };
  const { replica, view, streams } = startReplica(store);
  context.onTestFinished(() => replica.close());
  const used: string[] = [];
  const answered: object[] = [];
  const lines: string[] = [];
  const embedder = createTextEmbedder({
    ...{
      store,
      streams,
      index: view,
      clock: systemClock,
      installationLimits: null,
      budgets: budgetsOn(ledgerThatIsAway(), systemClock),
    },
    usage: {
      record: ({ keyId }) => used.push(keyId),
      noteLibrary: () => {},
      countRequest: () => {},
      countAnswer: ({ keyId }, answer) => answered.push({ keyId, ...answer }),
    },
    log: createLog("debug", { write: (line) => lines.push(line) }),
    config: parseServerConfig({}, { allowPrivateUpstreams: allowPrivate }),
  });
  const counted: string[] = [];
  const count = (outcome: string, atoms: number) => counted.push(`${outcome} ${atoms}`);
  const worker = startLibraryEmbedder({ store, embedder, log: createLog("silent"), count }, POLL_MS);
  context.onTestFinished(async () => {
    await embedder.close();
    await worker.close();
  });
  const reach = { teamId: home.teamId, libraryIds: null };

  const embedding = {
    ...{ home, reach, libraryId, draft, embedder, view, used, answered, lines, counted },
    /** Declares the embedding, and spares the test the time that saves under way are given. */
    async declare(changed: Partial<EmbeddingDraft> = {}): Promise<void> {
      await run(store, (tx) => declareEmbedding(tx, { ...draft, ...changed }));
      await embedding.caughtUp();
      await sql`update library_embeddings set due_at = now() where library_id = ${libraryId} and due_at > now()`.execute(
        store.db,
      );
    },
    async caughtUp(): Promise<void> {
      const head = await feedHead(store);
      await until("the replica has caught up", () => view.isCurrent() && view.lastSeq() >= head);
    },
    async save(content: string): Promise<string> {
      const atom = await insertAtom(store.db, reach, { ...PLAIN, libraryId, content, at: Date.now() });
      if (atom === undefined) throw new Error("the library is not there");
      return atom.id;
    },
    progress: () => embeddingProgress(store.db, libraryId),
    /** Has what waits until later tried now. */
    async hurry(): Promise<void> {
      await sql`with library as (
          update library_embeddings set due_at = now() where library_id = ${libraryId} and claim is null and due_at > now())
        update embedding_queue set due_at = now()
        where library_id = ${libraryId} and due_at > now() and due_at < 'infinity'`.execute(store.db);
    },
    /** The ids and revisions of the vectors of the present model. */
    async vectors(): Promise<{ id: string; revision: number }[]> {
      const { rows } = await sql<{ id: string; revision: number }>`
        select v.atom_id as id, v.revision from atom_embeddings v join library_embeddings e on e.library_id = v.library_id
        where v.library_id = ${libraryId} and v.space = e.space order by v.atom_id`.execute(store.db);
      return rows;
    },
    async embedded(): Promise<void> {
      await embedding.until("all atoms are embedded", async () => {
        const progress = await embedding.progress();
        return progress?.waiting === 0 && !progress.isMore && progress.setAside === 0;
      });
    },
    failure: () => embedding.until("a failure is recorded", async () => (await embedding.progress())?.failure),
    /** Waits for what a write brings about: without one since the last look it looks no more. */
    until<T>(what: string, probe: () => Promise<T>): Promise<NonNullable<T>> {
      let seen: number | undefined;
      return until(what, async () => {
        const written = store.writes?.();
        if (written !== undefined && written === seen) return undefined;
        seen = written;
        return probe();
      });
    },
  };
  return embedding;
}
