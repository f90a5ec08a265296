import { randomUUID } from "node:crypto";
import { BlockList } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGuardedPosts } from "../../../server/gateway/upstream/guarded-post.ts";
import { deliver } from "../../../server/webhooks/deliver.ts";
import { change } from "../../../store/database/change.ts";
import { findSecrets, recordLeak } from "../../../store/keys/events/key-leaks.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { deleteTeam } from "../../../store/teams/teams.ts";
import { claimDeliveries, settleDelivery } from "../../../store/webhooks/claims.ts";
import { read } from "../../architecture/sources.ts";
import { describeNightlyOnEachEngine, describeOnEitherEngine } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { reservationOf, unique } from "../../store/fixtures.ts";
import { rawUpstream } from "../gateway/raw-upstream.ts";
import { keyring } from "../key-index/replica-fixtures.ts";
import { deliveriesOf, loopback, makeKey, makeNotifiedTeam, passPauses, SECRET, startSender } from "./fixtures.ts";
import { startReceiver } from "./receiver.ts";
import { verifyWebhook } from "./verify.ts";

type Receiver = Awaited<ReturnType<typeof startReceiver>>;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** A path of its own at the receiver. */
const newPath = () => `/${unique("hook")}`;
const nowInSeconds = () => Date.now() / 1_000;

const postTo = (url: string | URL) => ({ holder: "a team", url: new URL(url), headers: {}, body: "{}" });

describeNightlyOnEachEngine("A webhook", (opened) => {
  const statesOf = async (teamId: string) => (await deliveriesOf(opened(), teamId)).map(({ state }) => state);

  test("is notified of a rotation and a revocation with its receipt, each signed, and of no secret", async (context) => {
    const store = opened();
    const path = newPath();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(path)]);
    const key = await makeKey(store, team);
    await key.rotate();
    await change(store, null, (tx) => revokeKey(tx, key.keyId, "ByHand"));
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    await until("both are delivered", async () => (await statesOf(team.teamId)).join() === "delivered,delivered");
    const received = receiver.at(path);
    for (const { headers, body } of received) {
      expect(headers["content-type"]).toBe("application/json");
      expect(verifyWebhook(SECRET, headers, body, nowInSeconds())).toBe(true);
      expect(verifyWebhook(SECRET, headers, `${body} `, nowInSeconds())).toBe(false);
      expect(verifyWebhook(`whsec_${Buffer.alloc(32, 8).toString("base64")}`, headers, body, nowInSeconds())).toBe(
        false,
      );
    }
    const bodies = received.map(({ body }) => JSON.parse(body));
    const about = {
      keyId: key.keyId,
      name: key.name,
      namespace: team.namespace,
      team: team.name,
      prefix: "inf_ABCDEFGH",
    };
    expect(bodies).toContainEqual({
      type: "key.rotated",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { ...about, version: 2, succeeds: 1, retireOldAt: expect.any(String) },
    });
    expect(bodies).toContainEqual({
      type: "key.revoked",
      timestamp: expect.any(String),
      data: {
        ...{ ...about, version: 2, reason: "ByHand" },
        receipt: { sequence: expect.any(Number), confirmed: true, confirmedAt: expect.any(String) },
      },
    });
    const [, shown = ""] = /```json\n([\s\S]*?)```/.exec(read("docs/operations/webhooks.md")) ?? [];
    const sent = bodies.find(({ type }) => type === "key.revoked");
    expect(fieldsOf(JSON.parse(shown)), "as docs/operations/webhooks.md shows it").toEqual(fieldsOf(sent));
    const rows = JSON.stringify((await sql`select d::text from webhook_deliveries d`.execute(store.db)).rows);
    for (const text of [...received.map(({ body }) => body), rows, ...sender.lines])
      expect(text).not.toContain("whsec_");
    expect(sender.outcomes).toEqual(["delivered", "delivered"]);
  });

  test("is notified of a leak once, and of where it was found", async () => {
    const store = opened();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(newPath())]);
    const webhooks = [{ url: receiver.urlOf("/leaks"), events: ["key.leaked"] as const, secret: SECRET }];
    await team.save({ webhooks, generation: 2 });
    const { keyId } = await makeKey(store, team);
    const digests = (await findKey(store.db, keyId))?.versions.map(({ digest }) => digest) ?? [];
    const [secret] = await findSecrets(store.db, digests);
    if (secret === undefined) throw new Error("the key is not found by its digest");
    const report = { reporter: "github", by: { actor: "github" }, url: "https://github.com/acme/shop" } as const;
    for (let i = 0; i < 2; i++) await change(store, null, (tx) => recordLeak(tx, secret, report));
    const received = (await deliveriesOf(store, team.teamId)).map(({ event, data }) => ({ event, ...data }));
    expect(received).toMatchObject([{ event: "key.leaked", keyId, version: 1, url: "https://github.com/acme/shop" }]);
    expect(JSON.stringify(received)).not.toContain(Buffer.from(secret.digest, "latin1").toString("hex"));
    await change(store, null, (tx) => deleteTeam(tx, team));
  });

  test("learns which key it is that was revoked before it came into use", async () => {
    const store = opened();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(newPath())]);
    const reservation = reservationOf(team);
    const { id: keyId, name } = reservation.key;
    await change(store, null, (tx) => reserveVersion(tx, reservation));
    await change(store, null, (tx) => revokeKey(tx, keyId, "ByHand"));
    const { name: teamName, namespace } = team;
    const about = { keyId, name, namespace, team: teamName, prefix: "inf_ABCDEFGH", version: 1 };
    expect((await deliveriesOf(store, team.teamId)).map(({ data }) => data)).toEqual([{ ...about, reason: "ByHand" }]);
    await change(store, null, (tx) => deleteTeam(tx, team));
  });

  test("is notified of nothing that was not committed, nor of what it did not ask for", async () => {
    const store = opened();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(newPath())]);
    await team.save({
      webhooks: [{ url: receiver.urlOf("/x"), events: ["key.leaked"], secret: SECRET }],
      generation: 2,
    });
    const key = await makeKey(store, team);
    await key.rotate();
    expect(await statesOf(team.teamId)).toEqual([]);
    await team.save({ generation: 3 });
    const undone = change(store, null, async (tx) => {
      await revokeKey(tx, key.keyId, "ByHand");
      throw new Error("not so");
    });
    await expect(undone).rejects.toThrow("not so");
    expect(await statesOf(team.teamId)).toEqual([]);
  });

  test("that fails is notified again under the same id, until it takes it", async (context) => {
    const store = opened();
    const path = newPath();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(path)]);
    const key = await makeKey(store, team);
    await key.rotate();
    receiver.behave(path, (answer) => {
      if (receiver.at(path).length === 1) answer.writeHead(500).end("whsec_c2hvdWxkIG5vdCBiZSBrZXB0");
      else if (receiver.at(path).length === 2) answer.destroy();
      else answer.writeHead(200).end("x".repeat(100_000));
    });
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    const stored = async () => (await deliveriesOf(store, team.teamId))[0];
    const first = await until("it has failed", async () => {
      const one = await stored();
      return one?.tries === 1 ? one : undefined;
    });
    expect(first).toMatchObject({ state: "pending", status: 500, error: "answered 500", claim: null });
    expect((first.due_at?.getTime() ?? 0) - (first.tried_at?.getTime() ?? 0)).toBe(5_000);
    await passPauses(store, team.teamId);
    const second = await until("it has failed again", async () => {
      const one = await stored();
      return one?.tries === 2 ? one : undefined;
    });
    expect(second).toMatchObject({ state: "pending", status: null, error: "the connection failed: UND_ERR_SOCKET" });
    await passPauses(store, team.teamId);
    await until("it is delivered", async () => (await stored())?.state === "delivered");
    const received = receiver.at(path);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([first.id]));
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(sender.outcomes).toEqual(["retried", "retried", "delivered"]);
  });

  test.for([
    ["a number of seconds", (): string => "90", 90],
    ["a date", (): string => new Date(Date.now() + 90_000).toUTCString(), 90],
    ["less than the pause", (): string => "1", 5],
    ["a date that has passed", (): string => new Date(0).toUTCString(), 5],
    ["a year", (): string => "31536000", 5 * 3_600],
  ] as const)(
    "whose receiver asks to wait by %s is notified as late, and five hours later at most",
    async ([, asked, seconds], context) => {
      const store = opened();
      const path = newPath();
      receiver.behave(path, (answer) => void answer.writeHead(429, { "retry-after": asked() }).end());
      const team = await makeNotifiedTeam(store, [receiver.urlOf(path)]);
      await (await makeKey(store, team)).rotate();
      const sender = startSender(store);
      context.onTestFinished(() => sender.close());
      const row = await until("it was tried", async () =>
        (await deliveriesOf(store, team.teamId)).find(({ tries }) => tries === 1),
      );
      const waits = (Number(row.due_at) - Number(row.tried_at)) / 1_000;
      // A date has no part of a second.
      expect(waits).toBeGreaterThan(seconds - 3);
      expect(waits).toBeLessThan(seconds + 1);
      await sender.close();
      await change(store, null, (tx) => deleteTeam(tx, team));
    },
  );

  test("that is deleted meanwhile, or its team, is not notified, and the log says why", async (context) => {
    const store = opened();
    const [kept, gone] = [newPath(), newPath()];
    const team = await makeNotifiedTeam(store, [receiver.urlOf(kept), receiver.urlOf(gone)]);
    const key = await makeKey(store, team);
    await key.rotate();
    await team.save({ webhooks: team.webhooks.slice(0, 1), generation: 2 });
    await key.rotate();
    await change(store, null, (tx) => deleteTeam(tx, team));
    const rows = await deliveriesOf(store, team.teamId);
    expect(rows.map(({ url, state, error }) => [new URL(url).pathname, state, error]).sort()).toEqual(
      [
        [gone, "stopped", "the webhook was removed from the team"],
        [kept, "stopped", "the team was deleted"],
        [kept, "stopped", "the team was deleted"],
      ].sort(),
    );
    const other = newPath();
    const after = await makeNotifiedTeam(store, [receiver.urlOf(other)]);
    await (await makeKey(store, after)).rotate();
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    await until("another is notified", () => receiver.at(other).length > 0);
    expect([receiver.at(kept), receiver.at(gone)]).toEqual([[], []]);
  });

  test("b101: whose receiver is slow holds up no other team", async (context) => {
    const store = opened();
    const [slow, quick] = [newPath(), newPath()];
    receiver.behave(slow, () => {});
    const stuck = await makeNotifiedTeam(store, [receiver.urlOf(slow)]);
    const keys = await Promise.all(Array.from({ length: 20 }, () => makeKey(store, stuck)));
    for (const key of keys) await key.rotate();
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    await until("the slow one is asked", () => receiver.at(slow).length === 2);
    const other = await makeNotifiedTeam(store, [receiver.urlOf(quick)]);
    const key = await makeKey(store, other);
    for (let i = 0; i < 4; i++) await key.rotate();
    await until("the other is notified", () => receiver.at(quick).length === 4);
    expect(receiver.at(slow), "two at a time").toHaveLength(2);
    await sender.close();
    const left = await deliveriesOf(store, stuck.teamId);
    expect(left.map(({ state, tries, claim }) => [state, tries, claim])).toEqual(left.map(() => ["pending", 0, null]));
    await change(store, null, (tx) => deleteTeam(tx, stuck));
  });

  test("b341: is notified at once where the receivers of many other teams are slow, once these were tried", async (context) => {
    const store = opened();
    const [slow, quick] = [newPath(), newPath()];
    const paths = Array.from({ length: 20 }, (_, i) => `${slow}-${i}`);
    const stuck = () => paths.flatMap((path) => receiver.at(path).slice(1)).length;
    // They answer once, too late, and then no more.
    for (const path of paths) {
      receiver.behave(path, (answer) => {
        if (receiver.at(path).length === 1) setTimeout(() => answer.writeHead(503).end(), 1_050);
      });
    }
    const others: Awaited<ReturnType<typeof makeNotifiedTeam>>[] = [];
    for (let i = 0; i < paths.length; i += 4)
      others.push(await makeNotifiedTeam(store, paths.slice(i, i + 4).map(receiver.urlOf)));
    const keys = await Promise.all(others.map((other) => makeKey(store, other)));
    for (const key of keys) await key.rotate();
    const sender = startSender(store, { timeoutMs: 60_000 });
    context.onTestFinished(() => sender.close());
    await until("each was tried", () => sender.outcomes.length === paths.length);
    for (const key of keys) await key.rotate();
    await until("three quarters of all tries are stuck", () => stuck() >= 12);
    const team = await makeNotifiedTeam(store, [receiver.urlOf(quick)]);
    await (await makeKey(store, team)).rotate();
    await until("it is notified", () => receiver.at(quick).length === 1);
    expect(stuck()).toBe(12);
    await sender.close();
    for (const other of others) await change(store, null, (tx) => deleteTeam(tx, other));
  });

  test("b101: however many a team has, four of its receivers are asked at a time", async (context) => {
    const store = opened();
    const paths = Array.from({ length: 5 }, newPath);
    for (const path of paths) receiver.behave(path, () => {});
    const stuck = await makeNotifiedTeam(
      store,
      paths.map((path) => receiver.urlOf(path)),
    );
    const keys = await Promise.all(Array.from({ length: 3 }, () => makeKey(store, stuck)));
    for (const key of keys) await key.rotate();
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    const asked = () => paths.reduce((sum, path) => sum + receiver.at(path).length, 0);
    await until("its receivers are asked", () => asked() >= 4);
    const quick = newPath();
    const other = await makeNotifiedTeam(store, [receiver.urlOf(quick)]);
    await (await makeKey(store, other)).rotate();
    await until("the other is notified", () => receiver.at(quick).length === 1);
    expect(asked()).toBe(4);
    await sender.close();
    const left = await deliveriesOf(store, stuck.teamId);
    expect(left.map(({ state, tries, claim }) => [state, tries, claim])).toEqual(left.map(() => ["pending", 0, null]));
    await change(store, null, (tx) => deleteTeam(tx, stuck));
  });

  test("is notified by another sender, under the same id, when the one that claimed the delivery ended before it was sent", async (context) => {
    const store = opened();
    const path = newPath();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(path)]);
    await (await makeKey(store, team)).rotate();
    const bounds = { limit: 16, ofTeam: 4, underWay: new Map(), fullWebhooks: [] };
    const claim = () => claimDeliveries(store, randomUUID(), bounds);
    const [claimed] = (await claim()).filter(({ teamId }) => teamId === team.teamId);
    if (claimed === undefined) throw new Error("it is not due");
    expect((await claim()).filter(({ teamId }) => teamId === team.teamId)).toEqual([]);
    await passPauses(store, team.teamId);
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    await until("it is delivered", async () => (await statesOf(team.teamId)).join() === "delivered");
    // It was only paused: it sends it once more, which the receiver knows by the id, and settles nothing any more.
    const posts = openGuardedPosts(loopback());
    context.onTestFinished(() => posts.close());
    await deliver({ posts, keyring, random: () => 0 }, claimed, AbortSignal.any([]));
    await settleDelivery(store, claimed, { state: "failed", status: 500, why: "late" });
    expect(await statesOf(team.teamId)).toEqual(["delivered"]);
    expect(new Set(receiver.at(path).map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });
});

describeOnEitherEngine("A webhook", (opened) => {
  test("is notified by one of several senders, once", async (context) => {
    const store = opened();
    const path = newPath();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(path)]);
    const keys = await Promise.all(Array.from({ length: 12 }, () => makeKey(store, team)));
    for (const key of keys) await key.rotate();
    const senders = [startSender(store), startSender(store), startSender(store)];
    for (const sender of senders) context.onTestFinished(() => sender.close());
    await until("all are delivered", async () =>
      (await deliveriesOf(store, team.teamId)).every(({ state }) => state === "delivered"),
    );
    const ids = receiver.at(path).map(({ headers }) => headers["webhook-id"]);
    expect([ids.length, new Set(ids).size]).toEqual([12, 12]);
  });

  test("that answers 410 does not get this again; one that fails ten times neither", async (context) => {
    const store = opened();
    const [gone, failing] = [newPath(), newPath()];
    receiver.behave(gone, (answer) => void answer.writeHead(410).end());
    receiver.behave(failing, (answer) => void answer.writeHead(503).end());
    const team = await makeNotifiedTeam(store, [receiver.urlOf(gone), receiver.urlOf(failing)]);
    await (await makeKey(store, team)).rotate();
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    // What is tried at this moment would be due once more.
    await until("the one that is gone has answered", async () => {
      const rows = await deliveriesOf(store, team.teamId);
      return rows.some(({ url, state }) => url.endsWith(gone) && state === "failed");
    });
    const pauses: number[] = [];
    for (let tries = 1; tries <= 10; tries++) {
      const row = await until("a try more", async () => {
        const rows = await deliveriesOf(store, team.teamId);
        return rows.find((one) => one.url.endsWith(failing) && one.tries === tries);
      });
      pauses.push(row.due_at === null ? 0 : row.due_at.getTime() - (row.tried_at?.getTime() ?? 0));
      await passPauses(store, team.teamId);
    }
    expect(pauses.at(-1)).toBe(0);
    const day = pauses.reduce((sum, pause) => sum + pause, 0);
    expect(day).toBe(24 * 3_600_000 + 5_000);
    const rows = await deliveriesOf(store, team.teamId);
    expect(rows.map(({ state, tries, error }) => [state, tries, error]).sort()).toEqual([
      ["failed", 1, "answered 410: it wants no more of this"],
      ["failed", 10, "answered 503"],
    ]);
    expect(receiver.at(gone)).toHaveLength(1);
  });

  test("b101: reaches no private address by its URL, a name or a redirect, and none without TLS", async (context) => {
    const store = opened();
    const [target, redirect] = [newPath(), newPath()];
    receiver.behave(redirect, (answer) => void answer.writeHead(302, { location: receiver.urlOf(target) }).end());
    const urls = [
      `https://127.0.0.1:${receiver.port}${target}`,
      `https://localhost:${receiver.port}${target}`,
      `https://[::ffff:127.0.0.1]:${receiver.port}${target}`,
      `http://127.0.0.1:${receiver.port}${target}`,
    ];
    const sealed = await makeNotifiedTeam(store, urls);
    await (await makeKey(store, sealed)).rotate();
    const strict = startSender(store, { posts: openGuardedPosts(new BlockList()) });
    const tried = await until("all were tried", async () => {
      const rows = await deliveriesOf(store, sealed.teamId);
      return rows.every(({ tries }) => tries === 1) ? rows : undefined;
    });
    await strict.close();
    const errors = Object.fromEntries(tried.map(({ url, error }) => [url, error]));
    for (const url of urls.slice(0, 3)) expect(errors[url]).toMatch(/^its address is private or reserved/);
    expect(errors[urls[3] ?? ""]).toBe("http is for networks of --allow-private-upstreams alone: write https");

    // Nor is a public one without TLS: it is refused before there is a socket.
    const posts = openGuardedPosts(loopback());
    context.onTestFinished(() => posts.close());
    const refused = await posts.post(postTo("http://1.1.1.1:9/"), AbortSignal.abort());
    expect(refused).toEqual({ why: "http is for networks of --allow-private-upstreams alone: write https" });

    const redirected = await makeNotifiedTeam(store, [receiver.urlOf(redirect)]);
    await (await makeKey(store, redirected)).rotate();
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    const row = await until("it was tried", async () =>
      (await deliveriesOf(store, redirected.teamId)).find(({ tries }) => tries === 1),
    );
    expect(row).toMatchObject({ state: "pending", error: "answered 302: redirects are not followed" });
    expect(receiver.at(target)).toEqual([]);
  });

  test("that never answers is given up after its time, and its body is not waited for", async (context) => {
    const store = opened();
    const [silent, endless] = [newPath(), newPath()];
    receiver.behave(silent, () => {});
    receiver.behave(endless, (answer) => void answer.writeHead(200).write("x"));
    const team = await makeNotifiedTeam(store, [receiver.urlOf(silent), receiver.urlOf(endless)]);
    await (await makeKey(store, team)).rotate();
    const sender = startSender(store, { timeoutMs: 300 });
    context.onTestFinished(() => sender.close());
    const rows = await until("both were tried", async () => {
      const rows = await deliveriesOf(store, team.teamId);
      return rows.every(({ tries }) => tries === 1) ? rows : undefined;
    });
    expect(rows.map(({ state, error }) => [state, error]).sort()).toEqual([
      ["delivered", null],
      ["pending", "no answer within 0.3 s"],
    ]);
  });

  test("b101: that sends interim answers without an end is cut off at once", async (context) => {
    const interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000);
    const flooding = await rawUpstream((socket) => {
      const more = (): void => void (socket.destroyed || socket.write(interim, more));
      more();
    });
    context.onTestFinished(() => void flooding.close());
    const posts = openGuardedPosts(loopback());
    context.onTestFinished(() => posts.close());
    const outcome = await posts.post(postTo(flooding.url), new AbortController().signal);
    expect(outcome).toEqual({ why: "the connection failed: TOO_MANY_INTERIM_ANSWERS" });
  });

  test("b115: that sends interim answers unasked is delivered", async (context) => {
    const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n";
    const answering = await rawUpstream((socket) => socket.end(`${interim}HTTP/1.1 204 No Content\r\n\r\n`));
    context.onTestFinished(() => void answering.close());
    const posts = openGuardedPosts(loopback());
    context.onTestFinished(() => posts.close());
    const outcome = await posts.post(postTo(answering.url), new AbortController().signal);
    expect(outcome).toEqual({ status: 204 });
  });

  test("whose URL is of the declarations' form, and none for all that, is a try that fails, and says why", async (context) => {
    const store = opened();
    const team = await makeNotifiedTeam(store, ["https://hooks.example.com:99999/keyplane", "https://[::1/keyplane"]);
    await (await makeKey(store, team)).rotate();
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    const rows = await until("both were tried", async () => {
      const rows = await deliveriesOf(store, team.teamId);
      return rows.every(({ claim }) => claim === null) && sender.outcomes.length + sender.lines.length > 1
        ? rows
        : undefined;
    });
    expect(rows.map(({ tries, error }) => [tries, error])).toEqual(rows.map(() => [1, "its URL cannot be read"]));
    expect(sender.lines).toEqual([]);
  });

  test("b101: whose receiver leaves a TLS handshake open keeps no server from ending", async (context) => {
    const ending = new AbortController();
    const silent = await rawUpstream(() => ending.abort());
    context.onTestFinished(() => void silent.close());
    const posts = openGuardedPosts(loopback());
    context.onTestFinished(() => posts.close());
    const url = new URL(silent.url.replace("http:", "https:"));
    expect(await posts.post(postTo(url), ending.signal)).toEqual({ why: "no answer within 10 s" });
    // Sooner than the dispatcher gives up a socket by itself.
  }, 8_000);

  test("is signed with both secrets while one takes the other's place, and not at all without one", async (context) => {
    const store = opened();
    const other = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
    const [both, without] = [newPath(), newPath()];
    const team = await makeNotifiedTeam(store, [receiver.urlOf(both)], `${SECRET} ${other}`);
    const bare = await makeNotifiedTeam(store, [receiver.urlOf(without)], null);
    await (await makeKey(store, team)).rotate();
    await (await makeKey(store, bare)).rotate();
    const sender = startSender(store);
    context.onTestFinished(() => sender.close());
    const [received] = await until("it is notified", () =>
      receiver.at(both).length > 0 ? receiver.at(both) : undefined,
    );
    if (received === undefined) throw new Error("nothing came");
    for (const secret of [SECRET, other]) {
      expect(verifyWebhook(secret, received.headers, received.body, nowInSeconds())).toBe(true);
    }
    const row = await until("the other was tried", async () =>
      (await deliveriesOf(store, bare.teamId)).find(({ tries }) => tries === 1),
    );
    expect(row.error).toBe("the webhook has no signing secret");
    expect(receiver.at(without)).toEqual([]);
  });

  test("is notified of a revocation once its receipt is complete, or after a minute without", async (context) => {
    const store = opened();
    const path = newPath();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(path)]);
    const [one, two] = [await makeKey(store, team), await makeKey(store, team)];
    let isConfirmed = false;
    const sender = startSender(store, { confirmed: () => isConfirmed });
    context.onTestFinished(() => sender.close());
    await change(store, null, (tx) => revokeKey(tx, one.keyId, "ByHand"));
    await until("it was looked at", async () => {
      const [row] = await deliveriesOf(store, team.teamId);
      return row !== undefined && row.claim === null && (row.due_at?.getTime() ?? 0) > row.at.getTime() + 900;
    });
    expect(receiver.at(path)).toEqual([]);
    await sql`update webhook_deliveries set at = at - interval '61 seconds', due_at = statement_timestamp()
      where team_id = ${team.teamId}`.execute(store.db);
    await until("it is notified", () => receiver.at(path).length === 1);
    isConfirmed = true;
    await change(store, null, (tx) => revokeKey(tx, two.keyId, "ByHand"));
    await until("the other is notified", () => receiver.at(path).length === 2);
    const receipts = receiver.at(path).map(({ body }) => JSON.parse(body).data.receipt.confirmed);
    expect(receipts).toEqual([false, true]);
  });

  test("b101: whose receipt is long in coming is looked at less and less often, and again when it is over", async (context) => {
    const store = opened();
    const team = await makeNotifiedTeam(store, [receiver.urlOf(newPath())]);
    const { keyId } = await makeKey(store, team);
    await change(store, null, (tx) => revokeKey(tx, keyId, "ByHand"));
    const sender = startSender(store, { confirmed: () => false });
    context.onTestFinished(() => sender.close());
    for (const [age, next] of [
      [20, 30],
      [50, 60],
    ] as const) {
      await sql`update webhook_deliveries set claim = null, due_at = statement_timestamp(),
        at = statement_timestamp() - ${age}::int * interval '1 second' where team_id = ${team.teamId}`.execute(
        store.db,
      );
      const dueAfter = await until(`it was looked at after ${age} s`, async () => {
        const [row] = await deliveriesOf(store, team.teamId);
        const seconds = ((row?.due_at?.getTime() ?? 0) - (row?.at.getTime() ?? 0)) / 1_000;
        return row?.claim === null && seconds > age + 0.9 ? seconds : undefined;
      });
      expect(dueAfter).toBeGreaterThan(next - 1);
      expect(dueAfter).toBeLessThan(next + 5);
    }
  });
});

/** The names of all that an object has, with those that they are within. */
function fieldsOf(value: unknown, within = ""): string[] {
  if (typeof value !== "object" || value === null) return [within];
  return Object.entries(value)
    .flatMap(([name, inner]) => fieldsOf(inner, `${within}/${name}`))
    .toSorted();
}
