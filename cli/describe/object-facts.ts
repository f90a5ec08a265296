import type { CallerNetwork } from "../../domain/access/caller-network.ts";
import { timeoutsText } from "../../domain/access/route-timeouts.ts";
import { choicesOf, STICKY_TEXT, weightText } from "../../domain/access/route-weights.ts";
import { subjectText } from "../../domain/access/subject.ts";
import { counted } from "../../domain/counted.ts";
import { statedFacts } from "../../domain/key/declaration/facts.ts";
import type { Kind, Spec } from "../../domain/kinds/kinds.ts";
import { expiryText } from "../get/columns.ts";
import { ageText } from "../output/age.ts";
import { budgetTexts } from "../output/budgets-text.ts";
import type { Fact } from "../output/facts.ts";
import { limitsText } from "../output/limits-text.ts";
import type { ListedObject } from "../source/source.ts";

/** Returns the facts about an object, beyond those that every kind has. */
export function factsOf(object: ListedObject, now: number): Fact[] {
  if (isOfKind(object, "PlatformKey")) return keyFacts(object, now);
  if (isOfKind(object, "ModelGateway")) return gatewayFacts(object);
  if (isOfKind(object, "MemoryLibrary")) return libraryFacts(object);
  return isOfKind(object, "PlatformTeam") ? teamFacts(object) : [];
}

function isOfKind<K extends Kind>(object: ListedObject, kind: K): object is ListedObject<K> {
  return object.kind === kind;
}

function keyFacts(key: ListedObject<"PlatformKey">, now: number): Fact[] {
  const { spec, status, state, callers, budgets } = key;
  const { secretRef, revocation, staleConsumer } = status ?? {};
  const { rotation, secret, rateLimit, restartTargets = [] } = spec ?? {};
  const uses = (product: string) => status?.effectiveScopes?.some((scope) => scope.startsWith(product)) === true;
  const secretText = secretRef?.name && `${secretRef.name}, key ${secretRef.dataKey ?? "api-key"}`;
  return [
    ["Display name", spec?.displayName],
    ...statedFacts(spec),
    ["Id", status?.keyID],
    ["Team", status?.team],
    ["State", state ?? spec?.state],
    ["Prefix", status?.keyPrefix],
    ["Scopes", status?.effectiveScopes],
    ...(uses("gateway:") ? gatewayBinding(spec) : []),
    ...(uses("memory:") ? libraryBinding(spec) : []),
    ["Networks", spec?.allowedCIDRs],
    ["Limits", rateLimit && limitsText(rateLimit)],
    ["Budgets", budgetTexts(spec?.budgets, budgets)],
    ["Expires", expiryText(key)],
    ["Last used", status?.lastUsedTime === undefined ? "never" : `${ageText(status.lastUsedTime, now)} ago`],
    ["Called from", callers?.length === 0 ? undefined : callers?.map(callerText)],
    ["Rotates", status?.nextRotationTime ?? (rotation?.interval && `every ${rotation.interval}`)],
    ["Secret", secretText ?? (state === undefined ? "<none>" : undefined)],
    ["Template", secret?.template],
    ["Restarts", restartTargets.length === 0 ? undefined : restartTargets.map(({ kind, name }) => `${kind} ${name}`)],
    [
      "Late consumer",
      staleConsumer &&
        `version ${staleConsumer.version}, last at ${staleConsumer.lastUsedTime} from ${staleConsumer.address}, ${staleConsumer.userAgent}`,
    ],
    [
      "Revocation",
      revocation &&
        `change ${revocation.sequence ?? "<unknown>"}, ${revocation.confirmedAt === undefined ? "to be confirmed" : `confirmed at ${revocation.confirmedAt}`}`,
    ],
  ];
}

function callerText({ network, lastSeenOn }: CallerNetwork): string {
  return `${network}, last on ${lastSeenOn}`;
}

type KeySpec = ListedObject<"PlatformKey">["spec"];

function gatewayBinding(spec: KeySpec): Fact[] {
  return [
    ["Gateway", spec?.gatewayRef === undefined ? "any of the team's" : refText(spec.gatewayRef)],
    ["Models", spec?.allowedModels ?? "any"],
  ];
}

function libraryBinding(spec: KeySpec): Fact[] {
  const { mode, libraryRefs = [] } = spec?.libraryAccess ?? {};
  return [
    ["Libraries", mode === "Restricted" ? libraryRefs.map(refText) : "all of the team's"],
    ["Default library", spec?.mcpDefaultLibraryRef && refText(spec.mcpDefaultLibraryRef)],
    ["Memory of", spec?.subjectAccess && subjectText(spec.subjectAccess)],
  ];
}

function gatewayFacts({ spec, status }: ListedObject<"ModelGateway">): Fact[] {
  return [
    ["Public id", status?.publicID],
    ["Team", status?.team],
    ["Upstreams", spec?.upstreams?.map(upstreamText)],
    ["Routes", spec?.routes?.map(routeText)],
    ["Routes only", spec?.routesOnly === true ? "yes" : undefined],
    ["Serves", spec?.operations?.join(", ")],
  ];
}

/** @param noCredential as a server says it, which shows no reference to a Secret */
function upstreamText({ name, dialect, baseURL, credentialRef, noCredential }: DescribedUpstream): string {
  const isWithout = noCredential ?? credentialRef === undefined;
  return `${name}: ${dialect} at ${baseURL}${isWithout ? ", without a credential" : ""}`;
}

type DescribedUpstream = Spec<"ModelGateway">["upstreams"][number] & { readonly noCredential?: boolean };

function libraryFacts({ spec, status }: ListedObject<"MemoryLibrary">): Fact[] {
  return [
    ["Display name", spec?.displayName],
    ["Description", spec?.description],
    ["Team", status?.team],
    ["On delete", spec?.deletionPolicy],
  ];
}

function teamFacts({ spec, budgets }: ListedObject<"PlatformTeam">): Fact[] {
  return [
    ["Display name", spec?.displayName],
    ["Namespaces", spec?.namespaces],
    ["Members", spec?.members?.map((member) => `${member.role}: ${memberText(member)}${reachText(member)}`)],
    ["Default library", spec?.mcpAgentPolicy?.defaultLibraryRef && refText(spec.mcpAgentPolicy.defaultLibraryRef)],
    ["Leaks", spec?.leaks?.action],
    ["Networks", spec?.allowedCIDRs],
    ["Limits", spec?.rateLimit && limitsText(spec.rateLimit)],
    ["Budgets", budgetTexts(spec?.budgets, budgets)],
    ["Webhooks", spec?.webhooks?.map(({ url }) => url)],
  ];
}

type Ref = { readonly name: string; readonly namespace?: string };
type Member = NonNullable<NonNullable<ListedObject<"PlatformTeam">["spec"]>["members"]>[number];

function refText({ name, namespace }: Ref): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function reachText({ libraryRefs }: Member): string {
  return libraryRefs === undefined ? "" : ` (libraries ${libraryRefs.map(refText).join(", ")})`;
}

function memberText({ subject, group, serviceAccount }: Member): string {
  if (serviceAccount !== undefined) return `ServiceAccount ${serviceAccount.namespace}/${serviceAccount.name}`;
  return group === undefined ? (subject ?? "") : `group ${group}`;
}

type Route = NonNullable<NonNullable<ListedObject<"ModelGateway">["spec"]>["routes"]>[number];

function routeText(route: Route): string {
  const { model, rateLimit, retry, timeouts, sticky } = route;
  const choices = choicesOf(route);
  const targets = choices.first.map((target) => {
    const weight = weightText(target, choices);
    return `${target.upstreamModel} of ${target.upstream}${weight === undefined ? "" : ` (${weight})`}`;
  });
  const stays = sticky === undefined ? "" : `, ${STICKY_TEXT}`;
  const limits = rateLimit === undefined ? "" : ` (${limitsText(rateLimit)})`;
  const retries = retry === undefined ? "" : `, ${counted(retry.attempts, "more attempt")}`;
  const times = timeouts === undefined ? "" : `, ${timeoutsText(timeouts)}`;
  return `${model}: ${targets.join(" or ")}${stays}${retries}${times}${limits}`;
}
