import { createHash } from "node:crypto";
import { sql } from "kysely";
import { unique } from "../../store/fixtures.ts";
import { TOKEN } from "../management/api.ts";
import type { Calls } from "./calls.ts";
import type { Call } from "./described.ts";
import type { World } from "./world.ts";

const SPEC = { preset: "MCPReadOnly" } as const;
const IF_MATCH = { "if-match": "*" } as const;

/** A request with the installation's token. */
function withToken(method: string, path: string, body?: object, headers: Record<string, string> = {}): Call {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  return {
    method,
    path: `/api/v1${path}`,
    headers: { authorization: `Bearer ${TOKEN}`, ...json, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  };
}

export function managementCalls(): Record<string, Calls> {
  return {
    ...keyCalls(),
    ...objectCalls("teams", {
      body: () => ({ name: unique("team"), spec: { members: [{ role: "admin", group: "g" }] } }),
      broken: { members: [{ role: "king", group: "g" }] },
      declared: async ({ team }) => team.teamId,
    }),
    ...objectCalls("libraries", {
      body: ({ team }) => ({ name: unique("library"), team: team.teamId, spec: { displayName: "L" } }),
      broken: { deletionPolicy: "Burn" },
      declared: (world) => world.declareLibrary(unique("declared")),
    }),
    ...objectCalls("gateways", {
      body: ({ team }) => ({
        name: unique("gateway"),
        team: team.teamId,
        spec: { upstreams: [{ name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" }] },
      }),
      broken: { upstreams: [] },
      declared: (world) => world.declareGateway(),
    }),
    "GET /api/v1/retained-libraries": {
      valid: ({ team }) => withToken("GET", `/retained-libraries?limit=5&team=${team.teamId}`),
    },
    "GET /api/v1/libraries/{id}/subjects": {
      valid: async (world) => withToken("GET", `/libraries/${await world.declareLibrary(unique("declared"))}/subjects`),
    },
    "POST /api/v1/libraries/{id}/erased-subjects": {
      valid: async (world) =>
        withToken("POST", `/libraries/${await world.declareLibrary(unique("declared"))}/erased-subjects`, {
          subject: "user-4711",
        }),
    },
    "POST /api/v1/leaks": { valid: () => withToken("POST", "/leaks", { leaks: [{ sha256: sha256("no key") }] }) },
    "POST /api/v1/teams/{id}/revoked-subjects": {
      valid: ({ team }) => withToken("POST", `/teams/${team.teamId}/revoked-subjects`, { subject: "ann" }),
      refused: {
        conflict: async ({ manage, store }) => {
          const { id } = await manage("POST", "/teams", { name: unique("full"), spec: {} });
          await sql`insert into revoked_subjects (team_id, subject)
            select ${id}, 's' || n from generate_series(1, 1000) n`.execute(store.db);
          return withToken("POST", `/teams/${id}/revoked-subjects`, { subject: "one more" });
        },
      },
    },
    "POST /api/v1/ended-sessions": { valid: () => withToken("POST", "/ended-sessions", { subject: "ann" }) },
    "POST /api/v1/forgotten-policies": {
      valid: async ({ store }) => {
        const cluster = unique("gone");
        // One that can be read: it keeps no other call's key from being made.
        const spec = { teamSelector: { matchNames: ["none"] }, gracePeriod: "1h", maxKeys: 1 };
        await sql`insert into key_policies (cluster, uid, name, spec, teams, rules, selector_since)
          values (${cluster}, 'u', 'production', ${JSON.stringify(spec)}, '[]', '[]', now())`.execute(store.db);
        return withToken("POST", "/forgotten-policies", { cluster });
      },
      refused: { not_found: () => withToken("POST", "/forgotten-policies", { cluster: unique("none") }) },
    },
    "POST /api/v1/teams/{id}/released-budgets": {
      valid: ({ team }) => withToken("POST", `/teams/${team.teamId}/released-budgets`, {}),
    },
    "GET /api/v1/teams/{id}/budgets": {
      valid: async ({ manage }) => {
        const budgets = [{ tokens: 1_000, period: "Month" }];
        const { id } = await manage("POST", "/teams", { name: unique("budgeted"), spec: { budgets } });
        return withToken("GET", `/teams/${id}/budgets`);
      },
    },
    "GET /api/v1/teams/{id}/webhook-deliveries": {
      valid: async (world) =>
        withToken("GET", `/teams/${(await notifiedTeam(world)).teamId}/webhook-deliveries?limit=5`),
    },
    "POST /api/v1/webhook-deliveries/{id}/redeliver": {
      valid: async (world) => redeliver((await notifiedTeam(world)).deliveryId),
      refused: {
        conflict: async (world) => {
          const { teamId, deliveryId } = await notifiedTeam(world);
          await world.manage("PUT", `/teams/${teamId}`, { spec: {} }, IF_MATCH);
          return redeliver(deliveryId);
        },
      },
    },
    "GET /api/v1/usage": {
      valid: () => withToken("GET", "/usage?by=model&step=day&limit=5"),
      refused: { not_found: () => withToken("GET", "/usage?team=nowhere") },
    },
    "GET /api/v1/audit-events": { valid: () => withToken("GET", "/audit-events?limit=5&action=key.revoked") },
    "POST /api/v1/console-links": { valid: () => withToken("POST", "/console-links") },
  };
}

function redeliver(id: string): Call {
  return withToken("POST", `/webhook-deliveries/${id}/redeliver`, { reason: "the receiver was away" });
}

/** A team with a webhook whose receiver does not answer, and a delivery of a revocation to it. */
async function notifiedTeam(world: World): Promise<{ teamId: string; deliveryId: string }> {
  const name = unique("notified");
  const secret = `whsec_${createHash("sha256").update(name).digest("base64")}`;
  const webhooks = [{ url: "https://127.0.0.1:9/keys", events: ["key.revoked"], secret }];
  const { id: teamId } = await world.manage("POST", "/teams", { name, spec: { webhooks } });
  const key = await world.manage("POST", "/keys", { name, team: name, spec: SPEC });
  await world.manage("POST", `/keys/${key.id}/revoke`);
  const pending = world.store.db.selectFrom("webhook_deliveries").select("id").where("key_id", "=", key.id);
  return { teamId, deliveryId: (await pending.executeTakeFirstOrThrow()).id };
}

type Kind = {
  body(world: World): { readonly name: string; readonly spec: object };
  /** A spec that is refused. */
  readonly broken: object;
  /** Makes one that a manifest declares, and gives its id. */
  declared(world: World): Promise<string>;
};

function objectCalls(path: string, { body, broken, declared }: Kind): Record<string, Calls> {
  const make = async (world: World) => {
    const made = body(world);
    const { id } = await world.manage("POST", `/${path}`, made);
    return { ...made, id };
  };
  const replace = (id: string, spec: object) => withToken("PUT", `/${path}/${id}`, { spec }, IF_MATCH);
  return {
    [`GET /api/v1/${path}`]: { valid: () => withToken("GET", `/${path}?limit=5`) },
    [`GET /api/v1/${path}/{id}`]: { valid: async (world) => withToken("GET", `/${path}/${(await make(world)).id}`) },
    [`POST /api/v1/${path}`]: {
      valid: (world) => withToken("POST", `/${path}`, body(world)),
      refused: {
        exists: async (world) => {
          const { id: _, ...made } = await make(world);
          return withToken("POST", `/${path}`, made);
        },
        invalid: (world) => withToken("POST", `/${path}`, { ...body(world), spec: broken }),
        not_found: async (world) => {
          const [made, once] = [body(world), { "idempotency-key": unique("once") }];
          const { id } = await world.manage("POST", `/${path}`, made, once);
          await world.manage("DELETE", `/${path}/${id}`, {});
          return withToken("POST", `/${path}`, made, once);
        },
      },
    },
    [`PUT /api/v1/${path}/{id}`]: {
      valid: async (world) => {
        const { id, spec } = await make(world);
        return replace(id, spec);
      },
      refused: {
        managed: async (world) => replace(await declared(world), body(world).spec),
        invalid: async (world) => replace((await make(world)).id, broken),
      },
    },
    [`DELETE /api/v1/${path}/{id}`]: {
      valid: async (world) => withToken("DELETE", `/${path}/${(await make(world)).id}`, {}, IF_MATCH),
      refused: { managed: async (world) => withToken("DELETE", `/${path}/${await declared(world)}`) },
    },
  };
}

function keyCalls(): Record<string, Calls> {
  const body = ({ team }: World, fields: object = {}) => ({
    ...{ name: unique("key"), team: team.teamId, spec: SPEC },
    ...fields,
  });
  const make = (world: World) => world.manage("POST", "/keys", body(world));
  const revoked = async (world: World) => {
    const { id } = await make(world);
    await world.manage("POST", `/keys/${id}/revoke`);
    return id;
  };
  const replace = (id: string, spec: object = SPEC) => withToken("PUT", `/keys/${id}`, { spec }, IF_MATCH);
  const version = (id: string, fields: object = {}) => withToken("POST", `/keys/${id}/versions`, fields);
  const manifest = (id: string, query = "") => withToken("GET", `/keys/${id}/manifest${query}`);
  const rotate = (id: string) => withToken("POST", `/keys/${id}/rotate`, {});
  return {
    "GET /api/v1/keys": {
      valid: async (world) => {
        const listed = body(world);
        await world.manage("POST", "/keys", listed);
        return withToken("GET", `/keys?limit=5&name=${listed.name}`);
      },
    },
    "GET /api/v1/keys/{id}": { valid: async (world) => withToken("GET", `/keys/${(await make(world)).id}`) },
    "GET /api/v1/keys/{id}/advice": {
      valid: async (world) => withToken("GET", `/keys/${(await make(world)).id}/advice`),
    },
    "GET /api/v1/keys/{id}/budgets": {
      valid: async (world) => withToken("GET", `/keys/${(await make(world)).id}/budgets`),
    },
    "POST /api/v1/keys/{id}/released-budgets": {
      valid: async (world) => withToken("POST", `/keys/${(await make(world)).id}/released-budgets`, {}),
    },
    "GET /api/v1/keys/{id}/access": {
      valid: async (world) => withToken("GET", `/keys/${(await make(world)).id}/access?scope=memory:read`),
      refused: { not_found: () => withToken("GET", "/keys/key_00000000000000000000/access?scope=memory:read") },
    },
    "GET /api/v1/keys/{id}/manifest": {
      valid: async (world) => manifest((await make(world)).id),
      refused: {
        conflict: async (world) => manifest(await revoked(world)),
        managed: async (world) => manifest(await world.declareKey()),
        invalid: async (world) => manifest((await make(world)).id, "?namespace=nowhere"),
      },
    },
    "POST /api/v1/keys": {
      valid: (world) => withToken("POST", "/keys", body(world)),
      refused: {
        conflict: async (world) => {
          const { secret } = await make(world);
          return withToken("POST", "/keys", body(world, { source: sourceOf(secret) }));
        },
        exists: async (world) => {
          const first = body(world);
          await world.manage("POST", "/keys", first);
          return withToken("POST", "/keys", first);
        },
        invalid: (world) => withToken("POST", "/keys", body(world, { spec: {} })),
      },
    },
    "PUT /api/v1/keys/{id}": {
      valid: async (world) => replace((await make(world)).id, { ...SPEC, displayName: "Another name" }),
      refused: {
        conflict: async (world) => replace(await revoked(world)),
        managed: async (world) => replace(await world.declareKey()),
        invalid: async (world) => replace((await make(world)).id, {}),
      },
    },
    "DELETE /api/v1/keys/{id}": {
      valid: async (world) => withToken("DELETE", `/keys/${(await make(world)).id}`, {}, IF_MATCH),
      refused: {
        conflict: async (world) => withToken("DELETE", `/keys/${await world.declareKey({ isOrphan: true })}`),
        managed: async (world) => withToken("DELETE", `/keys/${await world.declareKey()}`),
      },
    },
    "POST /api/v1/keys/{id}/versions": {
      valid: async (world) => version((await make(world)).id, { overlap: "1h" }),
      refused: {
        conflict: async (world) => version(await revoked(world)),
        managed: async (world) => version(await world.declareKey()),
        too_many_versions: async (world) => {
          const { id } = await make(world);
          for (let i = 0; i < 4; i++) await world.manage("POST", `/keys/${id}/versions`, {});
          return version(id);
        },
        invalid: async (world) => {
          const [{ secret }, { id }] = [await make(world), await make(world)];
          const { hash } = sourceOf(secret);
          return version(id, { source: { hash: { ...hash, sha256: sha256("another") } } });
        },
      },
    },
    "POST /api/v1/keys/{id}/revoke": {
      valid: async (world) => withToken("POST", `/keys/${(await make(world)).id}/revoke`, { reason: "ticket 12" }),
    },
    "POST /api/v1/keys/{id}/rotate": {
      valid: async (world) => rotate(await world.declareKey()),
      refused: {
        conflict: async (world) => rotate((await make(world)).id),
        too_many_versions: async (world) => rotate(await world.declareKey({ versions: 5 })),
      },
    },
  };
}

function sourceOf(secret: string) {
  return { hash: { sha256: sha256(secret), prefix: secret.slice(0, 12) } };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
