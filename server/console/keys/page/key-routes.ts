import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { findCondition, type ReportedCondition } from "../../../../domain/conditions.ts";
import { DAY_MS } from "../../../../domain/duration.ts";
import { readKeyRefusals } from "../../../../store/audit/key-refusals.ts";
import { readKeyBudgets } from "../../../../store/budgets/read-budgets.ts";
import type { Db } from "../../../../store/database/change.ts";
import { listKeyEvents } from "../../../../store/keys/events/key-events.ts";
import { findKeyDeclaration } from "../../../../store/keys/rows/key-declarations.ts";
import { readRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { readKnownUsage } from "../../../../store/keys/uses/usage.ts";
import { clusterNames } from "../../../../store/objects/cluster-names.ts";
import { readConditions } from "../../../../store/objects/object-conditions.ts";
import { findInTeam } from "../../../../store/objects/references.ts";
import { principalOf } from "../../../auth/management/author.ts";
import { problem } from "../../../http/problems/problem.ts";
import type { Management } from "../../../management/context.ts";
import { adviseKey } from "../../../management/keys/access/key-advice.ts";
import { readPolicyVerdict } from "../../../management/keys/request/held-keys.ts";
import { type KeyIdParams, keyIdOf } from "../../../management/keys/request/key-request.ts";
import { RELEASED_KEY_TEXT, requireUnmanaged } from "../../../management/keys/request/requirements.ts";
import { showKey } from "../../../management/keys/shown/shown-key.ts";
import { allows, type Rights, rightsOf } from "../../../management/rights.ts";
import { sendConsolePage } from "../../../pages/send-page.ts";
import { viewerOf } from "../../../pages/viewer.ts";
import { urlWithQuery } from "../../query-text.ts";
import { readRefusingBudgets } from "../../refusals/refused-until.ts";
import { seeUsage } from "../../usage/see-usage.ts";
import { usageRange } from "../../usage/usage-ranges.ts";
import { mayCallModels } from "../key-words.ts";
import { KEY_TABS, type KeyTab, keyContent } from "./key-page.ts";
import { type Requests, requestsOf, requestsSince } from "./request-bars.ts";

const EVENTS = 20;

/** Key, and the rights of the caller who asks for it. */
export type SeenKey = { readonly key: Awaited<ReturnType<typeof showKey>>; readonly rights: Rights };

/**
 * Reads the key that a request names. @throws Problem `not_found`, also for a key of a team that the caller is not in
 */
export async function seeKey(
  { store, clock, receipts }: Management,
  request: FastifyRequest<{ Params: KeyIdParams }>,
): Promise<SeenKey> {
  const id = keyIdOf(request);
  const rights = await rightsOf(store.db, principalOf(request));
  const receiptOf = await receipts.read();
  return { rights, key: await showKey({ db: store.db, receiptOf, now: clock.now() }, rights, id) };
}

/** Reads the known requests of a key in the last hour and the last day. */
export async function seeRequests({ store, clock }: Management, keyId: string): Promise<Requests> {
  const now = clock.now();
  return requestsOf(await readRequestCounts(store.db, keyId, requestsSince(now)), now);
}

/**
 * Requires a key that was made by hand.
 *
 * @throws Problem `managed` or `conflict` for a key that is changed elsewhere: its page says where, and shows what to
 * change
 */
export function requireMadeByHand({ declaredIn, released, managedBy }: SeenKey["key"]): void {
  if (declaredIn !== null) throw problem("managed", "A declaration governs this key: its page has the YAML to change.");
  if (released) throw problem("conflict", RELEASED_KEY_TEXT);
  requireUnmanaged({ managedBy });
}

/** Serves the page of a key. */
export function keyPageRoutes(app: FastifyInstance, management: Management): void {
  const { store, clock, prices } = management;

  app.get<{ Params: KeyIdParams; Querystring: Readonly<Record<string, unknown>> }>(
    "/keys/:id",
    { config: { console: true } },
    async (request, reply) => {
      const beforeId = eventId(request.query.before);
      const { key, rights } = await seeKey(management, request);
      const events = await listKeyEvents(store.db, key.id, { beforeId, limit: EVENTS + 1 });
      const shown = events.slice(0, EVENTS);
      const refusals = await readKeyRefusals(store.db, key.id, clock.now() - DAY_MS);
      const refused = refusals.map(({ cause }) => ({ keyId: key.id, teamId: key.teamId, cause }));
      const used = { keyIds: [key.id], prices: prices.current() };
      const content = keyContent({
        key,
        tab: tabOf(request.query),
        clusters: await clusterNames(store.db),
        gatewayPath: await gatewayPathOf(store.db, key),
        declaration: key.declaredIn === null ? undefined : await findKeyDeclaration(store.db, key.id),
        conditions: withoutOutlived(key, (await readConditions(store.db, "key", [key.id])).get(key.id)),
        events: shown,
        requests: await seeRequests(management, key.id),
        usage: await seeUsage(store.db, clock.now(), usageRange(request.query.usage), used, ["model"]),
        policies: await readPolicyVerdict(store.db, key.id),
        budgets: await readKeyBudgets(store.db, key.id, clock.now()),
        advice: key.state === "revoked" ? undefined : await adviseKey(store.db, key, clock.now()),
        lastUses: (await readKnownUsage(store.db, key.id)).lastUses,
        refusals,
        refusingBudgets: await readRefusingBudgets(store.db, refused, clock.now()),
        moreEvents: events.length > EVENTS ? (shown.at(-1)?.id ?? null) : null,
        mayChange: allows(rights, key.teamId, "change keys"),
        mayRevoke: allows(rights, key.teamId, "revoke keys"),
        viewer: viewerOf(request),
        now: clock.now(),
      });
      return sendKeyPage(request, reply, key.name, content);
    },
  );
}

/** Returns a key's conditions but for those of before its revocation: its controller has not seen that yet. */
function withoutOutlived(
  { state }: SeenKey["key"],
  conditions: readonly ReportedCondition[] | undefined,
): readonly ReportedCondition[] | undefined {
  const isOutlived = state === "revoked" && findCondition(conditions, "Ready")?.reason === "Ready";
  return isOutlived ? undefined : conditions;
}

/** Returns the path of the page that shows the base URLs by which the key calls models. */
async function gatewayPathOf(db: Db, key: SeenKey["key"]): Promise<string | undefined> {
  if (!mayCallModels(key)) return undefined;
  const ofTeam = urlWithQuery("/dashboard/gateways", { team: key.team });
  const { gatewayRef } = key.spec;
  if (gatewayRef === undefined) return ofTeam;
  const ref = { namespace: gatewayRef.namespace ?? key.namespace, name: gatewayRef.name };
  const [found] = await findInTeam(db, "gateways", key.teamId, [ref], key.declaredIn?.cluster);
  return typeof found === "object" ? `/dashboard/gateways/${found.id}` : ofTeam;
}

/** Sends a page of the section for keys. */
export function sendKeyPage(
  request: FastifyRequest,
  reply: FastifyReply,
  title: string,
  content: ReturnType<typeof keyContent>,
): FastifyReply {
  return sendConsolePage(request, reply, { title, section: "keys", content });
}

/**
 * Reads the tab that a URL asks for. A URL with a range of usage alone, from before there were tabs, gets the tab
 * Usage.
 */
function tabOf({ tab, usage }: Readonly<Record<string, unknown>>): KeyTab {
  const [asked] = Object.keys(KEY_TABS).filter((one): one is KeyTab => one === tab);
  return asked ?? (usage === undefined ? "overview" : "usage");
}

/** Reads an event's id. @throws Problem `invalid_request` for a text that is none */
function eventId(text: unknown): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text === "string" && /^\d{1,15}$/.test(text)) return Number(text);
  throw problem("invalid_request", "This address of a page of the history is broken: begin at the key's page.");
}
