/** Whether a resource is to be changed, or replaced, and because of which of its properties. */
import { credentialsOf } from "./credentials.ts";
import { type Difference, differences, propertyOf } from "./difference.ts";
import { isPreviousOver, type VersionReason, versionReason } from "./key-secret.ts";
import { type Inputs, isSameObject, type ResourceKind } from "./resources.ts";
import type { Update } from "./update.ts";

export type Diff = {
  readonly differences: readonly (Difference & { readonly replaces: boolean })[];
  /** Whether the old one must be gone before its replacement is made. */
  readonly deleteFirst: boolean;
  /** Why the outputs are to change, besides what the program has changed. */
  readonly because: string | undefined;
};

/** Of no effect on what is there: said with the next change. */
const WITHOUT_EFFECT = new Set(["reason"]);

/** @param now milliseconds since the epoch */
export function diffResource(kind: ResourceKind, update: Update<Inputs>, now: number): Diff {
  const { olds, oldInputs, news } = update;
  const changes = differences(oldInputs, news).filter(
    ({ path }) =>
      !WITHOUT_EFFECT.has(propertyOf(path)) && !isStillPublicId(path, olds, news) && !isStillTeam(path, olds, news),
  );
  return {
    differences: changes.map((change) => ({ ...change, replaces: replaces(kind, change) })),
    deleteFirst: !isSameObject(kind, oldInputs, news) && kind.excludes({ ...oldInputs, ...olds }, news),
    because: outdated(kind, update, now),
  };
}

function replaces({ identity, kind }: ResourceKind, { path }: Difference): boolean {
  return identity.includes(path) || (kind === "ModelGateway" && path === "publicID");
}

/** A public id that is written down, or is not any more, is the same all the same. */
function isStillPublicId(path: string, olds: Inputs, news: Inputs): boolean {
  return path === "publicID" && (news.publicID === undefined || news.publicID === olds.publicID);
}

/** A team that is named by its id now. */
function isStillTeam(path: string, olds: Inputs, news: Inputs): boolean {
  return path === "team" && news.team === olds.teamId;
}

const NEW_VERSION: Readonly<Record<VersionReason, string>> = {
  SecretLost: "its secret was lost: it gets a new one",
  TriggerChanged: "rotation.trigger has changed: it gets a new secret",
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
