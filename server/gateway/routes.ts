import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { permits } from "../../domain/access/authorize.ts";
import {
  countedUnit,
  countsAskedModel,
  GATEWAY_OPERATIONS,
  isForwarded,
  type KeptObjects,
  type OperationRow,
  reportsUsage,
  type ServedOperation,
} from "../../domain/access/gateway-operations.ts";
import type { Dialect, GatewayRecord } from "../../domain/access/key-record.ts";
import { hasBudget, hasCostBudget } from "../../domain/budget/budget.ts";
import { type CallEnd, NOT_DONE, usedTokens } from "../../domain/usage/token-reservation.ts";
import type { AnswerUsage } from "../../domain/usage/tokens.ts";
import { countsTokens } from "../auth/charge-rate.ts";
import { accessNow, NOT_FOUND, requestedPublicId } from "../auth/key-hook.ts";
import { recordRefusal } from "../auth/refusals/record-refusal.ts";
import { forbidden } from "../auth/refused.ts";
import type { Refuse } from "../auth/route-config.ts";
import { reachedAt } from "../auth/session/reached-at.ts";
import { reserveBodyBytes } from "../calls/open-call.ts";
import { LARGE_BODY, releaseLargeBody } from "../http/bodies/received-body.ts";
import { listed } from "../http/listed.ts";
import { logFailure } from "../http/problems/error-handler.ts";
import { Problem, problem } from "../http/problems/problem.ts";
import { problemOf } from "../http/problems/problem-of.ts";
import { requestIdOf } from "../http/request-id.ts";
import type { ServerDeps } from "../product/deps.ts";
import { classify, type GatewayCall } from "./classify.ts";
import { gatewayPaths } from "./described.ts";
import { callerDialect } from "./errors/caller-dialect.ts";
import { sendErrorResponse } from "./errors/error-response.ts";
import { forward } from "./forward.ts";
import type { ForwardingDeps } from "./forwarded-call.ts";
import {
  headerOf,
  INERT_HEADERS,
  ROUTE_ID_HEADER,
  readHead,
  withoutModels,
  withWholeAnswer,
} from "./headers/headers.ts";
import { type BatchHolding, refusalOfLines, refusalOfOperation } from "./kept/batch-file.ts";
import { FirstReads } from "./kept/first-reads.ts";
import { type KeptCall, openKeptCall } from "./kept/kept-call.ts";
import { mayMention, refusalOfCoded } from "./kept/mentions.ts";
import { refusalOfNoForm } from "./model/form-scan.ts";
import { modelDescription, modelList, nameableRoutes } from "./model/models.ts";
import {
  bodyNeed,
  type ForwardedBody,
  type RequestedModel,
  readCounted,
  readModels,
  requireNoModelInItems,
} from "./model/requested-model.ts";
import { forwardedQuery } from "./query.ts";
import { collectBody, isReadable, SMALL_BODY } from "./request-body.ts";
import { type RequestTarget, splitTarget } from "./request-target.ts";
import {
  mayName,
  needsModel,
  type Resolved,
  resolve,
  resolveUnmodelled,
  withCredentials,
  withoutFallbacks,
} from "./resolve.ts";
import { holdToBody } from "./route-limits.ts";
import { expectedTokens } from "./tokens/expected-tokens.ts";
import { unservedPath } from "./unserved-path.ts";
import { createAddressGuard } from "./upstream/addresses.ts";
import { createUpstreamPools } from "./upstream/pools.ts";
import { observeUpstreams } from "./upstream/upstream-metrics.ts";
import { OUTCOMES_FLUSH_MS, UpstreamOutcomes } from "./upstream/upstream-outcomes.ts";
import { type SlotLimits, slotLimits } from "./upstream/upstream-slots.ts";
import { UPSTREAM_TIMES, type UpstreamTimes } from "./upstream/upstream-times.ts";
import { reachKept, whereRead } from "./where-kept.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Operation that a request under `/g/` was classified as, once, before it was authorised. */
    gatewayCall: GatewayCall | undefined;
    /** Parts of the target of a request under `/g/`. */
    gatewayTarget: RequestTarget | undefined;
  }
}

type GatewayDeps = ServerDeps & { readonly forwarding: ForwardingDeps; readonly firstReads: FirstReads };

/** Registers the model gateway under `/g/<public id>/` (spec §4). */
export function gatewayRoutes(
  app: FastifyInstance,
  deps: ServerDeps,
  times: UpstreamTimes = UPSTREAM_TIMES,
  limits: SlotLimits = slotLimits(deps.config.workers),
): void {
  const guard = createAddressGuard(deps.config.allowedPrivateUpstreams);
  const pools = createUpstreamPools(guard, deps.clock.monotonic, limits);
  const outcomes = new UpstreamOutcomes(deps.clock.now);
  observeUpstreams(deps.metrics.registry, pools, outcomes);
  const forwarding = { pools, log: deps.log, times, outcomes };
  const gateway: GatewayDeps = { ...deps, forwarding, firstReads: new FirstReads() };
  const flush = setInterval(() => void outcomes.flush(deps), OUTCOMES_FLUSH_MS).unref();
  app.addHook("onClose", () => {
    clearInterval(flush);
    return pools.close();
  });
  app.decorateRequest("gatewayCall", undefined);
  app.decorateRequest("gatewayTarget", undefined);
  const refuse: Refuse = (request, reply, shown) => {
    reply.hijack();
    sendErrorResponse(reply.raw, dialectOf(deps, request), shown === NOT_FOUND ? notFound(deps, request) : shown);
  };
  app.setErrorHandler((error, request, reply) => refuse(request, reply, shownOf(deps, error, request)));
  const described = { "/g/:publicId": () => ({}), "/g/:publicId/*": gatewayPaths };
  for (const [url, describes] of Object.entries(described)) {
    app.route({
      url,
      method: app.supportedMethods,
      config: { operation: classifyRequest, refuse, describes },
      // A call that is forwarded leaves the framework here, before its body is touched.
      onRequest: (request, reply, done) => {
        const { call } = gatewayCallOf(request);
        if (isWebSocket(request)) done(UPGRADE_REFUSED);
        else if (isUnspoken(deps, request)) done(notFound(deps, request));
        else if (isForwarded(rowOf(call))) serve(gateway, request, reply, done);
        else done();
      },
      handler: (request, reply) => answerModels(deps, request, reply),
    });
  }
}

const NOTHING = Buffer.alloc(0);

const TOO_LATE = problem(
  "forbidden",
  "This key, its team or the route has a limit of tokens or a budget, and what a batch uses is known hours later: send its requests one by one, or use a key without.",
);

const CHANGED = problem(
  "unavailable",
  "What this key may ask has changed while the batch's requests were read, so no batch has begun: try again.",
);
const ITEMS_CHANGED = problem(
  "unavailable",
  "What this key may ask has changed since the items were looked through, so none was sent: try again.",
);

const UPGRADE_REFUSED = problem("upgrade_required", "The gateway speaks HTTP alone: there are no WebSockets here.", {
  upgrade: "HTTP/1.1",
  connection: "upgrade, close",
});

/** Returns the answer to a request that is no operation, which is given behind its key's check. */
function notFound({ index }: ServerDeps, request: FastifyRequest): Problem {
  if (isWebSocket(request)) return UPGRADE_REFUSED;
  const gateway = index.findGateway(requestedPublicId(request));
  return gateway === undefined ? NOT_FOUND : unservedPath(gateway, request.method, targetOf(request).rawPath);
}

/** True if a path that OpenAI's and Anthropic's formats share is asked for by a client of another: it has no such call. */
function isUnspoken(deps: ServerDeps, request: FastifyRequest): boolean {
  const { call } = gatewayCallOf(request);
  return call.dialect === undefined && isForwarded(rowOf(call)) && dialectOf(deps, request) === "gemini";
}

/** Names the operation for the authentication hook, and keeps the classification for what comes after. */
function classifyRequest(request: FastifyRequest): ServedOperation | undefined {
  const { rawPath } = targetOf(request);
  request.gatewayCall = rawPath === undefined ? undefined : classify(request.method, rawPath);
  return request.gatewayCall?.operation;
}

/** Resolves a call and hands it to its upstream; calls `refuse` with a problem instead, and only then. */
function serve(deps: GatewayDeps, request: FastifyRequest, reply: FastifyReply, refuse: (error: Error) => void): void {
  const { call, gateway } = gatewayCallOf(request);
  const dialect = dialectOf(deps, request);
  const { principal: key, raw, openCall } = request;
  if (openCall === null) throw new Error("a gateway request reached its handler without an open call");
  const sent = readHead(raw.rawHeaders, deps.config.vendorHeader);
  // Most calls' bodies are not read: such a call needs no promise either.
  const row = rowOf(call);
  const counts = reportsUsage(row);
  const unit = countedUnit(row);
  const speaks = unit === "characters";
  const countsAll = counts && (countsTokens(key) || hasBudget(key));
  const { kept } = row;
  // Such an answer names no model, by which it is priced.
  const asksModel = countsAskedModel(row);
  // A gateway of files passes no form on unread: it may name one.
  const isHeld = row.body === "form" && gateway.operations.includes("files");
  const counted = asksModel && (speaks || isHeld || kept?.referring !== undefined || isReadable(sent.contentLength));
  const { query } = targetOf(request);
  const mentions = kept?.mentioned !== undefined && kept.referring === undefined;
  const needed = bodyNeed(sent, row.body, {
    model: usesModel(row) && (counted || (counts && hasCostBudget(key)) || needsModel(gateway, key.allowedModels)),
    tokens: countsAll || kept?.referring !== undefined || beginsUpload(kept, query),
  });
  // What a body mentions is held to its team before anything of it goes upstream.
  const need = mentions && needed === "stream" ? "count" : needed;
  let keptCall: KeptCall | undefined;
  const hasItems = kept?.referring?.items !== undefined;
  /** False if the requests of a batch, or items, were not read for their models, as these did not matter. */
  let areModelsRead = !usesModel(row) || need === "inspect";
  /** Result of the last decision, also where only a batch's file was held to it; undefined before the first. */
  let newest: Resolved | undefined;
  /** Decides the call by its key and its gateway as they are now, and whether it may begin a batch or bring items. */
  const decide = (model: string | undefined, last?: Resolved): Resolved | Problem => {
    const decided = resolveAgain(deps, request, { model, ...(last && { last: newest ?? last }), kept: keptCall });
    if (decided instanceof Problem) return decided;
    newest = decided;
    const { principal: now } = request;
    if (row.isLate === true && (countsTokens(now, decided.limits) || hasBudget(now))) return TOO_LATE;
    if (areModelsRead || !(row.isLate === true || hasItems)) return decided;
    if (!needsModel(gatewayCallOf(request).gateway, now.allowedModels)) return decided;
    return hasItems ? ITEMS_CHANGED : CHANGED;
  };
  const head = need === "inspect" ? withoutModels(sent) : sent;
  const proceed = (
    { model, body }: Pick<RequestedModel, "model"> & { readonly body: ForwardedBody },
    resolved: Resolved | Problem,
    onOver?: (end: CallEnd) => void,
    characters = 0,
  ): void => {
    if (resolved instanceof Problem) {
      refuse(resolved);
      return;
    }
    reply.hijack();
    forward(deps.forwarding, {
      request: raw,
      response: reply.raw,
      openCall,
      gatewayId: gateway.gatewayId,
      teamId: gateway.teamId,
      operation: call.operation,
      method: call.method,
      dialect,
      path: call.path,
      pathModel: call.model,
      query: keptCall?.query ?? forwardedQuery(query),
      head: isReadWhole(row, keptCall, onOver !== undefined) ? withWholeAnswer(head) : head,
      body,
      resolved,
      resolveAgain: (last) => decide(model, last),
      onAnswered: (answer) => deps.usage.countAnswer(key, answer, deps.clock.now()),
      onOver,
      keeping: keptCall?.keeping,
      reading: keptCall?.reading,
      before: keptCall?.file?.before,
      onDeleted: keptCall?.onDeleted,
      characters,
      bodyModel: asksModel ? model : undefined,
      trace: request.trace,
    });
  };
  const isRead = need === "count" || need === "inspect";
  const isModelForm = row.body === "form" && row.models === "in the body";
  const unread = isModelForm ? refusalOfNoForm(sent.contentType) : mentions ? refusalOfCoded(sent) : undefined;
  if (unread !== undefined) {
    refuse(unread);
    return;
  }
  // Decided before its body comes, unless all of that is read before it is decided.
  const isDecided = needed !== "count" && needed !== "inspect" && (kept === undefined || mentions);
  const first = isDecided ? resolveFor(deps, request, call.model) : undefined;
  if (first instanceof Problem) {
    refuse(first);
    return;
  }
  if (!isRead && kept === undefined && first !== undefined) {
    proceed({ model: call.model, body: need }, first);
    return;
  }
  let text: Buffer | undefined;
  /** @param small body that was read already; undefined if it is to be read, where it is read */
  const hold = async (small?: Buffer): Promise<void> => {
    const read = need === "inspect" ? readModels : readCounted;
    const found = isRead
      ? await read(openCall, { request: raw, call, head, query })
      : small === undefined
        ? { model: call.model, body: need, text: NOTHING }
        : { model: call.model, body: () => small, text: small };
    text = found.text;
    if (reply.sent) return;
    let resolved = decide(found.model);
    if (resolved instanceof Problem) return proceed(found, resolved);
    const doModelsMatter = needsModel(gatewayCallOf(request).gateway, request.principal.allowedModels);
    if (hasItems) {
      areModelsRead &&= doModelsMatter;
      if (doModelsMatter) await requireNoModelInItems(head, text);
    }
    if (reply.sent) return;
    if (kept !== undefined && !(mentions && text.length <= SMALL_BODY && !mayMention(text, sent.contentType))) {
      const gatewayUrl = `${reachedAt(request, deps.config)}/g/${gateway.publicId}`;
      const { teamId, upstreams } = gateway;
      const countLate = (usage: AnswerUsage): void => {
        const answer = { gatewayId: gateway.gatewayId, routeId: undefined, askedModel: undefined, usage };
        deps.usage.countAnswer(key, answer, deps.clock.now());
      };
      const of = { kept, call, teamId, dialect, head, query, text, upstreams, gatewayUrl };
      const reserve = (bytes: number) => reserveBodyBytes(openCall, bytes);
      let batch: BatchHolding | undefined;
      if (row.isLate && row.models !== "in the requests") {
        areModelsRead &&= doModelsMatter;
        batch = {
          refuse: (operation) => refusalOfOperation(gatewayCallOf(request).gateway, request.principal, operation),
          ...{ readsModels: doModelsMatter, reserve },
          decide() {
            const decided = decide(found.model);
            return decided instanceof Problem ? decided : undefined;
          },
        };
      }
      const asked = { ...of, response: reply.raw, countLate, reserve, batch };
      const opened = await openKeptCall(deps, asked);
      if (reply.sent) return;
      if (opened instanceof Problem) return proceed(found, opened);
      keptCall = opened;
      resolved = decide(found.model);
      if (resolved instanceof Problem) return proceed(found, resolved);
    }
    const { limits } = resolved;
    const isCounted = counts && (countsTokens(key, limits) || hasBudget(key));
    const isEstimated = isCounted || speaks;
    if (limits === undefined && !isEstimated) return proceed(found, resolved);
    const estimate = isEstimated ? expectedTokens(call.operation, found.text, head.contentType) : undefined;
    const estimated = estimate instanceof Promise ? await estimate : estimate;
    if (reply.sent) return;
    const characters = speaks ? estimated?.units?.count : undefined;
    const expected = isCounted ? estimated : undefined;
    if (limits === undefined && expected === undefined) return proceed(found, resolved, undefined, characters);
    const models = resolved.candidates.map(({ model = found.model }) => model);
    const settle = await holdToBody(deps, request, limits, expected && { tokens: expected, models });
    if (settle instanceof Problem) {
      if (!reply.sent) proceed(found, settle);
      return;
    }
    const onOver = (end: CallEnd): void => {
      if (expected !== undefined) settle(usedTokens(dialect, expected, end));
    };
    const again = reply.sent ? undefined : decide(found.model, resolved);
    if (again === undefined || again instanceof Problem) onOver(NOT_DONE);
    if (again !== undefined) proceed(found, again, onOver, characters);
  };
  const release = (): void => releaseAfter(reply.raw, text);
  const holdAll = (small?: Buffer): void => {
    hold(small).then(release, (error: Error) => {
      if (!reply.sent) refuse(error);
      release();
    });
  };
  if (!mentions || isRead) {
    holdAll();
    return;
  }
  const { model } = call;
  collectBody(raw, openCall, (small) => {
    if (reply.sent) return;
    if (small instanceof Problem) refuse(small);
    else if (mayMention(small, sent.contentType)) holdAll(small);
    else proceed({ model, body: () => small }, resolveAgain(deps, request, { model, ...(first && { last: first }) }));
  });
}

/** True for the first call of a resumable upload, whose body describes the file. */
function beginsUpload(kept: KeptObjects | undefined, query: string): boolean {
  return kept?.resumes === true && !query.includes("upload_id");
}

/** Releases the memory of a large body that was read, once no upstream can be asked with it any more. */
function releaseAfter(response: ServerResponse, body: Buffer | undefined): void {
  if (body === undefined || body.length < LARGE_BODY) return;
  if (response.closed) releaseLargeBody(body);
  else response.once("close", () => releaseLargeBody(body));
}

/** Facts that a call is decided by. */
type DecidedCall = {
  readonly model: string | undefined;
  /** Result of the last decision; undefined if it is not known. */
  readonly last?: Resolved;
  /** Objects that upstreams keep; undefined if the call has nothing to do with them, or it is not known yet. */
  readonly kept?: KeptCall | undefined;
};

/**
 * Decides a call again by its key and its gateway as they are now; returns where it goes, or the problem to answer.
 */
function resolveAgain(
  deps: ServerDeps,
  request: FastifyRequest,
  { model, last, kept }: DecidedCall,
): Resolved | Problem {
  const before = request.access;
  const access = accessNow(deps, request);
  if (access instanceof Problem) return access;
  return access === before && last !== undefined ? last : resolveFor(deps, request, model, kept);
}

/**
 * True if an answer is asked for in no coding: it is read before it is passed on, it is longer than what is decoded
 * beside a call, as vectors and images are, or a limit or budget bounds its tokens. Only so many answers of a team are
 * decoded at once, and what the others use would not count (threats b423).
 */
function isReadWhole({ kind }: OperationRow, kept: KeptCall | undefined, isBounded: boolean): boolean {
  const isLong = kind === "embed" || kind === "images";
  return isBounded || isLong || kept?.keeping !== undefined || kept?.reading !== undefined;
}

/**
 * Returns where a call goes as it was last authorised, or the problem to answer. A key that may not name the model is
 * counted and recorded, like the refusals of the authentication hook.
 */
function resolveFor(
  deps: ServerDeps,
  request: FastifyRequest,
  model: string | undefined,
  kept?: KeptCall,
): Resolved | Problem {
  const { call, gateway } = gatewayCallOf(request);
  const dialect = dialectOf(deps, request);
  const { principal: key } = request;
  const row = rowOf(call);
  if (row.models === "unused" || row.models === "in the file") {
    const unmodelled = resolveUnmodelled(gateway, dialect);
    const found = unmodelled instanceof Problem || kept === undefined ? unmodelled : whereRead(unmodelled, kept);
    const reached = found instanceof Problem || kept === undefined ? found : kept.reach(found);
    if (reached instanceof Problem) return reached;
    const only = withoutFallbacks(reached);
    const read = needsModel(gateway, key.allowedModels) ? kept?.file?.read() : undefined;
    if (read === undefined) return only;
    const resolved = resolveModel(deps, request, read.model);
    return resolved instanceof Problem ? resolved : (refusalOfLines(resolved, only, read.model) ?? only);
  }
  const resolved = resolveModel(deps, request, model);
  if (resolved instanceof Problem) return resolved;
  const reached = kept === undefined ? resolved : reachKept(gateway, resolved, kept, row);
  if (reached instanceof Problem) return reached;
  return row.fallback === "until answered" ? withCredentials(reached) : withoutFallbacks(reached);
}

/** Finds the upstream for a model, or the problem to answer, as {@link resolveFor} does. */
function resolveModel(deps: ServerDeps, request: FastifyRequest, model: string | undefined): Resolved | Problem {
  const { gateway } = gatewayCallOf(request);
  const { principal: key } = request;
  const mayResolveRoutes = permits(key, "gateway.resolve_route");
  const { allowedModels, keyId } = key;
  const resolving = { allowedModels, mayResolveRoutes, keyId, callId: requestIdOf(request.raw) };
  const resolved = resolve(gateway, resolving, dialectOf(deps, request), model);
  if (resolved instanceof Problem && resolved.code === "forbidden") {
    const cause = mayName(allowedModels, model) ? "scope_missing" : "model_not_allowed";
    recordRefusal(deps, request, request.routeOptions.url, forbidden(cause, key));
  }
  return resolved;
}

/** Answers a question about models from the gateway's own routes. */
function answerModels(deps: ServerDeps, request: FastifyRequest, reply: FastifyReply): void {
  const { call, gateway } = gatewayCallOf(request);
  const dialect = dialectOf(deps, request);
  const routes = nameableRoutes(gateway, request.principal.allowedModels, dialect);
  reply.headers(INERT);
  if (rowOf(call).answer === "route list") {
    reply.send(modelList(dialect, routes));
    return;
  }
  // A client that does not encode an id with a percent sign has named it as it stands.
  const asWritten = targetOf(request).rawPath?.slice(call.path.version.length + call.path.before.length);
  const route = routes.find(({ model }) => model === call.model) ?? routes.find(({ model }) => model === asWritten);
  if (route === undefined) {
    const names = routes.length === 0 ? "none" : listed(routes.map(({ model }) => model));
    throw problem("not_found", `This gateway has no logical route of that name. This key may name: ${names}.`);
  }
  reply.header(ROUTE_ID_HEADER, route.routeId).send(modelDescription(dialect, route));
}

const INERT: Readonly<Record<string, string>> = Object.fromEntries(
  INERT_HEADERS.flatMap((name, i) => (i % 2 === 0 ? [[name, INERT_HEADERS[i + 1] ?? ""]] : [])),
);

/** Returns the problem that answers a failed request under `/g/`, and logs the failure. */
function shownOf(deps: ServerDeps, error: unknown, request: FastifyRequest): Problem {
  const shown = problemOf(error);
  logFailure(deps.log, request, { error, shown, message: "a gateway request failed" });
  return shown;
}

function callersDialect({ config }: ServerDeps, request: FastifyRequest): Dialect {
  const { rawHeaders, url = "" } = request.raw;
  return callerDialect(request.method, targetOf(request).rawPath, rawHeaders, url, config.vendorHeader);
}

function dialectOf(deps: ServerDeps, request: FastifyRequest): Dialect {
  return request.gatewayCall?.dialect ?? callersDialect(deps, request);
}

/** Returns the call and its gateway, which the authentication hook has made sure of. */
function gatewayCallOf(request: FastifyRequest): { call: GatewayCall; gateway: GatewayRecord } {
  const { gatewayCall: call, gateway } = request;
  if (call === undefined || gateway === null)
    throw new Error("a gateway request reached its handler without its gateway");
  return { call, gateway };
}

function usesModel({ models }: OperationRow): boolean {
  return models !== "none" && models !== "unused" && models !== "in the file";
}

function rowOf({ operation }: GatewayCall): OperationRow {
  return GATEWAY_OPERATIONS[operation];
}

function targetOf(request: FastifyRequest): RequestTarget {
  if (request.gatewayTarget !== undefined) return request.gatewayTarget;
  request.gatewayTarget = splitTarget(request.raw.url ?? "", requestedPublicId(request));
  return request.gatewayTarget;
}

/**
 * True if a request asks for a WebSocket. Upgrades to other protocols, such as HTTP/2, are offers: they are ignored,
 * and the request is served as it is.
 */
function isWebSocket(request: FastifyRequest): boolean {
  const protocols = headerOf(request.raw.rawHeaders, "upgrade");
  return protocols !== undefined && /(?:^|,)\s*websocket\s*(?:,|$)/i.test(protocols);
}
