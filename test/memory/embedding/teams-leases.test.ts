import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, type TestContext, test } from "vitest";
import { startLibraryEmbedder } from "../../../memory/embedding/library-embedder.ts";
import { startLibraryExtractor } from "../../../memory/extraction/library-extractor.ts";
import { handOver } from "../../../memory/store/extraction/jobs.ts";
import { insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { createLog } from "../../../runtime/log.ts";
import type { Store } from "../../../store/database/store.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { declareEmbedding } from "../../../store/libraries/library-embedding.ts";
import { declareExtraction } from "../../../store/libraries/library-extraction.ts";
import { describeNightlyOnEachEngine, describeOnEachEngineWithVectors } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { digestOf, gatewayDraft, libraryDraft, makeTeam, run, unique } from "../../store/fixtures.ts";
import { PLAIN } from "../store/plain-atom.ts";

const keyring = parseKeyring(randomBytes(32).toString("base64"));
const mint = () => ({ digest: digestOf(unique("secret")), prefix: "kp_" });
const SILENT = createLog("silent");
/** More than one process has turns. */
const LIBRARIES = 12;

type Home = Awaited<ReturnType<typeof makeLibraries>>;

/** A team with libraries whose texts go to one gateway. */
async function makeLibraries(store: Store, count: number) {
  const home = await makeTeam(store);
  const gateway = gatewayDraft(home);
  const { gatewayId } = await run(store, (tx) => saveGateway(tx, gateway, keyring));
  const libraries: { readonly id: string; readonly name: string }[] = [];
  while (libraries.length < count) {
    const draft = libraryDraft(home);
    const { libraryId } = await run(store, (tx) => saveLibrary(tx, draft));
    libraries.push({ id: libraryId, name: draft.name });
  }
  return { ...home, gatewayId, publicId: gateway.publicId, libraries };
}

/** What each library's model is asked, whose upstream never answers for the one team and at once for the other. */
function upstreamsOf(hanging: Home, context: TestContext) {
  const asked: string[] = [];
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  return {
    asked,
    end,
    async ask(publicId: string): Promise<void> {
      asked.push(publicId);
      if (publicId === hanging.publicId) await over;
    },
    ends: (worker: { close(): Promise<void> }) =>
      context.onTestFinished(async () => {
        end();
        await worker.close();
      }),
  };
}

describeOnEachEngineWithVectors("A team whose model never answers, and has many libraries", (store) => {
  test("b137: holds up the embedding of its own alone", async (context) => {
    const [hanging, other] = [await makeLibraries(store(), LIBRARIES), await makeLibraries(store(), 1)];
    const upstreams = upstreamsOf(hanging, context);
    const embed = async ({ publicId, texts }: { publicId: string; texts: readonly string[] }) => {
      await upstreams.ask(publicId);
      return { kind: "vectors" as const, vectors: texts.map(() => [1, 2]), servedBy: "one" };
    };
    upstreams.ends(startLibraryEmbedder({ store: store(), embedder: { embed }, log: SILENT, count: () => {} }, 20));
    const save = async ({ teamId, gatewayId, libraries, ...home }: Home) => {
      for (const library of libraries) {
        const draft = { library: { ...home, teamId, ...library }, gatewayId, model: "small", dimensions: null };
        await run(store(), (tx) => declareEmbedding(tx, { ...draft, generation: 1, mint }));
        await sql`update library_embeddings set due_at = now() where library_id = ${library.id}`.execute(store().db);
        const reach = { teamId, libraryIds: null };
        await insertAtom(store().db, reach, { ...PLAIN, libraryId: library.id, at: Date.now() });
      }
    };
    await save(hanging);
    await until("the model that never answers is asked", () => upstreams.asked.length > 0);
    await save(other);
    await until("the other team's atom is embedded", () => upstreams.asked.includes(other.publicId));
    expect(upstreams.asked.filter((publicId) => publicId === hanging.publicId).length).toBeLessThan(LIBRARIES / 2);
  });
});

describeNightlyOnEachEngine("A team whose model never answers", (store) => {
  test("b137: holds up the conversations of its own libraries alone", async (context) => {
    const [hanging, other] = [await makeLibraries(store(), LIBRARIES), await makeLibraries(store(), 1)];
    const upstreams = upstreamsOf(hanging, context);
    const generate = async ({ publicId }: { publicId: string }) => {
      await upstreams.ask(publicId);
      return { kind: "text" as const, text: JSON.stringify({ statements: [] }) };
    };
    const save = async ({ teamId, gatewayId, libraries, ...home }: Home) => {
      for (const library of libraries) {
        const draft = { library: { ...home, teamId, ...library }, gatewayId, model: "small", tokensPerDay: 1_000_000 };
        await run(store(), (tx) => declareExtraction(tx, { ...draft, generation: 1, mint }));
        const reach = { teamId, libraryIds: null };
        const passages = ["user: The freeze ends on Monday."];
        await run(store(), (tx) =>
          handOver(tx, reach, { libraryId: library.id, digest: digestOf(unique("said")), passages, tokens: 10 }),
        );
      }
    };
    await save(hanging);
    const extractor = startLibraryExtractor(
      { store: store(), generator: { generate }, log: SILENT, count: () => {} },
      20,
    );
    upstreams.ends(extractor);
    await until("the model that never answers is asked", () => upstreams.asked.length >= 4);
    await save(other);
    await until("the other team's conversation is read", () => upstreams.asked.includes(other.publicId));
    expect(upstreams.asked.filter((publicId) => publicId === hanging.publicId)).toHaveLength(4);
  });
});
