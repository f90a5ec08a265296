/** The audit log on the standard output of servers, which are processes. */
import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { appendAudit } from "../../store/audit/audit.ts";
import { readAuditFeed } from "../../store/audit/audit-feed.ts";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { type Serving, startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";

const ENCRYPTION_KEY = randomBytes(32).toString("base64");

type Event = { readonly id: number; readonly action: string };

/** The events that lines have, in their order. @throws SyntaxError for a line that is no JSON */
const eventsIn = (lines: readonly string[]): Event[] => lines.flatMap((line) => JSON.parse(line).audit ?? []);

describeOnPostgres("keyplane server --audit-log stdout", (store) => {
  const started: Serving[] = [];
  afterAll(() => {
    for (const { child } of started) child.kill("SIGKILL");
  });
  /** Which writes now: what one test leaves, the next one goes on with. */
  let writing: Serving | undefined;

  async function start() {
    const env = { KEYPLANE_DATABASE_URL: (await databaseUrl(store())).href, KEYPLANE_ENCRYPTION_KEY: ENCRYPTION_KEY };
    const server = await startServing(["server", "--port=0", "--admin-port=0", "--audit-log=stdout"], env);
    started.push(server);
    return server;
  }
  const append = (count: number) =>
    appendAudit(
      store().db,
      Array.from({ length: count }, (_, i) => ({ at: null, kind: `test.${i}`, detail: { name: "n" } })),
    );
  /** Of a server that was killed: its time is over. */
  const expire = () =>
    store()
      .db.updateTable("audit_outputs")
      .set({ held_until: new Date(0) })
      .execute();
  const stored = async () =>
    (await readAuditFeed(store().db, { seq: 0, mark: null }, 5_000)).events.map(({ id }) => id);

  test("writes each event once, in the order of commits, by one server of several, and by another after that one's end", async () => {
    const [one, other] = await Promise.all([start(), start()]);
    const written = () => [...eventsIn(one.lines), ...eventsIn(other.lines)].map(({ id }) => id);
    await append(250);
    await until("all is written", async () => written().length >= (await stored()).length);
    expect(written()).toEqual(await stored());
    const [writer, next] = eventsIn(one.lines).length > 0 ? [one, other] : [other, one];
    expect(eventsIn(next.lines)).toEqual([]);
    expect(await writer.stop()).toBe(0);
    const before = new Set(written());
    await append(3);
    await until("the other one goes on", () => eventsIn(next.lines).length >= 3);
    expect(eventsIn(next.lines).map(({ action }) => action)).toEqual(["test.0", "test.1", "test.2"]);
    expect(eventsIn(next.lines).filter(({ id }) => before.has(id))).toEqual([]);
    writing = next;
  });

  test("loses no event where the server that writes them is killed", async () => {
    const known = new Set(await stored());
    const one = writing ?? (await start());
    const before = eventsIn(one.lines).length;
    await append(1_000);
    await until("some are written", () => eventsIn(one.lines).length > before);
    one.child.kill("SIGKILL");
    writing = undefined;
    await expire();
    const other = await start();
    const written = () => new Set([...eventsIn(one.lines), ...eventsIn(other.lines)].map(({ id }) => id));
    await until("all is written", async () => (await stored()).every((id) => known.has(id) || written().has(id)));
    writing = other;
  });

  test("c44: a server whose standard output is gone says so, and another one writes on", async () => {
    const one = writing ?? (await start());
    const before = eventsIn(one.lines).length;
    await append(1);
    await until("it writes", () => eventsIn(one.lines).length > before);
    const known = new Set(await stored());
    one.child.stdout?.destroy();
    writing = undefined;
    await append(2);
    const gone = () => one.lines.filter((line) => line.includes("what reads standard output is gone"));
    await until("it says so", () => gone().length > 0);
    const other = await start();
    await append(1);
    const missing = async () => (await stored()).filter((id) => !known.has(id));
    await until("the other one writes what is missing", async () => {
      const written = new Set(eventsIn(other.lines).map(({ id }) => id));
      return (await missing()).every((id) => written.has(id));
    });
    expect(gone().map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ level: 50 })]);
    expect(one.child.exitCode).toBeNull();
  });
});
