/**
 * Difference between a resource's state and its program: does it change, is it replaced, and because of which
 * properties?
 */
import { credentialsOf } from "./credentials.ts";
import { type Difference, differences, propertyOf } from "./difference.ts";
import { isPreviousOver, type VersionReason, versionReason } from "./key-secret.ts";
import type { Inputs, ResourceKind } from "./resources.ts";
import type { Update } from "./update.ts";
import { UNKNOWN } from "./values.ts";

export type Diff = {
  readonly differences: readonly (Difference & { readonly replaces: boolean })[];
  /** True if the old object must be deleted before its replacement is made. */
  readonly deleteFirst: boolean;
  /** Reason for a change of outputs beyond the program's own changes; undefined if there is none. */
  readonly because: string | undefined;
};

/** Properties without effect on the object, which are sent with its next change. */
const WITHOUT_EFFECT = new Set(["reason"]);

/**
 * Compares a resource's state with its program.
 *
 * @param now milliseconds since the epoch
 * @throws Error for another public id of the same gateway: its replacement would have its name
 */
export function diffResource(kind: ResourceKind, update: Update<Inputs>, now: number): Diff {
  const { olds, oldInputs, news } = update;
  const changes = differences(oldInputs, news)
    .filter(
      ({ path }) =>
        !WITHOUT_EFFECT.has(propertyOf(path)) && !isStillPublicId(path, olds, news) && !isStillTeam(path, olds, news),
    )
    .map((change) => ({ ...change, replaces: kind.identity.includes(change.path) }));
  const isSame = !changes.some(({ replaces }) => replaces);
  if (isSame && news.publicID !== UNKNOWN && changes.some(({ path }) => path === "publicID")) {
    throw new Error("publicID: does not change, since clients have it in their URLs: give the gateway another `name`");
  }
  return {
    differences: changes,
    deleteFirst: !isSame && kind.excludes({ ...oldInputs, ...olds }, news),
    because: outdated(kind, update, now),
  };
}

/** True if the public id stays the same, although the program begins or ceases to state it. */
function isStillPublicId(path: string, olds: Inputs, news: Inputs): boolean {
  return path === "publicID" && (news.publicID === undefined || news.publicID === olds.publicID);
}

/** True if the program now names the same team by its id, or by its name. */
function isStillTeam(path: string, olds: Inputs, news: Inputs): boolean {
  return path === "team" && (news.team === olds.teamId || news.team === olds.teamName);
}

const NEW_VERSION: Readonly<Record<VersionReason, string>> = {
  SecretLost: "its secret was lost: it gets a new one",
  TriggerChanged: "rotation.trigger has changed: it gets a new secret",
  AnswerLost: "no answer came to the request for a new secret: it is sent again",
  IntervalPassed: "it is older than rotation.interval: it gets a new secret",
};

function outdated({ kind }: ResourceKind, update: Update<Inputs>, now: number): string | undefined {
  const { olds } = update;
  const missing = olds[credentialsOf(kind)?.missing ?? ""];
  if (Array.isArray(missing) && missing.length > 0) {
    return "the server has lost credentials: they are sent again";
  }
  if (kind !== "PlatformKey") return undefined;
  const reason = versionReason(update, now);
  if (reason !== undefined) return NEW_VERSION[reason];
  return isPreviousOver(olds, now) ? "the overlap is over: previousSecret goes" : undefined;
}
