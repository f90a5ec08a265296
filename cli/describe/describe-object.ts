import { REASONS, type Reason } from "../../domain/conditions.ts";
import { readiness } from "../data/status-files.ts";
import { ageText } from "../output/age.ts";
import { type Fact, formatFacts } from "../output/facts.ts";
import { formatTable } from "../output/table.ts";
import type { ListedEvent, ListedObject } from "../source/source.ts";
import { factsOf } from "./object-facts.ts";

/** Largest number of events that are shown, the latest. */
const MAX_EVENTS = 10;

/**
 * Describes an object for people.
 *
 * @param events events, the oldest first, or why they are not known
 * @param now milliseconds since the epoch
 */
export function describeObject(object: ListedObject, events: readonly ListedEvent[] | string, now: number): string {
  const { kind, metadata } = object;
  const { namespace, name, creationTimestamp, deletionTimestamp } = metadata;
  const ready = readiness(object);
  const facts: Fact[] = [
    ["Name", name],
    ["Namespace", namespace || undefined],
    ["Kind", kind],
    ["Age", creationTimestamp === undefined ? "<unknown>" : ageText(creationTimestamp, now)],
    ["Being deleted since", deletionTimestamp],
    ["Ready", ready === undefined ? "<unknown>" : `${ready.status} (${ready.reason})`],
    ...factsOf(object, now),
  ];
  return [
    formatFacts(facts),
    ...section("Conditions", conditionsTable(object, now)),
    ...section("Versions", versionsTable(object, now)),
    ...section(
      "Next steps",
      nextSteps(object)
        .map((step) => `- ${step}`)
        .join("\n"),
    ),
    ...section("Events", typeof events === "string" ? `<unknown>: ${events}` : eventsTable(events, now)),
  ].join("\n\n");
}

function section(title: string, text: string): string[] {
  return text === "" ? [] : [`${title}:\n${text.replaceAll(/^/gm, "  ")}`];
}

function conditionsTable({ status }: ListedObject, now: number): string {
  const conditions = status?.conditions ?? [];
  if (conditions.length === 0) return "";
  return formatTable(
    ["TYPE", "STATUS", "REASON", "AGE", "MESSAGE"],
    conditions.map(({ type, status, reason, lastTransitionTime, message }) => [
      ...[type, status, reason, ageText(lastTransitionTime, now), message || "-"],
    ]),
  );
}

function versionsTable({ status }: ListedObject, now: number): string {
  const versions = status !== undefined && "versions" in status ? (status.versions ?? []) : [];
  if (versions.length === 0) return "";
  return formatTable(
    ["VERSION", "PREFIX", "STATE", "MINTED", "LAST USED", "ENDS"],
    versions.map(({ number, keyPrefix, state, mintedAt, lastUsedTime, retiresAt, expiresAt }) => [
      String(number),
      keyPrefix ?? "-",
      state,
      mintedAt ?? "-",
      lastUsedTime === undefined ? "never" : ageText(lastUsedTime, now),
      retiresAt ?? expiresAt ?? "never",
    ]),
  );
}

/** Returns the advice of the catalogue of reasons, each once. */
function nextSteps({ status, state }: ListedObject): string[] {
  const reasons = status?.conditions?.map(({ reason }) => reason) ?? [];
  const known = [...reasons, ...(state === undefined ? [] : [REASON_OF[state]])].filter(isReason);
  return [...new Set(known.map((reason): string => REASONS[reason]).filter((advice) => advice !== ""))];
}

/** Reason that a condition would have, by the state of a key at a server. */
const REASON_OF = { active: "Ready", suspended: "Suspended", expired: "Expired", revoked: "Revoked" } as const;

function isReason(reason: string): reason is Reason {
  return Object.hasOwn(REASONS, reason);
}

function eventsTable(events: readonly ListedEvent[], now: number): string {
  if (events.length === 0) return "<none>";
  return formatTable(
    ["LAST SEEN", "TYPE", "REASON", "MESSAGE"],
    events.slice(-MAX_EVENTS).map(({ at, type, reason, message }) => [ageText(at, now), type, reason, message]),
  );
}
