import type { ServerResponse } from "node:http";
import { sql } from "kysely";
import { expect, type TestContext, test } from "vitest";
import { correctAtom, deleteAtom } from "../../../memory/store/writes/atom-writes.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { endEmbedding } from "../../../store/libraries/library-embedding.ts";
import { describeOnEachEngineWithVectors } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { PROVIDER_KEY, routeOf } from "../../server/gateway/gateway.ts";
import { run } from "../../store/fixtures.ts";
import { startEmbeddedLibrary } from "./embedded-library.ts";
import { answerVectors, answerVectorsOf, startEmbeddingUpstream, textsOf } from "./embedding-upstream.ts";

describeOnEachEngineWithVectors("A library that is embedded", (store) => {
  test("has its atoms embedded, those from before too, by a key of its own whose secret is never given out", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    const before = await library.save("the car is red");
    await library.declare();
    const later = await library.save("the invoice is paid");
    await library.embedded();
    expect(await library.vectors()).toEqual([before, later].map((id) => ({ id, revision: 1 })));
    const { keyId } = (await library.progress()) ?? { keyId: "" };
    const key = await findKey(store().db, keyId);
    expect(key).toMatchObject({ state: "active", ownerUid: null, teamId: library.home.teamId });
    expect(key?.policy).toMatchObject({
      scopes: ["gateway:embed"],
      boundGatewayId: library.draft.gatewayId,
      allowedModels: ["stub-embedding"],
    });
    expect(new Set(library.used)).toEqual(new Set([keyId]));
    expect(library.answered).toHaveLength(upstream.received.length);
    expect(library.answered[0]).toMatchObject({
      keyId,
      gatewayId: library.draft.gatewayId,
      askedModel: "stub-embedding",
    });
    for (const { headers, url } of upstream.received) {
      expect(url).toBe("/v1/embeddings");
      expect(headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    }
    expect(library.lines.join()).not.toContain("the car");
  });

  test("is embedded also where its team's keys may be used from other networks alone", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    await sql`update teams set allowed_cidrs = '{203.0.113.0/24}' where id = ${library.home.teamId}`.execute(
      store().db,
    );
    await library.declare();
    const id = await library.save("the car is red");
    await library.embedded();
    expect(await library.vectors()).toEqual([{ id, revision: 1 }]);
  });

  test("follows corrections and deletions, and what is embedded anew by another model", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    await library.declare();
    const kept = await library.save("kept");
    const gone = await library.save("gone");
    await library.embedded();
    const patch = { expected: 1, at: Date.now(), content: "kept, and corrected" };
    await correctAtom(store().db, library.reach, kept, patch);
    await deleteAtom(store().db, library.reach, gone, null);
    await library.embedded();
    expect(await library.vectors()).toEqual([{ id: kept, revision: 2 }]);
    await library.declare({ model: "another" });
    await library.embedded();
    expect(await library.vectors()).toEqual([{ id: kept, revision: 2 }]);
    const last = upstream.received.at(-1);
    expect(last && JSON.parse(last.body.toString())).toMatchObject({
      model: "another",
      input: ["kept, and corrected"],
    });
    await run(store(), (tx) => endEmbedding(tx, library.libraryId));
    await library.until("what is left of it is gone", async () => {
      const { rows } = await sql`select from atom_embeddings where library_id = ${library.libraryId}
        union all select from library_embeddings where library_id = ${library.libraryId}`.execute(store().db);
      return rows.length === 0;
    });
  });

  test("is embedded by a logical route of a gateway that speaks gemini, and never by its fallbacks", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const route = routeOf("meaning", {
      upstream: "embedder",
      fallbacks: [{ upstream: "embedder", upstreamModel: "another" }],
    });
    const options = {
      upstream,
      dialect: "gemini",
      routes: [route],
      declared: { model: "meaning", dimensions: 256 },
    } as const;
    const library = await startEmbeddedLibrary(context, store(), options);
    upstream.answerWith((response) => response.writeHead(503).end());
    await library.declare();
    await library.save("by a route");
    expect(await library.failure()).toBe("the upstream answered 503");
    upstream.answerWith(answerVectors);
    await library.hurry();
    await library.embedded();
    for (const { url, body } of upstream.received) {
      expect(url).toBe("/v1beta/models/real-meaning:batchEmbedContents");
      expect(body.toString()).toContain('"outputDimensionality":256');
    }
  });

  test("b124: is held to the limits of the route that it names, and says so where they are used up", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const rateLimit = { requestsPerMinute: 1 };
    const routes = [routeOf("meaning", { upstream: "embedder", rateLimit })];
    const library = await startEmbeddedLibrary(context, store(), { upstream, routes, declared: { model: "meaning" } });
    await library.save("within it");
    await library.declare();
    await library.embedded();
    const { length } = upstream.received;
    await library.save("beyond it");
    expect(await library.failure()).toBe("the rate limit of the library's route is used up");
    expect(upstream.received).toHaveLength(length);
  });

  test("stops when its key is revoked, which nothing replaces, and says so", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    // A call under way when the key is revoked is broken off, which is another failure.
    await library.save("embedded before");
    await library.declare();
    await library.embedded();
    const { keyId } = (await library.progress()) ?? { keyId: "" };
    await run(store(), (tx) => revokeKey(tx, keyId, "ByHand"));
    await library.declare();
    await library.save("never embedded");
    expect(await library.failure()).toBe("the library's key is refused at its gateway (revoked)");
    expect(upstream.received.flatMap(textsOf)).not.toContain("never embedded");
    expect(await library.progress()).toMatchObject({ keyId, revoked: "ByHand", waiting: 1 });
  });

  test("b330: sets an atom aside that the upstream refuses alone, through a route with room for one call", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const rateLimit = { requestsPerMinute: 60, burst: 1 };
    const routes = [routeOf("narrow", { upstream: "embedder", rateLimit })];
    const library = await startEmbeddedLibrary(context, store(), { upstream, routes, declared: { model: "narrow" } });
    upstream.answerWith((response, received) => {
      if (textsOf(received).includes("poison")) response.writeHead(400).end();
      else answerVectors(response, received);
    });
    await library.save("poison");
    await library.declare();
    await library.until("it is set aside", async () => (await library.progress())?.setAside === 1);
  });

  test("b330: waits where the upstream refuses every text, and goes on in batches", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response) => response.writeHead(403).end());
    for (const text of ["one", "two", "three", "four", "five", "six"]) await library.save(text);
    await library.declare();
    await library.until("the failure is shown", async () => (await library.progress())?.failure !== null);
    upstream.answerWith(answerVectors);
    const before = upstream.received.length;
    await library.until("all are embedded", async () => {
      await library.hurry();
      return (await library.progress())?.waiting === 0;
    });
    expect(upstream.received.length - before).toBeLessThan(4);
  });

  /** A library with three atoms, one of which the upstream does not embed: that one is set aside, the others have vectors. */
  async function setAside(context: TestContext, fail: (response: ServerResponse) => void) {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response, received) => {
      if (textsOf(received).some((text) => text.includes("poison"))) fail(response);
      else answerVectors(response, received);
    });
    await library.save("poison");
    const good = [await library.save("good"), await library.save("better")];
    await library.declare();
    await library.until("it is set aside", async () => {
      await library.hurry();
      const progress = await library.progress();
      return progress?.setAside === 1 && progress.waiting === 0;
    });
    expect((await library.vectors()).map(({ id }) => id)).toEqual(good);
    return { upstream, library };
  }

  test("sets an atom aside that the upstream refuses alone, and embeds the others", async (context) => {
    const { library } = await setAside(context, (response) => response.writeHead(400).end("poison is bad"));
    expect(await library.progress()).toMatchObject({ refusal: "the upstream answered 400", failure: null });
  });

  test("b330: sets an atom aside to which the upstream answers with a 500, embeds the others, and that one once it can", async (context) => {
    const { upstream, library } = await setAside(context, (response) => response.writeHead(500).end());
    expect(await library.progress()).toMatchObject({ refusal: "the upstream answered 500", failure: null });
    upstream.answerWith(answerVectors);
    await library.until("it is embedded", async () => {
      await library.hurry();
      return (await library.progress())?.setAside === 0;
    });
    expect(await library.progress()).toMatchObject({ waiting: 0, refusal: null });
    expect(await library.vectors()).toHaveLength(3);
    // Twice with the others, then alone; with each failure but the first a text is asked for that every model takes.
    const poisoned = upstream.received.filter((received) => received.body.includes("poison"));
    const probes = upstream.received.filter((received) => textsOf(received).join() === "keyplane");
    expect(poisoned.length).toBeGreaterThan(5);
    expect(probes).toHaveLength(poisoned.length - 2);
  });

  const REFUSED_KEY = "the upstream refuses the gateway's credential";
  const NO_VECTOR = "the upstream gave a vector that is empty, or has something else than finite numbers";
  const FAILURES: Readonly<
    Record<"openai" | "gemini", readonly (readonly [(response: ServerResponse) => void, object])[]>
  > = {
    openai: [
      [(response) => response.writeHead(400).end(), { kind: "refused", why: "the upstream answered 400" }],
      [(response) => response.writeHead(403).end(), { kind: "refused", why: "the upstream answered 403" }],
      [(response) => response.writeHead(500).end(), { kind: "failed", isDoubtful: true }],
      [(response) => response.writeHead(404).end(), { kind: "failed", isDoubtful: false }],
      [
        // With a beginning: else it is asked once more on another connection.
        (response) => response.writeHead(200).write("{", () => response.destroy()),
        { kind: "failed", why: "the upstream cannot be reached: UND_ERR_SOCKET", isDoubtful: true },
      ],
      [
        (response) => response.end('{"data":[{"index":0,"embedding":[]}]}'),
        { kind: "failed", why: NO_VECTOR, isDoubtful: true },
      ],
      [(response) => response.writeHead(401).end(), { kind: "failed", why: REFUSED_KEY }],
    ],
    gemini: [
      [
        (response) => response.writeHead(404).end('{"error":{"status":"NOT_FOUND"}}'),
        { kind: "failed", why: "the upstream answered 404" },
      ],
      [
        (response) => response.writeHead(400).end('{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}'),
        { kind: "failed", why: REFUSED_KEY },
      ],
    ],
  };

  test.for(["openai", "gemini"] as const)(
    "b330: tells a request that %s does not take, one at which it may have failed, and a failure of any",
    async (dialect, context) => {
      const upstream = await startEmbeddingUpstream(context);
      const library = await startEmbeddedLibrary(context, store(), { upstream, dialect });
      await library.declare();
      const { rows } = await sql<{ digest: Uint8Array; publicId: string }>`
        select v.digest, g.public_id as "publicId" from library_embeddings e
        join key_versions v on v.key_id = e.key_id join gateways g on g.id = e.gateway_id
        where e.library_id = ${library.libraryId}`.execute(store().db);
      const [{ digest, publicId } = { digest: new Uint8Array(), publicId: "" }] = rows;
      const model = {
        digest: Buffer.from(digest).toString("latin1"),
        publicId,
        model: "stub-embedding",
        dimensions: null,
      };
      for (const [fail, result] of FAILURES[dialect]) {
        upstream.answerWith(fail);
        expect(await library.embedder.embed({ ...model, texts: ["text"], timeoutMs: 18_000 })).toMatchObject(result);
      }
    },
  );

  test("b330: sets nothing aside while the upstream fails at whatever it is asked, and leaves an atom for as long as it says alone", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response) => response.writeHead(502).end());
    await library.save("good");
    await library.declare();
    await until("it was tried several times", async () => {
      await library.hurry();
      return upstream.received.length > 8;
    });
    expect(await library.progress()).toMatchObject({ setAside: 0, waiting: 1 });
    upstream.answerWith(answerVectors);
    await library.hurry();
    await library.embedded();
    upstream.answerWith((response, received) => {
      if (!textsOf(received).includes("another")) return answerVectors(response, received);
      response.writeHead(503, { "retry-after": "120" }).end();
    });
    const id = await library.save("another");
    expect(await library.failure()).toBe("the upstream answered 503");
    await library.hurry();
    const queued = async () => {
      const { rows } = await sql<{ tries: number; wait: number }>`
        select tries, extract(epoch from due_at - clock_timestamp())::float8 as wait
        from embedding_queue where atom_id = ${id}::uuid`.execute(store().db);
      return rows[0];
    };
    await library.until("the atom is put off", async () => (await queued())?.tries === 1);
    expect((await queued())?.wait).toBeGreaterThan(100);
    await library.save("a third");
    await library.until("others are embedded meanwhile", async () => (await library.vectors()).length === 2);
  });

  test("asks for no more than 32 texts in a request, however long its atoms are", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    const line = "Nothing of note was said on that day.\n";
    for (const lines of [1_700, 70, 70, 1]) await library.save(line.repeat(lines));
    await library.declare();
    await library.embedded();
    expect(await library.vectors()).toHaveLength(4);
    const asked = upstream.received.map((received) => textsOf(received).length);
    expect(asked.toSorted((a, b) => b - a)).toEqual([32, 8, 5]);
  });

  test("sets nothing aside where the upstream refuses whatever it is asked", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response) => response.writeHead(400).end());
    await library.save("good");
    await library.declare();
    const { length } = upstream.received;
    await until("it was tried several times", async () => {
      await library.hurry();
      return upstream.received.length > length + 8;
    });
    expect(await library.progress()).toMatchObject({ setAside: 0, waiting: 1 });
    upstream.answerWith(answerVectors);
    await library.hurry();
    await library.embedded();
  });

  test("keeps nothing of an answer that cannot be right, waits as long as the upstream asks, and goes on", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response) => response.end('{"data":[{"index":0,"embedding":[1,null]}]}'));
    await library.save("good");
    await library.declare();
    expect(await library.failure()).toBe(NO_VECTOR);
    const later = new Date(Date.now() + 120_000).toUTCString();
    upstream.answerWith((response) => response.writeHead(429, { "retry-after": later }).end());
    await library.hurry();
    await library.until(
      "the upstream asks it to wait",
      async () => (await library.progress())?.failure === "the upstream answered 429",
    );
    const { rows } = await sql<{ wait: number }>`select extract(epoch from due_at - now())::float8 as wait
      from library_embeddings where library_id = ${library.libraryId}`.execute(store().db);
    expect(rows[0]?.wait).toBeGreaterThan(100);
    expect(await library.vectors()).toEqual([]);
    upstream.answerWith(answerVectors);
    await library.hurry();
    await library.embedded();
    upstream.answerWith((response, received) => answerVectorsOf(128, response, received));
    await library.save("of another length");
    expect(await library.failure()).toBe("the upstream gave vectors of 128 numbers where it gave 256 before");
  });

  test("waits, and sets no atom aside, where its upstream refuses the credential", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    upstream.answerWith((response) => response.writeHead(401).end("{}"));
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    await library.save("good");
    await library.declare();
    expect(await library.failure()).toBe(REFUSED_KEY);
    expect(await library.progress()).toMatchObject({ waiting: 1, setAside: 0 });
    upstream.answerWith(answerVectors);
    await library.hurry();
    await library.embedded();
  });

  test.for([
    [404, '{"error":{"code":"model_not_found"}}'],
    [400, '{"error":{"message":"Invalid model"}}'],
  ] as const)(
    "says before it has an atom that its model embeds nothing, and until it does: %s %s",
    async ([status, body], context) => {
      const upstream = await startEmbeddingUpstream(context);
      upstream.answerWith((response) => response.writeHead(status).end(body));
      const library = await startEmbeddedLibrary(context, store(), { upstream });
      await library.declare();
      expect(await library.failure()).toBe(`the upstream answered ${status}`);
      expect(await library.progress()).toMatchObject({ waiting: 0, isMore: false, setAside: 0 });
      expect(new Set(upstream.received.flatMap(textsOf))).toEqual(new Set(["keyplane"]));
      upstream.answerWith(answerVectors);
      await library.until("it is no longer said", async () => {
        await library.hurry();
        return (await library.progress())?.failure === null;
      });
      const { length } = upstream.received;
      await library.save("kept");
      await library.embedded();
      expect(upstream.received.slice(length).flatMap(textsOf)).toEqual(["kept"]);
    },
  );

  test("has no atom embedded that has expired", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    const expired = await library.save("over and gone");
    const kept = await library.save("kept");
    await sql`update atoms set expires_at = now() - interval '1 second' where id = ${expired}::uuid`.execute(
      store().db,
    );
    await library.declare();
    await library.embedded();
    expect((await library.vectors()).map(({ id }) => id)).toEqual([kept]);
    expect(upstream.received.flatMap(textsOf)).toEqual(["kept"]);
  });

  test("keeps nothing of an atom whose passages have vectors of one length in one request, and of another in the next", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response, received) =>
      answerVectorsOf(textsOf(received).length === 32 ? 256 : 128, response, received),
    );
    await library.save("A long word. ".repeat(5_000));
    await library.declare();
    expect(await library.failure()).toBe("the upstream gave vectors of 128 numbers where it gave 256 before");
    expect(await library.vectors()).toEqual([]);
  });

  test("waits for a second where an upstream says to try again at once", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response) => response.writeHead(429, { "retry-after": "0" }).end());
    await library.save("good");
    await library.declare();
    await library.until("it waits", async () => {
      const { rows } = await sql`select from library_embeddings
        where library_id = ${library.libraryId} and failures > 0 and claim is null and due_at > clock_timestamp()`.execute(
        store().db,
      );
      return rows.length === 1;
    });
  });

  test("b84: an upstream may answer as much as vectors of its texts take, and no more", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response) =>
      response.end(JSON.stringify({ data: [{ index: 0, embedding: [1] }], more: Array(100_000).fill([]) })),
    );
    await library.save("good");
    await library.declare();
    expect(await library.failure()).toBe("the upstream's answer was too long");
    upstream.answerWith((response) =>
      response.end(JSON.stringify({ data: [{ index: 0, embedding: Array(4_096).fill(-Math.PI / 1e7) }] }, null, 2)),
    );
    await library.hurry();
    await library.embedded();
  });

  test("b115: is embedded by an upstream that sends interim answers unasked", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    upstream.answerWith((response, received) => {
      response.writeContinue();
      response.writeProcessing();
      answerVectors(response, received);
    });
    await library.save("good");
    await library.declare();
    await library.embedded();
  });

  test("b98: is not embedded at a private address that is not allowed", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream, allowPrivate: "10.0.0.0/8" });
    await library.save("stays here");
    await library.declare();
    expect(await library.failure()).toBe("the upstream cannot be reached: ADDRESS_REFUSED");
    expect(upstream.received).toEqual([]);
  });
});
