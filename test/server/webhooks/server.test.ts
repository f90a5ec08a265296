import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { change } from "../../../store/database/change.ts";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { restorableDatabase } from "../../env/database/restorable-database.ts";
import { until } from "../../env/until.ts";
import { startCurrentServer } from "../current-server.ts";
import { deliveriesOf, makeKey, makeNotifiedTeam, SECRET, startSender } from "./fixtures.ts";
import { startReceiver } from "./receiver.ts";
import { verifyWebhook } from "./verify.ts";

let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

describeOnEitherEngine("A server", (opened) => {
  test("notifies webhooks of what happened before it started, a revocation with its receipt, and counts it", async (context) => {
    const store = opened();
    const team = await makeNotifiedTeam(store, [receiver.urlOf("/server")]);
    const { keyId } = await makeKey(store, team);
    await change(store, null, (tx) => revokeKey(tx, keyId, "ByHand"));
    const server = await startCurrentServer(context, { store, flags: { allowPrivateUpstreams: "127.0.0.0/8" } });
    const [received] = await until("it is delivered", () =>
      receiver.at("/server").length > 0 ? receiver.at("/server") : null,
    );
    if (received === undefined) throw new Error("nothing came");
    expect(verifyWebhook(SECRET, received.headers, received.body, Date.now() / 1_000)).toBe(true);
    const { sequence, confirmed } = JSON.parse(received.body).data.receipt;
    const key = await store.db
      .selectFrom("keys")
      .select("revoked_seq")
      .where("id", "=", keyId)
      .executeTakeFirstOrThrow();
    expect([sequence, confirmed]).toEqual([key.revoked_seq, true]);
    await until("it is counted", async () =>
      (await (await fetch(`${server.adminUrl}/metrics`)).text()).includes(
        'keyplane_webhook_deliveries_total{outcome="delivered"} 1',
      ),
    );
  });
});

test("A webhook gets again, under the same id, what a restored database has not delivered yet", async (context) => {
  const database = await restorableDatabase(context);
  const store = await openPostgres(database.url);
  context.onTestFinished(() => store.close());
  await migrate(store);
  const answers = () => until("the database answers", () => sql`select 1`.execute(store.db));
  const team = await makeNotifiedTeam(store, [receiver.urlOf("/restored")]);
  await (await makeKey(store, team)).rotate();
  await database.save();
  await answers();
  const sender = startSender(store);
  context.onTestFinished(() => sender.close());
  const isDelivered = async () => (await deliveriesOf(store, team.teamId)).every(({ state }) => state === "delivered");
  await until("it is delivered", isDelivered);
  await database.restore();
  await answers();
  await until("it is delivered again", async () => receiver.at("/restored").length === 2 && (await isDelivered()));
  const [first, second] = receiver.at("/restored");
  expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  expect(second?.body).toBe(first?.body);
});
