import { sql } from "kysely";
import { expect, it } from "vitest";
import { until } from "../env/until.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { key, type Manifest, startWorld, team } from "./fixtures/world.ts";

const CREDENTIAL = "sk-provider-3b8e55c1d07f4a2e";

const gateway = (baseURL: string): Manifest => ({
  kind: "ModelGateway",
  name: "main",
  spec: {
    upstreams: [{ name: "main", dialect: "openai", baseURL, credentialRef: { name: "provider", key: "token" } }],
  },
});
const provider = (token: string): Manifest => ({ kind: "Secret", name: "provider", stringData: { token } });

describeWorlds("the audit log of what is declared", (setup) => {
  it("b89: says who widened a key, gave a person the role admin or pointed a gateway elsewhere: before and after", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      provider(CREDENTIAL),
      gateway("https://api.example.com"),
      key("agent", { scopes: ["memory:read"] }),
    );
    const ask = async (kind: string) => {
      const { rows } = await sql<{ actor: string; detail: Record<string, unknown> }>`
        select actor, detail from audit_events where kind = ${kind} and team_id = ${(await world.stored("agent")).teamId}
        order by id`.execute(world.store.db);
      return rows;
    };
    await world.declare(
      key("agent", { scopes: ["memory:read", "memory:write"] }),
      team("team-a", ["dev"], { members: [{ role: "admin", subject: "eve@example.com" }] }),
      gateway("https://evil.example.com"),
    );
    expect((await ask("key.policy_updated")).at(-1)).toMatchObject({
      actor: "controller",
      detail: { changed: { scopes: { before: ["memory:read"], after: ["memory:read", "memory:write"] } } },
    });
    expect((await ask("team.changed")).at(-1)?.detail).toMatchObject({
      uid: expect.any(String),
      changed: { members: { before: [], after: [{ role: "admin", kind: "subject", value: "eve@example.com" }] } },
    });
    expect((await ask("gateway.changed")).at(-1)?.detail).toMatchObject({
      changed: {
        upstreams: {
          before: [{ baseUrl: "https://api.example.com" }],
          after: [{ baseUrl: "https://evil.example.com" }],
        },
      },
    });
    await world.declare(provider(`${CREDENTIAL}-next`), gateway("https://evil.example.com/v2"));
    const credentials = async () =>
      (await ask("gateway.changed")).flatMap(({ detail }) => detail.changedCredentials ?? []);
    // The Secret may be noticed before the gateway or after it.
    await until("the new credential is reported", async () => (await credentials()).join() === "main");
    await world.rest();
    const { rows } = await sql`select t::text from audit_events t`.execute(world.store.db);
    expect(JSON.stringify(rows)).not.toContain(CREDENTIAL);

    const lines = rows.length;
    await world.restart();
    const after = await sql`select from audit_events`.execute(world.store.db);
    expect(after.rows.length, "what is as it was is no line").toBe(lines);
  });
});
