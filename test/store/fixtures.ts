import { hash } from "node:crypto";
import type { KeyPolicy } from "../../domain/key/declaration/key-policy.ts";
import { NO_POLICY } from "../../domain/key/fields/key-policies.ts";
import { change, type Tx } from "../../store/database/change.ts";
import { newId } from "../../store/database/ids.ts";
import type { Store } from "../../store/database/store.ts";
import { snapshot } from "../../store/feed/change-feed.ts";
import type { GatewayDraft } from "../../store/gateways/gateways.ts";
import { type Reservation, reserveVersion } from "../../store/keys/lifecycle/key-reservations.ts";
import type { IndexedKey } from "../../store/keys/rows/key-records.ts";
import type { LibraryDraft } from "../../store/libraries/libraries.ts";
import { saveTeam, type TeamDraft } from "../../store/teams/teams.ts";
import { standingAt } from "../env/database/database-clock.ts";

/** 14 November 2026: times of tests are given, never taken. */
export const NOW = Date.UTC(2026, 10, 14, 12);
export const HOUR = 3_600_000;

/** A digest as the store takes it. */
export function digestOf(secret: string): string {
  return hash("sha256", secret, "latin1");
}

let count = 0;
/** A name that no other test uses: tests of one file share a database. */
export function unique(stem: string): string {
  return `${stem}-${++count}`;
}

export function policyOf(overrides: Partial<KeyPolicy> = {}): KeyPolicy {
  return {
    ...NO_POLICY,
    displayName: "A key",
    scopes: ["memory:read"],
    ...overrides,
  };
}

export function teamDraft(overrides: Partial<TeamDraft> = {}): TeamDraft {
  const name = unique("team");
  return {
    cluster: "c1",
    name,
    ownerUid: `uid-${name}`,
    displayName: name,
    namespaces: [],
    members: [],
    defaultLibrary: null,
    leakAction: "Alert",
    allowedCIDRs: null,
    limits: null,
    webhooks: [],
    generation: 1,
    ...overrides,
  };
}

/** A team with a namespace of its own. */
export async function makeTeam(store: Store, overrides: Partial<TeamDraft> = {}) {
  const draft = teamDraft({ namespaces: [unique("ns")], ...overrides });
  const { result } = await change(store, null, (tx) => saveTeam(tx, draft));
  return { ...draft, teamId: result.teamId, namespace: draft.namespaces[0] ?? "" };
}

export type Home = { readonly cluster: string; readonly teamId: string; readonly namespace: string };

/** A gateway as declared in the namespace of a team, with neither upstreams nor routes. */
export function gatewayDraft(
  { cluster, namespace, teamId }: Home,
  overrides: Partial<GatewayDraft> = {},
): GatewayDraft {
  return {
    ...{ cluster, namespace, teamId },
    name: unique("gateway"),
    ownerUid: unique("uid"),
    publicId: unique("public"),
    routesOnly: false,
    operations: ["generate", "embed", "models"],
    upstreams: [],
    routes: [],
    ...overrides,
  };
}

/** A library as declared in the namespace of a team. */
export function libraryDraft(
  { cluster, namespace, teamId }: Home,
  overrides: Partial<LibraryDraft> = {},
): LibraryDraft {
  return {
    ...{ cluster, namespace, teamId },
    name: unique("library"),
    ownerUid: unique("uid"),
    displayName: "",
    description: "",
    deletionPolicy: "Retain",
    ...overrides,
  };
}

export function reservationOf(
  home: Home,
  overrides: Partial<Omit<Reservation, "key">> & { key?: Partial<Reservation["key"]> } = {},
): Reservation {
  const name = unique("key");
  const number = overrides.number ?? 1;
  return {
    policy: policyOf(),
    number,
    digest: digestOf(`${name}/${number}`),
    prefix: "inf_ABCDEFGH",
    expiresAfter: null,
    rotationTrigger: null,
    ...overrides,
    key: {
      id: newId("key"),
      cluster: home.cluster,
      namespace: home.namespace,
      name,
      ownerUid: `uid-${name}`,
      teamId: home.teamId,
      source: "Generate",
      generation: 1,
      ...overrides.key,
    },
  };
}

/** The next version of a reserved key. */
export function nextVersion(reservation: Reservation, number: number): Reservation {
  return { ...reservation, number, digest: digestOf(`${reservation.key.name}/${number}`) };
}

/** A key with one reserved version. */
export async function reserveKey(store: Store, home: Home, overrides: Parameters<typeof reservationOf>[1] = {}) {
  const reservation = reservationOf(home, overrides);
  await run(store, (tx) => reserveVersion(tx, reservation));
  return reservation;
}

/** A change without a fence, for its result; the database's clock stands at `at`. */
export async function run<T>(store: Store, body: (tx: Tx) => Promise<T>, at = NOW): Promise<T> {
  return (await change(standingAt(store, at), null, body)).result;
}

/** A snapshot with the keys of all its pages. */
export async function readSnapshot(store: Store) {
  const keys: IndexedKey[] = [];
  const read = await snapshot(store, (page) => keys.push(...page));
  return { ...read, keys };
}
