import type { FastifyInstance } from "fastify";
import { isLabelName } from "../../../domain/manifest/document/labels.ts";
import { sanitizeUntrusted } from "../../../domain/redact.ts";
import type { Db } from "../../../store/database/change.ts";
import { isKnownModel, readUsage } from "../../../store/usage/read-usage.ts";
import { type UsageObject, usageIdsNamed } from "../../../store/usage/usage-names.ts";
import type { UsagePosition } from "../../../store/usage/usage-question.ts";
import { principalOf } from "../../auth/management/author.ts";
import type { ServerConfig } from "../../context/config.ts";
import { problem } from "../../http/problems/problem.ts";
import type { Management } from "../context.ts";
import { managedRoute } from "../managed-route.ts";
import { MOMENT, NAME, PAGE, type PageQuery, readMoment } from "../request-schemas.ts";
import { closedObject, pageSchema, TEXT, TIMESTAMP } from "../response-schemas.ts";
import { rightsOf, visibleTeams } from "../rights.ts";
import { USAGE_GROUPS, USAGE_STEPS, type UsageJson, usageJson } from "./usage-json.ts";
import { usageSpan } from "./usage-times.ts";

const TEXT_OR_NULL = { type: ["string", "null"] } as const;
const COUNT = { type: "integer" } as const;
const COUNT_OR_NULL = { type: ["integer", "null"] } as const;

const USAGE = closedObject("Usage", {
  from: { ...TIMESTAMP, description: "From then on: of whole hours or days in UTC." },
  to: { ...TIMESTAMP, description: "Before then." },
  id: { ...TEXT_OR_NULL, description: "Of the key, the team or the gateway; null by model and by label." },
  namespace: { ...TEXT_OR_NULL, description: "Of the key or the gateway." },
  name: { ...TEXT_OR_NULL, description: "Of the key, the team or the gateway, deleted ones too." },
  teamId: TEXT_OR_NULL,
  team: TEXT_OR_NULL,
  route: { ...TEXT_OR_NULL, description: "The route's id; null for answers that no route led to." },
  model: { ...TEXT, type: ["string", "null"], description: "As the answer names it." },
  label: {
    ...TEXT_OR_NULL,
    description:
      "The label's value; null for keys that have it as little as their teams, and where usage is not by label.",
  },
  requests: {
    type: ["integer", "null"],
    description: "Let through, of the memory too. They are counted by key: null by gateway, route and model.",
  },
  answers: { ...COUNT, description: "Of models, with a status of 200 to 299." },
  input: { ...COUNT, description: "Tokens, without those that were cached." },
  cached: COUNT,
  cacheWrites5m: COUNT,
  cacheWrites1h: COUNT,
  output: { ...COUNT, description: "Tokens, without those of reasoning." },
  reasoning: COUNT,
  toolCalls: { ...COUNT, description: "Calls of the provider's own tools." },
  images: { ...COUNT, description: "Images in answers." },
  seconds: { ...COUNT, description: "Seconds of sound that was transcribed or translated, as answers reported them." },
  characters: { ...COUNT, description: "Characters that were spoken, of answers that reported no tokens." },
  cut: { ...COUNT, description: "Answers that ended early, and count what was seen." },
  unreported: { ...COUNT, description: "Answers that reported no usage." },
  unread: { ...COUNT, description: "Answers in a coding or media type that is not read." },
  doubtful: { ...COUNT, description: "Answers that reported what cannot be." },
  currency: { ...TEXT_OR_NULL, description: "By ISO 4217; null for a server without --prices." },
  cost: {
    ...TEXT_OR_NULL,
    description:
      "In the currency's unit, with six decimals; null where a part is not known: something has no price, or an answer is cut, unreported, unread or doubtful.",
  },
  knownCost: { ...TEXT_OR_NULL, description: "Of what is known: the cost is at least that." },
  unpricedTokens: { ...COUNT_OR_NULL, description: "Tokens that have no price." },
  unpricedToolCalls: { ...COUNT_OR_NULL, description: "Calls of tools that have no price." },
  unpricedUnits: { ...COUNT_OR_NULL, description: "Images, seconds and characters that have no price." },
  priceList: { ...TEXT_OR_NULL, description: "The price list's version: the first 12 digits of its SHA-256." },
});

const QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    ...PAGE,
    cursor: { ...PAGE.cursor, maxLength: 1_000 },
    by: { type: "string", enum: USAGE_GROUPS, default: "key", description: "What it is added up by." },
    label: {
      ...NAME,
      maxLength: 317,
      description: "By label: its name. A key's own value counts, or else its team's, as they are now.",
    },
    step: {
      type: "string",
      enum: USAGE_STEPS,
      default: "total",
      description: "A row for each hour or day, or for all.",
    },
    team: { ...NAME, description: "A team's name or id." },
    // A parameter `key` would be taken for a credential.
    about: { ...NAME, description: "A key's id, its name, NAMESPACE/NAME, or its first 12 characters." },
    gateway: { ...NAME, description: "A gateway's id, public id, name or NAMESPACE/NAME." },
    model: { ...NAME, description: "As answers name it." },
    since: { ...MOMENT, description: "From then on, RFC 3339: 30 days before until where it is left out." },
    until: { ...MOMENT, description: "Before then, RFC 3339: now where it is left out." },
  },
} as const;
type Query = PageQuery & {
  readonly by: (typeof USAGE_GROUPS)[number];
  readonly step: (typeof USAGE_STEPS)[number];
} & { readonly [K in "label" | "team" | "about" | "gateway" | "model" | "since" | "until"]?: string };

/** Serves requests and tokens of the caller's teams, and of all teams for those who run the installation. */
export function usageRoutes(
  app: FastifyInstance,
  { store, clock, prices: priceFile }: Management,
  { usageRetentionMs: retentionMs }: Pick<ServerConfig, "usageRetentionMs">,
): void {
  app.get<{ Querystring: Query }>(
    "/usage",
    {
      config: managedRoute({
        summary:
          "Requests, tokens and their cost by key, team, gateway, route, model or label, over hours, days or months",
        response: pageSchema(USAGE),
        refusals: ["not_found"],
      }),
      schema: { querystring: QUERY },
    },
    async (request) => {
      const { by, label, step, limit, cursor, since, until, model, ...named } = request.query;
      checkLabel(by, label);
      const times = { since: readMoment(since), until: readMoment(until) };
      const span = usageSpan(times, step, clock.now(), retentionMs);
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const visible = visibleTeams(await rightsOf(store.db, principalOf(request)));
      const teamIds = await idsOf(store.db, "team", named.team, visible);
      const prices = priceFile.current();
      const question = {
        ...{ ...span, by, label, step, model, after, prices, limit: limit + 1 },
        teamIds: teamIds ?? visible,
        keyIds: await idsOf(store.db, "key", named.about, visible),
        gatewayIds: await idsOf(store.db, "gateway", named.gateway, visible),
      };
      const rows = await readUsage(store.db, question);
      if (rows.length === 0 && model !== undefined) await requireModel(store.db, model, visible);
      const shown = rows.slice(0, limit);
      const items: readonly UsageJson[] = await usageJson(store.db, shown, { by, step, span, prices });
      return { items, nextCursor: rows.length > limit ? cursorOf(shown.at(-1)) : null };
    },
  );
}

/**
 * Checks the parameter `label`. @throws Problem `invalid_request` for a label that is missing, invalid, or given
 * without `by=label`
 */
function checkLabel(by: Query["by"], label: string | undefined): void {
  if ((by === "label") !== (label !== undefined)) {
    throw problem(
      "invalid_request",
      "by=label and label=NAME go together: the label by whose values usage is added up.",
    );
  }
  if (label !== undefined && !isLabelName(label)) {
    throw problem(
      "invalid_request",
      `There is no label ${shownName(label)}: a name is such as cost-center, or example.com/unit.`,
    );
  }
}

const WHERE: Readonly<Record<UsageObject, string>> = { key: "keys", team: "teams", gateway: "gateways" };

/**
 * Finds the ids of named objects; undefined if no name is given.
 *
 * @throws Problem `not_found` if there is no object of this name that the caller may see
 */
async function idsOf(
  db: Db,
  kind: UsageObject,
  named: string | undefined,
  visible: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (named === undefined) return undefined;
  const ids = await usageIdsNamed(db, kind, named, visible);
  if (ids.length > 0) return ids;
  throw problem(
    "not_found",
    `There is no ${kind} ${shownName(named)} that you may see: GET /api/v1/${WHERE[kind]} lists those that there are.`,
  );
}

/** Requires a model that has answered. @throws Problem `not_found` for any other, whose name may be misspelt */
async function requireModel(db: Db, model: string, visible: readonly string[] | undefined): Promise<void> {
  if (await isKnownModel(db, model, visible)) return;
  throw problem(
    "not_found",
    `No answer of a model ${shownName(model)} is counted: GET /api/v1/usage?by=model lists those that are.`,
  );
}

function shownName(name: string): string {
  return JSON.stringify(sanitizeUntrusted(name, 100));
}

function cursorOf(last: UsagePosition | undefined): string | null {
  return last === undefined ? null : `${last.at}-${Buffer.from(last.group).toString("base64url")}`;
}

/** Reads a cursor that {@link cursorOf} wrote. @throws Problem `invalid_request` for any other text */
function readCursor(text: string): UsagePosition {
  const [, at, group] = /^(\d{1,15})-([\w-]*)$/.exec(text) ?? [];
  const name = group === undefined ? undefined : Buffer.from(group, "base64url").toString();
  if (at === undefined || name === undefined || !/^[ -~]*$/.test(name)) {
    throw problem("invalid_request", "The cursor is not one of ours: pass a nextCursor unchanged.");
  }
  return { at: Number(at), group: name };
}
